"""The states of a plugin, each with its reason.

found → valid → enabled → loaded → active      aside: invalid, incompatible, blocked, disabled, failed
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from talekeeper.errors import NotFound
from talekeeper.manifest import PluginManifest
from talekeeper.plugins.found import Found


class State(StrEnum):
    """`ENABLED` works already, its code being loaded when first needed; `LOADED` still has data to index."""

    FOUND = "found"
    VALID = "valid"
    ENABLED = "enabled"
    LOADED = "loaded"
    ACTIVE = "active"
    INVALID = "invalid"
    INCOMPATIBLE = "incompatible"
    BLOCKED = "blocked"
    DISABLED = "disabled"
    FAILED = "failed"


_WORKING = frozenset({State.ENABLED, State.LOADED, State.ACTIVE})


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin as found, and where it stands. `manifest` is None as long as it cannot be read.

    `suspended` says why its code is called no more in this process; its data stays searchable.
    """

    id: str
    state: State
    reason: str
    found: Found
    manifest: PluginManifest | None = None
    diagnostics: tuple[Any, ...] = ()
    suspended: bool = False

    @property
    def works(self) -> bool:
        """Its declared data is searched and its functions may be called."""
        return self.state in _WORKING or self.suspended

    @property
    def declared(self) -> PluginManifest:
        """The manifest; raises NotFound where none could be read."""
        if self.manifest is None:
            raise NotFound(f"plugin {self.id!r} has no valid manifest", cure=self.reason)
        return self.manifest

    def moved(self, state: State, reason: str = "", *, suspended: bool = False) -> Plugin:
        """The same plugin in another state."""
        return replace(self, state=state, reason=reason, suspended=suspended)


@dataclass(frozen=True, slots=True)
class Roster:
    """Every plugin as it stands in one scope, those that work first, in the order they depend on one another."""

    plugins: tuple[Plugin, ...]
    by_id: Mapping[str, Plugin] = field(init=False)

    def __post_init__(self) -> None:
        first: dict[str, Plugin] = {}
        for plugin in self.plugins:
            first.setdefault(plugin.id, plugin)
        object.__setattr__(self, "by_id", first)

    @property
    def working(self) -> tuple[Plugin, ...]:
        """Those that work, each after what it requires."""
        return tuple(plugin for plugin in self.plugins if plugin.works)
