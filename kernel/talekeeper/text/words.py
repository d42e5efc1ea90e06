"""The tokens of one word or number, before stemming: apostrophes, ordinals, numbers with their parts."""

from __future__ import annotations

import re
from functools import lru_cache

from talekeeper.text.stem import stem

TOKEN_LIMIT = 64
_THOUSANDS = re.compile(r"(?<![0-9])[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])")
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th|s)")
_LETTERS_AND_DIGITS = re.compile(r"([a-z]+)([0-9]+)|([0-9]+)([a-z]+)")
_JOINS = re.compile(r"[.:/-]")


def split_word(run: str) -> tuple[str, ...]:
    """The tokens of a `Script.WORD` run, each at most `TOKEN_LIMIT` characters.

    A number of several parts is itself and its parts; `1st` and `1990s` are their number; letters and digits with one
    border between them (`abc123`, `5km`) are themselves and both parts.
    """
    if run.isalpha():
        return (run[:TOKEN_LIMIT],)
    if "'" in run:
        run = run.rstrip("'").removesuffix("'s").replace("'", "")
    elif not run.isalnum() and run[0].isdigit():
        return _number(run)
    return _mixed(run[:TOKEN_LIMIT])


def _number(run: str) -> tuple[str, ...]:
    if "," in run:
        run = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), run)
    tokens: list[str] = []
    for number in run.split(","):
        parts = _JOINS.split(number)
        tokens += [number, *parts] if len(parts) > 1 else parts
    return tuple(token[:TOKEN_LIMIT] for token in tokens)


def _mixed(token: str) -> tuple[str, ...]:
    if ordinal := _ORDINAL.fullmatch(token):
        return (ordinal[1],)
    if border := _LETTERS_AND_DIGITS.fullmatch(token):
        return (token, *filter(None, border.groups()))
    return (token,)


def word_terms(run: str) -> tuple[str, ...]:
    """The terms of a `Script.WORD` run: its tokens, stemmed."""
    return _kept_terms(run) if len(run) <= TOKEN_LIMIT else _terms(run)  # longer than any word is not worth keeping


def _terms(run: str) -> tuple[str, ...]:
    return tuple(map(stem, split_word(run)))


_kept_terms = lru_cache(1 << 13)(_terms)  # texts repeat their words, with other signs around them
