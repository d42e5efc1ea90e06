"""What the kernel loads: the importers that fill `cards`, and what the plugin does by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from talekeeper.api import ImportReport, PluginContext, Record, Registry, UserError, hookimpl

from talekeeper_memory.card_import import cards_of, entries_of
from talekeeper_memory.card_values import Names
from talekeeper_memory.character_cards import cards_of_character, character_of
from talekeeper_memory.pictures import SIGNATURE, card_in
from talekeeper_memory.wiring import wire

# The largest public lorebooks are a few MB; a file has to be held whole to be parsed.
_FILE_LIMIT = 64 * 1024 * 1024


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Registers what the manifest declares."""
    wire(registry)
    registry.importer("world-info", read_world_info)
    registry.importer("character-card", read_character_card)


def read_world_info(ctx: PluginContext, file: BinaryIO, report: ImportReport) -> Iterator[Record]:
    """A World Info or lorebook file, one card an entry, keyed by its name."""
    entries = entries_of(_parsed(_content(file)))
    if entries is None:
        message = "this is no World Info or lorebook: it has no entries"
        raise UserError(message, cure="for a character card use memory/character-card")
    names = Names(player=_player(ctx))
    return _records(cards_of(entries, names, report.skipped, set()))


def read_character_card(ctx: PluginContext, file: BinaryIO, report: ImportReport) -> Iterator[Record]:
    """A character card V1, V2 or V3, in JSON or in a PNG picture: the character, then the entries of its book."""
    content = _content(file)
    character = character_of(_parsed(card_in(content) if content.startswith(SIGNATURE) else content))
    if character is None:
        message = "this is no character card: it has no name with a description"
        raise UserError(message, cure="for a lorebook use memory/world-info")
    return _records(cards_of_character(character, _player(ctx), report.skipped))


def _records(cards: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    return (Record("cards", card["name"], card) for card in cards)


def _player(ctx: PluginContext) -> str:
    name = ctx.session.player.get("name", "")
    return name if isinstance(name, str) else ""


def _content(file: BinaryIO) -> bytes:
    content = file.read(_FILE_LIMIT + 1)
    if len(content) > _FILE_LIMIT:
        message = f"the file is larger than {_FILE_LIMIT // 1024 // 1024} MiB"
        raise UserError(message, cure="split it into several books")
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
        message = "the file holds a number of thousands of digits"
        raise UserError(message, cure="is it a card or a book?") from None
    except RecursionError:
        message = "the file is nested too deeply"
        raise UserError(message) from None
