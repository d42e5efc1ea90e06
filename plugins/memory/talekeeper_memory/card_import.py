"""Imported files become cards: World Info and lorebooks, and character cards in JSON or in a PNG picture.

Lorebooks have three shapes: SillyTavern's World Info (`entries` is a table, fields `key`, `keysecondary`, `comment`,
`disable`), the book inside a character card V2 (`entries` is a list, fields `keys`, `secondary_keys`, `name`,
`enabled`), and the same list wrapped as `{"spec": "lorebook_v3", "data": …}`. Converters mix the fields' spellings, so
both are read everywhere. A character card V1 has its fields at the top, V2 and V3 under `data` with a `spec`.
Greetings, example dialogue and prompts for other programs are not lore and stay out.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from talekeeper.api import ImportReport, PluginContext, Record, UserError

from talekeeper_memory.cards import player_name

Skipped = Callable[[str, str], None]
"""Takes what was left out, and why."""

Entries = list[tuple[str, Any]]
"""(id, entry) pairs in the file's order; an entry may be anything."""

NAME_LIMIT = 200
# The largest public lorebooks are a few MB; a file has to be held whole to be parsed.
_FILE_LIMIT = 64 * 1024 * 1024
# Front ends write {{char}} and {{user}} in any case, some with spaces; <BOT> and <USER> are the older spelling.
_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<bot>", re.IGNORECASE)
_PLAYER = re.compile(r"\{\{\s*user\s*\}\}|<user>", re.IGNORECASE)
_DEFAULTS: Mapping[str, Any] = {
    "kind": "lore", "keys": [], "secondary_keys": [], "constant": False, "enabled": True, "order": 100,
}  # fmt: skip
_LABELLED = (("personality", "Personality"), ("scenario", "Scenario"))
_SPECS = ("chara_card_v2", "chara_card_v3")
_MARKS = ("description", "personality", "scenario", "first_mes")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TEXTS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
_KEYWORDS = (b"ccv3", b"chara")  # V3 wins: such files repeat the card as V2 for older programs
_UNPACKED_LIMIT = 16 * 1024 * 1024  # bytes of base64; the largest public cards have a few hundred KB


def read_world_info(ctx: PluginContext, file: BinaryIO, report: ImportReport) -> Iterator[Record]:
    """A World Info or lorebook file, one card an entry, keyed by its name."""
    entries = entries_of(_parsed(_content(file)))
    if entries is None:
        message = "this is no World Info or lorebook: it has no entries"
        raise UserError(message, cure="for a character card use memory/character-card")
    cards = cards_of(entries, Names(player=player_name(ctx)), report.skipped, set())
    return (Record("cards", card["name"], card) for card in cards)


def read_character_card(ctx: PluginContext, file: BinaryIO, report: ImportReport) -> Iterator[Record]:
    """A character card V1, V2 or V3, in JSON or in a PNG picture: the character, then the entries of its book."""
    content = _content(file)
    character = character_of(_parsed(card_in(content) if content.startswith(SIGNATURE) else content))
    if character is None:
        message = "this is no character card: it has no name with a description"
        raise UserError(message, cure="for a lorebook use memory/world-info")
    cards = cards_of_character(character, player_name(ctx), report.skipped)
    return (Record("cards", card["name"], card) for card in cards)


def _content(file: BinaryIO) -> bytes:
    content = file.read(_FILE_LIMIT + 1)
    if len(content) > _FILE_LIMIT:
        mebibytes = _FILE_LIMIT // 1024 // 1024
        raise UserError(f"the file is larger than {mebibytes} MiB", cure="split it into several books")
    return content


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"this is no PNG picture, and as text it is not UTF-8 from byte {error.start + 1:,} on"
        raise UserError(message, cure="take another copy of a picture; save a text as UTF-8") from None
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}, column {error.colno}: {error.msg[0].lower()}{error.msg[1:]}"
        raise UserError(message, cure="save the file as JSON") from None
    except ValueError:
        raise UserError("the file holds a number of thousands of digits", cure="is it a card or a book?") from None
    except RecursionError:
        raise UserError("the file is nested too deeply") from None


