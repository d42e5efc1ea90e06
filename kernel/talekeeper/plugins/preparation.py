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
from typing import TYPE_CHECKING, Any

from talekeeper.db import Tx, dumps
from talekeeper.errors import InputError, LimitReached, ManifestError, PluginError
from talekeeper.manifest import Namespace, seed_rows
from talekeeper.plugins import rows
from talekeeper.plugins.guard import Call, Guard
from talekeeper.plugins.resolver import Plugin
from talekeeper.story import ROOT, Record, Scope, Session, Story, scope_of
from talekeeper.text import freeze, thaw

if TYPE_CHECKING:
    from talekeeper.plugins.loader import Functions

_AT_ONCE = 100
_OF_SEED = "workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ?"
_log = logging.getLogger("talekeeper.plugins")


class Preparer:
    """`functions` loads a plugin's code; it is called only when records are to be migrated."""

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
                    Seed(self._story, namespace, scope).give()
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
        """Migrates every version of every record; raises ParameterError, naming a record that misfits.

        The plugin's function is pure and runs outside every transaction, a hundred records at a time. Records are
        rewritten where they are, history included, so that whatever is restored later fits the schema too. A stop
        anywhere leaves the rest for the next time. Without code, records are checked against the new schema as they
        are.
        """
        function = self._functions(plugin)["migrations", namespace.name] if plugin.declared.module else None
        call = Call(plugin.id, f"migration of {namespace.name}", self._guard.deadlines.migration)
        while found := self._story.records.outdated(workspace, namespace, _AT_ONCE):
            values = self._guard.call(call, partial(_migrated, function, found))
            self._story.records.rewrite(namespace, list(zip(found, values, strict=True)))


def _migrated(function: Callable[..., Any] | None, records: list[Record]) -> list[Any]:
    values = [(freeze(record.value), record.version) for record in records]
    return [thaw(function(value, version) if function else value) for value, version in values]


class Seed:
    """The seed files of one namespace as they are on disk now, and what a scope was given of them.

    A scope gets the records when the plugin is first active in it. An upgrade replaces what still equals the old seed,
    withdraws what the new one leaves out, and keeps whatever anybody edited, withdrew or forgot. In an append-only
    namespace, where nothing can be replaced, changed lines stay as they were.
    """

    def __init__(self, story: Story, namespace: Namespace, scope: Scope) -> None:
        self._story = story
        self._namespace = namespace
        self._scope = scope
        self._place = (scope.workspace, scope.preset, scope.session, namespace.plugin, namespace.name)
        self._raw = [path.read_bytes() for path in namespace.seed]
        self._digest = hashlib.blake2b(b"\0".join(self._raw), digest_size=16).hexdigest()

    def give(self) -> None:
        """Brings the scope from whatever seed it was given before to this one, in short transactions.

        Stopped anywhere, it goes on when called again. Where exactly this seed was given, nothing is done.
        """
        last = self._story.read(lambda tx: tx.one(f"SELECT digest FROM plugin_seed WHERE {_OF_SEED}", self._place))  # noqa: S608 -- a constant
        if last is not None and last[0] == self._digest:
            return
        records = self._records()
        keys: set[str] = set()
        while batch := list(islice(records, _AT_ONCE)):
            keys.update(key for key, _ in batch)
            self._story.write(partial(self._put, batch), name="give a seed")
        self._story.write(partial(self._finish, keys), name="give a seed")

    def _records(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(key, value) of every line; raises ManifestError at a line that is no record."""
        for path, raw in zip(self._namespace.seed, self._raw, strict=True):
            for row in seed_rows(raw, self._namespace.schema):
                if row.value is None:
                    raise ManifestError(row.fault, where=f"{path}:{row.line}")
                yield row.key, row.value

    def _put(self, batch: list[tuple[str, Mapping[str, Any]]], tx: Tx) -> None:
        given = self._given(tx)
        for key, value in batch:
            if self._is_to_write(tx, key, given.get(key), _digest(value)):
                try:
                    self._story.records.put(self._namespace, self._scope, key, value, at=ROOT, tx=tx)
                except LimitReached as error:
                    _log.warning("seed record %s of %s is left out: %s", key, self._namespace.path, error.what)
                    continue
                tx.run(
                    "INSERT INTO plugin_seed_record (workspace, preset, session, plugin, namespace, key, digest)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (workspace, preset, session, plugin, namespace, key)"
                    " DO UPDATE SET digest = excluded.digest",
                    (*self._place, key, _digest(value)),
                )

    def _is_to_write(self, tx: Tx, key: str, given: str | None, digest: str) -> bool:
        if given is None:
            return not self._story.records.history(self._namespace, self._scope, key, tx=tx)
        return given != digest and not self._namespace.append_only and self._is_untouched(tx, key, given)

    def _finish(self, keys: set[str], tx: Tx) -> None:
        for key, given in self._given(tx).items():
            if key not in keys:
                if self._is_untouched(tx, key, given):
                    self._story.records.withdraw(self._namespace, self._scope, key, at=ROOT, tx=tx)
                tx.run(f"DELETE FROM plugin_seed_record WHERE {_OF_SEED} AND key = ?", (*self._place, key))  # noqa: S608 -- a constant
        tx.run(
            "INSERT INTO plugin_seed (workspace, preset, session, plugin, namespace, digest) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (workspace, preset, session, plugin, namespace) DO UPDATE SET digest = excluded.digest",
            (*self._place, self._digest),
        )

    def _is_untouched(self, tx: Tx, key: str, given: str) -> bool:
        # The record at the root is the seed or a person's own version; what the plugin wrote later is deeper.
        record = self._story.records.get(self._namespace, self._scope, key, at=ROOT, tx=tx)
        return record is not None and _digest(record.value) == given

    def _given(self, tx: Tx) -> dict[str, str]:
        return dict(tx.rows(f"SELECT key, digest FROM plugin_seed_record WHERE {_OF_SEED}", self._place))  # noqa: S608 -- a constant


def _digest(value: object) -> str:
    return hashlib.blake2b(dumps(value, "seed").encode(), digest_size=16).hexdigest()
