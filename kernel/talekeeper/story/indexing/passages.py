"""What is indexed of messages and records: the search tables that count, the texts, their terms, the passages.

A workspace's search tables are those its index was made with, not those of a manifest. A manifest that changed is
declared once; from then on its table counts, and `upkeep` brings the passages written before up to it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from talekeeper.db import Tx, dumps, stored
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Kind, Passage
from talekeeper.story.core import Core
from talekeeper.story.upkeep import Task, mark
from talekeeper.story.views import ROOT, Draft, Message, Record
from talekeeper.text import Terms, date_words, digest, document_terms

_NO_TERMS = Terms({}, 0)
_counted: ContextVar[tuple[tuple[str, ...], Terms] | None] = ContextVar("talekeeper_counted_terms", default=None)

_INDEXED = ("text", "title", "speaker", "time", "tags", "when")
"""The entries of a search table that change what is indexed; the rest is read by each search."""


def search_table(tx: Tx, workspace: str, namespace: Namespace) -> SearchTable | None:
    """What the namespace is indexed by; the first to write to it declares it."""
    document = _declared(tx, workspace, namespace)
    if document is not None:
        return _parse(document)
    _write(tx, workspace, namespace)
    return namespace.search


def is_declared(tx: Tx, workspace: str, namespace: Namespace) -> bool:
    """Whether the manifest's table is the one that counts already."""
    return _declared(tx, workspace, namespace) == _document(namespace.search)


def declare(core: Core, tx: Tx, workspace: str, namespace: Namespace) -> bool:
    """Makes the manifest's table the one that counts; True when stored records have to be indexed again."""
    if is_declared(tx, workspace, namespace):
        return False
    _write(tx, workspace, namespace)
    stored = tx.one(
        "SELECT 1 FROM tally WHERE workspace = ? AND plugin = ? AND namespace = ? LIMIT 1",
        (workspace, namespace.plugin, namespace.name),
    )
    if stored is None:
        return False
    mark(core, tx, Task("reindex", workspace, plugin=namespace.plugin, namespace=namespace.name))
    return True


def search_tables(tx: Tx, workspace: str) -> dict[tuple[str, str], SearchTable]:
    """Every searched namespace of the workspace, by plugin and name."""
    rows = tx.rows("SELECT plugin, namespace, search FROM declared WHERE workspace = ? AND search <> ''", (workspace,))
    return {(plugin, name): table for plugin, name, text in rows if (table := _parse(text))}


def _declared(tx: Tx, workspace: str, namespace: Namespace) -> str | None:
    row = tx.one(
        "SELECT search FROM declared WHERE workspace = ? AND plugin = ? AND namespace = ?",
        (workspace, namespace.plugin, namespace.name),
    )
    return None if row is None else str(row[0])


def _write(tx: Tx, workspace: str, namespace: Namespace) -> None:
    tx.run(
        "INSERT INTO declared(workspace, plugin, namespace, search) VALUES (?, ?, ?, ?) "
        "ON CONFLICT(workspace, plugin, namespace) DO UPDATE SET search = excluded.search",
        (workspace, namespace.plugin, namespace.name, _document(namespace.search)),
    )


def _document(table: SearchTable | None) -> str:
    if table is None:
        return ""
    return dumps({name: getattr(table, name) for name in _INDEXED}, "search")


def _parse(document: str) -> SearchTable | None:
    if not document:
        return None
    entries: dict[str, Any] = stored(document)
    entries["text"] = tuple(entries["text"])
    return SearchTable(**entries)


@contextmanager
def counted(texts: tuple[str, ...]) -> Generator[None, None, None]:
    """Counts terms before a write is opened: inside the block these texts' terms are known.

    A text of some megabytes takes seconds to count, and while a write is open everybody else waits.
    """
    token = _counted.set((texts, document_terms(*texts)) if texts else None)
    try:
        yield
    finally:
        _counted.reset(token)


def _terms_of(*texts: str) -> Terms:
    known = _counted.get()
    return known[1] if known is not None and known[0] == texts else document_terms(*texts)


def is_indexed(message: Message) -> bool:
    """Players' and narrators' words are; tool results would make a search find its own output."""
    return not message.hidden and not message.deleted and _is_story(message)


def draft_terms(message: Message | Draft) -> Terms:
    """The text's with what else it is found by: caption, speaker, date. None for what is never indexed."""
    texts = message_texts(message)
    return _terms_of(*texts) if texts else _NO_TERMS


def message_texts(message: Message | Draft) -> tuple[str, ...]:
    """The texts whose terms are counted; empty for what is never indexed."""
    if not _is_story(message):
        return ()
    return message.text, message.caption, message.speaker, date_words(message.time or "")


def _is_story(message: Message | Draft) -> bool:
    return message.role in {"player", "narrator"} and not message.text.isspace() and message.text != ""


def message_passage(message: Message, terms: Terms | None = None) -> Passage:
    """Of a message that `is_indexed`; `terms` when they are known already."""
    from talekeeper.search import features_of_message  # noqa: PLC0415 - brings numpy; reading rows needs none

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
        features=features_of_message(message.text, message.speaker, is_player=message.role == "player"),
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
        terms = _terms_of(text, *others)
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