@dataclass(frozen=True, slots=True)
class Names:
    """The names for `{{user}}` and `{{char}}` in one import; without a name the placeholder stays."""

    player: str = ""
    character: str = ""

    def fill(self, text: str) -> str:
        """The text with the names filled in."""
        if self.character:
            text = _CHARACTER.sub(lambda _match: self.character, text)
        return _PLAYER.sub(lambda _match: self.player, text) if self.player else text


def entries_of(data: object) -> Entries | None:
    """A lorebook's entries, or None when `data` is not a lorebook."""
    book = _table(data)
    if book is not None and "entries" not in book:
        book = _table(book.get("data"))
    entries = None if book is None else book.get("entries")
    by_id = _table(entries)
    if by_id is not None:
        return list(by_id.items())
    if isinstance(entries, list):
        return [(str(number), entry) for number, entry in enumerate(cast("list[object]", entries))]
    return None


def cards_of(entries: Entries, names: Names, skipped: Skipped, taken: set[str]) -> Iterator[dict[str, Any]]:
    """One card for each entry that has a text; `taken` holds the names used so far in this file."""
    for identity, value in entries:
        entry = _table(value)
        if entry is None:
            skipped(f"entry {identity}", "it is not a table")
            continue
        body = names.fill(_without_decorators(_text(entry.get("content"))))
        if not body:
            skipped(f"entry {identity}", "it has no content")
            continue
        keys = words(_either(entry, "key", "keys"))
        if entry.get("use_regex") is True and keys:
            skipped(f"keys of entry {identity}", "they are regular expressions, which are never run")
            keys = []
        keys = [names.fill(key) for key in keys]
        title = names.fill(_text(entry.get("name")) or _text(entry.get("comment")))
        yield _card(
            unique(title or (keys[0] if keys else "") or f"entry {identity}", taken),
            body,
            keys=keys,
            secondary_keys=[names.fill(key) for key in words(_either(entry, "keysecondary", "secondary_keys"))],
            constant=entry.get("constant") is True,
            enabled=entry.get("disable") is not True and entry.get("enabled") is not False,
            order=whole(_either(entry, "order", "insertion_order"), 100),
        )


def _without_decorators(content: str) -> str:
    """The text below the lines with @@ that a card V3 may begin with to steer other programs."""
    lines = content.splitlines(keepends=True)
    while lines and lines[0].startswith("@@"):
        del lines[0]
    return "".join(lines).strip()


def _either(entry: Mapping[str, Any], first: str, second: str) -> object:
    value = entry.get(first)
    return entry.get(second) if value is None else value


def character_of(data: object) -> Mapping[str, Any] | None:
    """The table with the character's fields, or None when `data` is not a card."""
    fields = _table(data)
    if fields is not None and fields.get("spec") in _SPECS:
        fields = _table(fields.get("data")) or fields
    if fields is None or not _text(fields.get("name")):
        return None
    return fields if any(isinstance(fields.get(mark), str) for mark in _MARKS) else None


def cards_of_character(data: Mapping[str, Any], player: str, skipped: Skipped) -> Iterator[dict[str, Any]]:
    """The character's own card first, then one for each entry of its book."""
    name = _text(data["name"])
    nickname = _text(data.get("nickname"))
    # A card V3 with a nickname means that by {{char}}.
    names = Names(player=player, character=nickname or name)
    taken: set[str] = set()
    body = names.fill(_character_body(data))
    if body:
        keys = [name, *words(nickname)]
        yield _card(unique(name, taken), body, kind="character", keys=list(dict.fromkeys(keys)))
    else:
        skipped(name, "it has no description, personality or scenario")
    book = entries_of(data.get("character_book"))
    yield from cards_of(book or [], names, skipped, taken)


def _character_body(data: Mapping[str, Any]) -> str:
    parts = [_text(data.get("description"))]
    parts += [f"{label}: {text}" for field, label in _LABELLED if (text := _text(data.get(field)))]
    return "\n\n".join(part for part in parts if part)


def _card(name: str, body: str, **more: Any) -> dict[str, Any]:
    """A record value for `cards`; fields at their default are left out."""
    return {"name": name, "body": body, **{field: item for field, item in more.items() if item != _DEFAULTS[field]}}


