"""Asks the questions of a set as memory-search does, to a depth no narrator wants, and keeps the ranked corpus ids."""

from __future__ import annotations

from collections.abc import Iterator

from talekeeper.db import Tx
from talekeeper.embedding import EmbeddedQuestion
from talekeeper.errors import NoModel, NotFound
from talekeeper.evaluate.corpus import RECORDS, refs_of, workspace_of
from talekeeper.evaluate.sets import Question, QuestionSet
from talekeeper.home import Home
from talekeeper.memory_search import part_scopes, query_meaning
from talekeeper.search import Query, Source
from talekeeper.story import Address, Scope

DEPTH = 100
"""How many passages are asked for."""


def rank(home: Home, question_set: QuestionSet, question: Question) -> list[str]:
    """Corpus ids, best first; passages of identical text come right after the one that stands for them.

    The question's text alone is asked, of its own session. Raises `NotFound` when the corpus has no such session.
    """
    address = Address(workspace_of(question_set), question.session)
    source = Source() if question_set.unit == "message" else Source(RECORDS.plugin, RECORDS.name)
    meant = home.semantics.ask([question.text])
    if meant is not None and meant.fault:
        raise NoModel(meant.fault)
    keys = home.story.read(lambda tx: list(_keys(home, tx, address, question.text, source, meant)))
    if question_set.unit == "record":
        return keys
    refs = refs_of(home, address, keys)
    return [refs[key] for key in keys]


def _keys(
    home: Home, tx: Tx, address: Address, text: str, source: Source, meant: EmbeddedQuestion | None
) -> Iterator[str]:
    home.story.session(address, tx=tx)
    parts = part_scopes(home.services, tx, address, [Scope(address.workspace, session=address.session)])
    if not parts:
        raise NotFound("the session has nothing to search", where=address.session)
    found = query_meaning(home.services, tx, meant)
    query = Query(texts=(text,), parts=parts, sources=(source,), depth=DEPTH, meaning=found)
    for hit in home.index.search(tx, query).hits:
        yield hit.key
        for key, _ in hit.also:
            yield key
