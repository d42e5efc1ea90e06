"""What turns leave behind beside their messages: usage of models, uses of records, decisions of recalls.

A use and a decision belong to a narration and count on the lineages that hold it; usage counts whatever becomes of the
turn. Every method takes part in the caller's transaction when `tx` is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from talekeeper.db import Tx, dumps, stored
from talekeeper.story.core import Core
from talekeeper.story.messages.lineage import line_to
from talekeeper.story.views import Address, Coordinate, Decision, ModelUse, RecordUse


class TurnLog:
    """The part of the store that the turn and the job runner write."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def spend(self, address: Address, uses: Iterable[ModelUse], *, tx: Tx | None = None) -> None:
        """Counts calls of models; nothing is written for a session that is not there any more."""
        given = list(uses)

        def spend(tx: Tx) -> None:
            for use in given:
                columns = (
                    use.slot,
                    use.model,
                    use.prompt,
                    use.completion,
                    use.turn,
                    use.plugin,
                    use.cost,
                    use.currency,
                )
                tx.run(_SPEND, (*columns, self._core.now(), address.workspace, address.session))

        if given:
            self._core.write(spend, tx, "count what a model used")

    def spent(self, address: Address, *, turn: int | None = None, tx: Tx | None = None) -> list[ModelUse]:
        """Every call of a model that was counted, in order: of a turn on whatever branch, or of all."""
        where, params = ("", ()) if turn is None else (" AND turn = ?", (turn,))
        sql = (
            "SELECT slot, model, prompt, completion, turn, plugin, created, cost, currency FROM usage "
            f"WHERE workspace = ? AND session = ?{where} ORDER BY seq"
        )
        rows = self._core.read(lambda tx: tx.rows(sql, (address.workspace, address.session, *params)), tx)
        return [ModelUse(*row) for row in rows]

    def show(self, address: Address, at: Coordinate, turn: int, shown: Iterable[tuple[str, str, str]], tx: Tx) -> None:
        """Counts records, each as plugin, namespace and key, as shown in the turn whose narration is at `at`."""
        place = (address.workspace, address.session)
        tx.run_many(
            "INSERT INTO use(workspace, session, plugin, namespace, key, branch, depth, turn) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(*place, *record, at.branch, at.depth, turn) for record in shown],
        )

    def uses(
        self, address: Address, plugin: str, namespace: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> dict[str, RecordUse]:
        """By key, how often the turns of a lineage have shown a record, and when last."""
        line = line_to(address, at)
        sql = (
            f"{line.sql} SELECT u.key, count(*), max(u.turn) FROM use u JOIN line "
            "ON line.branch = u.branch AND u.depth <= line.upto "
            "WHERE u.workspace = ? AND u.session = ? AND u.plugin = ? AND u.namespace = ? GROUP BY u.key"
        )
        params = (*line.params, address.workspace, address.session, plugin, namespace)
        rows = self._core.read(lambda tx: tx.rows(sql, params), tx)
        return {key: RecordUse(count, last) for key, count, last in rows}

    def decide(
        self,
        address: Address,
        at: Coordinate,
        turn: int,
        decided: Iterable[tuple[str, str, Mapping[str, Any]]],
        tx: Tx,
    ) -> list[str]:
        """Keeps how recalls were decided, each as plugin, segment and document; gives their ids."""
        now, place = self._core.now(), (address.workspace, address.session)
        made = [
            (*place, self._core.ids.new(), turn, at.branch, at.depth, plugin, segment, now, dumps(document, "decision"))
            for plugin, segment, document in decided
        ]
        tx.run_many(
            f"INSERT INTO decision(workspace, session, {_DECISION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", made
        )
        return [row[2] for row in made]

    def decisions(self, address: Address, turn: int, *, tx: Tx | None = None) -> list[Decision]:
        """How the recalls of a turn were decided, oldest first, those of other takes and branches too."""
        sql = f"SELECT {_DECISION} FROM decision WHERE workspace = ? AND session = ? AND turn = ? ORDER BY id"
        rows = self._core.read(lambda tx: tx.rows(sql, (address.workspace, address.session, turn)), tx)
        return [Decision(r[0], r[1], Coordinate(r[2], r[3]), r[4], r[5], r[6], stored(r[7])) for r in rows]


_DECISION = "id, turn, branch, depth, plugin, segment, created, document"
_SPEND = (
    "INSERT INTO usage(workspace, session, seq, "
    "slot, model, prompt, completion, turn, plugin, cost, currency, created) "
    "SELECT s.workspace, s.id, (SELECT coalesce(max(u.seq), -1) + 1 FROM usage u "
    "WHERE u.workspace = s.workspace AND u.session = s.id), ?, ?, ?, ?, ?, ?, ?, ?, ? "
    "FROM session s WHERE s.workspace = ? AND s.id = ? AND s.deleting = 0"
)
