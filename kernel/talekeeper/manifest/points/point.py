"""What a contribution point is, and the scene its rules look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from talekeeper.config import Table
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.package import Package


class Scene(NamedTuple):
    """What a rule looks at: the whole manifest, the point's own tables, the files of the package."""

    manifest: Table
    entries: Sequence[Table]
    package: Package

    @property
    def plugin(self) -> Table:
        """The `[plugin]` table."""
        return self.manifest.table("plugin")


Rule = Callable[[Scene], Iterator[Finding]]


class Point(NamedTuple):
    """A contribution point as data.

    `shape` gives what pydantic makes of the table, a mapping of named tables or a list; the published schema comes from
    it. It is a function because a manifest that plainly holds needs no pydantic. `rules` say what a schema cannot.
    `noun` is what people call an entry, `named_by` the key that names it: "" if the table's own name does. `code` tells
    whether the plugin's code must register a function under that name. `schema_key` names the key whose value is the
    file of a JSON Schema.
    """

    name: str
    about: str
    noun: str
    shape: Callable[[], Any]
    rules: tuple[Rule, ...] = ()
    named_by: str = ""
    code: bool = False
    schema_key: str = ""


def kept_in(module: str) -> Callable[[], Any]:
    """The `SHAPE` of a module, which is imported when the shape is asked for."""
    return lambda: import_module(module).SHAPE
