"""The bank: the job `memories`, one short text for every six story messages, and the job `summary`, the story so far.

A memory is made once a retry can no longer touch its messages. Each summary is a record of its own at its last message,
rolled forward from the one before, so that undoing, editing or deleting that message brings back the one before. The
newest on the lineage counts; a person's edit is a version like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.api import BadReply, JobResult, JobView, Json, Line, MessageView, PluginContext, Record, Skip, TurnView

from talekeeper_memory.cards import cast_brief, setting_brief
from talekeeper_memory.prompts import data_text, digest, json_line, prompts_for, question, story_lines
from talekeeper_memory.truncate import cut_at_sentence, cut_to_words, first_tokens, is_blank, last_tokens, one_line
from talekeeper_memory.visibility import every, visible
from talekeeper_memory.wording import authority_of

MARKER = "[…]"
_QUOTES = "\"'“”„«»「」『』"
_LONGEST_MEMORY = 2_000  # characters that the namespace takes; words of scripts without spaces have no end
_LONGEST_SUMMARY = 8_000  # characters that the namespace takes
_TOKENS_A_WORD = 8  # of a reply: far more than a word takes in any script
_MOST_MESSAGES = 1_000  # that one summary takes up
_SUMMARIES_READ = 4  # at once; the first nearly always counts


def write_memories(ctx: PluginContext, job: JobView) -> JobResult:
    """Covers the first messages that this lineage has not covered, block by block.

    A block that has its memory, from a take that lost or a run that was broken off, costs nothing again.
    """
    if not ctx.settings["auto_memories"]:
        raise Skip("memories are switched off here")
    size, most = ctx.settings["memory_messages"], ctx.settings["memory_blocks_a_run"]
    if len(ctx.history.messages(last=ctx.settings["memory_after"])) < ctx.settings["memory_after"]:
        raise Skip(f"the story has fewer than {ctx.settings['memory_after']} messages")
    blocks = settled_blocks(job.unsettled(size * most + 1), size)
    if not blocks:
        raise Skip(f"no {size} messages with one behind them are waiting")
    present = {tuple(record.value.get("source", ())) for record in every(ctx.data["bank"])}
    missing = [block for block in blocks if (block[0].id, block[-1].id) not in present]
    for block in missing:
        _write_memory(ctx, block)
    covered = (blocks[0][0].coordinate.depth, blocks[-1][-1].coordinate.depth)
    return JobResult(did_work=bool(missing), covered=covered, details={"memories": len(missing)})


def settled_blocks(messages: Sequence[MessageView], size: int) -> list[Sequence[MessageView]]:
    """Whole blocks of `size` messages behind which at least one more lies."""
    return [messages[at : at + size] for at in range(0, len(messages) - size, size)]


def passage(messages: Sequence[MessageView], tokens: int) -> str:
    """The messages one a line; a long block as its head and its tail around a marker, `tokens` in all."""
    text = story_lines(messages)
    shorter = first_tokens(text, tokens)
    if shorter == text:
        return text
    half = (tokens - 2) // 2
    return f"{first_tokens(text, half)}\n{MARKER}\n{last_tokens(text, half)}"


def tidy(text: str, words: int) -> str:
    """A model's answer as a memory: one line, without marker, heading mark or quotation marks around it."""
    line = one_line(text.replace(MARKER, " ")).lstrip("#*- ").strip()
    if len(line) > 1 and line[0] in _QUOTES and line[-1] in _QUOTES:
        line = line[1:-1].strip()
    return cut_at_sentence(cut_to_words(line, words), _LONGEST_MEMORY)


def _write_memory(ctx: PluginContext, block: Sequence[MessageView]) -> None:
    """Asks for one memory and writes it at the block's last message."""
    settings = ctx.settings
    words = settings["memory_words"]
    conversation = question(
        prompts_for(ctx.session.locale).fill("memory", words=words, characters=words * 2, marker=MARKER),
        cast="\n".join(map(data_text, cast_brief(ctx, block))),
        setting=data_text(setting_brief(ctx, block)),
        passage=passage(block, settings["memory_tokens"]),
    )
    text = tidy(ctx.models.complete("summary", conversation, reply=words * _TOKENS_A_WORD).text, words)
    if is_blank(text):
        raise BadReply("the answer holds no text", where="memories", cure="the block is tried again later")
    ctx.check()
    with ctx.data.batch() as batch:
        batch.add("bank", memory_value(text, block), dedupe=f"memory {digest(block)}", covers=_range(block))


def memory_value(text: str, block: Sequence[MessageView]) -> dict[str, Json]:
    """The record of a memory or first summary of these messages."""
    start, end = _range(block)
    return {
        "text": text,
        "authority": authority_of(text),
        "turn_from": block[0].turn,
        "turn": block[-1].turn,
        "from": start,
        "to": end,
        "source": [block[0].id, block[-1].id],
    }