def words(value: object) -> list[str]:
    """Trigger words in their order, once each: from a list, or from one string with commas as older files have it."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return []
    found = (item.strip() for item in cast("list[object]", value) if isinstance(item, str))
    return list(dict.fromkeys(item for item in found if item))


def whole(value: object, default: int) -> int:
    """An integer from a number or a numeric string, kept within what the store can hold."""
    try:
        number = int(float(value)) if isinstance(value, (int, float, str)) else default
    except (ValueError, OverflowError):
        return default
    return number if abs(number) < 2**53 else default


def unique(name: str, taken: set[str]) -> str:
    """The name cut to its limit, with a number behind it when another card of the same file has it already."""
    base = name[:NAME_LIMIT].strip()
    candidate, number = base, 2
    while candidate in taken:
        tail = f" ({number})"
        candidate, number = base[: NAME_LIMIT - len(tail)] + tail, number + 1
    taken.add(candidate)
    return candidate


def _table(value: object) -> Mapping[str, Any] | None:
    """A JSON object as it is; None for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def _text(value: object) -> str:
    """A string without outer white space; anything else is empty."""
    return value.strip() if isinstance(value, str) else ""


def card_in(picture: bytes) -> bytes:
    """The JSON of a PNG picture's card; raises `UserError` with what is wrong with the picture.

    The card is base64 in a text chunk named `ccv3` (V3) or `chara` (V1, V2). The chunks are walked as they are written
    (PNG specification, third edition, sections 5 and 11.3.3); the picture itself is never decoded, and what is unpacked
    is bounded before it is unpacked.
    """
    found: dict[bytes, bytes] = {}
    for kind, start, data in _chunks(picture):
        keyword, _, rest = data.partition(b"\0")
        if kind in _TEXTS and keyword in _KEYWORDS:
            (checksum,) = struct.unpack_from(">I", picture, start + 8 + len(data))
            if zlib.crc32(kind + data) != checksum:
                raise _damaged(f"the picture is damaged: the checksum of the chunk at byte {start:,} is wrong")
            found.setdefault(keyword, _chunk_text(kind, rest))
    for keyword in _KEYWORDS:
        if keyword in found:
            return _decoded(found[keyword], keyword.decode())
    cure = "pictures lose it when they are edited or sent by a messenger; take the original file"
    raise UserError("the picture carries no character card", cure=cure)


def _chunks(picture: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """(type, where it begins, data) up to the end chunk."""
    at = len(SIGNATURE)
    while True:
        left = len(picture) - at - 12
        length, kind = struct.unpack_from(">I4s", picture, at) if left >= 0 else (0, b"")
        if length > left:
            raise _damaged(f"the picture is cut off: the chunk at byte {at:,} is not all there")
        yield kind, at, picture[at + 8 : at + 8 + length]
        if kind == b"IEND":
            return
        at += 12 + length


def _damaged(message: str) -> UserError:
    return UserError(message, cure="take another copy of it")


def _chunk_text(kind: bytes, rest: bytes) -> bytes:
    """The text behind the keyword, after the compression method and, in `iTXt`, its language."""
    if kind == b"tEXt":
        return rest
    if kind == b"zTXt":
        return _unpacked(rest[1:])
    text = rest[2:].split(b"\0", 2)[-1]
    return _unpacked(text) if rest[:1] == b"\x01" else text


def _unpacked(data: bytes) -> bytes:
    try:
        text = zlib.decompressobj().decompress(data, _UNPACKED_LIMIT + 1)
    except zlib.error as error:
        raise _damaged(f"the card in the picture cannot be unpacked ({error})") from None
    if len(text) > _UNPACKED_LIMIT:
        message = f"the card in the picture is larger than {_UNPACKED_LIMIT // 1024 // 1024} MiB when it is unpacked"
        raise UserError(message, cure="is it a card?")
    return text


def _decoded(text: bytes, keyword: str) -> bytes:
    try:
        return base64.b64decode(b"".join(text.split()), validate=True)
    except binascii.Error as error:
        raise _damaged(f"the card in the picture, its text {keyword!r}, is not base64 ({error})") from None
