"""Brings stored records of an older namespace version to the declared one, by the plugin's own pure function.

The function runs outside every transaction, a hundred versions of records at a time; story rewrites them where they
are, history included, so that whatever is restored later fits the schema too. A stop anywhere leaves the rest for the
next time. A plugin without code has no function: its records are held against the new schema as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from talekeeper.manifest import Namespace
from talekeeper.plugin_types import freeze, thaw
from talekeeper.story import Record, Story

Migrate = Callable[[Mapping[str, Any], int], Any]
Run = Callable[[Callable[[], list[Any]]], list[Any]]
"""Calls a function under the plugin's guard."""

_AT_ONCE = 100


def migrate(story: Story, workspace: str, namespace: Namespace, function: Migrate, run: Run) -> None:
    """Migrates every version of every record in a workspace; raises ParameterError, naming a record that misfits."""
    while found := story.records.outdated(workspace, namespace, _AT_ONCE):
        values = run(partial(_called, function, found))
        story.records.rewrite(namespace, list(zip(found, values, strict=True)))


def unchanged(value: Mapping[str, Any], _version: int) -> Mapping[str, Any]:
    """The migration of a plugin without code."""
    return value


def _called(function: Migrate, records: list[Record]) -> list[Any]:
    return [thaw(function(freeze(record.value), record.version)) for record in records]
