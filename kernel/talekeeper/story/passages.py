"""Makes the passages the index holds out of messages and record versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from talekeeper.manifest import SearchTable
from talekeeper.search import Kind, Passage, features_of_message
from talekeeper.story.counting import terms_of
from talekeeper.story.views import ROOT, Draft, Message, Record
from talekeeper.text import Terms, date_words, digest

_NO_TERMS = Terms({}, 0)


def is_indexed(message: Message) -> bool:
    """Players' and narrators' words are; tool results would make a search find its own output."""
    return not message.hidden and not message.deleted and _is_told(message)


def draft_terms(message: Message | Draft) -> Terms:
    """The text's with what else it is found by: caption, speaker, date. None for what is never indexed."""
    if not _is_told(message):
        return _NO_TERMS
    return terms_of(*message_texts(message))


def message_texts(message: Message | Draft) -> tuple[str, ...]:
    """What is counted of it; empty for what is never indexed."""
    if not _is_told(message):
        return ()
    return message.text, message.caption, message.speaker, date_words(message.time or "")


def _is_told(message: Message | Draft) -> bool:
    return message.role in {"player", "narrator"} and not message.text.isspace() and message.text != ""


def message_passage(message: Message, terms: Terms | None = None) -> Passage:
    """Of a message that `is_indexed`; `terms` when they are known already."""
    return Passage(
        kind=Kind.MESSAGE,
        plugin="",
        namespace="",
        key=message.id,
        branch=message.coordinate.branch,
        depth=message.coordinate.depth,
        turn=message.turn,
        terms=draft_terms(message) if terms is None else terms,
        digest=digest(message.text),
        manner=features_of_message(message.text, message.speaker, is_player=message.role == "player"),
    )


def is_hidden(record: Record, table: SearchTable) -> bool:
    """Withdrawn, or switched off by the property that the search table names."""
    return record.withdrawn or (table.when is not None and _property(record.value, table.when) is False)


def record_passage(record: Record, table: SearchTable) -> Passage | None:
    """Of a version that can be visible; of one not to be found, the mark that hides its key.

    At the root such a mark would hide nothing that is left in the index, so there is none.
    """
    hidden = is_hidden(record, table)
    if hidden and record.coordinate == ROOT:
        return None
    terms, text = _NO_TERMS, ""
    if not hidden:
        text, *others = record_texts(record.value, table)
        terms = terms_of(text, *others)
    return Passage(
        kind=Kind.RECORD,
        plugin=record.plugin,
        namespace=record.namespace,
        key=record.key,
        branch=record.coordinate.branch,
        depth=record.coordinate.depth,
        turn=record.turn,
        terms=terms,
        digest=digest(text),
        revision=record.revision,
        person=record.person,
        withdrawn=hidden,
    )


def record_texts(value: object, table: SearchTable) -> tuple[str, ...]:
    """What is counted of a record, the text first."""
    text = "\n".join(_strings(value, *table.text))
    dates = [date_words(time) for time in _strings(value, table.time)]
    return text, *_strings(value, table.title, table.tags, table.speaker), *dates


def _property(value: object, name: str) -> Any:
    return cast("Mapping[str, Any]", value).get(name)


def _strings(value: object, *properties: str | None) -> list[str]:
    found: list[str] = []
    for name in properties:
        item = None if name is None else _property(value, name)
        several = cast("list[object]", item) if isinstance(item, list) else [item]
        found.extend(part for part in several if isinstance(part, str))
    return found
