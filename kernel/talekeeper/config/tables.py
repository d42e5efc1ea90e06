"""Parsed tables: looked up by type, checked against the keys there are, and which key was probably meant.

`Table` is a tolerant view: rules ask for a value of a type and get None when it is absent or of another type. Somebody
else says that a value has the wrong type, so rules can run over a file that has other faults, and a reader sees all of
them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from talekeeper.config.positions import KeyPath
from talekeeper.text import is_array, is_table


class Table:
    """One table and its path. An absent one is an empty table, so that lookups chain."""

    __slots__ = ("path", "raw")

    def __init__(self, raw: Mapping[str, Any], path: KeyPath = ()) -> None:
        self.raw = raw
        self.path = path

    def at(self, *steps: str | int) -> KeyPath:
        """The path of something in this table."""
        return (*self.path, *steps)

    def __contains__(self, key: str) -> bool:
        return key in self.raw

    def text(self, key: str) -> str | None:
        """A text, else None."""
        value = self.raw.get(key)
        return value if isinstance(value, str) else None

    def whole(self, key: str) -> int | None:
        """A whole number, `1.0` included, else None; truth values are none."""
        value = self.raw.get(key)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def table(self, key: str) -> Table:
        """The table under a key, empty when there is none."""
        value = self.raw.get(key)
        return Table(value if is_table(value) else {}, self.at(key))

    def tables(self, key: str) -> list[Table]:
        """The tables of an array of tables, or the named tables of a table, in file order."""
        value = self.raw.get(key)
        if is_table(value):
            return [Table(item, self.at(key, name)) for name, item in value.items() if is_table(item)]
        items = value if is_array(value) else []
        return [Table(item, self.at(key, index)) for index, item in enumerate(items) if is_table(item)]

    def texts(self, key: str) -> Iterator[tuple[KeyPath, str]]:
        """The texts of a list with their paths; a text alone counts as a list of one."""
        value = self.raw.get(key)
        if isinstance(value, str):
            yield self.at(key), value
        elif is_array(value):
            yield from ((self.at(key, index), item) for index, item in enumerate(value) if isinstance(item, str))


ALIKE = 0.6
"""SequenceMatcher's share of letters in common, from which a name is worth suggesting: `titel`/`title` has 0.8."""

MISSPELT = 0.8
"""The share from which a name may be taken for the other one misspelt: `serach`/`search` has 0.83, `txt`/`text` 0.86,
but `greetings`/`settings` only 0.71."""

_LEAST_BEGINNING = 3


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


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a table may have. `expected` goes on after "must be": `text`, `a whole number from 1`."""

    expected: str
    fits: Callable[[Any], bool]

    @staticmethod
    def text(expected: str = "text", *, empty: bool = True, most: int | None = None) -> Key:
        """Text, of at most so many characters."""
        return Key(
            expected, lambda it: isinstance(it, str) and (empty or bool(it)) and (most is None or len(it) <= most)
        )

    @staticmethod
    def whole(least: int, most: int | None = None, expected: str = "") -> Key:
        """A whole number in a range that includes its ends; truth values are none."""
        range_ = f"a whole number from {least:,}" + ("" if most is None else f" to {most:,}")
        return Key(expected or range_, lambda it: _is_number(it, int) and it >= least and (most is None or it <= most))

    @staticmethod
    def number(least: float, most: float, *, above: bool = False) -> Key:
        """A number in a range; `above`: without its lower end."""
        range_ = f"a number {'above' if above else 'from'} {least:,g} to {most:,g}"
        return Key(
            range_, lambda it: _is_number(it, (int, float)) and (least < it if above else least <= it) and it <= most
        )

    @staticmethod
    def flag() -> Key:
        """True or false."""
        return Key("true or false", lambda it: isinstance(it, bool))

    @staticmethod
    def choice(*words: str) -> Key:
        """One of a few words."""
        return Key(f"one of {', '.join(words)}", lambda it: isinstance(it, str) and it in words)

    @staticmethod
    def texts(expected: str = "a list of texts") -> Key:
        """A list of texts, none of them empty."""
        return Key(expected, lambda it: is_array(it) and all(isinstance(one, str) and one for one in it))

    @staticmethod
    def table() -> Key:
        """A table, with whatever is in it."""
        return Key("a table", lambda it: isinstance(it, dict))


class KeyFault(NamedTuple):
    """What is wrong with the key at a path, or with its value when `on` says so; `Places.span` takes both."""

    path: KeyPath
    what: str
    cure: str = ""
    on: Literal["key", "value"] = "value"


def key_faults(table: Mapping[str, Any], keys: Mapping[str, Key], path: KeyPath = ()) -> Iterator[KeyFault]:
    """Every key of a table that is not among `keys` or does not take its value, in file order."""
    for name, value in table.items():
        if name not in keys:
            cure = did_you_mean(name, keys) or f"known are {', '.join(keys)}"
            yield KeyFault((*path, name), "this key is not known", cure, "key")
        elif not keys[name].fits(value):
            yield KeyFault((*path, name), f"must be {keys[name].expected}")


def _is_number(value: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _plain(name: str) -> str:
    return name[:80].lower().replace("_", "-")


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher  # noqa: PLC0415 - most files have no misspelt key

    alike = SequenceMatcher(None, one, other).ratio()
    short_for = one and other and (other.startswith(one) or one.startswith(other))
    # An abbreviation or a forgotten plural; two letters begin too many names.
    return max(0.9, alike) if short_for and min(len(one), len(other)) >= _LEAST_BEGINNING else alike
