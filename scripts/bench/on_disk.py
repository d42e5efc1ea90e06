"""Peers that keep files: tantivy and SQLite's FTS5; and SQLite alone, below which nothing in it can be."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from talekeeper.text import document_terms, query_terms

from bench.corpus import Passage
from bench.engine import Counted, Scope

_HEAP = 64_000_000


class Tantivy:
    """Lucene's design in Rust: a commit for what is added together, its own constants (k1 1.2, b 0.75).

    Without `counting` it may skip blocks of postings (block-max WAND); with it, it also counts every match, as its
    Python interface does unless told otherwise.
    """

    adds = True

    def __init__(self, folder: Path) -> None:
        self.name = "tantivy"
        self._lib: Any = import_module("tantivy")
        self._path = folder / "tantivy"
        self._path.mkdir(exist_ok=True)
        builder = self._lib.SchemaBuilder()
        builder.add_text_field("terms", stored=False, tokenizer_name="whitespace", index_option="freq")
        builder.add_unsigned_field("number", stored=False, indexed=True, fast=True)
        builder.add_unsigned_field("session", stored=False, indexed=True, fast=True)
        self._schema: Any = builder.build()
        self._index: Any = self._lib.Index(self._schema, path=str(self._path))
        self._index.register_tokenizer(
            "whitespace", self._lib.TextAnalyzerBuilder(self._lib.Tokenizer.whitespace()).build()
        )
        self._writer: Any = None
        self._searcher: Any = self._index.searcher()
        self.counting = False

    def load(self, batch: Sequence[Counted]) -> None:
        """Adds without a commit."""
        for one in batch:
            self._put(one.passage, one.words)

    def settle(self) -> None:
        """Commits, and lets its merges finish."""
        self._writing().commit()
        self._writing().wait_merging_threads()
        self._writer = None
        self._reload()

    def add(self, passages: Sequence[Passage]) -> None:
        """A commit and a new searcher."""
        for passage in passages:
            self._put(passage, Counted(passage, document_terms(passage.text)).words)
        self._writing().commit()
        self._reload()

    def delete(self, passage: Passage) -> None:
        """A commit and a new searcher."""
        self._writing().delete_documents_by_term("number", passage.number)
        self._writing().commit()
        self._reload()

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """Any of the terms; a session or a range of numbers must match."""
        lib = self._lib
        terms = [
            (lib.Occur.Should, lib.Query.term_query(self._schema, "terms", term, "freq")) for term in query_terms(query)
        ]
        asked = lib.Query.boolean_query(terms)
        if scope is not None:
            asked = lib.Query.boolean_query([(lib.Occur.Must, asked), (lib.Occur.Must, self._within(scope))])
        hits = self._searcher.search(asked, depth, count=self.counting).hits
        found: list[int] = self._searcher.fast_field_values("number", [address for _, address in hits])
        return found

    def disk(self) -> int:
        """All its files."""
        return sum(file.stat().st_size for file in self._path.iterdir())

    def close(self) -> None:
        """Lets the writer's threads end."""
        if self._writer is not None:
            self._writer.wait_merging_threads()

    def _within(self, scope: Scope) -> Any:
        query = self._lib.Query
        if scope.session is not None:
            only = query.term_query(self._schema, "session", scope.session)
        else:
            unsigned = self._lib.FieldType.Unsigned
            only = query.range_query(self._schema, "number", unsigned, scope.first, scope.end - 1)
        return query.boost_query(only, 0.0)

    def _put(self, passage: Passage, words: Sequence[str]) -> None:
        document = self._lib.Document()
        document.add_unsigned("number", passage.number)
        document.add_unsigned("session", passage.session)
        document.add_text("terms", " ".join(words))
        self._writing().add_document(document)

    def _writing(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer(_HEAP, 1)
        return self._writer

    def _reload(self) -> None:
        self._index.reload()
        self._searcher = self._index.searcher()


class TantivyCounting:
    """The same index, asked with the counting of matches that its Python interface does unless told otherwise."""

    adds = False

    def __init__(self, other: Tantivy) -> None:
        self.name = "tantivy, counting"
        self._other = other

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """As tantivy, with a count."""
        self._other.counting = True
        try:
            return self._other.search(query, scope, depth)
        finally:
            self._other.counting = False


class Fts5:
    """SQLite's full-text index on terms made beforehand, without content of its own; constants k1 1.2, b 0.75."""

    adds = True

    def __init__(self, folder: Path) -> None:
        self.name = "SQLite FTS5"
        self._path = folder / "fts5.sqlite"
        self._db = sqlite3.connect(self._path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts5(terms, content='')")

    def load(self, batch: Sequence[Counted]) -> None:
        """A transaction a batch."""
        self._put([(one.passage.number, one.words) for one in batch])

    def settle(self) -> None:
        """Empties the log into the file."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def add(self, passages: Sequence[Passage]) -> None:
        """One transaction."""
        self._put([(one.number, Counted(one, document_terms(one.text)).words) for one in passages])

    def delete(self, passage: Passage) -> None:
        """Without content it must be told again what it holds."""
        words = Counted(passage, document_terms(passage.text)).words
        self._db.execute("INSERT INTO f (f, rowid, terms) VALUES ('delete', ?, ?)", (passage.number, _joined(words)))

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """Any of the terms; a scope is a range of row numbers."""
        match = " OR ".join(f'"{_plain(term)}"' for term in query_terms(query))
        scope = scope or Scope(0, 1 << 60)
        sql = "SELECT rowid FROM f WHERE f MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (match, scope.first, scope.end, depth))]

    def disk(self) -> int:
        """The file; the log is emptied by `settle`."""
        return self._path.stat().st_size

    def close(self) -> None:
        """Closes the database."""
        self._db.close()

    def _put(self, entries: Sequence[tuple[int, Sequence[str]]]) -> None:
        self._db.execute("BEGIN")
        for number, words in entries:
            self._db.execute("INSERT INTO f (rowid, terms) VALUES (?, ?)", (number, _joined(words)))
        self._db.execute("COMMIT")


class OneRow:
    """SQLite writing a text as one row of one table: what any transaction costs before there is an index."""

    def __init__(self, folder: Path) -> None:
        self.name = "SQLite, one row"
        self._db = sqlite3.connect(folder / "row.sqlite", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE IF NOT EXISTS passage (number INTEGER PRIMARY KEY, text TEXT)")

    def add(self, passages: Sequence[Passage]) -> None:
        """One transaction; nothing is cut into terms and nothing can be found."""
        self._db.execute("BEGIN IMMEDIATE")
        for one in passages:
            self._db.execute("INSERT INTO passage (number, text) VALUES (?, ?)", (one.number, one.text))
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Closes the database."""
        self._db.close()


def _joined(words: Sequence[str]) -> str:
    return " ".join(map(_plain, words))


def _plain(term: str) -> str:
    """A term as its tokeniser leaves it whole."""
    return term if term.isascii() and term.isalnum() else "x" + term.encode("utf-8", "surrogatepass").hex()
