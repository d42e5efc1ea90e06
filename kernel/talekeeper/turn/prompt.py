"""Puts a turn's prompt together: the preset's words, what the plugins give, and the history there is room for.

The segments' budgets are reserved first, history fills what is left, newest first, and only then the segments are
asked: they know from which turn on it shows the story, and may stand in for what lies before. History and segments
become messages whose roles take turns, beginning with the user's: many chat templates refuse anything else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from talekeeper.db import Tx
from talekeeper.errors import ContextOverflow
from talekeeper.models import ChatMessage
from talekeeper.plugin_context import Pending
from talekeeper.story import Address, Coordinate, Message, Story
from talekeeper.text import cut_graphemes, estimate_tokens, prompt_line, token_quarters
from talekeeper.turn.frame import Room
from talekeeper.turn.segments import FilledSegment, Segment, fill, segments
from talekeeper.turn.turn_context import SegmentReport, TurnContext

MESSAGE_TOKENS = 4
"""What a message costs beside its text, by the chat formats of the usual models."""

_SEGMENTS_SHARE = 0.5
"""The most of the context that segments may have reserved: what was just said matters more to a narrator."""

_DENSE = ("zh", "ja", "ko")
_PER_TOKEN = 4
_LOOKED_AT = 8  # messages that tell how dense a story's script is
_FIRST_PAGE = 32  # messages
_SHOWN = frozenset({"player", "narrator"})
_UNTYPED_WORD = {"pasted": "pasted", "imported": "imported", "tool": "a tool's"}
_APART = "\n\n"
_LONGEST_NAME = 80  # characters
_NO_TAGS = str.maketrans("<>", "‹›")


@dataclass(frozen=True, slots=True)
class Wording:
    """The kernel's own words in a prompt, from `wording.toml`; `system` is the prompt of a session without a preset."""

    system: str
    persona: str
    note: str
    opening: str
    go_on: str
    actions: str


def wording(locale: str) -> Wording:
    """The words for a session's locale, such as `zh-CN`; any but a Chinese one gets English."""
    return _wording("chinese" if locale.lower().startswith("zh") else "english")


@cache
def _wording(language: str) -> Wording:
    text = Path(__file__).with_name("wording.toml").read_text(encoding="utf-8")
    return Wording(**tomllib.loads(text)[language])


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is sent, and what the turn has to know about it.

    `uses` are the records shown, as plugin, namespace and key; `shown` the ids of the messages; `taint` says where text
    came from that was not typed here.
    """

    messages: tuple[ChatMessage, ...]
    history_from: int
    decided: tuple[SegmentReport, ...]
    uses: tuple[tuple[str, str, str], ...]
    shown: frozenset[str]
    taint: tuple[str, ...]


def assemble(turn: TurnContext, pending: Pending, *, beside: int, share: float = 1.0) -> Prompt:
    """The prompt of a turn. `beside` are the tokens of what is sent with it: the tools' descriptions.

    `share` is the part of the context to use. Raises `ContextOverflow` when what every prompt holds leaves no room for
    the player's message.
    """
    system, note = _fixed(turn)
    budget = int(turn.context * share) - beside - estimate_tokens(system) - estimate_tokens(note) - 4 * MESSAGE_TOKENS
    wanted = segments(turn)
    dense = _density(turn) if wanted else 1
    reserved = [-(segment.budget * dense // -_PER_TOKEN) for segment in wanted]
    kept = min(sum(reserved), int(max(0, budget) * _SEGMENTS_SHARE))
    history = _history(turn, budget - kept)
    if history.tokens > budget:
        raise _too_long(turn, history, budget, share)
    filled = _fill(turn, wanted, reserved, history, budget, pending)
    messages = _messages(turn, system, note, history, filled)
    own = SegmentReport(
        "",
        "history",
        {
            "history_from": history.since,
            "messages": len(history.messages),
            "tokens": history.tokens,
            "budget": budget,
            "context": turn.context,
            "slot": turn.slot_name,
            "preset": turn.preset.name,
            "segments": [one.segment.path for one in filled],
        },
    )
    return Prompt(
        messages=tuple(messages),
        history_from=history.since,
        decided=(own, *(report for one in filled if (report := one.report()).document.keys() - {"budget"})),
        uses=tuple(dict.fromkeys(use for one in filled for use in one.uses())),
        shown=frozenset(message.id for message in history.messages),
        taint=tuple(_taint(turn, history, filled)),
    )


def _fixed(turn: TurnContext) -> tuple[str, str]:
    """The words of preset and person: system text with the persona, and the author's note."""
    words, given = wording(turn.session.locale), turn.narration
    parts = [turn.preset.system.strip() or words.system, given.persona and words.persona + given.persona]
    return _APART.join(part for part in parts if part), given.note and words.note + given.note


def _density(turn: TurnContext) -> int:
    """Quarters of a token that a character takes, 1 to 4, as the story is written; before it begins, by the locale."""
    messages = turn.services.story.messages.read(turn.address, last=_LOOKED_AT, at=turn.at)
    text = "".join(message.text for message in messages)
    if not text.strip():
        return _PER_TOKEN if turn.session.locale.lower().startswith(_DENSE) else 1
    return max(1, round(token_quarters(text) / len(text)))


