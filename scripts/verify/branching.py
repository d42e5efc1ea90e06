"""The branching run: undo, redo, retry and fork, and that a story which was left and returned to is as it was."""

from __future__ import annotations

from collections.abc import Iterator

from verify.playing import Play
from verify.recording import ModelCall
from verify.verdicts import Verdict, judged

TURNS = 4


def branch(play: Play, asked: list[ModelCall]) -> Iterator[Verdict]:
    """Plays and judges; `asked` grows while it is played."""
    for _ in range(TURNS):
        play.turn()
    yield _undo_and_redo(play)
    yield _retry(play, asked)
    yield from _fork(play, asked)


def _undo_and_redo(play: Play) -> Verdict:
    story, before, shown = play.home.story, play.lineage(), play.would_show()
    story.tree.undo(play.address)
    shorter = play.lineage()
    story.tree.redo(play.address)
    good = before[: len(shorter)] == shorter != before and (play.lineage(), play.would_show()) == (before, shown)
    return judged("branching/undo-redo", good, "the story and what is recalled came back", "something is different")


def _retry(play: Play, asked: list[ModelCall]) -> Verdict:
    story, lost = play.home.story, play.home.story.messages.read(play.address, last=1)[0]
    taken = play.retry()
    takes = story.tree.takes(play.address)
    told = taken.result.narration if taken.result else None
    after = len(asked)
    next_one = play.turn()
    # What stands in the take that won may be told again; only what the lost one alone said gives it away.
    alone = told is not None and lost.text != told.text and lost.text in _prompts(asked[after:])
    held = bool(next_one.result) and lost.id not in play.lineage()
    good = len(takes) == 2 and takes[1].current and held and not alone  # noqa: PLR2004 - the lost take and the new one
    return judged(
        "branching/retry", good, "the lost take is kept, and shown nowhere", f"{len(takes)} takes; see the log"
    )


def _fork(play: Play, asked: list[ModelCall]) -> Iterator[Verdict]:
    story, before, shown = play.home.story, play.lineage(), play.would_show()
    head = play.home.story.sessions.get(play.address).head
    messages = story.messages.read(play.address)
    start = next(message for message in reversed(messages) if message.turn == 2)  # noqa: PLR2004 - early enough to leave something behind
    left = [message.text for message in messages if message.turn > 2 and message.role == "narrator"]  # noqa: PLR2004 - as above
    story.tree.fork(play.address, start.coordinate, name="aside")
    after = len(asked)
    turns = [play.turn(), play.turn()]
    seen = _prompts(asked[after:])
    leaked = [text for text in left if text in seen]
    good = all(turn.result for turn in turns) and not leaked
    bad = f"{len(leaked)} texts of the other branch were shown" if leaked else turns[0].fault or turns[1].fault
    yield judged("branching/fork", good, "nothing of the branch left is in a prompt", bad)
    story.tree.go(play.address, head)
    same = (play.lineage(), play.would_show()) == (before, shown)
    yield judged("branching/return", same, "the story and what is recalled came back", "something is different")


def _prompts(asked: list[ModelCall]) -> str:
    return "\n".join(message.content for each in asked for message in each.request.messages)
