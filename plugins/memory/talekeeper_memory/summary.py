"""The job `summary`: the running summary of the story, rolled forward every fifteen messages.

Each is a record of its own at its last message, so that undoing, editing or deleting that message brings back the one
before it. The newest on the lineage is the one that counts; a person's edit of it stands like any other version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from talekeeper.api import ROOT, BadReply, JobResult, JobView, Json, MessageView, PluginContext, Record, Skip

from talekeeper_memory.authority import authority_of
from talekeeper_memory.cutting import cut_at_sentence, cut_to_words, is_blank, last_tokens
from talekeeper_memory.material import data_text, digest, json_line, story_lines
from talekeeper_memory.pages import every
from talekeeper_memory.prompts import prompts_for, question

_LONGEST = 8_000  # characters that the namespace takes
_FEW = 4  # the first is nearly always the one


def write_summary(ctx: PluginContext, job: JobView) -> JobResult:
    """Raises `Skip` while fewer messages than a summary takes are waiting."""
    if not ctx.settings["auto_summaries"]:
        raise Skip("summaries are switched off here")
    size = ctx.settings["summary_messages"]
    before = newest(ctx)
    since = _since(job, before)
    due = len(since) - len(since) % size
    if not due:
        raise Skip(f"{len(since)} of {size} messages are waiting")
    taken = since[:due]
    covered = (taken[0].coordinate.depth, taken[-1].coordinate.depth)
    text = _asked(ctx, before, taken)
    _write(ctx, text, taken, before, covered)
    return JobResult(covered=covered, details={"messages": len(taken)})


def newest(ctx: PluginContext) -> Record | None:
    """The summary that is eligible here: the newest whose last message is on this lineage."""
    after: str | None = None
    while page := ctx.data["summaries"].list(order="newest", after=after, limit=_FEW):
        for record in page:
            if is_eligible(ctx, record):
                return record
        after = page[-1].key
    return None


def is_eligible(ctx: PluginContext, record: Record) -> bool:
    """Whether a record tells of this lineage.

    A person's version holds on every branch; when it changes what was made from messages, it goes where they are.
    """
    source: Sequence[str] = record.value.get("source", ())
    return record.coordinate != ROOT or not source or ctx.history.message(source[-1]) is not None


def _since(job: JobView, before: Record | None) -> list[MessageView]:
    """The story messages that no summary of the lineage has taken up."""
    begin = -1 if before is None else int(before.value.get("to", -1))
    waiting = job.uncovered(1_000)
    return [message for message in waiting if message.coordinate.depth > begin]


def _asked(ctx: PluginContext, before: Record | None, taken: Sequence[MessageView]) -> str:
    settings, prompts = ctx.settings, prompts_for(ctx.session.locale)
    words = settings["summary_words"]
    instruction = prompts.fill("summary", words=words, characters=words * 2)
    asked = question(
        instruction,
        summary_so_far=data_text(str(before.value["text"])) if before else "",
        since=_memories(ctx, taken) or last_tokens(story_lines(taken), settings["summary_raw_tokens"]),
    )
    told = ctx.models.complete("summary", asked, reply=settings["summary_reply"]).text
    text = cut_at_sentence(cut_to_words(told, words), _LONGEST)
    if is_blank(text):
        raise BadReply("the answer holds no text", where="summary", cure="it is tried again later")
    return text


def _memories(ctx: PluginContext, taken: Sequence[MessageView]) -> str:
    """The memories of these messages, in order, and the messages behind them; empty when memories are behind."""
    first, last = taken[0].coordinate.depth, taken[-1].coordinate.depth
    told = sorted(_within(every(ctx.data["bank"]), first, last), key=lambda record: record.value["from"])
    size = ctx.settings["memory_messages"]
    end = max((int(record.value["to"]) for record in told), default=-1)
    rest = [message for message in taken if message.coordinate.depth > end]
    # The last block is settled by one message behind it: up to that many are told as they are.
    if not told or len(rest) > size:
        return ""
    lines = [json_line({"memory": record.value["text"], "authority": record.value.get("authority")}) for record in told]
    behind = last_tokens(story_lines(rest), ctx.settings["summary_raw_tokens"])
    return "\n".join([*lines, behind]).strip()


def _within(records: Iterable[Record], first: int, last: int) -> list[Record]:
    return [
        record
        for record in records
        if "from" in record.value and int(record.value["to"]) >= first and int(record.value["to"]) <= last
    ]


def _write(
    ctx: PluginContext, text: str, taken: Sequence[MessageView], before: Record | None, covered: tuple[int, int]
) -> None:
    value: dict[str, Json] = {
        "text": text,
        "authority": authority_of(text),
        "turn_from": before.value.get("turn_from", taken[0].turn) if before else taken[0].turn,
        "turn": taken[-1].turn,
        "from": before.value.get("from", covered[0]) if before else covered[0],
        "to": covered[1],
        "source": [(before.value.get("source") or [taken[0].id])[0] if before else taken[0].id, taken[-1].id],
    }
    ctx.check()
    with ctx.data.batch() as batch:
        if before is not None:
            value["rolled_from"] = before.key
            batch.put("summaries", before.key, {**before.value, "current": False}, covers=None)
        batch.add("summaries", value, dedupe=f"summary {digest(taken)}", covers=covered)
