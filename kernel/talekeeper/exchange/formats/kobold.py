"""KoboldAI's and KoboldAI Lite's saves: one JSON document whose `prompt` and `actions` are the story, piece by piece.

KoboldAI keeps other versions of a piece (`actions_metadata` in its first format, `Options` in its second); where a
piece is one message they become its takes. Who speaks is told by marks inside the pieces: tags around instructions,
`Name:` in a chat, and in an adventure the `>` before what the player does. Memory, author's note and world info are no
messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from talekeeper.exchange.source import Entry, Notes, Source, role_of
from talekeeper.story import Draft, Role
from talekeeper.text import is_array, is_table

_TAGS: dict[str, Role] = {"{{[INPUT]}}": "player", "{{[OUTPUT]}}": "narrator", "{{[SYSTEM]}}": "system"}
_SETTINGS: dict[str, Role] = {"instruct_starttag": "player", "instruct_endtag": "narrator", "instruct_systag": "system"}
_ENDS = re.compile(r"\{\{\[(?:INPUT|OUTPUT|SYSTEM)_END\]\}\}")
_ADVENTURE, _CHAT, _INSTRUCT = "2", "3", "4"  # Lite's `opmode`, a number or its text
_BETWEEN_NAMES = "||$||"  # where Lite has several opponents
_LINE = 1  # a document has no lines of its own


def is_kobold(row: Mapping[str, Any]) -> bool:
    """Whether a JSON object is such a save."""
    return {"prompt", "actions"} <= row.keys() and not {"gamestarted", "file_version"}.isdisjoint(row)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Voice:
    role: Role = "narrator"
    name: str = ""


@dataclass(slots=True)
class _Speech:
    """Who speaks by which mark, and who does at the moment."""

    marks: dict[str, _Voice]
    pattern: re.Pattern[str]
    adventure: bool
    now: _Voice = field(default_factory=_Voice)

    def split(self, text: str) -> list[tuple[_Voice, str]]:
        """A piece in messages; one without a mark goes on with who spoke before."""
        at, parts = 0, list[tuple[_Voice, str]]()
        text = _ENDS.sub("", text)
        for mark in self.pattern.finditer(text):
            parts.append((self.now, text[at : mark.start()].strip()))
            self.now, at = self.marks[mark["mark"]], mark.end()
        rest = text[at:].strip()
        if not at and self.adventure:
            self.now = _Voice("player") if rest.startswith(">") else _Voice()
            rest = rest.removeprefix(">").strip()
        return [(voice, said) for voice, said in [*parts, (self.now, rest)] if said]


def read_kobold(source: Source, notes: Notes, player: str | None = None) -> Iterator[Entry]:
    """Entries in story order, known by their place (`#1`, …); another version of one is `#1/1`."""
    save = source.document()
    if not is_kobold(save):
        source.fail(None, "this is no save of KoboldAI", "it has `prompt`, `actions` and `gamestarted`")
    for key in ("memory", "authorsnote", "authornote", "worldinfo", "worldinfo_v2"):
        if save.get(key):
            notes.take(f"`{key}` is no part of the story and is left out", _LINE)
    speech, end, place = _speech(save), source.stream.tell(), 0
    for piece in _pieces(source, save):
        parts = speech.split(piece.text)
        if len(parts) != 1 and piece.others:
            notes.take("versions of a piece that holds several messages are left out", _LINE)
        for voice, text in parts:
            place += 1
            draft = _draft(voice, text, player, f"#{place}")
            others = _others(speech, piece, text) if len(parts) == 1 else ()
            takes = tuple(replace(draft, text=one, ref=f"#{place}/{n}") for n, one in enumerate(others, start=1))
            yield Entry(_LINE, end, replace(draft, takes=takes))


def _draft(voice: _Voice, text: str, player: str | None, ref: str) -> Draft:
    if voice.role == "player" and not voice.name:
        return Draft("player", text, player or "", ref=ref)
    return Draft(role_of(voice.name, player, voice.role), text, voice.name, ref=ref)


def _others(speech: _Speech, piece: _Piece, chosen: str) -> list[str]:
    """The versions that are one message too, each once."""
    before, found = speech.now, list[str]()
    for other in piece.others:
        parts = speech.split(other)
        found += [text for _, text in parts if len(parts) == 1 and text != chosen and text not in found]
    speech.now = before
    return found


def _speech(save: Mapping[str, Any]) -> _Speech:
    settings = save.get("savedsettings")
    settings = settings if is_table(settings) else {}
    mode = str(settings.get("opmode", ""))
    marks = {tag: _Voice(role) for tag, role in _TAGS.items()}
    names: dict[str, _Voice] = {}
    if mode == _INSTRUCT:
        for key, role in _SETTINGS.items():
            tag = _text(settings.get(key)).replace("\\n", "\n").strip()
            marks |= {tag: _Voice(role)} if tag else {}
    if mode == _CHAT or save.get("chatmode") is True:
        names = _names(settings, save)
    tags = "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))
    speakers = "|".join(rf"{re.escape(name)}(?=\s*:)" for name in sorted(names, key=len, reverse=True))
    pattern = rf"(?P<mark>{tags})" if not names else rf"(?m:^[^\S\n]*)(?P<mark>{speakers})\s*:"
    return _Speech(names or marks, re.compile(pattern), adventure=not names and mode in ("", _ADVENTURE))


def _names(settings: Mapping[str, Any], save: Mapping[str, Any]) -> dict[str, _Voice]:
    """Who is called how in a chat, the player last, so that the player keeps a name that both have."""
    opponents = [*_text(settings.get("chatopponent")).split(_BETWEEN_NAMES), _text(save.get("botname"))]
    players = [_text(settings.get("chatname")), _text(save.get("chatname"))]
    found = {name: _Voice("narrator", name) for one in opponents if (name := one.strip())}
    return found | {name: _Voice("player", name) for one in players if (name := one.strip())}


def _pieces(source: Source, save: Mapping[str, Any]) -> Iterator[_Piece]:
    yield _Piece(_checked(source, save["prompt"], "prompt"))
    actions = save["actions"]
    if is_table(actions):
        actions = actions.get("actions")
        if not is_table(actions):
            source.fail(None, "`actions` has no `actions`", "is the file complete?")
        yield from _second_format(source, actions)
    elif is_array(actions):
        metadata = save.get("actions_metadata")
        for number, text in enumerate(actions):
            about = metadata.get(str(number)) if is_table(metadata) else None
            others = about.get("Alternative Text") if is_table(about) else None
            yield _Piece(_checked(source, text, f"actions/{number}"), _versions(source, others, "Text"))
    else:
        source.fail(None, "`actions` is neither a list nor an object", "is the file complete?")


def _second_format(source: Source, actions: Mapping[str, Any]) -> Iterator[_Piece]:
    """KoboldAI's own pieces, numbered by their keys."""
    for number in sorted((key for key in actions if key.isdecimal()), key=int):
        action = actions[number]
        if not is_table(action):
            source.fail(None, f"`actions/{number}` is not an object", "is the file complete?")
        text = _checked(source, action.get("Selected Text"), f"actions/{number}/Selected Text")
        yield _Piece(text, _versions(source, action.get("Options"), "text"))


def _versions(source: Source, found: object, key: str) -> tuple[str, ...]:
    if not is_array(found):
        return ()
    texts = [_text(one.get(key)) for one in found if is_table(one)]
    return tuple(source.check(text, key, _LINE) for text in texts if text.strip())


def _checked(source: Source, value: object, place: str) -> str:
    if not isinstance(value, str):
        source.fail(None, f"`{place}` must be text, not {type(value).__name__}")
    return source.check(value, place, _LINE)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
