"""What a valid manifest declares, as frozen values: the form every room above works with.

Made by `talekeeper.manifest` from a `plugin.toml` that passed its rules; read by story (scopes, limits, what to index),
plugins (what must be registered) and context (what may be used).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ScopeName = Literal["session", "workspace", "preset"]


@dataclass(frozen=True, slots=True)
class SearchTable:
    """`contributes.data.<namespace>.search`: which properties of a record are indexed, and how it is found.

    `when` names a boolean property: a record in which it is false is kept and not indexed; absent or true, it is.
    """

    text: tuple[str, ...]
    title: str | None = None
    speaker: str | None = None
    time: str | None = None
    tags: str | None = None
    when: str | None = None
    weight: float = 1.0
    visibility: Literal["narrator", "owner"] = "narrator"
    tier: Literal["archival", "recall"] = "archival"

    @property
    def found_by(self) -> tuple[str, ...]:
        """The properties whose words, or dates, find a record; each once."""
        named = (*self.text, self.title, self.tags, self.speaker, self.time)
        return tuple(dict.fromkeys(name for name in named if name))


@dataclass(frozen=True, slots=True)
class Namespace:
    """One declared namespace of one plugin. `schema` is the record's JSON Schema (2020-12), already checked."""

    plugin: str
    name: str
    version: int = 1
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    scope: ScopeName = "session"
    append_only: bool = False
    limit: int | None = None
    on_limit: Literal["refuse", "oldest"] = "refuse"
    seed: tuple[Path, ...] = ()
    search: SearchTable | None = None

    @property
    def path(self) -> str:
        """`plugin/namespace`, as manifests, commands and messages write it."""
        return f"{self.plugin}/{self.name}"


@dataclass(frozen=True, slots=True)
class PluginManifest:
    """A whole manifest.

    The tables of points other than `data` are plain mappings in file order, defaults filled in; `parameters` of tools
    and commands is the JSON Schema itself.
    """

    id: str
    version: str
    api: int
    summary: str = ""
    module: str | None = None
    requires: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    requires_host: str | None = None
    data: tuple[Namespace, ...] = ()
    contributes: Mapping[str, tuple[Mapping[str, Any], ...]] = field(
        default_factory=dict[str, tuple[Mapping[str, Any], ...]]
    )
    permissions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    root: Path = Path()
