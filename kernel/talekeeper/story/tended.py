"""The part of the store's front that keeps the index in order and does the long work that is due."""

from __future__ import annotations

from collections.abc import Callable

from talekeeper.db import Tx
from talekeeper.manifest import Namespace
from talekeeper.search import IndexSize, index_size
from talekeeper.story import declared, maintenance, upkeep
from talekeeper.story.core import Core
from talekeeper.story.maintenance import IndexFault
from talekeeper.story.views import Address, Scope


class Tended:
    """What `Story` is built on; methods with a `tx` take part in the caller's transaction."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def declare(self, workspace: str, namespace: Namespace, *, tx: Tx | None = None) -> bool:
        """Makes a manifest's search table the one that counts; True when `maintain` has records to index anew."""
        return self._core.write(
            lambda tx: declared.declare(self._core, tx, workspace, namespace), tx, "declare a namespace"
        )

    def is_declared(self, workspace: str, namespace: Namespace, *, tx: Tx | None = None) -> bool:
        """Whether `declare` would change nothing."""
        return self._core.read(lambda tx: declared.is_declared(tx, workspace, namespace), tx)

    def indexing(self, workspace: str, *, tx: Tx | None = None) -> set[tuple[str, str]]:
        """Plugin and name of the namespaces whose stored records are still to be indexed anew."""
        due = self._core.read(upkeep.due, tx)
        return {(task.plugin, task.namespace) for task in due if task.kind == "reindex" and task.workspace == workspace}

    def reindex_later(self, workspace: str, plugin: str, namespace: str, *, tx: Tx) -> None:
        """Makes the indexing of a namespace's records due that were written without it; `maintain` does it."""
        upkeep.mark(self._core, tx, upkeep.Task("reindex", workspace, plugin=plugin, namespace=namespace))

    def maintain(self, address: Address | None = None) -> None:
        """Between turns: flushes and merges the index of a session, or of all, and does what is due in the home."""
        core = self._core
        if address is None:
            maintenance.do_due(core)
            maintenance.rebuild_stale(core)
            core.index.maintain(core.db)
            return
        part = core.db.read(lambda tx: core.index.find_part(tx, address.workspace, address.session, ""))
        if part is not None:
            core.index.maintain(core.db, part=part)

    def settle(self) -> None:
        """Before closing: `maintain`, and forgotten words leave the write-ahead log too."""
        self.maintain()
        self._core.db.checkpoint()

    def unpurged(self) -> list[Scope]:
        """Scopes whose part of the index still holds words of forgotten records or messages; `maintain` wipes them."""
        found = self._core.db.read(self._core.index.unpurged_parts)
        return [Scope(workspace, session, preset) for workspace, session, preset in found]

    def index_size(self) -> IndexSize:
        """How much the index of the home holds; reads all of it."""
        return self._core.db.read(index_size)

    def check_index(self, scope: Address | Scope | None = None) -> list[IndexFault]:
        """What the index has otherwise than the rows, of a session, a scope or the home; empty when they agree."""
        return [fault for each in self._scopes(scope) for fault in maintenance.check(self._core, each)]

    def rebuild_index(
        self, scope: Address | Scope | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Writes the index anew, in short transactions; `progress(done, total)` counts scopes.

        Where it is as it should be, searches find everything meanwhile; where not, what is written again already.
        """
        every = self._scopes(scope)
        for done, each in enumerate(every, start=1):
            maintenance.mend(self._core, each)
            if progress is not None:
                progress(done, len(every))

    def _scopes(self, scope: Address | Scope | None) -> list[Scope]:
        if isinstance(scope, Address):
            return [Scope(scope.workspace, session=scope.session)]
        return [scope] if scope is not None else self._core.db.read(maintenance.all_scopes)
