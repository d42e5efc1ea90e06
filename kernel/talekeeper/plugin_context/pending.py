"""What a turn's tools and segments write, held until the narration is committed; the turn's own reads see it.

A batch is tried in a transaction that is rolled back. What the store refuses (a limit, an append-only key) is refused
to the plugin at once, and what the namespaces would hold is read before the rollback. The commit applies the batches
again, at the narration's coordinate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from talekeeper.db import Tx
from talekeeper.errors import InputError, StoreError
from talekeeper.manifest import Namespace
from talekeeper.story import Coordinate, Record, Scope, Story

WrittenBy = Literal["segment", "tool"]
Place = tuple[str, str, Scope]
"""Plugin and name of a namespace, and the scope of its records."""

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Step:
    """One write of a batch; `run(tx=…, at=…)` does it at a coordinate."""

    namespace: Namespace
    scope: Scope
    run: Callable[..., object]

    @property
    def place(self) -> Place:
        """The records it changes."""
        return self.namespace.plugin, self.namespace.name, self.scope


@dataclass(frozen=True, slots=True)
class Batch:
    """The steps of one `with` block: all are applied or none."""

    plugin: str
    written_by: WrittenBy
    steps: tuple[Step, ...]


class Pending:
    """The batches of one turn of a session; contexts of several plugins, in several threads, share it."""

    def __init__(self, story: Story, at: Coordinate) -> None:
        self._story = story
        self._at = at
        self._batches: list[Batch] = []
        self._seen: dict[Place, tuple[Record, ...]] = {}
        self._lock = threading.Lock()

    def take(self, batch: Batch) -> None:
        """Holds a batch; raises what the store would, and then holds none of its steps."""
        with self._lock:
            batches = [*self._batches, batch]
            self._seen = self._tried(batches)
            self._batches = batches

    def seen(self, namespace: Namespace, scope: Scope) -> tuple[Record, ...] | None:
        """Every live record of a namespace that was written to, oldest first; None where nothing was."""
        return self._seen.get((namespace.plugin, namespace.name, scope))

    def drop_segments(self) -> None:
        """Drops what segments have written, before they are called again."""
        with self._lock:
            kept = [batch for batch in self._batches if batch.written_by != "segment"]
            if len(kept) < len(self._batches):
                self._seen = self._tried(kept) if kept else {}
                self._batches = kept

    def commit(self, tx: Tx, at: Coordinate) -> list[str]:
        """Applies every batch at `at`; one that no longer fits is left out, and why is said."""
        faults: list[str] = []
        for batch in self._batches:
            tx.run("SAVEPOINT batch")
            try:
                _apply(tx, batch, at)
            except (StoreError, InputError) as fault:
                tx.run("ROLLBACK TO batch")
                faults.append(f"a batch of {batch.plugin} was left out: {fault}")
            tx.run("RELEASE batch")
        return faults

    def _tried(self, batches: Sequence[Batch]) -> dict[Place, tuple[Record, ...]]:
        seen: dict[Place, tuple[Record, ...]] = {}

        def trial(tx: Tx) -> None:
            for batch in batches:
                _apply(tx, batch, self._at)
            places = {step.place: step for batch in batches for step in batch.steps}
            seen.update({place: tuple(self._live(tx, step)) for place, step in places.items()})
            raise _Tried

        with suppress(_Tried):
            self._story.write(trial, name="try a batch")
        return seen

    def _live(self, tx: Tx, step: Step) -> list[Record]:
        found: list[Record] = []
        while page := self._story.records.list(
            step.namespace, step.scope, at=self._at, after=found[-1].key if found else None, limit=_PAGE, tx=tx
        ):
            found += page
        return found


class _Tried(Exception):
    """Ends a transaction that must not commit."""


def _apply(tx: Tx, batch: Batch, at: Coordinate) -> None:
    for step in batch.steps:
        step.run(tx=tx, at=at)
