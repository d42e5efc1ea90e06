"""What a contribution point is, what its rules look at, and the rules that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from talekeeper.config import Table
from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.rules.schema_files import SchemaFiles
from talekeeper.text import quoted


class RuleContext(NamedTuple):
    """What a rule looks at: the whole manifest, the point's own tables, the files of the package."""

    manifest: Table
    entries: Sequence[Table]
    files: SchemaFiles

    @property
    def plugin(self) -> Table:
        """The `[plugin]` table."""
        return self.manifest.table("plugin")


Rule = Callable[[RuleContext], Iterator[Finding]]


class Point(NamedTuple):
    """A contribution point as data.

    `shape` gives what pydantic makes of the table, a mapping of named tables or a list, where `model.entries` does not
    say it; it is a function because a manifest that fits the published schema needs no pydantic. `rules` say what a
    schema cannot. `noun` is what people call an entry, `named_by` the key that names it: "" if the table's own name
    does. `code` tells whether the plugin's code must register a function under that name. `schema_key` names the key
    whose value is the file of a JSON Schema.
    """

    name: str
    about: str
    noun: str
    shape: Callable[[], Any] | None = None
    rules: tuple[Rule, ...] = ()
    named_by: str = ""
    code: bool = False
    schema_key: str = ""


def names_once(key: str, compared: Callable[[str], str] = str) -> Rule:
    """Within the point, no two entries have the same value of `key`; `compared` makes equal what counts as the same."""

    def rule(context: RuleContext) -> Iterator[Finding]:
        seen: dict[str, str] = {}
        for entry in context.entries:
            name = entry.text(key)
            if name is None:
                continue
            earlier = seen.get(compared(name))
            if earlier is None:
                seen[compared(name)] = name
            else:
                said = "declared twice" if earlier == name else f"the same as {quoted(earlier)} to some models"
                yield Finding(codes.SAME_NAME, entry.at(key), f"{key} {quoted(name)} is {said}")

    return rule


def needs_code(context: RuleContext) -> Iterator[Finding]:
    """The entries are functions, so `[plugin]` has to name the module that registers them."""
    if context.entries and "module" not in context.plugin:
        path = context.entries[0].path[:2]
        message = f"{path[-1]} are functions, but [plugin] names no module that registers them"
        yield Finding(codes.NO_CODE, path, message, on="key")


def schemas_hold(key: str) -> Rule:
    """The schema files that `key` names are there and sound."""

    def rule(context: RuleContext) -> Iterator[Finding]:
        for entry in context.entries:
            yield from context.files.load(entry, key).findings

    return rule


def each(*checks: Callable[[Table], Iterator[Finding]]) -> Rule:
    """What holds for every entry by itself."""
    return lambda context: (it for entry in context.entries for check in checks for it in check(entry))


def listed_once(table: Table, key: str, called: str = "") -> Iterator[Finding]:
    """The texts of a list are all different; `called` is what a person calls the list, when the key does not say it."""
    seen: set[str] = set()
    for path, name in table.texts(key):
        if name in seen:
            yield Finding(codes.SAME_NAME, path, f"{called or key} lists {quoted(name)} twice")
        seen.add(name)
