"""The ingredients that can be taken out: each a `Variant` that differs from the base in one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import Stemmer
from talekeeper.search import STANDARD, RankingParams
from talekeeper.story import Draft
from talekeeper.text import (
    SINGLE,
    Script,
    Terms,
    date_words,
    document_terms,
    find_runs,
    normalise,
    query_terms,
    script_of,
    split_word,
)

_NO_BOUND = 1e9
_SNOWBALL = Stemmer.Stemmer("english")


def _everything(draft: Draft) -> Terms:
    return document_terms(draft.text, draft.speaker, date_words(draft.time or ""))


@dataclass(frozen=True)
class Variant:
    """`replaced` are names of `talekeeper.text.tokens` and what stands for them."""

    name: str
    params: RankingParams = STANDARD
    passage: Callable[[Draft], Terms] = _everything
    replaced: Mapping[str, object] = field(default_factory=dict[str, object])
    neighbours: bool = True
    by_rank_bm25: bool = False


def _tuned(name: str, **changes: Any) -> Variant:
    return Variant(name, replace(STANDARD, **changes))


def no_everyday(_: str) -> tuple[str, ...]:
    """In place of `everyday_terms`."""
    return ()


def no_characters(_text: str, _terms: Collection[str]) -> dict[str, tuple[str, ...]]:
    """In place of `paired_characters`."""
    return {}


def _without_stranded(text: str) -> tuple[str, ...]:
    """Without the characters taken out of longer runs."""
    alone = {SINGLE + run for run in find_runs(normalise(text)) if len(run) == 1}
    terms = query_terms(text)
    return tuple(term for term in terms if not term.startswith(SINGLE) or term in alone) or terms


def _characters(text: str) -> list[str]:
    runs = [run for run in find_runs(normalise(text)) if script_of(run) is Script.CJK]
    return [SINGLE + character for run in runs for character in run]


def _document_of_characters(draft: Draft) -> Terms:
    made = _everything(draft)
    pairs = {term for term in made.counts if len(term) > 1 and script_of(term) is Script.CJK}
    singles = Counter(_characters(" ".join([draft.text, draft.speaker, date_words(draft.time or "")])))
    counts = {term: tf for term, tf in made.counts.items() if term not in pairs and not term.startswith(SINGLE)}
    return Terms(counts | {term: min(tf, 255) for term, tf in singles.items()}, made.length)


def _query_of_characters(text: str) -> tuple[str, ...]:
    words = [term for term in query_terms(text) if not term.startswith(SINGLE) and script_of(term) is not Script.CJK]
    return tuple(dict.fromkeys([*words, *_characters(text)]))


def _unstemmed(run: str) -> tuple[str, ...]:
    return split_word(run)


def _snowball_alone(run: str) -> tuple[str, ...]:
    return tuple(_SNOWBALL.stemWord(word) if word.isascii() else word for word in split_word(run))


def _lower(text: str) -> str:
    return text.lower()


BASE = Variant("all of it")
VARIANTS = (
    Variant("no second stage (plain BM25, our terms)", neighbours=False),
    Variant("rank-bm25, split at blanks", by_rank_bm25=True),
    Variant("no stems", replaced={"word_terms": _unstemmed}),
    Variant("no irregular forms or spellings", replaced={"word_terms": _snowball_alone}),
    Variant("no Han, accent or width folding", replaced={"normalise": _lower}),
    Variant("Chinese by characters", replace(STANDARD, query_terms=_query_of_characters), _document_of_characters),
    Variant("no stop words", replaced={"STOP_WORDS": frozenset[str]()}),
    Variant("no stop characters", replaced={"STOP_CHARACTERS": frozenset[str]()}),
    Variant("no stranded characters", replace(STANDARD, query_terms=_without_stranded)),
    _tuned("no characters for pairs nobody said", paired_characters=no_characters),
    Variant("no speaker", passage=lambda draft: document_terms(draft.text, date_words(draft.time or ""))),
    Variant("no date", passage=lambda draft: document_terms(draft.text, draft.speaker)),
    _tuned("neighbours one side: before", after=(0.0,) * 6),
    _tuned("neighbours one side: after", before=(0.0,) * 6),
    _tuned("one neighbour a side", before=STANDARD.before[:1], after=STANDARD.after[:1]),
    _tuned(
        "two neighbours, .4 and .2, no lent lengths",
        before=(0.4, 0.2),
        after=(0.4, 0.2),
        lend_lengths=False,
        most=_NO_BOUND,
    ),
    _tuned("no lent lengths", lend_lengths=False),
    _tuned("no cap on what is lent", most=_NO_BOUND),
    _tuned("neighbours do not enter", reach=0),
    _tuned("neighbours enter from 3 away", reach=3),
    _tuned("one voice lends as two do", monologue=1.0),
    _tuned("questions lose nothing", asking=0.0),
    _tuned("answers are lent no more", answering=0.0),
    _tuned("no everyday words", everyday_terms=no_everyday),
    _tuned("identical texts not folded", fold=False),
    _tuned("b 0.75 for messages", b=0.75),
    _tuned("b 0.4 for records", b_records=0.4),
    _tuned("b 0 for both", b=0.0, b_records=0.0),
    _tuned("k1 1.5", k1=1.5),
)
