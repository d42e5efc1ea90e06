"""What a session needs before its plugins' data can be used: declared tables, migrated records, seeds.

Asked each time a session is opened; when nothing is due it reads once and writes nothing.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from talekeeper.db import Tx, dumps
from talekeeper.errors import InputError, LimitReached, ManifestError, PluginError
from talekeeper.manifest import Namespace, seed_rows
from talekeeper.plugin_types import freeze, thaw
from talekeeper.plugins import rows
from talekeeper.plugins.guard import Call, Guard
from talekeeper.plugins.loader import Functions
from talekeeper.plugins.resolver import Plugin
from talekeeper.story import ROOT, Record, Scope, Session, Story, scope_of

Migrate = Callable[[Mapping[str, Any], int], Any]
Run = Callable[[Callable[[], list[Any]]], list[Any]]
"""Calls a function under the plugin's guard."""

_AT_ONCE = 100
_DIGEST = (
    "SELECT digest FROM plugin_seed WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ?"
)
_RECORDS = (
    "SELECT key, digest FROM plugin_seed_record"
    " WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ?"
)
_DROP = (
    "DELETE FROM plugin_seed_record"
    " WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ? AND key = ?"
)
_log = logging.getLogger("talekeeper.plugins")


class Preparer:
    """`functions` loads a plugin's code; it is asked only when records are to be migrated."""

    def __init__(self, story: Story, guard: Guard, functions: Callable[[Plugin], Functions]) -> None:
        self._story = story
        self._guard = guard
        self._functions = functions
        self._done: set[tuple[str, str, Scope]] = set()
        self._lock = threading.Lock()

    def begin_again(self) -> None:
        """Forgets what it prepared: manifests may have changed."""
        with self._lock:
            self._done.clear()

    def prepare(self, plugins: Iterable[Plugin], session: Session) -> dict[str, str]:
        """Brings the data of plugins to their manifests; gives (plugin → reason) for those where that failed."""
        failed: dict[str, str] = {}
        for plugin in plugins:
            try:
                for namespace in plugin.declared.data:
                    self._prepare(plugin, namespace, session)
            except (PluginError, InputError, OSError) as error:
                # A seed or record that does not hold is the plugin's fault, however it shows.
                failed[plugin.id] = str(error)
        return failed

    def _prepare(self, plugin: Plugin, namespace: Namespace, session: Session) -> None:
        scope = scope_of(namespace, session)
        done = (plugin.id, namespace.name, scope)
        with self._lock:
            if done not in self._done:
                self._declare(plugin, namespace, session.workspace)
                if namespace.seed and (namespace.scope != "preset" or session.preset):
                    self._seed(namespace, scope)
                self._done.add(done)

    def _declare(self, plugin: Plugin, namespace: Namespace, workspace: str) -> None:
        oldest, is_settled = self._story.read(lambda tx: self._known(tx, workspace, namespace))
        if is_settled:
            return
        if oldest is not None and oldest > namespace.version:
            raise PluginError(f"the records of {namespace.path} are of version {oldest}, newer than the plugin")
        if oldest is not None and oldest < namespace.version:
            self._migrate(plugin, namespace, workspace)
        self._story.write(lambda tx: self._settle(tx, namespace, workspace), name="declare a namespace")

    def _known(self, tx: Tx, workspace: str, namespace: Namespace) -> tuple[int | None, bool]:
        """The version of the stored records, and whether that and their search table are the manifest's already."""
        version = rows.versions(tx, workspace).get((namespace.plugin, namespace.name))
        if version is None:
            return self._story.records.oldest_version(workspace, namespace, tx=tx), False
        return version, version == namespace.version and self._story.index.is_declared(workspace, namespace, tx=tx)

    def _settle(self, tx: Tx, namespace: Namespace, workspace: str) -> None:
        self._story.workspaces.create(workspace, tx=tx)
        self._story.index.declare(workspace, namespace, tx=tx)
        rows.store_version(tx, workspace, namespace)

    def _migrate(self, plugin: Plugin, namespace: Namespace, workspace: str) -> None:
        function = unchanged
        if plugin.declared.module is not None:
            function = self._functions(plugin)["migrations", namespace.name]
        call = Call(plugin.id, f"migration of {namespace.name}", self._guard.deadlines.migration)
        migrate(self._story, workspace, namespace, function, lambda work: self._guard.call(call, work))

    def _seed(self, namespace: Namespace, scope: Scope) -> None:
        seed = Seed(namespace)
        if not self._story.read(lambda tx: is_given(tx, seed, scope)):
            give(self._story, seed, scope)


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


