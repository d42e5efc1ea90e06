"""What must have come of a play: one verdict for each phase, with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from talekeeper.story import JobState
from talekeeper.text import prompt_line

from verify.playing import Play, Turn
from verify.recording import ModelCall

Word = Literal["PASS", "FAIL", "SKIP", "WARN"]
_DONE = frozenset({JobState.SUCCEEDED, JobState.SKIPPED})
_SAME = 40  # characters at the beginning of a text by which it is known again


@dataclass(frozen=True)
class Verdict:
    """`phase` is `run/what`."""

    phase: str
    word: Word
    why: str

    def as_json(self) -> dict[str, str]:
        """A line of the artefacts."""
        return asdict(self)


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for beyond a story that is told."""

    tool: str = ""
    recall: bool = False
    summary: bool = False
    prompt_tokens: int = 0


def judged(run: str, holds: bool, good: str, bad: str) -> Verdict:  # noqa: FBT001 - it reads as a question
    """PASS or FAIL."""
    return Verdict(run, "PASS" if holds else "FAIL", good if holds else bad)


def of_turns(run: str, play: Play) -> Verdict:
    """Every turn was told."""
    faults = [f"turn {turn.number}: {turn.fault}" for turn in play.turns if turn.fault]
    return judged(f"{run}/turns", not faults, f"{len(play.turns)} turns told", "; ".join(faults[:3]))


def of_jobs(run: str, play: Play) -> Verdict:
    """What follows turns was done; what waits for its time is a warning."""
    left = [job for job in play.home.story.jobs.all(play.address) if job.state not in _DONE]
    failed = [f"{job.plugin}/{job.kind}: {job.reason}" for job in left if job.state is JobState.FAILED]
    done = sum(len(turn.jobs) for turn in play.turns)
    if failed:
        return Verdict(f"{run}/jobs", "FAIL", f"{len(failed)} failed, the first {failed[0]}")
    if left:
        waiting = sorted({f"{job.plugin}/{job.kind}" for job in left})
        return Verdict(f"{run}/jobs", "WARN", f"{len(left)} are not done: {', '.join(waiting)}")
    word: Word = "PASS" if done else "SKIP"
    return Verdict(f"{run}/jobs", word, f"{done} jobs done" if done else "no plugin follows turns")


def of_budget(run: str, asked: Iterable[ModelCall], limit: int, context: int) -> Verdict:
    """No prompt is longer than it may be."""
    longest = max((each.tokens for each in asked if each.slot == "narrator"), default=0)
    most = limit or context
    what = f"the longest prompt has {longest:,} tokens"
    return judged(f"{run}/prompt", longest <= most, f"{what} of {most:,}", f"{what}, more than {most:,}")


def of_store(run: str, play: Play) -> Verdict:
    """The index says what the rows say."""
    faults = play.home.story.index.check(play.address)
    return judged(f"{run}/store", not faults, "rows and index agree", f"{len(faults)} faults, the first {faults[:1]}")


def of_tool(turns: Iterable[Turn], wanted: Wanted) -> Verdict:
    """The narrator called the tool, and it answered."""
    calls = [call for turn in turns if turn.result for call in turn.result.calls if call.tool == wanted.tool]
    good = [call for call in calls if not call.fault]
    if not wanted.tool:
        return Verdict("tool", "SKIP", "no tool is required")
    bad = f"{wanted.tool} was not called" if not calls else f"{wanted.tool} only failed: {calls[0].fault}"
    return judged("tool", bool(good), f"{wanted.tool} answered {len(good)} of {len(calls)} calls", bad)


def of_recall(turns: Iterable[Turn], wanted: Wanted) -> Verdict:
    """Some record was chosen among candidates, by its scores, and shown."""
    used = [
        (turn.number, one.segment)
        for turn in turns
        for one in turn.decided
        for candidate in one.document.get("considered", ())
        if candidate.get("used") and candidate.get("scores")
    ]
    said = f"{len(used)} records recalled, the first in turn {used[0][0]} by {used[0][1]}" if used else ""
    if not used and not wanted.recall:
        return Verdict("recall", "SKIP", "nothing was recalled, and nothing is required")
    return judged("recall", bool(used), said, "no prompt shows a record that was recalled")


def of_summary(plays: Iterable[tuple[Play, list[ModelCall]]], wanted: Wanted) -> Verdict:
    """A turn whose prompt has lost the story's beginning shows there a text that the slot `summary` wrote."""
    compacted = 0
    shown: list[str] = []
    for play, asked in plays:
        short = {turn.number for turn in play.turns if turn.history_from > 1}
        compacted += len(short)
        shown += dict.fromkeys(_summaries_shown(asked, short))
    if not shown and not wanted.summary:
        why = f"{compacted} turns were compacted, and no summary is required"
        return Verdict("summary", "SKIP", why)
    good = f"{len(shown)} of {compacted} compacted turns show one, the first is {shown[0] if shown else ''}"
    bad = "the story always fits into the prompt" if not compacted else f"none of {compacted} compacted turns shows one"
    return judged("summary", bool(shown), good, bad)


def _summaries_shown(asked: Iterable[ModelCall], short: set[int]) -> Iterator[str]:
    written: list[str] = []
    for each in asked:
        if each.slot == "summary":
            written.append(prompt_line(each.reply.text.strip())[:_SAME])
        elif each.slot == "narrator" and each.turn in short:
            system = each.request.messages[0].content
            if any(text.startswith(one) for text in _framed(system) for one in written):
                yield f"turn {each.turn}"


def _framed(prompt: str) -> Iterator[str]:
    """The texts of the records in a prompt: each is a line of JSON."""
    for line in prompt.splitlines():
        if line.startswith('{"'):
            try:
                value: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            yield str(value.get("text", ""))
