"""The characters a query in Chinese or Japanese falls back on where nobody has said the pairs they stand in."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from talekeeper.text.normalisation import normalise
from talekeeper.text.runs import Script, find_runs, is_hangul, script_of
from talekeeper.text.stopwords import LIGHT_CHARACTERS, STOP_CHARACTERS
from talekeeper.text.tokens import SINGLE

_TELL_NOTHING = STOP_CHARACTERS | LIGHT_CHARACTERS


def paired_characters(text: str, terms: Collection[str]) -> dict[str, tuple[str, ...]]:
    """For the telling characters of a text, as terms of their own, the pairs of `terms` they stand in: 狗 → 遛狗, 狗吗.

    `terms` are what is asked for already; a character among them is not here, nor one that none of their pairs holds.
    """
    asked = set(terms)
    pairs = dict.fromkeys(pair for run in _paired_runs(text) for pair in map("".join, pairwise(run)) if pair in asked)
    found: dict[str, list[str]] = {}
    for pair in pairs:
        for character in dict.fromkeys(pair):
            found.setdefault(SINGLE + character, []).append(pair)
    return {term: tuple(held) for term, held in found.items() if term[-1] not in _TELL_NOTHING and term not in asked}


def _paired_runs(text: str) -> list[str]:
    if text.isascii():
        return []
    runs = [run for run in find_runs(normalise(text)) if len(run) > 1 and not run.isascii()]
    # A syllable of Hangul is a sound, which tells nothing by itself.
    return [run for run in runs if script_of(run) is Script.CJK and not is_hangul(run)]
