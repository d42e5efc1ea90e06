"""What the kernel offers a plugin's function: `PluginContext` and its parts, as protocols an author can read.

A context is made for one call, bound to a session, and closed when the call ends: used later it raises
`ContextClosed`. What the manifest does not declare raises `PermissionDenied`, which says what to declare.
`talekeeper.plugin_context` implements it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from talekeeper.api.values import (
    Answer,
    Completion,
    Holding,
    Json,
    MessageView,
    Record,
    ScoredRecord,
    TurnView,
    Use,
)
from talekeeper.clock import Clock

if TYPE_CHECKING:  # for annotations alone; at run time search would bring numpy
    from talekeeper.search import RankedText
    from talekeeper.story import Coordinate

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
    """One namespace on the session's lineage: withdrawn and forgotten records are not there."""

    def get(self, key: str) -> Record | None:
        """The live record of this key."""
        ...

    def list(self, *, after: str | None = None, limit: int = 100, order: Order = "oldest") -> tuple[Record, ...]:
        """At most `limit` (1..1,000) live records; `after` is the key of the last one already seen."""
        ...

    def count(self) -> int:
        """How many live records there are."""
        ...

    def uses(self) -> Mapping[str, Use]:
        """The records that turns of the lineage have shown to the narrator, by key."""
        ...


Covers = tuple[int, int] | Literal["job"] | None
"""What a record is made from: depths of the lineage, first and last; the running job's own range; or nothing.

A record made from messages belongs to the last of them and is taken back when that one is edited or deleted. Outside a
job `"job"` means nothing."""


class Batch(Protocol):
    """Writes collected and applied together when the `with` block ends without an error, all or none.

    `namespace` is one of the plugin's own. A value is checked against its schema when it is given. In a tool or a
    prompt segment the writes become part of the turn's own commit; the same context reads them before.
    """

    def put(self, namespace: str, key: str, value: Mapping[str, Json], *, covers: Covers = "job") -> None:
        """Writes the record of this key, in place of an earlier version."""
        ...

    def add(self, namespace: str, value: Mapping[str, Json], *, dedupe: str = "", covers: Covers = "job") -> None:
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

    def settled(self, job: str) -> tuple[tuple[int, int], ...]:
        """Depths, first and last, that runs of one of the plugin's jobs have covered, by turns of this lineage.

        A record made from old messages is there from the moment it is written; shown only where its stretch is
        settled, it is shown again after an undo or a retry exactly where it was before.
        """
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

    def score(
        self, namespace: str, queries: Sequence[tuple[str, float]], *, limit: int | None = None
    ) -> tuple[ScoredRecord, ...]:
        """The live records of a searchable namespace that share a term with a weighted query, best first.

        Without a `limit`, all of them. Where the home embeds, records that share none are there too, with an empty
        `matched`, by what they mean.
        """
        ...

    def holding(self, namespace: str, text: str) -> Holding:
        """How many live records of a searchable namespace hold each term of a text, and how many there are."""
        ...


class Models(Protocol):
    """The language models of this home, by slot: `narrator`, `extract`, `summary`, `dream`.

    A slot must be listed under `models` of the manifest's [permissions]. Not to be used inside a batch's block.
    """

    def missing(self, slot: str) -> str:
        """Why the slot cannot be used and what to do, in a sentence; empty when it can."""
        ...

    def complete(
        self,
        slot: str,
        messages: Sequence[tuple[Literal["system", "user", "assistant"], str]],
        *,
        schema: Mapping[str, Json] | None = None,
        reply: int = 0,
    ) -> Completion:
        """The whole answer. With a `schema` it is a JSON object of that form, demanded twice at most.

        `reply` is the most tokens of the answer, 0 for the slot's own. Raises a `ModelError`: `NoModel` when none is
        configured, `BadReply` when two answers did not hold the schema.
        """
        ...

    def stream(
        self, slot: str, messages: Sequence[tuple[Literal["system", "user", "assistant"], str]], *, reply: int = 0
    ) -> Iterator[str]:
        """The answer in pieces, as it comes; raises as `complete` does."""
        ...


class JobView(Protocol):
    """The job a function is called for."""

    @property
    def kind(self) -> str:
        """The id in the manifest."""
        ...

    @property
    def turn(self) -> int:
        """The turn that caused it."""
        ...

    @property
    def coordinate(self) -> Coordinate:
        """The last message of its range; what the job reads is what stood there."""
        ...

    @property
    def range(self) -> tuple[int, int]:
        """The depths of its messages, first and last."""
        ...

    @property
    def attempt(self) -> int:
        """Counted from 1."""
        ...

    @property
    def reason(self) -> str:
        """Why it runs again; empty at the first attempt."""
        ...

    @property
    def superseded(self) -> bool:
        """Whether a later job of its kind on the lineage has succeeded already: this one comes late."""
        ...

    def messages(self) -> tuple[MessageView, ...]:
        """The story messages of its range, as they are now."""
        ...

    def uncovered(self, limit: int = 100) -> tuple[MessageView, ...]:
        """The first stretch of story messages up to its coordinate that no succeeded job of its kind covers.

        What the job of a take that lost has covered, before the takes part, counts: it need not be paid for again.
        """
        ...

    def unsettled(self, limit: int = 100) -> tuple[MessageView, ...]:
        """As `uncovered`, but for the jobs of this lineage's own turns alone: what a take that lost did counts not."""
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
    def turn(self) -> TurnView | None:
        """The turn a tool or segment is called in; None in a job, a command or an importer."""
        ...

    @property
    def models(self) -> Models:
        """The language models the manifest may use."""
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