def _range(messages: Sequence[MessageView]) -> tuple[int, int]:
    return messages[0].coordinate.depth, messages[-1].coordinate.depth


def write_summary(ctx: PluginContext, job: JobView) -> JobResult:
    """Raises `Skip` while fewer messages than a summary takes are waiting."""
    if not ctx.settings["auto_summaries"]:
        raise Skip("summaries are switched off here")
    size = ctx.settings["summary_messages"]
    before = newest_summary(ctx)
    begin = -1 if before is None else int(before.value.get("to", -1))
    waiting = job.unsettled(_MOST_MESSAGES)
    since = [message for message in waiting if message.coordinate.depth > begin]
    due = len(since) - len(since) % size
    if not due:
        raise Skip(f"{len(since)} of {size} messages are waiting")
    taken = since[:due]
    written = _roll_forward(ctx, taken, before)
    covered = (waiting[0].coordinate.depth, taken[-1].coordinate.depth)
    return JobResult(did_work=written, covered=covered, details={"messages": len(taken)})


def newest_summary(ctx: PluginContext) -> Record | None:
    """The summary that counts here: the newest that a turn of this lineage has reached."""
    after: str | None = None
    while page := ctx.data["summaries"].list(order="newest", after=after, limit=_SUMMARIES_READ):
        found = next(visible(ctx, "summaries", page), None)
        if found is not None:
            return found
        after = page[-1].key
    return None


def summary_segment(ctx: PluginContext, turn: TurnView) -> Sequence[Line]:
    """The running summary, once the history in the prompt no longer begins where the summary does."""
    record = newest_summary(ctx)
    if record is None or record.value.get("turn_from", 0) >= turn.history_from:
        return ()
    value = record.value
    return (Line(str(value["text"]), record.key, value.get("turn"), value.get("authority", "story"), "summaries"),)


def _roll_forward(ctx: PluginContext, taken: Sequence[MessageView], before: Record | None) -> bool:
    """Replaces the summary before by one that goes on with these messages; False when another take had it made."""
    # Whether a turn that is not on this lineage has summed up these messages, up to the last one.
    made = any(tuple(one.value.get("source", ()))[-1:] == (taken[-1].id,) for one in every(ctx.data["summaries"]))
    value = None if made else _summary_value(_ask_summary(ctx, before, taken), taken, before)
    ctx.check()
    with ctx.data.batch() as batch:
        if before is not None:
            batch.put("summaries", before.key, {**before.value, "current": False}, covers=None)
        if value is not None:
            batch.add("summaries", value, dedupe=f"summary {digest(taken)}", covers=_range(taken))
    return not made


def _ask_summary(ctx: PluginContext, before: Record | None, taken: Sequence[MessageView]) -> str:
    settings = ctx.settings
    words = settings["summary_words"]
    conversation = question(
        prompts_for(ctx.session.locale).fill("summary", words=words, characters=words * 2),
        summary_so_far=data_text(str(before.value["text"])) if before else "",
        since=_memories_of(ctx, taken) or last_tokens(story_lines(taken), settings["summary_raw_tokens"]),
    )
    reply = ctx.models.complete("summary", conversation, reply=settings["summary_reply"]).text
    text = cut_at_sentence(cut_to_words(reply, words), _LONGEST_SUMMARY)
    if is_blank(text):
        raise BadReply("the answer holds no text", where="summary", cure="it is tried again later")
    return text


def _memories_of(ctx: PluginContext, taken: Sequence[MessageView]) -> str:
    """The memories of these messages, in order, and the messages behind them; empty when memories are behind."""
    first, last = _range(taken)
    made = [record for record in visible(ctx, "bank", every(ctx.data["bank"])) if "from" in record.value]
    within = [record for record in made if first <= int(record.value["to"]) <= last]
    end = max((int(record.value["to"]) for record in within), default=-1)
    rest = [message for message in taken if message.coordinate.depth > end]
    # The last block is settled by one message behind it: up to that many are given as they are.
    if not within or len(rest) > ctx.settings["memory_messages"]:
        return ""
    lines = [
        json_line({"memory": record.value["text"], "authority": record.value.get("authority")})
        for record in sorted(within, key=lambda record: record.value["from"])
    ]
    behind = last_tokens(story_lines(rest), ctx.settings["summary_raw_tokens"])
    return "\n".join([*lines, behind]).strip()


def _summary_value(text: str, taken: Sequence[MessageView], before: Record | None) -> dict[str, Json]:
    """The record of a summary, which begins where the one before does."""
    value = memory_value(text, taken)
    if before is None:
        return value
    begin = {name: before.value.get(name, value[name]) for name in ("turn_from", "from")}
    source = [(before.value.get("source") or [taken[0].id])[0], taken[-1].id]
    return {**value, **begin, "source": source, "rolled_from": before.key}
