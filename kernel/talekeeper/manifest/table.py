"""A tolerant view of parsed tables: rules ask for a value of a type and get None when it is absent or of another type.

The type itself is complained of by the model, so rules can run over a file that has other faults and all of them are
told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from talekeeper.manifest.positions import Path


@dataclass(frozen=True, slots=True)
class Table:
    """One table and its path. An absent one is an empty table, so that lookups chain."""

    raw: Mapping[str, Any]
    path: Path = ()

    def at(self, *steps: str | int) -> Path:
        """The path of something in this table."""
        return (*self.path, *steps)

    def __contains__(self, key: str) -> bool:
        return key in self.raw

    def text(self, key: str) -> str | None:
        """A text, else None."""
        value = self.raw.get(key)
        return value if isinstance(value, str) else None

    def whole(self, key: str) -> int | None:
        """A whole number, else None; truth values are none."""
        value = self.raw.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def table(self, key: str) -> Table:
        """The table under a key, empty when there is none."""
        value = self.raw.get(key)
        return Table(value if isinstance(value, dict) else {}, self.at(key))

    def tables(self, key: str) -> list[Table]:
        """The tables of an array of tables, or the named tables of a table, in file order."""
        value = self.raw.get(key)
        named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [Table(item, self.at(key, step)) for step, item in named if isinstance(item, dict)]

    def texts(self, key: str) -> Iterator[tuple[Path, str]]:
        """The texts of a list with their paths; a text alone counts as a list of one."""
        value = self.raw.get(key)
        if isinstance(value, str):
            yield self.at(key), value
        elif isinstance(value, list):
            yield from ((self.at(key, index), item) for index, item in enumerate(value) if isinstance(item, str))

    @property
    def name(self) -> str:
        """The last step of the path, as text."""
        return str(self.path[-1]) if self.path else ""
