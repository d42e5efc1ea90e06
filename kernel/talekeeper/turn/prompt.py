"""Puts a turn's prompt together: the preset's words, what the plugins give, and the history there is room for.

The segments' budgets are reserved first, history fills what is left, newest first, and only then the segments are
asked: they know from which turn on it shows the story, and may stand in for what lies before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from talekeeper.db import Tx
from talekeeper.errors import ContextOverflow
from talekeeper.models import ChatMessage
from talekeeper.plugin_context import Pending
from talekeeper.story import Address, Coordinate, Message, Story
from talekeeper.text import cut_graphemes, estimate_tokens, token_quarters
from talekeeper.turn.frame import Room, clean
from talekeeper.turn.limits import MESSAGE_TOKENS, SEGMENTS_SHARE
from talekeeper.turn.segments import Filled, Segment, ask, decided, fill, segments, uses
from talekeeper.turn.turn_context import SegmentReport, TurnContext
from talekeeper.turn.wording import Wording

_DENSE = ("zh", "ja", "ko")
_PER_TOKEN = 4
_LOOKED_AT = 8
_UNTYPED = frozenset({"pasted", "imported", "tool"})
_UNTYPED_WORD = {"pasted": "pasted", "imported": "imported", "tool": "a tool's"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is sent, and what has to be known of it.

    `uses` are the records shown, as plugin, namespace and key; `shown` the ids of the messages; `taint` says where text
    that nobody here has typed came from, empty when there is none.
    """

    messages: tuple[ChatMessage, ...]
    history_from: int
    decided: tuple[SegmentReport, ...]
    uses: tuple[tuple[str, str, str], ...]
    shown: frozenset[str]
    taint: tuple[str, ...]
    tokens: int