class Seed:
    """The seed files of one namespace as they are on disk now."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self._raw = [path.read_bytes() for path in namespace.seed]
        self.digest = hashlib.blake2b(b"\0".join(self._raw), digest_size=16).hexdigest()

    def records(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(key, value) of every line; raises ManifestError at a line that is no record."""
        for path, raw in zip(self.namespace.seed, self._raw, strict=True):
            for row in seed_rows(raw, self.namespace.schema):
                if row.value is None:
                    raise ManifestError(row.fault, where=f"{path}:{row.line}")
                yield row.key, row.value


def is_given(tx: Tx, seed: Seed, scope: Scope) -> bool:
    """Whether the scope was given exactly this seed."""
    row = tx.one(_DIGEST, _params(seed, scope))
    return row is not None and row[0] == seed.digest


def give(story: Story, seed: Seed, scope: Scope) -> None:
    """Brings a scope from whatever seed it was given before to this one, in short transactions.

    Stopped anywhere, it goes on when called again.
    """
    records = seed.records()
    keys: set[str] = set()
    while batch := list(islice(records, _AT_ONCE)):
        keys.update(key for key, _ in batch)
        story.write(partial(_give, story, seed, scope, batch), name="give a seed")
    story.write(lambda tx: _finish(story, tx, seed, scope, keys), name="give a seed")


def _give(story: Story, seed: Seed, scope: Scope, batch: list[tuple[str, Mapping[str, Any]]], tx: Tx) -> None:
    given = _given(tx, seed, scope)
    for key, value in batch:
        if _is_to_write(story, tx, seed, scope, key, given.get(key), value):
            try:
                story.records.put(seed.namespace, scope, key, value, at=ROOT, tx=tx)
            except LimitReached as error:
                _log.warning("seed record %s of %s is left out: %s", key, seed.namespace.path, error.what)
                continue
            _note(tx, seed, scope, key, value)


def _is_to_write(
    story: Story, tx: Tx, seed: Seed, scope: Scope, key: str, given: str | None, value: Mapping[str, Any]
) -> bool:
    if given is None:
        return not story.records.history(seed.namespace, scope, key, tx=tx)
    return given != _digest(value) and not seed.namespace.append_only and _untouched(story, tx, seed, scope, key, given)


def _finish(story: Story, tx: Tx, seed: Seed, scope: Scope, keys: set[str]) -> None:
    for key, given in _given(tx, seed, scope).items():
        if key not in keys:
            if _untouched(story, tx, seed, scope, key, given):
                story.records.withdraw(seed.namespace, scope, key, at=ROOT, tx=tx)
            tx.run(_DROP, (*_params(seed, scope), key))
    tx.run(
        "INSERT INTO plugin_seed (workspace, preset, session, plugin, namespace, digest) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, preset, session, plugin, namespace) DO UPDATE SET digest = excluded.digest",
        (*_params(seed, scope), seed.digest),
    )


def _untouched(story: Story, tx: Tx, seed: Seed, scope: Scope, key: str, given: str) -> bool:
    # What stands at the root is the seed or a person's own version; what the plugin wrote later stands deeper.
    record = story.records.get(seed.namespace, scope, key, at=ROOT, tx=tx)
    return record is not None and _digest(record.value) == given


def _given(tx: Tx, seed: Seed, scope: Scope) -> dict[str, str]:
    return dict(tx.rows(_RECORDS, _params(seed, scope)))


def _note(tx: Tx, seed: Seed, scope: Scope, key: str, value: Mapping[str, Any]) -> None:
    tx.run(
        "INSERT INTO plugin_seed_record (workspace, preset, session, plugin, namespace, key, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, preset, session, plugin, namespace, key) DO UPDATE SET digest = excluded.digest",
        (*_params(seed, scope), key, _digest(value)),
    )


def _digest(value: object) -> str:
    return hashlib.blake2b(dumps(value, "seed").encode(), digest_size=16).hexdigest()


def _params(seed: Seed, scope: Scope) -> tuple[str, str, str, str, str]:
    return scope.workspace, scope.preset, scope.session, seed.namespace.plugin, seed.namespace.name
