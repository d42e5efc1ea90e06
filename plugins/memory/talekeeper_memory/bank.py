"""The job `memories`: one short memory for every six story messages, once a retry can no longer touch them."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.api import BadReply, JobResult, JobView, Json, MessageView, PluginContext, Skip

from talekeeper_memory.authority import authority_of
from talekeeper_memory.cast import cast_brief, setting_brief
from talekeeper_memory.material import data_text, digest, story_lines
from talekeeper_memory.pages import every
from talekeeper_memory.prompts import prompts_for, question
from talekeeper_memory.truncate import cut_at_sentence, cut_to_words, first_tokens, is_blank, last_tokens, one_line

MARKER = "[…]"
_QUOTES = "\"'“”„«»「」『』"
_LONGEST = 2_000  # characters that the namespace takes; words of scripts without spaces have no end
_REPLY = 8  # tokens a word is given: far more than one takes in any script


def write_memories(ctx: PluginContext, job: JobView) -> JobResult:
    """Covers the first stretch this lineage has not, block by block.

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
    written = sum(_remember(ctx, block) for block in blocks if (block[0].id, block[-1].id) not in present)
    covered = (blocks[0][0].coordinate.depth, blocks[-1][-1].coordinate.depth)
    return JobResult(did_work=written > 0, covered=covered, details={"memories": written})


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
    return cut_at_sentence(cut_to_words(line, words), _LONGEST)


def _remember(ctx: PluginContext, block: Sequence[MessageView]) -> int:
    """Asks for one memory and writes it at the block's last message; 1."""
    settings, prompts = ctx.settings, prompts_for(ctx.session.locale)
    words = settings["memory_words"]
    told = prompts.fill("memory", words=words, characters=words * 2, marker=MARKER)
    asked = question(
        told,
        cast="\n".join(map(data_text, cast_brief(ctx, block))),
        setting=data_text(setting_brief(ctx, block)),
        passage=passage(block, settings["memory_tokens"]),
    )
    reply = ctx.models.complete("summary", asked, reply=words * _REPLY)
    text = tidy(reply.text, words)
    if is_blank(text):
        raise BadReply("the answer holds no text", where="memories", cure="the block is tried again later")
    ctx.check()
    with ctx.data.batch() as batch:
        covers = (block[0].coordinate.depth, block[-1].coordinate.depth)
        batch.add("bank", memory_value(text, block), dedupe=f"memory {digest(block)}", covers=covers)
    return 1


def memory_value(text: str, block: Sequence[MessageView]) -> dict[str, Json]:
    """The record of a memory of these messages."""
    return {
        "text": text,
        "authority": authority_of(text),
        "turn_from": block[0].turn,
        "turn": block[-1].turn,
        "from": block[0].coordinate.depth,
        "to": block[-1].coordinate.depth,
        "source": [block[0].id, block[-1].id],
    }