def assemble(scene: TurnContext, pending: Pending, *, beside: int, share: float = 1.0) -> Prompt:
    """The prompt of a turn. `beside` are the tokens of what is sent with it: the tools' descriptions.

    `share` is the part of the context to use. Raises `ContextOverflow` when what has to be said leaves no room for the
    player's message.
    """
    system, note = _fixed(scene)
    budget = int(scene.context * share) - beside - estimate_tokens(system) - estimate_tokens(note) - 4 * MESSAGE_TOKENS
    wanted = segments(scene)
    dense = _density(scene) if wanted else 1
    reserved = [-(segment.budget * dense // -_PER_TOKEN) for segment in wanted]
    kept = min(sum(reserved), int(max(0, budget) * SEGMENTS_SHARE))
    told = _history(scene, budget - kept)
    if told.tokens > budget:
        raise _too_long(scene, told, budget, share)
    filled = _filled(scene, wanted, reserved, told, budget, pending)
    return _prompt(scene, system, note, told, filled, budget)


def _history(scene: TurnContext, room: int) -> History:
    """What the story has told, and in a dry run what the player might say."""
    unsaid = cost(scene.player) if scene.dry and scene.player else 0
    told = history(scene.services.story, scene.address, scene.at, room - unsaid)
    if not unsaid or scene.player is None:
        return told
    return History((*told.messages, scene.player), told.since, told.tokens + unsaid)


def _fixed(scene: TurnContext) -> tuple[str, str]:
    """The words of preset and person: system text with the persona, and the author's note."""
    words, voice = scene.words, scene.voice
    parts = [scene.preset.system.strip() or words.system, voice.persona and words.persona + voice.persona]
    return "\n\n".join(part for part in parts if part), voice.note and words.note + voice.note


def _density(scene: TurnContext) -> int:
    """Quarters of a token that a character takes, 1 to 4, as the story is written; before it begins, by the locale."""
    story = scene.services.story
    text = "".join(message.text for message in story.messages(scene.address, last=_LOOKED_AT, at=scene.at))
    if not text.strip():
        return _PER_TOKEN if scene.session.locale.lower().startswith(_DENSE) else 1
    return max(1, round(token_quarters(text) / len(text)))


def _filled(
    scene: TurnContext, wanted: Sequence[Segment], reserved: Sequence[int], told: History, budget: int, pending: Pending
) -> list[Filled]:
    """Each segment in what the history leaves: its whole budget, or its part and what those before have not used."""
    view = scene.view(told.since)
    left = budget - told.tokens
    part = min(1.0, left / max(1, sum(reserved)))
    parts = [int(need * part) for need in reserved]
    filled: list[Filled] = []
    for place, (segment, need) in enumerate(zip(wanted, reserved, strict=True)):
        tokens = min(need, left - sum(parts[place + 1 :]))
        filled.append(fill(scene, ask(scene, segment, view, pending), Room(segment.budget, tokens * _PER_TOKEN)))
        left -= estimate_tokens(filled[-1].framed.text)
    return filled


def _prompt(scene: TurnContext, system: str, note: str, told: History, filled: Sequence[Filled], budget: int) -> Prompt:
    before = [one.framed.text for one in filled if one.framed.text and one.given.segment.position != "after-history"]
    after = [one.framed.text for one in filled if one.framed.text and one.given.segment.position == "after-history"]
    whole = "\n\n".join([system, *before])
    last = [*after, note] if note else after
    messages = chat(whole, told.messages, last, scene.words, go_on=scene.player is None)
    own = SegmentReport("", "history", _of_history(scene, told, budget, filled))
    return Prompt(
        messages=tuple(messages),
        history_from=told.since,
        decided=(own, *(record for one in filled if (record := decided(one)).document.keys() - {"budget"})),
        uses=tuple(dict.fromkeys(use for one in filled for use in uses(one))),
        shown=frozenset(message.id for message in told.messages),
        taint=tuple(_taint(scene, told, filled)),
        tokens=sum(estimate_tokens(message.content) + MESSAGE_TOKENS for message in messages),
    )


def _of_history(scene: TurnContext, told: History, budget: int, filled: Sequence[Filled]) -> dict[str, Any]:
    return {
        "history_from": told.since,
        "messages": len(told.messages),
        "tokens": told.tokens,
        "budget": budget,
        "context": scene.context,
        "slot": scene.slot_name,
        "preset": scene.preset.name,
        "segments": [one.given.segment.path for one in filled],
    }


def _taint(scene: TurnContext, told: History, filled: Sequence[Filled]) -> list[str]:
    origins = {message.origin for message in told.messages} & _UNTYPED
    reasons = [f"the story holds {_UNTYPED_WORD[origin]} text" for origin in sorted(origins)]
    reasons += [f"a world file gave the {name}" for name in scene.voice.from_world]
    return reasons + [f"the prompt shows records of {one.given.segment.path}" for one in filled if one.framed.text]


def _too_long(scene: TurnContext, told: History, budget: int, share: float) -> ContextOverflow:
    where = f"model slot {scene.slot_name}"
    if budget <= 0:
        return ContextOverflow(
            f"what every prompt holds, instructions and tools, takes all of the {int(scene.context * share):,} "
            "tokens that the model's context leaves beside the reply",
            where=where,
            cure="set the slot's context to what the model has, or a smaller reply, or use a model with more",
            slot=scene.slot_name,
        )
    return ContextOverflow(
        f"the newest message takes some {told.tokens:,} tokens, and the model's context leaves {budget:,}",
        where=where,
        cure="shorten it (edit or undo), or set the slot's context to what the model has",
        slot=scene.slot_name,
    )


_FIRST_PAGE = 32
_SHOWN = frozenset({"player", "narrator"})


@dataclass(frozen=True, slots=True)
class History:
    """The messages shown, oldest first. `since` is the first turn shown whole, 0 when nothing is left out."""

    messages: tuple[Message, ...]
    since: int
    tokens: int


def cost(message: Message) -> int:
    """Tokens a message takes, as estimated; the speaker's name may be shown with it."""
    name = f"{message.speaker}: " if message.speaker else ""
    return estimate_tokens(name + message.text) + MESSAGE_TOKENS


def history(story: Story, address: Address, at: Coordinate, room: int) -> History:
    """Player's and narrator's messages up to `at`, newest first while `room` tokens last; the newest in any case.

    Hidden, blank and deleted messages are not there. Reads at most twice as many as it shows.
    """
    return story.read(lambda tx: _newest(story, address, at, room, tx))


def _newest(story: Story, address: Address, at: Coordinate, room: int, tx: Tx) -> History:
    shown: list[Message] = []  # newest first
    used, last, count = 0, at.depth, _FIRST_PAGE
    while last >= 0:
        first = max(0, last - count + 1)
        page = story.messages(address, depths=(first, last), at=at, hidden=False, tx=tx)
        for message in reversed(page):
            if message.role not in _SHOWN or not message.text.strip():
                continue
            needed = cost(message)
            if shown and used + needed > room:
                return History(tuple(reversed(shown)), _since(shown[-1], message), used)
            shown.append(message)
            used += needed
        last, count = first - 1, count * 2
    return History(tuple(reversed(shown)), 0, used)


def _since(oldest: Message, left_out: Message) -> int:
    return oldest.turn + 1 if left_out.turn == oldest.turn else oldest.turn


_APART = "\n\n"
_LONGEST_NAME = 80  # characters
_NO_TAGS = str.maketrans("<>", "‹›")


def chat(
    system: str, told: Sequence[Message], after: Sequence[str], words: Wording, *, go_on: bool
) -> list[ChatMessage]:
    """The prompt. `after` stands before the player's last words, or with `go_on` before the request to continue."""
    several = {role for role in ("player", "narrator") if len(_speakers(told, role)) > 1}
    said: list[tuple[str, list[str]]] = []
    for message in told:
        role = "user" if message.role == "player" else "assistant"
        name = f"{_name(message)}: " if message.role in several and _name(message) else ""
        if not said or said[-1][0] != role:
            said.append((role, []))
        said[-1][1].append(name + message.text)
    if go_on:
        said.append(("user", [words.go_on]))
    if said and said[0][0] == "assistant":
        said.insert(0, ("user", [words.opening]))
    if said:
        texts = said[-1][1]
        # Behind what the player said before in the same breath, in front of what is to be answered.
        texts[-1:] = [*after, texts[-1]]
    messages = [ChatMessage("user" if role == "user" else "assistant", _APART.join(texts)) for role, texts in said]
    return [ChatMessage("system", system), *messages] if system else messages


def _name(message: Message) -> str:
    """A speaker as it stands before a text: files name speakers, and a name is no place for lines or tags.

    Empty where nobody speaks, or nobody whose name can be seen.
    """
    return cut_graphemes(clean(message.speaker).translate(_NO_TAGS), _LONGEST_NAME).strip()


def _speakers(told: Sequence[Message], role: str) -> set[str]:
    return {_name(message) for message in told if message.role == role} - {""}