def _fill(
    turn: TurnContext,
    wanted: Sequence[Segment],
    reserved: Sequence[int],
    history: History,
    budget: int,
    pending: Pending,
) -> list[FilledSegment]:
    """Each segment in what the history leaves: its whole budget, or its part and what those before have not used."""
    view = turn.view(history.since)
    left = budget - history.tokens
    part = min(1.0, left / max(1, sum(reserved)))
    parts = [int(need * part) for need in reserved]
    filled: list[FilledSegment] = []
    for place, (segment, need) in enumerate(zip(wanted, reserved, strict=True)):
        tokens = min(need, left - sum(parts[place + 1 :]))
        filled.append(fill(turn, segment, view, pending, Room(segment.budget, tokens * _PER_TOKEN)))
        left -= estimate_tokens(filled[-1].framed.text)
    return filled


def _taint(turn: TurnContext, history: History, filled: Sequence[FilledSegment]) -> list[str]:
    origins = {message.origin for message in history.messages} & _UNTYPED_WORD.keys()
    reasons = [f"the story holds {_UNTYPED_WORD[origin]} text" for origin in sorted(origins)]
    reasons += [f"a world file gave the {name}" for name in turn.narration.from_world]
    return reasons + [f"the prompt shows records of {one.segment.path}" for one in filled if one.framed.text]


def _too_long(turn: TurnContext, history: History, budget: int, share: float) -> ContextOverflow:
    if budget <= 0:
        what = (
            f"what every prompt holds, instructions and tools, takes all of the {int(turn.context * share):,} "
            "tokens that the model's context leaves beside the reply"
        )
        cure = "set the slot's context to what the model has, or a smaller reply, or use a model with more"
    else:
        what = f"the newest message takes some {history.tokens:,} tokens, and the model's context leaves {budget:,}"
        cure = "shorten it (edit or undo), or set the slot's context to what the model has"
    return ContextOverflow(what, where=f"model slot {turn.slot_name}", cure=cure, slot=turn.slot_name)


@dataclass(frozen=True, slots=True)
class History:
    """The messages shown, oldest first. `since` is the first turn shown whole, 0 when nothing is left out."""

    messages: tuple[Message, ...]
    since: int
    tokens: int


def _history(turn: TurnContext, room: int) -> History:
    """Player's and narrator's messages, newest first while `room` tokens last; the newest in any case.

    Hidden, blank and deleted messages are left out; in a dry run the last one is what the player might say.
    """
    story = turn.services.story
    unsent = (turn.player,) if turn.dry and turn.player else ()
    used = sum(map(_cost, unsent))
    found = story.read(lambda tx: _newest(story, turn.address, turn.at, room - used, tx))
    return History((*found.messages, *unsent), found.since, found.tokens + used)


def _newest(story: Story, address: Address, at: Coordinate, room: int, tx: Tx) -> History:
    """Reads at most twice as many messages as it shows."""
    shown: list[Message] = []  # newest first
    used, last, count = 0, at.depth, _FIRST_PAGE
    while last >= 0:
        first = max(0, last - count + 1)
        page = story.messages.read(address, depths=(first, last), at=at, hidden=False, tx=tx)
        for message in reversed(page):
            if message.role not in _SHOWN or not message.text.strip():
                continue
            needed = _cost(message)
            if shown and used + needed > room:
                oldest = shown[-1].turn
                return History(tuple(reversed(shown)), oldest + 1 if message.turn == oldest else oldest, used)
            shown.append(message)
            used += needed
        last, count = first - 1, count * 2
    return History(tuple(reversed(shown)), 0, used)


def _cost(message: Message) -> int:
    """Tokens a message takes, as estimated; the speaker's name may be shown with it."""
    name = f"{message.speaker}: " if message.speaker else ""
    return estimate_tokens(name + message.text) + MESSAGE_TOKENS


def _messages(
    turn: TurnContext, system: str, note: str, history: History, filled: Sequence[FilledSegment]
) -> list[ChatMessage]:
    """The prompt as chat messages: neighbours of one role are joined, and a line of the user's begins.

    Segments after the history, and the note, come before the player's last words or the request to continue.
    """
    before, after = [system], list[str]()
    for one in filled:
        if one.framed.text:
            (after if one.segment.position == "after-history" else before).append(one.framed.text)
    after += [note] if note else []
    words = wording(turn.session.locale)
    chat = _chat(history.messages)
    if turn.player is None:
        chat.append(("user", [words.go_on]))
    if chat and chat[0][0] == "assistant":
        chat.insert(0, ("user", [words.opening]))
    if chat:
        texts = chat[-1][1]
        # Behind what the player said before in the same breath, in front of what is to be answered.
        texts[-1:] = [*after, texts[-1]]
    messages = [ChatMessage("user" if role == "user" else "assistant", _APART.join(texts)) for role, texts in chat]
    whole = _APART.join(before)
    return [ChatMessage("system", whole), *messages] if whole else messages


def _chat(history: Sequence[Message]) -> list[tuple[str, list[str]]]:
    """Texts by role, neighbours of one role together; names stand before them where several speak in a role."""
    speakers = {(message.role, _name(message)) for message in history if _name(message)}
    several = {role for role in _SHOWN if sum(role == one for one, _ in speakers) > 1}
    chat: list[tuple[str, list[str]]] = []
    for message in history:
        role = "user" if message.role == "player" else "assistant"
        name = f"{_name(message)}: " if message.role in several and _name(message) else ""
        if not chat or chat[-1][0] != role:
            chat.append((role, []))
        chat[-1][1].append(name + message.text)
    return chat


def _name(message: Message) -> str:
    """A speaker's name as it may stand before a text, without lines and tags: files name speakers."""
    return cut_graphemes(prompt_line(message.speaker).translate(_NO_TAGS), _LONGEST_NAME).strip()
