"""Loads a plugin's code as a transaction: import, register with pluggy, two-way check; a failure undoes all of it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partialmethod
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pluggy

from talekeeper.api import Registry, hookimpl
from talekeeper.errors import PluginError
from talekeeper.manifest import POINTS, PluginManifest
from talekeeper.plugins.discovery import Found, Origin
from talekeeper.plugins.guard import Call, Guard
from talekeeper.plugins.resolver import Plugin

PROJECT = hookimpl.project_name
HOOK = "talekeeper_register"

Function = Callable[..., Any]
Key = tuple[str, str]
"""(point, name): `("commands", "check")`. Migrations are under `("migrations", namespace)`."""

# The key that holds the name of a declared entry, for every point whose entries are code.
NAMED_BY = MappingProxyType({point.name: point.named_by for point in POINTS.values() if point.code})
_NOUNS = MappingProxyType(
    {**{point.name: point.noun for point in POINTS.values()}, "migrations": "migration of namespace"}
)
_STORE_OPERATIONS = ("get", "upsert", "list", "remove", "prune")
_OF_THE_ENVIRONMENT = frozenset({Origin.BUNDLED, Origin.INSTALLED})

Functions = Mapping[Key, Any]


class Spec:
    """The hook specification pluggy checks implementations against."""

    @pluggy.HookspecMarker(PROJECT)
    def talekeeper_register(self, registry: Registry) -> None:
        """Registers the plugin's functions; called once when its code is loaded."""


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
        """Takes the code out; the next call reads its files again."""
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


def package_name(found: Found, root: Path) -> str:
    """The name under which the package is, or will be, in `sys.modules`."""
    if found.package:
        return found.package
    # Two homes in one process may hold folders of one name.
    place = hashlib.blake2b(str(root.resolve()).encode(), digest_size=4).hexdigest()
    return f"talekeeper_folder_{found.names[0].replace('-', '_')}_{place}"


def import_code(found: Found, root: Path, module: str) -> ModuleType:
    """The plugin's module; raises whatever its code raises, and PluginError when the name leads to other code."""
    package = package_name(found, root)
    importlib.invalidate_caches()
    if found.origin not in _OF_THE_ENVIRONMENT and package not in sys.modules:
        _place(package, root)
    code = importlib.import_module(f"{package}.{module}")
    if not Path(code.__file__ or "").resolve().is_relative_to(root.resolve()):
        raise PluginError(f"{package} is imported from {code.__file__}, not from {root}", cure="rename the package")
    return code


def modules_of(found: Found, root: Path, names: Iterable[str]) -> list[str]:
    """Those of the module names that belong to the plugin's package."""
    package = package_name(found, root)
    return [name for name in names if name == package or name.startswith(f"{package}.")]


def purge(names: Iterable[str]) -> None:
    """Takes modules out of `sys.modules`, so that the next import reads the files again."""
    for name in names:
        sys.modules.pop(name, None)


