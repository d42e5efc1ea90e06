"""Brings stored records of an older namespace version to the declared one, by the plugin's own pure function.

The function runs outside every transaction, a hundred versions of records at a time. They are changed where they are,
history included, so that whatever is restored later fits the schema too. A stop anywhere leaves the rest for the next
time; the index is due from the first change on. A plugin without code has no function: its records are held against the
new schema as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from talekeeper.db import Row, Tx
from talekeeper.errors import ParameterError, PluginError
from talekeeper.manifest.declared import Namespace
from talekeeper.plugins.frozen import frozen, plain
from talekeeper.story import Story
from talekeeper.story.validation import check_value

Migrate = Callable[[Mapping[str, Any], int], Any]
Run = Callable[[Callable[[], list[Any]]], list[Any]]
"""Calls a function under the plugin's guard."""

_AT_ONCE = 100
_BLANK = "null"  # what story stores for a withdrawal and for what was forgotten
_OLDER = (
    "SELECT workspace, preset, session, plugin, namespace, key, revision, version, value FROM record"
    " WHERE workspace = ? AND plugin = ? AND namespace = ? AND version < ? AND value <> ? LIMIT ?"
)
_CHANGE = (
    "UPDATE record SET value = ?, version = ? WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ?"
    " AND namespace = ? AND key = ? AND revision = ? AND version = ? AND value = ?"
)


def migrate(story: Story, workspace: str, namespace: Namespace, function: Migrate, run: Run) -> None:
    """Migrates every version of every record in a workspace; raises PluginError, naming a record that misfits."""
    while rows := story.read(lambda tx: _older(tx, workspace, namespace)):
        values = run(partial(_called, function, [(frozen(json.loads(row[-1])), row[-2]) for row in rows]))
        changes = [
            (_checked(namespace, row, value), namespace.version, *row) for row, value in zip(rows, values, strict=True)
        ]
        story.write(partial(_change, story, workspace, namespace, changes), name="migrate records")


def unchanged(value: Mapping[str, Any], _version: int) -> Mapping[str, Any]:
    """The migration of a plugin without code."""
    return value


def _older(tx: Tx, workspace: str, namespace: Namespace) -> list[Row]:
    return tx.rows(_OLDER, (workspace, namespace.plugin, namespace.name, namespace.version, _BLANK, _AT_ONCE))


def _called(function: Migrate, told: list[tuple[Any, int]]) -> list[Any]:
    return [plain(function(value, version)) for value, version in told]


def _checked(namespace: Namespace, row: Row, value: Any) -> str:
    try:
        return check_value(namespace, value)
    except ParameterError as error:
        raise PluginError(
            f"record {row[5]!r} of version {row[7]} does not fit version {namespace.version} after migration: {error}",
            where=namespace.plugin,
            cure="mend the plugin's migration or schema",
            plugin=namespace.plugin,
        ) from error


def _change(story: Story, workspace: str, namespace: Namespace, changes: list[Row], tx: Tx) -> None:
    # A version that was forgotten meanwhile keeps its blank: the old value is part of the condition.
    tx.run_many(_CHANGE, changes)
    # Searched no more and then again: story has to index all of it anew.
    story.declare(workspace, replace(namespace, search=None), tx=tx)
    story.declare(workspace, namespace, tx=tx)
