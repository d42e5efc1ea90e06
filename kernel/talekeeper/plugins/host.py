"""The host: every plugin with its state, its switches and settings, and its functions, loaded when first needed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

from talekeeper.clock import Clock, iso
from talekeeper.config import nearest
from talekeeper.db import Tx
from talekeeper.errors import NotFound, PluginError, StoreError
from talekeeper.manifest import Namespace, installed
from talekeeper.plugins import rows
from talekeeper.plugins.discovery import Origin, discover
from talekeeper.plugins.guard import Deadlines, Guard
from talekeeper.plugins.manifest_cache import read_cached
from talekeeper.plugins.preparation import Preparer
from talekeeper.plugins.resolver import Overrides, Plugin, Roster, State, read_plugins, resolve
from talekeeper.story import Address, Session, Story
from talekeeper.trace import Trace

if TYPE_CHECKING:
    from talekeeper.plugins.explain import Explanation
    from talekeeper.plugins.loader import Functions, Loader

_log = logging.getLogger("talekeeper.plugins")


class Host:
    """Serves one home. `folder` is the home's folder of plugins; nothing is read before it is needed."""

    def __init__(
        self,
        story: Story,
        clock: Clock,
        *,
        folder: Path | None = None,
        overrides: Overrides | None = None,
        entries: Callable[[], Iterable[EntryPoint]] = installed,
        deadlines: Deadlines | None = None,
        trace: Trace | None = None,
    ) -> None:
        self._story = story
        self._clock = clock
        self._folder = folder
        self._overrides = overrides or Overrides()
        self._entries = entries
        self._plugins: tuple[Plugin, ...] | None = None
        self._failed: dict[str, str] = {}
        self._ready: set[Address] = set()
        self.guard = Guard(deadlines, strict=self._overrides.strict, trace=trace)
        self._loader: Loader | None = None
        self._lock = threading.Lock()
        self._preparer = Preparer(story, self.guard, self.functions)

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """Every plugin found, in the state it has in any scope. Enables the bundled ones in a new home."""
        if self._plugins is None:
            overrides = self._overrides
            found = discover(home=self._folder, folders=overrides.folders, paths=overrides.paths, entries=self._entries)
            self._plugins = read_plugins(found, read=partial(read_cached, self._story))
            self._begin(self._plugins)
        return self._plugins

    def look_again(self) -> None:
        """Forgets what was found, prepared and failed: the next question reads folders and manifests again."""
        self._plugins = None
        self._failed.clear()
        self._preparer.begin_again()
        self._ready.clear()

    def add(self, path: Path) -> Plugin:
        """Gives what is found at one more path, which counts from now on as one given with `--plugin`."""
        self._overrides = replace(self._overrides, paths=(*self._overrides.paths, path))
        self.look_again()
        (found,) = discover(home=None, paths=[path], entries=tuple)
        return next(plugin for plugin in self.plugins if plugin.found.is_at(found))

    def close(self) -> None:
        """Takes the code of every plugin out of the interpreter."""
        if self._loader is not None:
            self._loader.unload_all()

    def plugin(self, plugin_id: str) -> Plugin:
        """The one that carries this id, or the first that claims it; raises NotFound."""
        for plugin in self.plugins:
            if plugin.id == plugin_id:
                return plugin
        known = sorted({plugin.id for plugin in self.plugins})
        near = nearest(plugin_id, known)
        cure = f"did you mean {near!r}?" if near else f"found are {', '.join(known) or 'none'}"
        raise NotFound(f"there is no plugin {plugin_id!r}", cure=cure)

    # Who works where

    def roster(self, workspace: str = "", session: Session | None = None, *, tx: Tx | None = None) -> Roster:
        """Every plugin with its state in the home, in a workspace, or in a session."""
        plugins = self.plugins
        place = session.workspace if session else workspace
        if tx is not None:
            return self._resolve(tx, plugins, place, session)
        return self._story.read(lambda tx: self._resolve(tx, plugins, place, session))

    def enabled(self, workspace: str = "") -> tuple[str, ...]:
        """What a new session there records as its plugins: all that are enabled, whatever this run's options say."""
        switched = self._story.read(lambda tx: rows.enabled(tx, workspace))
        return tuple(sorted({plugin.id for plugin in self.plugins if plugin.manifest and _is_on(plugin, switched)}))

    def enable(self, plugin_id: str, workspace: str = "") -> Plugin:
        """Enables a plugin in the home or in a workspace; the result has its state there.

        Raises NotFound, or PluginError with its reason when it is invalid, incompatible or unsafe.
        """
        self.look_again()
        plugin = self.plugin(plugin_id)
        if plugin.state is not State.VALID:
            raise PluginError(f"it is {plugin.state}: {plugin.reason}", where=plugin_id, plugin=plugin_id)

        def enable(tx: Tx) -> None:
            rows.enable(tx, plugin_id, on=True, at=self._now(), workspace=workspace)
            rows.clear_fault(tx, plugin_id)

        self._story.write(enable, name="enable a plugin")
        return self.roster(workspace).by_id[plugin_id]

    def disable(self, plugin_id: str, workspace: str = "") -> None:
        """Disables a plugin and unloads its code; its records stay, hidden until it is enabled again."""
        plugin = self.plugin(plugin_id)
        self._story.write(
            lambda tx: rows.enable(tx, plugin_id, on=False, at=self._now(), workspace=workspace),
            name="disable a plugin",
        )
        if not workspace and self._loader is not None:
            self._loader.unload(plugin)

    def change_session(self, address: Address, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Session:
        """Changes which plugins a session has; what it says counts over workspace and home."""
        added = {plugin_id: self.plugin(plugin_id) for plugin_id in add}
        removed = frozenset(remove)

        def change(tx: Tx) -> Session:
            before = self._story.sessions.get(address, tx=tx).plugins
            for plugin_id in (*added, *removed):
                rows.enable(
                    tx,
                    plugin_id,
                    on=plugin_id in added,
                    at=self._now(),
                    workspace=address.workspace,
                    session=address.session,
                )
            after = sorted({*before, *added} - removed)
            return self._story.sessions.configure(address, plugins=after, tx=tx)

        session = self._story.write(change, name="change a session's plugins")
        # Other processes may have the session open and prepared already.
        self.prepare(address)
        return session

    def prepare(self, address: Address) -> None:
        """Brings the data of a session's working plugins to their manifests: migrations, changed tables, seeds.

        A plugin for which it fails becomes `failed`, the others go on.
        """
        session = self._story.sessions.get(address)
        self._failed |= self._preparer.prepare(self.roster(session=session).working, session)

    def ready(self, address: Address) -> None:
        """Prepares a session once in this process; whatever uses a session's plugins calls it first."""
        if address not in self._ready:
            self.prepare(address)
            self._ready.add(address)

    # Functions, namespaces and settings

    def namespace(self, path: str) -> Namespace:
        """The declared namespace `plugin/namespace`, whether its plugin is on or off; raises NotFound."""
        plugin_id, _, name = path.partition("/")
        declared = self.plugin(plugin_id).declared.data
        for namespace in declared:
            if namespace.name == name:
                return namespace
        known = ", ".join(namespace.path for namespace in declared) or "no namespace"
        raise NotFound(f"there is no namespace {path!r}", cure=f"plugin {plugin_id!r} has {known}")

    def functions(self, plugin: Plugin) -> Functions:
        """What the plugin's code registers, by (point, name); loads it when it is not loaded.

        Raises PluginError with the reason; the plugin is `failed` then, in later processes too until its files change
        or somebody enables it again.
        """
        if plugin.id in self._failed:
            raise PluginError(self._failed[plugin.id], where=plugin.id, plugin=plugin.id)
        loader = self._opened_loader()
        if loader.loaded(plugin.id):
            return loader.functions(plugin)
        try:
            functions = loader.functions(plugin)
        except PluginError as error:
            self._note(plugin, error.what)
            raise
        if self._story.read(rows.faults).get(plugin.id):
            self._story.write(lambda tx: rows.clear_fault(tx, plugin.id), name="clear a plugin's fault")
        return functions

    def settings(
        self, plugin: Plugin, workspace: str = "", session: str = "", *, tx: Tx | None = None
    ) -> Mapping[str, Any]:
        """Every declared setting with its value in the home, a workspace or a session."""
        manifest = plugin.declared
        if tx is not None:
            return rows.settings(tx, manifest, workspace, session)
        return self._story.read(lambda tx: rows.settings(tx, manifest, workspace, session))

    def configure(self, plugin_id: str, name: str, value: Any, workspace: str = "", session: str = "") -> None:
        """Stores a setting; None takes the scope's value away again. Raises NotFound or ParameterError."""
        manifest = self.plugin(plugin_id).declared
        self._story.write(
            lambda tx: rows.store_setting(tx, manifest, name, value, self._now(), workspace=workspace, session=session),
            name="store a setting",
        )

    def explain(self, plugin_id: str, workspace: str = "", session: Session | None = None) -> Explanation:
        """Why the plugin is on or off there, what its namespaces feed and what becomes of its other declarations."""
        from talekeeper.plugins.explain import explain  # noqa: PLC0415 -- for one command

        self.plugin(plugin_id)
        plugin = self.roster(workspace, session).by_id[plugin_id]
        place, name = (session.workspace, session.id) if session else (workspace, "")
        values: Mapping[str, Any] = self.settings(plugin, place, name) if plugin.manifest else {}
        indexing = frozenset(f"{owner}/{namespace}" for owner, namespace in self._story.index.pending(place))
        return explain(plugin, values, loaded=self._is_loaded(plugin_id), indexing=indexing)

    def _begin(self, plugins: Iterable[Plugin]) -> None:
        bundled = [plugin.id for plugin in plugins if plugin.found.origin is Origin.BUNDLED]
        if bundled and not self._story.read(rows.is_begun):
            self._story.write(lambda tx: rows.enable_in_new_home(tx, bundled, self._now()), name="enable plugins")

    def _resolve(self, tx: Tx, plugins: Iterable[Plugin], workspace: str, session: Session | None) -> Roster:
        switched = rows.enabled(tx, workspace, session.id if session else "")
        versions = rows.versions(tx, workspace)
        roster = resolve(
            [_unless_newer(plugin, versions) for plugin in plugins],
            lambda plugin: self._off(plugin, switched, session),
            self._failures(tx),
        )
        indexing = {plugin for plugin, _ in self._story.index.pending(workspace, tx=tx)}
        return Roster(tuple(self._with_run_state(plugin, indexing) for plugin in roster.plugins))

    def _off(self, plugin: Plugin, switched: Mapping[str, bool], session: Session | None) -> str:
        reason = self._overrides.off(plugin.id)
        if reason:
            return reason
        if not _is_on(plugin, switched):
            cure = f"not enabled; talekeeper plugins enable {plugin.id} does it"
            return "switched off" if plugin.id in switched else cure
        if session is not None and plugin.id not in session.plugins:
            return f"not of this session; talekeeper sessions plugins {session.id} +{plugin.id} adds it"
        return ""

    def _failures(self, tx: Tx) -> dict[str, str]:
        known = {plugin.id: plugin for plugin in reversed(self.plugins)}
        noted = {
            plugin_id: f"{reason}; talekeeper plugins enable {plugin_id} tries it again"
            for plugin_id, (stamp, reason) in rows.faults(tx).items()
            if plugin_id in known and known[plugin_id].manifest and not self._is_loaded(plugin_id)
            if rows.stamp(known[plugin_id]) == stamp
        }
        return {**noted, **self._failed}

    def _with_run_state(self, plugin: Plugin, indexing: set[str]) -> Plugin:
        suspended = self.guard.suspended(plugin.id)
        if suspended and plugin.state in {State.ENABLED, State.FAILED}:
            return plugin.moved(State.FAILED, suspended, suspended=plugin.works)
        if plugin.state is not State.ENABLED:
            return plugin
        if plugin.declared.module is not None and not self._is_loaded(plugin.id):
            return plugin
        if plugin.id in indexing:
            return plugin.moved(State.LOADED, "its records are being indexed again")
        return plugin.moved(State.ACTIVE)

    def _note(self, plugin: Plugin, reason: str) -> None:
        self._failed[plugin.id] = reason
        _log.warning("%s: %s", plugin.id, reason)
        # A home that cannot be written to still runs; the reason is then known to this process alone.
        with suppress(StoreError):
            self._story.write(
                lambda tx: rows.store_fault(tx, plugin.id, rows.stamp(plugin), reason, self._now()),
                name="record a plugin's fault",
            )

    def _opened_loader(self) -> Loader:
        from talekeeper.plugins.loader import Loader  # noqa: PLC0415 -- brings pluggy; most commands run no plugin

        with self._lock:
            if self._loader is None:
                self._loader = Loader(self.guard)
            return self._loader

    def _is_loaded(self, plugin_id: str) -> bool:
        return self._loader is not None and self._loader.loaded(plugin_id)

    def _now(self) -> str:
        return iso(self._clock.now())


def _is_on(plugin: Plugin, switched: Mapping[str, bool]) -> bool:
    # Who gives a plugin's own path means to use it; everything else waits to be enabled.
    return switched.get(plugin.id, plugin.found.named)


def _unless_newer(plugin: Plugin, versions: Mapping[tuple[str, str], int]) -> Plugin:
    if plugin.state is not State.VALID:
        return plugin
    for namespace in plugin.declared.data:
        kept = versions.get((plugin.id, namespace.name))
        if kept is not None and kept > namespace.version:
            reason = f"the records of {namespace.path} are of version {kept}, this plugin knows {namespace.version}"
            return plugin.moved(State.INCOMPATIBLE, f"{reason}; install the newer plugin again")
    return plugin
