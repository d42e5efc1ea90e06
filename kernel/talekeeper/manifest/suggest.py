"""Near misses among names: what somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

ALIKE = 0.6
"""SequenceMatcher's share of letters in common, from which a name is worth suggesting: `titel`/`title` has 0.8."""

SAME = 0.8
"""The share from which a name may be taken for the other one misspelt: `serach`/`search` has 0.83, `txt`/`text` 0.86,
but `greetings`/`settings` only 0.71."""


def nearest(name: str, known: Iterable[str], least: float = ALIKE) -> str | None:
    """The known name most like `name`, None when none is like it. Case and `_`/`-` do not count."""
    plain = _plain(name)
    scored = [(_likeness(plain, _plain(it)), it) for it in known if it != name]
    best = max(scored, default=(0.0, ""), key=lambda it: it[0])
    return best[1] if best[0] >= least else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The hint naming the nearest known name, or an empty text."""
    found = nearest(name, known)
    return f'did you mean "{found}"?' if found else ""


def _plain(name: str) -> str:
    return name[:80].lower().replace("_", "-")


def _likeness(one: str, other: str) -> float:
    if one and other and (other.startswith(one) or one.startswith(other)):
        # An abbreviation or a forgotten plural.
        return max(0.9 if min(len(one), len(other)) > 2 else 0.0, SequenceMatcher(None, one, other).ratio())  # noqa: PLR2004 - two letters begin too many names
    return SequenceMatcher(None, one, other).ratio()