@contextmanager
def unwritten(found: Found) -> Generator[None]:
    """While open, Python leaves no compiled files in a plugin's folder: a changed source is never mistaken for them."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before or found.origin not in _OF_THE_ENVIRONMENT
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _place(package: str, root: Path) -> None:
    """Puts the package of a folder into `sys.modules`, running its `__init__.py` when it has one."""
    start = root / "__init__.py"
    spec: ModuleSpec | None = ModuleSpec(package, None, is_package=True)
    if start.is_file():
        spec = importlib.util.spec_from_file_location(package, start, submodule_search_locations=[])
    if spec is None or spec.submodule_search_locations is None:
        raise PluginError(f"{start} cannot be imported")
    spec.submodule_search_locations.append(str(root))
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


class Registrations:
    """Collects what one plugin registers, faults included, so that all of them are reported at once."""

    def __init__(self) -> None:
        self.functions: dict[Key, Any] = {}
        self.faults: list[str] = []
        self._kinds: dict[str, str] = {}
        self._closed = False

    def _function(self, point: str, name: object, function: object, /) -> None:
        if self._name_fits(point, name) and isinstance(name, str):
            if not callable(function):
                self.faults.append(
                    f"{_words((point, name))} is registered with {type(function).__name__}, not a function"
                )
            self.functions[point, name] = function

    # See `Registry`.
    tool = partialmethod(_function, "tools")
    prompt = partialmethod(_function, "prompt")
    job = partialmethod(_function, "jobs")
    command = partialmethod(_function, "commands")
    importer = partialmethod(_function, "importers")
    migration = partialmethod(_function, "migrations")

    def embedding_provider(
        self,
        name: str,
        *,
        version: str,
        embed: Function,
        models: Sequence[str] = (),
        list_models: Function | None = None,
    ) -> None:
        """See `Registry.embedding_provider`."""
        if (not models) == (list_models is None):
            self.faults.append(f"embedding provider {name!r} gives neither or both of models and list_models")
        listing = {} if list_models is None else {"list_models": list_models}
        self._provider("embedding", name, {"embed": embed, **listing}, {"version": version, "models": tuple(models)})

    def vector_store(self, name: str, **operations: Function) -> None:
        """See `Registry.vector_store`."""
        if set(operations) != set(_STORE_OPERATIONS):
            self.faults.append(f"vector store {name!r} must give exactly {', '.join(_STORE_OPERATIONS)}")
        self._provider("vector-store", name, operations, {})

    def close(self) -> None:
        """Ends registration: a function that kept the registry registers nothing later."""
        self._closed = True

    def differences(self, manifest: PluginManifest) -> list[str]:
        """The two-way check: one sentence for each thing declared or registered alone, and each fault met."""
        declared, registered = declared_keys(manifest), set(self.functions)
        needed = declared | _migrations_needed(manifest)
        allowed = declared | {("migrations", namespace.name) for namespace in manifest.data}
        unregistered = [
            f"plugin.toml declares {_words(key)}, the code does not register it" for key in needed - registered
        ]
        undeclared = [
            f"the code registers {_words(key)}, plugin.toml does not declare it" for key in registered - allowed
        ]
        return [*self.faults, *sorted(unregistered), *sorted(undeclared), *self._wrong_kinds(manifest)]

    def _provider(self, kind: str, name: object, operations: dict[str, Function], facts: dict[str, Any]) -> None:
        if self._name_fits("providers", name) and isinstance(name, str):
            given: dict[str, object] = {**operations}
            wrong = [label for label, function in given.items() if not callable(function)]
            self.faults += [f"{_words(('providers', name))}: {label} is not a function" for label in wrong]
            self.functions["providers", name] = {**facts, **operations}
            self._kinds[name] = kind

    def _name_fits(self, point: str, name: object) -> bool:
        if self._closed:
            self.faults.append("the code registers after talekeeper_register has ended")
        elif not isinstance(name, str):
            self.faults.append(f"a {_NOUNS[point]} is registered under {type(name).__name__}, not a string")
        elif (point, name) in self.functions:
            self.faults.append(f"{_words((point, name))} is registered twice")
        else:
            return True
        return False

    def _wrong_kinds(self, manifest: PluginManifest) -> list[str]:
        declared = {str(entry["name"]): str(entry["kind"]) for entry in manifest.contributes.get("providers", ())}
        return [
            f"provider {name!r} is declared as {declared[name]} and registered as {kind}"
            for name, kind in sorted(self._kinds.items())
            if declared.get(name, kind) != kind
        ]


def declared_keys(manifest: PluginManifest) -> set[Key]:
    """Everything in the manifest that its code has to register, migrations apart."""
    return {
        (point, str(entry[name])) for point, name in NAMED_BY.items() for entry in manifest.contributes.get(point, ())
    }


def _migrations_needed(manifest: PluginManifest) -> set[Key]:
    # A data-only plugin may raise a version: its records are only checked against the new schema.
    return {("migrations", namespace.name) for namespace in manifest.data if namespace.version > 1 and manifest.module}


def _words(key: Key) -> str:
    return f"{_NOUNS[key[0]]} {key[1]!r}"
