"""Single characters asked for in place of pairs that no passage holds: 狗 where 遛狗 is asked and 我有一条狗 was said.

A pair of characters that is not in scope tells of no passage, though one of its characters may: a character of which
no asked pair is in scope is asked for by itself, at a fifth of its idf, where at most a quarter of the passages hold it
(Katz's back-off from a bigram never seen to its parts, IEEE Transactions on ASSP 35, 1987). Worth .14 in R@10 where
people say much in one character (dulemon), .01 in other Chinese; one set loses .003 in MRR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from talekeeper.search.query.bm25 import Statistics

Paired = Mapping[str, Sequence[str]]
"""Character → the pairs asked for that hold it."""


def unheld_characters(paired: Paired, df: Mapping[str, int]) -> list[str]:
    """The characters of which no pair is in any passage; `df` is that of the pairs."""
    return [character for character, pairs in paired.items() if not any(df[pair] for pair in pairs)]


def selective(characters: Sequence[str], statistics: Statistics, share: float) -> tuple[str, ...]:
    """Those that some passage holds, and no more of them than `share` of all, or one."""
    most = max(1, share * statistics.total)
    return tuple(character for character in characters if 0 < statistics.df[character] <= most)
