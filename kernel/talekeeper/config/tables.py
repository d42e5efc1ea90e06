"""A tolerant view of parsed tables: rules ask for a value of a type and get None when it is absent or of another type.

Somebody else says that a value has the wrong type, so rules can run over a file that has other faults, and a reader
sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
