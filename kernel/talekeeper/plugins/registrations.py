"""What a plugin's code registered, and its comparison with what the manifest declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from talekeeper.manifest import POINTS, PluginManifest

Function = Callable[..., Any]
Key = tuple[str, str]
"""(point, name): `("commands", "check")`. Migrations stand under `("migrations", namespace)`."""

# Where the name of a declared entry stands, for every point whose entries are code.
NAMED_BY = MappingProxyType({point.name: point.named_by for point in POINTS.values() if point.code})
_NOUNS = MappingProxyType(
    {**{point.name: point.noun for point in POINTS.values()}, "migrations": "migration of namespace"}
)
_STORE_OPERATIONS = ("get", "upsert", "list", "remove", "prune")


class Registrations:
    """Collects what one plugin registers, faults included, so that all of them can be told at once."""

    def __init__(self) -> None:
        self.functions: dict[Key, Any] = {}
        self.faults: list[str] = []
        self._kinds: dict[str, str] = {}
        self._closed = False

    def tool(self, name: str, function: Function, /) -> None:
        """See `Registry.tool`."""
        self._function("tools", name, function)

    def prompt(self, name: str, function: Function, /) -> None:
        """See `Registry.prompt`."""
        self._function("prompt", name, function)

    def job(self, name: str, function: Function, /) -> None:
        """See `Registry.job`."""
        self._function("jobs", name, function)

    def command(self, name: str, function: Function, /) -> None:
        """See `Registry.command`."""
        self._function("commands", name, function)

    def importer(self, name: str, function: Function, /) -> None:
        """See `Registry.importer`."""
        self._function("importers", name, function)

    def migration(self, namespace: str, function: Function, /) -> None:
        """See `Registry.migration`."""
        self._function("migrations", namespace, function)

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

    def _function(self, point: str, name: object, function: object) -> None:
        if self._name_fits(point, name) and isinstance(name, str):
            if not callable(function):
                self.faults.append(
                    f"{_words((point, name))} is registered with {type(function).__name__}, not a function"
                )
            self.functions[point, name] = function

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
