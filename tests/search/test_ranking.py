"""Order, explanation, neighbours, wordings, equals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pytest
from talekeeper.db import Database
from talekeeper.search import Index, Kind, PartScope, Passage, Placing, Query, Ranking, Source, maintain_index

Make = Callable[..., Passage]
Ask = Callable[..., Ranking]
MESSAGES = (Source(),)
ENTRIES = (Source("lore", "entries"),)


@pytest.fixture
def add(db: Database, index: Index, part: int) -> Callable[..., None]:
    def put(*passages: Passage) -> None:
        db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="add")

    return put


@pytest.fixture
def ask(db: Database, index: Index, part: int) -> Ask:
    def search(*texts: str, sources: tuple[Source, ...] = MESSAGES, **more: Any) -> Ranking:
        query = Query(texts, (PartScope(part, {0: 10_000}),), sources, **more)
        return db.read(lambda tx: index.search(tx, query))

    return search


def keys(ranking: Ranking) -> list[str]:
    return [hit.key for hit in ranking.hits]


def test_a_match_shares_a_term_even_in_a_corpus_of_one(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(message("silver", 1))

    (hit,) = ask("silver").hits

    assert (hit.kind, hit.key, hit.turn, hit.matched) == (Kind.MESSAGE, "m1", 1, ("silver",))
    assert hit.score > 0


@pytest.mark.parametrize("text", ["", "  ", "？……", "\0", "\ud800", "zzz"])
def test_a_query_without_a_term_in_the_index_finds_nothing(
    add: Callable[..., None], ask: Ask, message: Make, text: str
) -> None:
    add(message("silver", 1))

    assert ask(text) == Ranking((), 1)


def test_an_empty_index_finds_nothing(part: int, ask: Ask) -> None:
    assert ask("silver") == Ranking((), 0)


def test_passages_without_words_are_counted_and_never_found(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(message("…", 1), message("!", 2))

    assert ask("silver") == Ranking((), 2)


def test_ties_go_to_the_later_turn_then_the_deeper_then_the_key(
    add: Callable[..., None], ask: Ask, message: Make, record: Make
) -> None:
    add(*(message(f"silver {word}", i, turn=i // 2) for i, word in enumerate(["ash", "elm", "oak", "fir"])))
    add(*(record(f"silver {key}", key) for key in ("b", "c", "a")))

    assert keys(ask("silver", neighbours=False)) == ["m3", "m2", "m1", "m0"]
    assert keys(ask("silver", neighbours=False, depth=3)) == ["m3", "m2", "m1"]
    assert keys(ask("silver", sources=ENTRIES)) == ["a", "b", "c"]
    assert keys(ask("silver", sources=ENTRIES, depth=2)) == ["a", "b"]


def test_an_explanation_adds_up_to_the_score(add: Callable[..., None], ask: Ask, message: Make, record: Make) -> None:
    add(message("where did Mira put the silver key", 1), message("under the third step", 2), message("a key", 3))
    add(record("Mira has a silver key", "k"), record("a key", "other"))
    sources = (Source(), Source("lore", "entries", weight=3.0))

    ranking = ask("Mira's silver key", sources=sources, explain=True)

    assert len(ranking.hits) == 5
    for hit in ranking.hits:
        assert sum(row.contribution for row in hit.explanation) == pytest.approx(hit.score)
        assert {row.term for row in hit.explanation} == {*hit.matched, *hit.near}


def test_an_explanation_has_length_and_the_place_for_each_wording(
    add: Callable[..., None], ask: Ask, message: Make, record: Make
) -> None:
    add(message("a silver key", 1), message("a key", 2), message("a boat and nothing more", 3), record("key", "e1"))

    first, *_ = ask("silver", "key", explain=True, neighbours=False).hits
    (entry,) = ask("silver", "key", sources=ENTRIES, explain=True).hits

    assert first.placing == Placing(length=3, average=10 / 3, ranks=(1, 2))
    assert entry.placing == Placing(length=1, average=1.0, ranks=(None, 1))


@pytest.mark.parametrize("seed", range(4))
def test_what_filters_left_out_and_what_was_searched_are_all_there_is(
    db: Database, index: Index, part: int, add: Callable[..., None], message: Make, record: Make, seed: int
) -> None:
    dice = Random(seed)
    add(*(message("ash", depth, branch=dice.choice((0, 0, 1))) for depth in range(40)))
    add(*(record("ash", f"e{i % 7}", revision=i, turn=dice.randrange(40)) for i in range(20)))
    query = Query(
        ("ash",),
        (PartScope(part, {0: dice.randrange(20, 40)}),),
        MESSAGES + ENTRIES,
        turn_from=dice.randrange(20),
        turn_to=dice.randrange(20, 40),
        before_turn=dice.randrange(10, 40),
        explain=True,
    )

    found = db.read(lambda tx: index.search(tx, query))

    assert found.left_out is not None
    assert min(asdict(found.left_out).values()) >= 0
    assert found.searched + sum(asdict(found.left_out).values()) == 60
    assert db.read(lambda tx: index.search(tx, replace(query, explain=False))).left_out is None


def test_without_the_wish_nothing_is_explained(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(message("silver", 1))

    assert ask("silver").hits[0].explanation == ()


def test_the_answer_beside_the_question_enters(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(
        message("Where did you put the silver key?", 1),
        message("Under the third step.", 2),
        message("Good.", 3),
        message("It rains.", 4),
        message("The gate is closed.", 5),
        message("So is the mill.", 6),
    )

    ranking = ask("silver key")

    by_key = {hit.key: hit for hit in ranking.hits}
    assert keys(ranking) == ["m1", "m2", "m3", "m4", "m5"]
    assert (by_key["m2"].matched, by_key["m2"].near) == ((), ("silver", "key"))
    assert keys(ask("silver key", neighbours=False)) == ["m1"]


def test_neighbours_are_those_on_the_lineage(db: Database, index: Index, part: int, message: Make) -> None:
    passages = [
        message("the silver key", 1),
        message("aside", 2, key="aside", branch=1),
        message("on the way", 3),
        message("far away", 9),
    ]
    db.write(lambda tx: [index.add(tx, part, one) for one in reversed(passages)], name="add")
    query = Query(("silver",), (PartScope(part, {0: 9}),), MESSAGES)

    ranking = db.read(lambda tx: index.search(tx, query))

    assert keys(ranking) == ["m1", "m3", "m9"]


def test_records_have_no_neighbours(add: Callable[..., None], ask: Ask, record: Make) -> None:
    add(record("the silver key", "a"), record("on the way", "b"))

    assert keys(ask("silver", sources=ENTRIES)) == ["a"]


def test_messages_and_records_take_turns_and_have_statistics_of_their_own(
    add: Callable[..., None], ask: Ask, message: Make, record: Make
) -> None:
    add(message("silver key", 1), message("silver", 2), record("silver key", "a"))
    alone = ask("silver key", sources=ENTRIES, neighbours=False).hits

    ranking = ask("silver key", sources=MESSAGES + ENTRIES, neighbours=False)

    assert keys(ranking) == ["m1", "a", "m2"]
    assert [hit for hit in ranking.hits if hit.kind is Kind.RECORD] == list(alone)


def test_within_a_rank_the_better_covering_one_goes_first(
    add: Callable[..., None], ask: Ask, message: Make, record: Make
) -> None:
    add(message("the key", 1), record("the silver key of Mira", "a"), record("the silver ring", "b"))

    assert keys(ask("Mira silver key", sources=MESSAGES + ENTRIES))[0] == "a"


def test_weight_multiplies_the_score_of_a_namespace(add: Callable[..., None], ask: Ask, record: Make) -> None:
    add(record("silver key", "a"), record("a silver ring among others", "b", namespace="notes"))
    plain = {hit.key: hit.score for hit in ask("silver", sources=(*ENTRIES, Source("lore", "notes"))).hits}

    ranking = ask("silver", sources=(*ENTRIES, Source("lore", "notes", weight=2.0)))

    assert keys(ranking) == ["b", "a"]
    assert ranking.hits[0].score == pytest.approx(2 * plain["b"])


def test_wordings_are_fused(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(message("a silver key", 1), message("an iron latch", 2), message("a silver latch", 3))

    ranking = ask("silver", "latch", neighbours=False)

    assert keys(ranking)[0] == "m3"
    assert ranking.hits[0].matched == ("silver", "latch")
    assert sorted(keys(ranking)) == ["m1", "m2", "m3"]


def test_the_same_wording_twice_or_an_empty_one_changes_nothing(
    add: Callable[..., None], ask: Ask, message: Make
) -> None:
    add(message("a silver key", 1), message("an iron latch", 2))

    assert ask("silver", "", "Silver!") == ask("silver")


def test_identical_texts_fold_into_the_best(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(
        message("Roland plays the violin.", 1),
        message("Roland bought a boat.", 4),
        message("Roland plays the violin.", 9),
    )

    ranking = ask("Roland violin", neighbours=False)

    assert keys(ranking) == ["m9", "m4"]
    assert ranking.hits[0].also == (("m1", 1),)


def test_many_equals_do_not_crowd_the_rest_out(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(*(message("silver key", i) for i in range(50)), message("silver and much else besides", 60))

    ranking = ask("silver key", depth=10, neighbours=False)

    assert keys(ranking) == ["m49", "m60"]
    assert len(ranking.hits[0].also) == 49


def test_a_record_and_a_message_of_one_text_both_stand(
    add: Callable[..., None], ask: Ask, message: Make, record: Make
) -> None:
    add(message("silver key", 1), record("silver key", "a"))

    assert sorted(keys(ask("silver", sources=MESSAGES + ENTRIES))) == ["a", "m1"]


def test_depth_limits_the_answer(add: Callable[..., None], ask: Ask, message: Make) -> None:
    add(*(message(f"silver {'x' * i}", i) for i in range(1, 9)))

    assert len(ask("silver", depth=3).hits) == 3
    assert ask("silver", depth=0) == Ranking((), 8)


@pytest.mark.parametrize("seed", range(6))
def test_fewer_results_are_the_first_of_more(
    add: Callable[..., None], ask: Ask, message: Make, record: Make, seed: int
) -> None:
    dice = Random(seed)
    words = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "the", "did"]
    add(*(message(" ".join(dice.choices(words, k=dice.randint(1, 9))), i) for i in range(120)))
    add(*(record(" ".join(dice.choices(words, k=3)), f"e{i}") for i in range(30)))
    texts = [" ".join(dice.sample(words, 3)) for _ in range(2)]

    most = ask(*texts, sources=MESSAGES + ENTRIES, depth=20, explain=True)

    for depth in (1, 2, 5, 13):
        assert ask(*texts, sources=MESSAGES + ENTRIES, depth=depth, explain=True).hits == most.hits[:depth]


def test_hits_are_the_same_from_the_tail_and_from_segments(
    db: Database, add: Callable[..., None], ask: Ask, index: Index, part: int, message: Make
) -> None:
    words = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch"]
    add(*(message(" ".join(words[i % k] for k in range(2, 8)), i) for i in range(600)))
    before = ask("birch hazel")

    maintain_index(db)

    assert db.read(lambda tx: tx.one("SELECT count(*) FROM segment")) == (4,)
    assert ask("birch hazel") == before
