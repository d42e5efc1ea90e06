"""The job `summary`: the running summary of the story, rolled forward every fifteen messages.

Each is a record of its own at its last message, so that undoing, editing or deleting that message brings back the one
before it. The newest on the lineage is the one that counts; a person's edit of it stands like any other version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from talekeeper.api import BadReply, JobResult, JobView, Json, MessageView, PluginContext, Record, Skip

from talekeeper_memory.authority import authority_of
from talekeeper_memory.material import data_text, digest, json_line, story_lines
from talekeeper_memory.pages import every
from talekeeper_memory.prompts import prompts_for, question
from talekeeper_memory.truncate import cut_at_sentence, cut_to_words, is_blank, last_tokens
from talekeeper_memory.visibility import standing

_LONGEST = 8_000  # characters that the namespace takes
_MOST = 1_000  # messages taken up at once
_FEW = 4  # the first is nearly always the one


def write_summary(ctx: PluginContext, job: JobView) -> JobResult:
    """Raises `Skip` while fewer messages than a summary takes are waiting."""
    if not ctx.settings["auto_summaries"]:
        raise Skip("summaries are switched off here")
    size = ctx.settings["summary_messages"]
    before = newest(ctx)
    begin = -1 if before is None else int(before.value.get("to", -1))
    waiting = job.unsettled(_MOST)
    since = [message for message in waiting if message.coordinate.depth > begin]
    due = len(since) - len(since) % size
    if not due:
        raise Skip(f"{len(since)} of {size} messages are waiting")
    taken = since[:due]
    written = _write(ctx, taken, before)
    covered = (waiting[0].coordinate.depth, taken[-1].coordinate.depth)
    return JobResult(did_work=written, covered=covered, details={"messages": len(taken)})


def newest(ctx: PluginContext) -> Record | None:
    """The summary that counts here: the newest that a turn of this lineage has come to."""
    after: str | None = None
    while page := ctx.data["summaries"].list(order="newest", after=after, limit=_FEW):
        found = next(standing(ctx, "summaries", page), None)
        if found is not None:
            return found
        after = page[-1].key
    return None


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
    told = sorted(
        _within(standing(ctx, "bank", every(ctx.data["bank"])), first, last), key=lambda record: record.value["from"]
    )
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


def _write(ctx: PluginContext, taken: Sequence[MessageView], before: Record | None) -> bool:
    """Puts the summary of these messages in the place of the one before; False when another take had it made."""
    made = _made_already(ctx, taken)
    value = None if made else _value(_asked(ctx, before, taken), taken, before)
    ctx.check()
    with ctx.data.batch() as batch:
        if before is not None:
            batch.put("summaries", before.key, {**before.value, "current": False}, covers=None)
        if value is not None:
            covers = (taken[0].coordinate.depth, taken[-1].coordinate.depth)
            batch.add("summaries", value, dedupe=f"summary {digest(taken)}", covers=covers)
    return not made


def _made_already(ctx: PluginContext, taken: Sequence[MessageView]) -> bool:
    """Whether these messages, up to the last one, have been summed up by a turn that is not on this lineage."""
    ends = (tuple(record.value.get("source", ()))[-1:] for record in every(ctx.data["summaries"]))
    return (taken[-1].id,) in ends


def _value(text: str, taken: Sequence[MessageView], before: Record | None) -> dict[str, Json]:
    first, last = taken[0], taken[-1]
    value: dict[str, Json] = {
        "text": text,
        "authority": authority_of(text),
        "turn_from": before.value.get("turn_from", first.turn) if before else first.turn,
        "turn": last.turn,
        "from": before.value.get("from", first.coordinate.depth) if before else first.coordinate.depth,
        "to": last.coordinate.depth,
        "source": [(before.value.get("source") or [first.id])[0] if before else first.id, last.id],
    }
    return value | ({"rolled_from": before.key} if before else {})
