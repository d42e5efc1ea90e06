"""Loads a plugin's code as a transaction: import, register with pluggy, two-way check; a failure undoes all of it."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from types import MappingProxyType, ModuleType
from typing import Any

import pluggy

from talekeeper.errors import PluginError
from talekeeper.plugin_types import HOOK, PROJECT, Spec
from talekeeper.plugins.guard import Call, Guard
from talekeeper.plugins.importing import import_code, modules_of, purge, unwritten
from talekeeper.plugins.registrations import Key, Registrations
from talekeeper.plugins.states import Plugin

Functions = Mapping[Key, Any]


class Loader:
    """Holds the code of the plugins loaded in this process."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._hooks = pluggy.PluginManager(PROJECT)
        self._hooks.add_hookspecs(Spec)
        self._functions: dict[str, Functions] = {}
        self._modules: dict[str, list[str]] = {}
        self._lock = threading.RLock()

    def loaded(self, plugin: str) -> bool:
        """Its code is in and passed the two-way check."""
        return plugin in self._functions

    def functions(self, plugin: Plugin) -> Functions:
        """What the code of this plugin registers; loads it when it is not.

        Raises PluginError with every fault the two-way check found, or with what the code raised; nothing of the
        plugin is left in the process then.
        """
        with self._lock:
            if plugin.id not in self._functions:
                self._load(plugin)
            return self._functions[plugin.id]

    def unload(self, plugin: Plugin) -> None:
        """Takes the code out again; the next call reads its files anew."""
        with self._lock:
            self._forget(plugin.id)

    def unload_all(self) -> None:
        """Leaves nothing of any plugin in the interpreter."""
        with self._lock:
            for plugin in tuple(self._functions):
                self._forget(plugin)

    def _load(self, plugin: Plugin) -> None:
        manifest = plugin.declared
        if manifest.module is None:
            faults = Registrations().differences(manifest)
            if faults:
                raise PluginError("; ".join(faults), where=plugin.id, cure="name the module in plugin.toml")
            self._functions[plugin.id] = MappingProxyType({})
            return
        before = set(sys.modules)
        with ExitStack() as undo:
            undo.callback(self._undo, plugin, before)
            registrations = self._register(plugin, manifest.module)
            faults = registrations.differences(manifest)
            if faults:
                raise PluginError("; ".join(faults), where=plugin.id)
            undo.pop_all()
        self._functions[plugin.id] = MappingProxyType(registrations.functions)
        self._modules[plugin.id] = modules_of(plugin.found, plugin.declared.root, set(sys.modules) - before)

    def _register(self, plugin: Plugin, module: str) -> Registrations:
        root = plugin.declared.root
        seconds = self._guard.deadlines.load
        with unwritten(plugin.found):
            code = self._guard.call(
                Call(plugin.id, f"importing {module}", seconds), lambda: import_code(plugin.found, root, module)
            )
        registrations = Registrations()
        self._guard.call(Call(plugin.id, HOOK, seconds), lambda: self._ask(plugin.id, code, registrations))
        registrations.close()
        return registrations

    def _ask(self, plugin: str, code: ModuleType, registrations: Registrations) -> None:
        self._hooks.register(code, name=plugin)
        callers = self._hooks.get_hookcallers(code) or []
        unknown = sorted(caller.name for caller in callers if not caller.has_spec())
        if unknown:
            registrations.faults.append(f"@hookimpl on {', '.join(unknown)}: the only hook is {HOOK}")
        if not any(caller.name == HOOK for caller in callers):
            registrations.faults.append(f"{code.__name__} has no function {HOOK} under @hookimpl")
        others = [other for other in self._hooks.get_plugins() if other is not code]
        for given in self._hooks.subset_hook_caller(HOOK, others)(registry=registrations):
            registrations.faults.append(
                f"{HOOK} gives back {type(given).__name__}; it is a plain function that gives nothing"
            )
            if inspect.iscoroutine(given):
                given.close()

    def _forget(self, plugin: str) -> None:
        self._functions.pop(plugin, None)
        self._hooks.unregister(name=plugin)
        purge(self._modules.pop(plugin, []))

    def _undo(self, plugin: Plugin, before: set[str]) -> None:
        self._hooks.unregister(name=plugin.id)
        purge(modules_of(plugin.found, plugin.declared.root, set(sys.modules) - before))
