"""What the kernel offers a plugin's function: `PluginContext` and its parts, as protocols an author can read.

A context is made for one call, bound to a session, and closed when the call ends: used later it raises
`ContextClosed`. What the manifest does not declare raises `PermissionDenied`, which says what to declare.
`talekeeper.context` implements it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from talekeeper.clock import Clock
from talekeeper.plugins.border import Answer, Json, MessageView, Record, ScoredRecord
from talekeeper.search import RankedText

Order = Literal["oldest", "newest", "key"]
"""By place in the story and time of writing, the same backwards, or by key."""

Scope = Literal["all", "recall", "archival"]
"""Everything; messages and what retells them; plugin data."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """The session a call is bound to. `player` has `name` once a player message carries one."""

    id: str
    workspace: str
    preset: str
    locale: str
    title: str
    player: Mapping[str, Json] = field(default_factory=dict[str, Json])


class NamespaceData(Protocol):
    """One namespace as it stands on the session's lineage: withdrawn and forgotten records are not there."""

    def get(self, key: str) -> Record | None:
        """The live record of this key."""
        ...

    def list(self, *, after: str | None = None, limit: int = 100, order: Order = "oldest") -> tuple[Record, ...]:
        """At most `limit` (1..1,000) live records; `after` is the key of the last one already seen."""
        ...

    def count(self) -> int:
        """How many live records there are."""
        ...


class Batch(Protocol):
    """Writes collected and applied together when the `with` block ends without an error, all or none.

    `namespace` is one of the plugin's own. A value is checked against its schema when it is given.
    """

    def put(self, namespace: str, key: str, value: Mapping[str, Json]) -> None:
        """Writes the record of this key, in place of an earlier version."""
        ...

    def add(self, namespace: str, value: Mapping[str, Json], *, dedupe: str = "") -> None:
        """Appends a record under a key of the kernel's making; one with the same `dedupe` is written once."""
        ...

    def withdraw(self, namespace: str, key: str) -> None:
        """Hides the record from here on; earlier versions stay on other branches."""
        ...

    def forget(self, namespace: str, key: str) -> None:
        """Blanks every version of the record for good."""
        ...


class Data(Protocol):
    """`ctx.data["facts"]` is one of the plugin's own namespaces, `ctx.data["memory/facts"]` a declared read."""

    def __getitem__(self, namespace: str) -> NamespaceData: ...

    def batch(self) -> AbstractContextManager[Batch]:
        """Opens a batch of writes; nothing is stored before its block has ended."""
        ...


class History(Protocol):
    """The messages on the session's lineage, up to its head."""

    def messages(self, *, turns: tuple[int, int] | None = None, last: int | None = None) -> tuple[MessageView, ...]:
        """Messages in story order: of the turns from first to last, both included, or the `last` ones, or all."""
        ...

    def message(self, message_id: str) -> MessageView | None:
        """The message with this id, when it is on the lineage."""
        ...

    def speakers(self) -> tuple[str, ...]:
        """Every name a message was spoken under, in order of appearance."""
        ...


class Search(Protocol):
    """The kernel's own terms and ranking, so that a plugin's idea of a match is the same as memory-search's."""

    def terms(self, text: str) -> tuple[str, ...]:
        """The terms of a text as a query has them: once each, in order, everyday words left out."""
        ...

    def rank_texts(
        self, query: str, texts: Sequence[str], limit: int | None = None, min_coverage: float = 0.0
    ) -> tuple[RankedText, ...]:
        """The texts that share a term with the query, best first; any strings will do."""
        ...

    def excerpt(self, text: str, query: str, limit: int = 500) -> str:
        """The stretch of at most `limit` characters that matches best, with `…` where it was cut."""
        ...

    def memory_search(
        self,
        query: str = "",
        *,
        wordings: Sequence[str] = (),
        scope: Scope = "all",
        sources: Sequence[str] = (),
        turn_from: int | None = None,
        turn_to: int | None = None,
        limit: int = 5,
    ) -> Answer:
        """Asks the session's memory as the narrator's tool does; raises `ParameterError` naming the field."""
        ...

    def score(self, namespace: str, queries: Sequence[tuple[str, float]]) -> tuple[ScoredRecord, ...]:
        """Every live record of a searchable namespace that shares a term with a weighted query, best first."""
        ...


class PluginContext(Protocol):
    """Everything a plugin's function may use; made for one call."""

    @property
    def session(self) -> SessionView:
        """Where the call is bound to."""
        ...

    @property
    def settings(self) -> Mapping[str, Json]:
        """Every declared setting with its value here: the session's, else the workspace's, the home's, the default."""
        ...

    @property
    def data(self) -> Data:
        """The plugin's records, and those it declares to read."""
        ...

    @property
    def history(self) -> History:
        """The story so far."""
        ...

    @property
    def search(self) -> Search:
        """Terms, ranking and memory-search."""
        ...

    @property
    def clock(self) -> Clock:
        """The time; ask it, so that a test can set it."""
        ...

    @property
    def log(self) -> logging.Logger:
        """The logger `talekeeper.plugin.<id>`."""
        ...

    def check(self) -> None:
        """Raises `ContextClosed` when the call is over its time; a long loop calls it."""
        ...
