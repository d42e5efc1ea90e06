"""The one hook of a plugin's code, and what it may register.

    @hookimpl
    def talekeeper_register(registry: Registry) -> None:
        registry.command("check", check)

Everything registered must be declared in `plugin.toml` and everything declared must be registered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Protocol

import pluggy

from talekeeper.api.protocols import JobView, PluginContext
from talekeeper.api.values import ImportReport, JobResult, Json, Line, Recalled, Record, TurnView

hookimpl = pluggy.HookimplMarker("talekeeper")

Called = Callable[[PluginContext, Mapping[str, Json]], Any]
"""A tool or command: the context and the frozen arguments, giving a JSON value, or a coroutine that does."""

Prompt = Callable[[PluginContext, TurnView], Sequence[Line] | Recalled | Awaitable[Sequence[Line] | Recalled]]
"""Fills a prompt segment for a turn. What it writes becomes part of the turn's own commit."""

Job = Callable[[PluginContext, JobView], JobResult | Awaitable[JobResult]]
"""Does work outside the turn. Its batches commit before its end does: run again it must write nothing twice."""

Importer = Callable[[PluginContext, BinaryIO, ImportReport], Iterator[Record]]
"""Reads a file of its kind, record by record. Run again over the same file it gives the same keys."""

Migration = Callable[[Mapping[str, Json], int], Mapping[str, Json]]
"""Gives the value of a record in the declared version, from its value and version. Pure: it gets no context."""


class Registry(Protocol):
    """Given to `talekeeper_register`. The names are those that `plugin.toml` declares."""

    def tool(self, name: str, function: Called, /) -> None:
        """What a model calls under `name`."""
        ...

    def prompt(self, name: str, function: Prompt, /) -> None:
        """What fills the prompt segment with this id."""
        ...

    def job(self, name: str, function: Job, /) -> None:
        """What does the job with this id."""
        ...

    def command(self, name: str, function: Called, /) -> None:
        """What `talekeeper run plugin/name` runs."""
        ...

    def importer(self, name: str, function: Importer, /) -> None:
        """What reads the files that match the declared patterns."""
        ...

    def migration(self, namespace: str, function: Migration, /) -> None:
        """What brings records of an older version of `namespace` to the declared one."""
        ...

    def embedding_provider(
        self,
        name: str,
        *,
        version: str,
        embed: Callable[..., Any],
        models: Sequence[str] = (),
        list_models: Callable[..., Any] | None = None,
    ) -> None:
        """What turns texts into vectors; one of `models` and `list_models` names what it offers."""
        ...

    def vector_store(
        self,
        name: str,
        *,
        get: Callable[..., Any],
        upsert: Callable[..., Any],
        list: Callable[..., Any],  # noqa: A002 -- the operation's own name
        remove: Callable[..., Any],
        prune: Callable[..., Any],
    ) -> None:
        """Where vectors are kept outside the store."""
        ...
