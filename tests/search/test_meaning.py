"""Meaning in the index: exact cosines over what is in scope, and how they raise scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
import pytest
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
    Ranked,
    Ranking,
    Source,
    count_vectors,
    put_vectors,
    renew_index,
    vector_space,
    without_vectors,
)
from talekeeper.search.storage.writing import remove_docs
from talekeeper.search.vector.stored import Matrix, MatrixCache, unit

WORDS = ("ash", "elm", "fir", "oak", "pine", "yew")
SPACE = "letters/1"
NUMBERS = itertools.count()
Ask = Callable[..., Ranking]


@pytest.fixture
def fill(db: Database, index: Index, part: int, message: Callable[..., Passage]) -> Callable[..., list[int]]:
    """Adds messages at depths from 0 with their vectors; gives their numbers."""

    def add(texts: Sequence[str], vectors: Sequence[Sequence[float]] = (), *, branch: int = 0) -> list[int]:
        passages = [message(text, i, branch=branch, key=f"{branch}.{i}") for i, text in enumerate(texts)]
        docs = db.write(lambda tx: [index.add(tx, part, passage) for passage in passages], name="add")
        found = dict(zip(docs, vectors, strict=False))
        db.write(lambda tx: put_vectors(tx, part, SPACE, found), name="put")
        return docs

    return add


@pytest.fixture
def ask(db: Database, index: Index, part: int) -> Ask:
    def search(text: str, vector: Sequence[float] | None) -> Ranking:
        def read(tx: Tx) -> Ranking:
            space = vector_space(tx, SPACE)
            meaning = None if vector is None or space is None else Meaning(space, {text: vector})
            scope = PartScope(part, {0: 1_000_000})
            query = Query((text,), (scope,), (Source(),), neighbours=False, explain=True, meaning=meaning)
            return index.search(tx, query)

        return db.read(read)

    return search


@pytest.fixture
def ask_records(db: Database, index: Index, part: int, record: Callable[..., Passage]) -> Ask:
    """Asks records, of which each text has a vector and is the key, with the first axis."""

    def search(question: str, told: Mapping[str, Sequence[float]]) -> Ranking:
        def fill(tx: Tx) -> None:
            docs = [index.add(tx, part, record(text, text)) for text in told]
            put_vectors(tx, part, SPACE, dict(zip(docs, told.values(), strict=True)))

        def read(tx: Tx) -> Ranking:
            meaning = Meaning(vector_space(tx, SPACE) or 0, {question: AXES[0]})
            scope, source = PartScope(part, {0: 9}), Source("lore", "entries")
            return index.search(tx, Query((question,), (scope,), (source,), explain=True, meaning=meaning))

        db.write(fill, name="fill")
        return db.read(read)

    return search


def depths(found: Ranking) -> list[int]:
    return [int(hit.key.partition(".")[2]) for hit in found.hits]


def by_words(hit: Ranked) -> float:
    return sum(row.contribution for row in hit.explanation)


def gain(hit: Ranked) -> float:
    return 0.0 if hit.closeness is None else hit.closeness.adds


AXES = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.5, 0.5, 0.0])


def test_what_no_word_finds_is_found_by_what_it_means(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill(WORDS[:5], AXES)

    found = ask("birch", [1.0, 0.1, 0.0])

    assert depths(found)[0] == 0
    assert found.compared == found.searched == 5
    assert found.hits[0].matched == ()
    assert found.hits[0].closeness is not None
    assert found.hits[0].closeness.cosine == pytest.approx(1 / math.hypot(1, 0.1), abs=1e-3)


def test_words_alone_decide_without_a_vector_of_the_question(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill(WORDS[:5], AXES)

    found = ask("elm", None)

    assert (depths(found), found.compared) == ([1], 0)
    assert found.hits[0].closeness is None


def test_the_more_of_the_words_a_passage_has_the_less_it_gains(ask_records: Ask) -> None:
    texts = ["elm elm elm fir fir fir", "elm oak", "yew ash", "pine", "fig"]

    hits = ask_records("elm fir", dict(zip(texts, [AXES[0]] * 3 + [AXES[1]] * 2, strict=True))).hits

    most, some, nothing = (gain(next(hit for hit in hits if hit.key == text)) for text in texts[:3])
    assert 0 < most < some < nothing
    assert most == pytest.approx(0.2**1.5 * nothing)


def test_a_message_that_means_something_else_loses_at_most_what_its_words_gave(
    fill: Callable[..., list[int]], ask: Ask
) -> None:
    fill(["elm", *(f"fir x{i}" for i in range(20))], [AXES[1], *([AXES[0]] * 20)])

    hit = next(one for one in ask("elm", AXES[0]).hits if one.key == "0.0")

    assert gain(hit) == pytest.approx(-by_words(hit))
    assert hit.score == pytest.approx(0)


def test_a_record_that_means_something_else_keeps_what_its_words_gave(ask_records: Ask) -> None:
    hits = ask_records("elm", {"elm": AXES[1], "fir": AXES[0], "oak": AXES[0], "yew": AXES[0]}).hits

    hit = next(one for one in hits if one.key == "elm")
    assert gain(hit) == 0
    assert hit.score == pytest.approx(by_words(hit))


def test_passages_without_a_vector_are_searched_by_words(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill(WORDS, AXES)

    found = ask("yew", [0.0, 1.0, 0.0])

    assert 5 in depths(found)
    assert (found.searched, found.compared) == (6, 5)


@pytest.mark.parametrize("count", range(3))
def test_of_too_few_passages_none_stands_out(fill: Callable[..., list[int]], ask: Ask, count: int) -> None:
    fill(WORDS[:count], AXES[:count])

    assert depths(ask("birch", [1.0, 0.0, 0.0])) == []


def test_where_all_mean_the_same_none_stands_out(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill(WORDS, [[1.0, 1.0, 1.0]] * 6)

    assert depths(ask("birch", [1.0, 0.0, 0.0])) == []


def test_vectors_of_another_length_are_no_match(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill(WORDS[:5], AXES)

    found = ask("birch", [1.0, 0.0])

    assert depths(found) == []
    assert found.compared == 0


@pytest.mark.parametrize("first", [0, 3], ids=["then behind", "then before"])
def test_an_encoder_that_changes_its_length_without_saying_so_has_all_vectors_made_anew(
    db: Database, index: Index, part: int, fill: Callable[..., list[int]], ask: Ask, first: int
) -> None:
    docs = fill(WORDS)
    before, after = docs[first : first + 3], docs[3 - first :][:3]
    db.write(lambda tx: put_vectors(tx, part, SPACE, {doc: [1.0, float(doc)] for doc in before}), name="put")
    ask("birch", [1.0, 0.2])

    db.write(lambda tx: put_vectors(tx, part, SPACE, {doc: [1.0, doc, 1.0] for doc in after}), name="put")
    found = ask("birch", [1.0, 0.2, 0.0])

    assert found.compared == len(after)
    waiting = db.read(lambda tx: without_vectors(tx, part, SPACE, -1, 10))
    assert [row[0] for row in waiting] == before


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_a_vector_has_length_1_whatever_its_numbers(size: float) -> None:
    assert unit([3 * size, -4 * size]).tolist() == pytest.approx([0.6, -0.8])


def test_what_is_out_of_scope_moves_nothing(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill(WORDS[:5], AXES)
    before = ask("birch", [1.0, 0.2, 0.0])

    fill(["birch birch", "elm"], [[1.0, 0.2, 0.0], [-1.0, 0.0, 0.0]], branch=1)
    after = ask("birch", [1.0, 0.2, 0.0])

    assert (after.hits, after.searched) == (before.hits, before.searched)


def test_vectors_of_another_space_are_not_looked_at(
    db: Database, index: Index, part: int, fill: Callable[..., list[int]], ask: Ask
) -> None:
    docs = fill(WORDS[:5], AXES)
    db.write(lambda tx: put_vectors(tx, part, "letters/2", dict.fromkeys(docs, (1.0, 0.0))), name="put")

    found = ask("birch", [1.0, 0.0, 0.0])

    assert (found.hits, found.compared) == ((), 0)


def test_every_wording_has_its_own_meaning(
    db: Database, index: Index, part: int, fill: Callable[..., list[int]]
) -> None:
    fill(WORDS[:5], AXES)

    def read(tx: Tx) -> Ranking:
        space = vector_space(tx, SPACE) or 0
        meaning = Meaning(space, {"birch": [1.0, 0.0, 0.0], "beech": [0.0, 0.0, 1.0]})
        texts = ("birch", "beech", "larch")
        query = Query(texts, (PartScope(part, {0: 9}),), (Source(),), neighbours=False, meaning=meaning)
        return index.search(tx, query)

    assert set(depths(db.read(read))[:2]) == {0, 2}


def test_a_neighbour_of_what_was_meant_has_a_share(fill: Callable[..., list[int]], ask: Ask) -> None:
    fill([f"{word} x{i}" for i, word in enumerate(WORDS * 3)], [AXES[0] if i == 7 else AXES[1] for i in range(18)])

    found = depths(ask("birch", [1.0, 0.0, 0.0]))

    assert found[:2] == [7, 8]
    assert set(found[2:4]) == {6, 9}


def test_an_index_sees_vectors_that_were_written_after_it_looked(
    db: Database, part: int, fill: Callable[..., list[int]], ask: Ask
) -> None:
    docs = fill(WORDS[:5], AXES[:4])
    before = ask("birch", [1.0, 0.0, 0.0])

    db.write(lambda tx: put_vectors(tx, part, SPACE, {docs[4]: AXES[4]}), name="put")
    after = ask("birch", [1.0, 0.0, 0.0])

    assert (before.compared, after.compared) == (4, 5)


def test_a_removed_passage_takes_its_vector_and_a_late_one_is_not_written(
    db: Database, index: Index, part: int, fill: Callable[..., list[int]]
) -> None:
    docs = fill(WORDS[:5], AXES)

    db.write(lambda tx: index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key="0.2"), name="remove")
    kept = db.write(lambda tx: put_vectors(tx, part, SPACE, {docs[2]: AXES[2], docs[3]: AXES[3]}), name="put")

    assert kept == [docs[3]]
    assert db.read(lambda tx: count_vectors(tx, part, SPACE)) == (4, 4)


def test_an_index_that_is_not_to_be_trusted_asks_for_vectors_anew(
    db: Database, index: Index, part: int, fill: Callable[..., list[int]], message: Callable[..., Passage]
) -> None:
    fill(WORDS[:2], AXES[:2])

    renew_index(db, part, lambda tx, cursor: ([message(WORDS[0], 0, key="0.0")], None))

    fresh = db.read(lambda tx: index.find_part(tx, "w", "s", "")) or 0
    assert db.read(lambda tx: count_vectors(tx, fresh, SPACE)) == (1, 0)
    assert [row[3] for row in db.read(lambda tx: without_vectors(tx, fresh, SPACE, -1, 9))] == ["0.0"]


def test_a_matrix_seen_before_stays_as_it_was_when_more_is_told(
    db: Database, index: Index, part: int, fill: Callable[..., list[int]], message: Callable[..., Passage]
) -> None:
    fill(WORDS[:1], AXES[:1])
    space = db.read(lambda tx: vector_space(tx, SPACE)) or 0
    cache, seen = MatrixCache(1 << 20), list[tuple[Matrix, list[int], list[list[int]]]]()

    for turn in range(1, 40):
        (doc,) = db.write(partial(_add, index=index, part=part, passages=[message("w", turn)]), name="add")
        found = {doc: (1.0, turn / 40, 0.0)}
        db.write(partial(put_vectors, part=part, fingerprint=SPACE, vectors=found), name="put")
        matrix = db.read(partial(cache.load, part=part, space=space))
        seen.append((matrix, matrix.docs.tolist(), matrix.rows.tolist()))

    at_once = db.read(lambda tx: MatrixCache(0).load(tx, part, space))
    assert all((matrix.docs.tolist(), matrix.rows.tolist()) == (docs, rows) for matrix, docs, rows in seen)
    assert seen[-1][1:] == (at_once.docs.tolist(), at_once.rows.tolist())


def _add(tx: Tx, index: Index, part: int, passages: Sequence[Passage]) -> list[int]:
    return [index.add(tx, part, passage) for passage in passages]


def test_two_that_let_one_matrix_grow_do_not_meet() -> None:
    start = Matrix(np.arange(20, dtype=np.uint32), np.ones((20, 2), np.int16))
    grown = start.followed_by(np.array([20], np.uint32), np.array([[2, 2]], np.int16), 1)

    one = grown.followed_by(np.array([21], np.uint32), np.array([[3, 3]], np.int16), 2)
    other = grown.followed_by(np.array([30], np.uint32), np.array([[4, 4]], np.int16), 2)

    assert one.docs.tolist() == [*range(22)]
    assert other.docs.tolist() == [*range(21), 30]
    assert [one.rows[-1].tolist(), other.rows[-1].tolist()] == [[3, 3], [4, 4]]


VECTORS = st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4).map(lambda numbers: [*numbers, 0.5])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.dictionaries(st.integers(0, 11), VECTORS, max_size=6)),
        st.tuples(st.just("remove"), st.integers(0, 11)),
        st.tuples(st.just("look"), VECTORS),
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=STEPS, question=VECTORS)
def test_a_matrix_that_grew_has_the_cosines_of_one_read_at_once(
    db: Database, index: Index, message: Callable[..., Passage], steps: list[tuple[str, object]], question: list[float]
) -> None:
    part = db.write(lambda tx: index.part_for(tx, "w", f"s{next(NUMBERS)}", ""), name="part")
    docs = db.write(lambda tx: [index.add(tx, part, message(f"w{i}", i)) for i in range(12)], name="add")
    grown, kept = MatrixCache(1 << 20), dict[int, list[float]]()
    live = set(docs)

    for name, given_ in steps:
        if name == "put":
            found = {docs[i]: vector for i, vector in cast("dict[int, list[float]]", given_).items()}
            db.write(partial(put_vectors, part=part, fingerprint=SPACE, vectors=found), name="put")
            kept |= {doc: vector for doc, vector in found.items() if doc in live}
        elif name == "remove":
            gone = docs[cast("int", given_)]
            db.write(partial(remove_docs, part=part, docs=[gone] if gone in live else []), name="remove")
            live.discard(gone)
        space = db.read(lambda tx: vector_space(tx, SPACE))
        if space is not None:
            db.read(partial(grown.load, part=part, space=space))

    space = db.read(lambda tx: vector_space(tx, SPACE)) or 0
    at_once = db.read(lambda tx: MatrixCache(0).load(tx, part, space))
    matrix = db.read(lambda tx: grown.load(tx, part, space))
    cosines = dict(zip(matrix.docs.tolist(), matrix.cosines(unit(question)).tolist(), strict=True))
    expected = {doc: float(np.dot(unit(kept[doc]), unit(question))) for doc in live & set(kept)}
    assert set(at_once.docs.tolist()) == set(expected)
    assert set(expected) <= set(cosines)
    assert {doc: cosines[doc] for doc in expected} == pytest.approx(expected, abs=2e-3)
