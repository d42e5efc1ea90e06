"""What a contribution point is, and the scene its rules look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict

from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.package import Package
from talekeeper.manifest.table import Table


def _whole(value: Any) -> Any:
    # JSON Schema takes 1.0 for an integer, so the model has to as well.
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Last in an annotation of `int`: a whole number, however it is written."""


class Entry(BaseModel):
    """A table of the manifest: keys are spelled with hyphens, unknown ones and conversions are refused."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        defer_build=True,
        frozen=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.replace("_", "-"),
    )


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

    `shape` is what pydantic makes of the table, a mapping of named tables or a list; the published schema comes from
    it. `rules` say what a schema cannot. `noun` is what people call an entry, `named_by` the key that names it: "" if
    the table's own name does. `code` tells whether the plugin's code must register a function under that name.
    `schema_key` names the key whose value is the file of a JSON Schema.
    """

    name: str
    about: str
    noun: str
    shape: Any
    rules: tuple[Rule, ...] = ()
    named_by: str = ""
    code: bool = False
    schema_key: str = ""
