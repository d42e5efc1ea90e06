"""What a session needs before its plugins' data can be used: declared tables, migrated records, seeds.

Asked each time a session is opened; when nothing is due it reads once and writes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from talekeeper.db import Tx
from talekeeper.errors import InputError, PluginError
from talekeeper.manifest import Namespace
from talekeeper.plugins import namespaces, seeding
from talekeeper.plugins.guard import Call, Guard
from talekeeper.plugins.loading import Functions
from talekeeper.plugins.migrating import migrate, unchanged
from talekeeper.plugins.states import Plugin
from talekeeper.story import Scope, Session, Story, scope_of


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
        version = namespaces.versions(tx, workspace).get((namespace.plugin, namespace.name))
        if version is None:
            return self._story.records.oldest_version(workspace, namespace, tx=tx), False
        return version, version == namespace.version and self._story.is_declared(workspace, namespace, tx=tx)

    def _settle(self, tx: Tx, namespace: Namespace, workspace: str) -> None:
        self._story.create_workspace(workspace, tx=tx)
        self._story.declare(workspace, namespace, tx=tx)
        namespaces.store(tx, workspace, namespace)

    def _migrate(self, plugin: Plugin, namespace: Namespace, workspace: str) -> None:
        function = unchanged
        if plugin.declared.module is not None:
            function = self._functions(plugin)["migrations", namespace.name]
        call = Call(plugin.id, f"migration of {namespace.name}", self._guard.deadlines.migration)
        migrate(self._story, workspace, namespace, function, lambda work: self._guard.call(call, work))

    def _seed(self, namespace: Namespace, scope: Scope) -> None:
        seed = seeding.Seed(namespace)
        if not self._story.read(lambda tx: seeding.is_given(tx, seed, scope)):
            seeding.give(self._story, seed, scope)
