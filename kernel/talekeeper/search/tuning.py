"""The constants of ranking, each with the measurement it came from; docs/reference/search-quality.md has them all.

An `Index` is made with one `Tuning`. The standard one serves everything; others are for measuring what a part is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from talekeeper.search.bm25 import B_RECORDS, K1, B
from talekeeper.search.fusion import RANK_DAMPING
from talekeeper.text import everyday_terms, paired_characters, query_terms

_WIDTH = 6


@dataclass(frozen=True, slots=True)
class Tuning:
    """`before` and `after` are what the words of the message one, two, … before and after count in a message."""

    k1: float = K1
    b: float = B
    b_records: float = B_RECORDS
    best: int = 20
    """How many messages the second stage starts from; 30 and 40 give the same lists."""
    reach: int = 4
    """How far from one of the best a message may stand to enter; 3 costs .004 in R@10 on two sets, 6 adds .001."""
    before: tuple[float, ...] = tuple(0.45 * 0.6**away for away in range(_WIDTH))
    after: tuple[float, ...] = tuple(0.3 * 0.6**away for away in range(_WIDTH))
    most: float = 0.8
    """The most a term is lent: less than once in the message itself."""
    lend_lengths: bool = True
    """Whether lengths are lent like words, so that long neighbours are no advantage."""
    monologue: float = 0.5
    """What a message is lent where one voice speaks throughout, beside 1 where voices take turns; .3 to .7 all gain."""
    asking: float = 0.2
    """What a message loses that only asks and is answered by somebody else; .15 to .3 differ by noise."""
    answering: float = 0.3
    """How much more such a message lends to the one that answers it."""
    everyday: float = 0.2
    """What a stop word of the query weighs in the second stage, beside 1 for other words of its idf."""
    unsaid: float = 0.2
    """What a single character weighs that is asked for in place of its pairs; .3 costs .008 in MRR (memorybank_cn)."""
    unsaid_share: float = 0.25
    """The share of passages beyond which such a character tells nothing; without it a half as many more are found."""
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
    costs .035 in MRR on one set and .007 on another, .5 costs .003 where passages are many and short (crd3)."""
    meaning_most: float = 3.0
    """Standard deviations beyond which standing out counts no more: long tails are of large scopes, not of answers."""
    meaning_gate: float = -0.5
    """How far a passage without a word of the query must stand out to be found, in standard deviations."""
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
    query_terms: Callable[[str], tuple[str, ...]] = query_terms
    everyday_terms: Callable[[str], tuple[str, ...]] = everyday_terms
    paired_characters: Callable[[str, Collection[str]], Mapping[str, tuple[str, ...]]] = paired_characters


STANDARD = Tuning()
