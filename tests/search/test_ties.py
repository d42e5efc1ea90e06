"""Results have one order, whatever order passages were written in and whatever numbers they have in the index."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.db import Database, Tx
from talekeeper.search import (
    Index,
    Kind,
    Meaning,
    PartScope,
    Passage,
    Query,
    Ranking,
    Source,
    put_vectors,
    rebuild_index,
    vector_space,
)
from talekeeper.text import digest, document_terms

TEXTS = ("ash elm", "elm ash", "ash", "ash fir")
"""Of the first two, scores are equal and texts are not."""
SOURCES = (Source(), *(Source(plugin, namespace) for plugin in ("acts", "lore") for namespace in ("facts", "places")))
SPACE = "letters/1"
VECTORS = {"ash elm": (1.0, 0.0), "elm ash": (1.0, 0.0), "ash": (0.0, 1.0), "ash fir": (-1.0, 0.0)}
SESSIONS = itertools.count()


@dataclass(frozen=True)
class Written:
    """A passage in one of two partitions, the session's or the workspace's."""

    part: int
    passage: Passage


@st.composite
def written(draw: st.DrawFn) -> list[Written]:
    """Messages of a few turns and records with the same few keys everywhere."""
    said = [
        Written(0, passage(Source(), f"m{at}", text, depth=at, turn=at // 2))
        for at, text in enumerate(draw(st.lists(st.sampled_from(TEXTS), max_size=6)))
    ]
    places = st.tuples(st.sampled_from([0, 1]), st.sampled_from(SOURCES[1:]), st.sampled_from("kxy"))
    records = [
        Written(part, passage(source, key, draw(st.sampled_from(TEXTS)), turn=draw(st.sampled_from([-1, 3]))))
        for part, source, key in draw(st.lists(places, min_size=2, max_size=10, unique=True))
    ]
    return said + records


def passage(source: Source, key: str, text: str, *, turn: int, depth: int = -1) -> Passage:
    kind = Kind.RECORD if source.plugin else Kind.MESSAGE
    terms = document_terms(text)
    return Passage(kind, source.plugin, source.namespace, key, 0, depth, turn, terms, digest(text))


class Shelf:
    """Two partitions that were filled in one order."""

    def __init__(self, db: Database, index: Index, passages: Sequence[Written]) -> None:
        self.db, self.index, self.passages = db, index, passages
        self.parts = db.write(self._fill, name="fill")

    def _fill(self, tx: Tx) -> list[int]:
        scopes = [(f"w{next(SESSIONS)}", session) for session in ("s", "")]
        parts = [self.index.part_for(tx, workspace, session, "") for workspace, session in scopes]
        for one in self.passages:
            doc = self.index.add(tx, parts[one.part], one.passage)
            text = next(text for text in TEXTS if digest(text) == one.passage.digest)
            put_vectors(tx, parts[one.part], SPACE, {doc: VECTORS[text]})
        return parts

    def rebuild(self) -> None:
        for number, part in enumerate(self.parts):
            passages = [one.passage for one in self.passages if one.part == number]
            rebuild_index(self.db, part, all_at_once(passages))

    def ask(self, texts: tuple[str, ...], sources: Sequence[Source], *, by_meaning: bool = False) -> Ranking:
        def search(tx: Tx) -> Ranking:
            meaning = None
            if by_meaning and (space := vector_space(tx, SPACE)) is not None:
                meaning = Meaning(space, dict.fromkeys(texts, (1.0, 0.0)))
            scopes = PartScope(self.parts[0], {0: 99}), PartScope(self.parts[1], {})
            return self.index.search(tx, Query(texts, scopes, tuple(sources), meaning=meaning))

        return self.db.read(search)

    def order(self, texts: tuple[str, ...], sources: Sequence[Source], *, by_meaning: bool) -> list[object]:
        """What a search gives, without internal numbers."""
        found = self.ask(texts, sources, by_meaning=by_meaning).hits
        return [
            (self.parts.index(hit.part), hit.kind, hit.plugin, hit.namespace, hit.key, round(hit.score, 5), hit.also)
            for hit in found
        ]


def all_at_once(passages: Sequence[Passage]) -> Callable[[Tx, int | None], tuple[Sequence[Passage], int | None]]:
    """What `rebuild` asks for the passages of a partition."""
    return lambda _tx, _cursor: (passages, None)


few = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
questions = st.sampled_from([("ash",), ("ash elm",), ("ash", "elm fir"), ("elm", "fir")])


@few
@given(passages=written(), texts=questions, by_meaning=st.booleans(), data=st.data())
def test_results_are_in_one_order_whatever_order_they_were_written_in(
    db: Database, index: Index, passages: list[Written], texts: tuple[str, ...], by_meaning: bool, data: st.DataObject
) -> None:
    first = Shelf(db, index, passages)
    other = Shelf(db, index, data.draw(st.permutations(passages)))
    sources = data.draw(st.permutations(SOURCES))

    before = first.order(texts, SOURCES, by_meaning=by_meaning)
    found = other.order(texts, sources, by_meaning=by_meaning)
    words_alone = first.order(texts, sources, by_meaning=False)
    first.rebuild()

    assert found == before
    assert first.order(texts, sources, by_meaning=False) == words_alone


@few
@given(passages=written())
def test_equal_records_are_ordered_by_turn_then_plugin_namespace_and_key(
    db: Database, index: Index, passages: list[Written]
) -> None:
    shelf = Shelf(db, index, passages)

    found = shelf.ask(("ash",), SOURCES[1:]).hits

    ranks = [(-hit.score, -hit.turn, hit.plugin, hit.namespace, hit.key) for hit in found]
    assert ranks == sorted(ranks)


def test_of_many_equals_by_meaning_the_first_by_key_are_found(db: Database, index: Index) -> None:
    near = [passage(SOURCES[1], f"near{number:03}", f"silver{number}", turn=-1) for number in range(250)]
    far = [passage(SOURCES[1], f"far{number:03}", f"golden{number}", turn=-1) for number in range(250)]

    def fill(tx: Tx, passages: Sequence[Passage]) -> int:
        part = index.part_for(tx, f"w{next(SESSIONS)}", "s", "")
        vectors = {index.add(tx, part, one): (1.0 if one in near else -1.0, 0.0) for one in passages}
        put_vectors(tx, part, SPACE, vectors)
        return part

    def search(tx: Tx, part: int) -> list[str]:
        meaning = Meaning(vector_space(tx, SPACE) or 0, {"ash": (1.0, 0.0)})
        query = Query(("ash",), (PartScope(part, {0: 9}),), SOURCES[1:2], depth=10, meaning=meaning)
        return [hit.key for hit in index.search(tx, query).hits]

    for passages in (near + far, far + near[::-1]):
        part = db.write(partial(fill, passages=passages), name="fill")
        assert db.read(partial(search, part=part)) == [one.key for one in near[:10]]
