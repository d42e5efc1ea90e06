"""Makes the passages the index holds out of messages and record versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from talekeeper.manifest.declared import SearchTable
from talekeeper.search.passage import Kind, Passage
from talekeeper.story.views import Draft, Message, Record
from talekeeper.text import Terms, date_words, digest, document_terms

_NO_TERMS = Terms({}, 0)


def is_indexed(message: Message) -> bool:
    """Players' and narrators' words are; tool results would make a search find its own output."""
    return not message.hidden and not message.deleted and _is_told(message)


def draft_terms(message: Message | Draft) -> Terms:
    """The text's with what else it is found by: caption, speaker, date. None for what is never indexed."""
    if not _is_told(message):
        return _NO_TERMS
    return document_terms(message.text, message.caption, message.speaker, date_words(message.time or ""))


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
    )


def record_passage(record: Record, table: SearchTable) -> Passage:
    """Of a version that can be visible; of a withdrawn one the mark that hides its key."""
    terms, text = _NO_TERMS, ""
    if not record.withdrawn:
        text = "\n".join(_strings(record.value, *table.text))
        others = _strings(record.value, table.title, table.tags, table.speaker)
        dates = [date_words(time) for time in _strings(record.value, table.time)]
        terms = document_terms(text, *others, *dates)
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
        withdrawn=record.withdrawn,
    )


def _strings(value: Any, *properties: str | None) -> list[str]:
    found: list[str] = []
    for name in properties:
        item = value.get(name) if name and isinstance(value, Mapping) else None
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list):
            found.extend(part for part in item if isinstance(part, str))
    return found
