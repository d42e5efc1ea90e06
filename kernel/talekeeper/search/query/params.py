"""The constants of ranking, with the measurements they came from.

All measurements are in docs/reference: what the parts are worth in search-quality.md, what was dropped in
search-tried.md. An `Index` is made with one `RankingParams`. `STANDARD` serves everything; others measure what a part
is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from talekeeper.search.query.bm25 import B_RECORDS, K1, B
from talekeeper.text import everyday_terms, paired_characters, query_terms

RANK_DAMPING = 60
"""Reciprocal rank fusion's k: Cormack, Clarke and Büttcher, SIGIR 2009."""
_WIDTH = 6  # neighbours a side; one of them costs .037 in R@10 and .022 in MRR (locomo)


@dataclass(frozen=True, slots=True)
class RankingParams:
    """`before` and `after` are what the words of the message one, two, … before and after count in a message.

    Of two figures, the first is R@10 and the second MRR. The last three make a query's terms, everyday words and
    characters out of its text.
    """

    k1: float = K1
    b: float = B
    b_records: float = B_RECORDS
    best: int = 20
    """How many messages the second stage starts from; 30 and 40 differ by noise."""
    reach: int = 4
    """How far from one of the best a message may stand to enter; 3 costs two sets .004 in R@10, 6 gives one .002."""
    before: tuple[float, ...] = tuple(0.45 * 0.6**away for away in range(_WIDTH))
    after: tuple[float, ...] = tuple(0.3 * 0.6**away for away in range(_WIDTH))
    most: float = 0.8
    """The most a term is lent: less than once in the message itself; .7 and 1 differ by noise."""
    lend_lengths: bool = True
    """Whether lengths are lent like words, so that long neighbours are no advantage; worth .235 in MRR (crd3)."""
    monologue: float = 0.5
    """What a message is lent where one voice speaks throughout, beside 1 where voices take turns; .3 to .7 all gain."""
    asking: float = 0.2
    """What a message loses that only asks and is answered by somebody else; .3 costs .032 in MRR (memorybank_cn)."""
    answering: float = 0.3
    """How much more such a message lends to the one that answers it; .5 costs .019 in MRR (memorybank_cn)."""
    everyday: float = 0.2
    """What a stop word of the query weighs in the second stage, beside 1 for other words of its idf; .1 to .4 differ by
    noise, 0 costs .020 in MRR (lufy)."""
    backoff: float = 0.2
    """What a single character weighs that is asked for in place of its pairs; .3 costs .008 in MRR (memorybank_cn)."""
    backoff_share: float = 0.25
    """The share of passages beyond which such a character tells nothing; without it a half as many more are listed."""
    meaning_power: float = 1.5
    """How fast what meaning adds grows with how far a passage stands out; 1 costs small sets .024 / .030 (madial_zh), 2
    costs .006 / .009 where words are right (locomo) and .010 of paragraphs in R@1 (cmrc)."""
    meaning_messages: float = 0.85
    """What that counts for messages; .9 is the same, 1 costs .005 where passages are many and short (crd3)."""
    meaning_records: float = 1.5
    """What it counts for records, which are not found by their neighbours' words; 1 costs .013 / .018 (madial), 2 costs
    .001 where words are right nearly always (cmrc)."""
    meaning_covered: float = 0.8
    """How much of what meaning adds is lost to one that has all that was asked for; .7 is the same."""
    meaning_own: float = 0.3
    """How much a message's own words count in what it has, beside 0.7 for its score, which has the neighbours' in it; 0
    costs .017 / .027 (memorybank_en), .5 costs .003 where passages are many and short (crd3)."""
    meaning_most: float = 3.0
    """Standard deviations beyond which standing out counts no more: long tails are of large scopes, not of answers. No
    bound costs .007 / .005 (crd3), and .011 in MRR (cmrc_sent)."""
    meaning_gate: float = -0.5
    """How far a passage without a word of the query must stand out to be found, in standard deviations; 0 costs
    .011 in R@10 and .5 costs .033 (dulemon)."""
    meaning_lacks: float = 1.0
    """What a message loses for each deviation that it is below the mean by itself; .5 to 1.5 are the same, 0 costs .02
    in R@10 on two sets."""
    meaning_before: tuple[float, ...] = tuple(0.5 * 0.7**away for away in range(_WIDTH))
    """What the meaning of the message one, two, … before counts in a message's; .45 · .6^n costs .004
    to .006 on two sets."""
    meaning_after: tuple[float, ...] = tuple(0.35 * 0.7**away for away in range(_WIDTH))
    """The same for those after it."""
    meaning_common: float = 0.25
    """The part that is taken off of what messages have in common with those most like them; .15 is the same, .5 costs
    .005 to .017 on four sets and gives .008 on one."""
    meaning_kin: int = 5
    """How many those are, of a sample; 3 and 10 are the same."""
    fold: bool = True
    """Whether passages of identical text are one result."""
    damping: int = RANK_DAMPING
    """By how much ranks are damped where the lists of several wordings become one."""
    query_terms: Callable[[str], tuple[str, ...]] = query_terms
    everyday_terms: Callable[[str], tuple[str, ...]] = everyday_terms
    paired_characters: Callable[[str, Collection[str]], Mapping[str, tuple[str, ...]]] = paired_characters


STANDARD = RankingParams()
