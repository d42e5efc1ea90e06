"""How far a kind of derived work has come on a lineage: read from its succeeded jobs, kept nowhere else."""

from __future__ import annotations

from talekeeper.db import Tx
from talekeeper.story.core import Core
from talekeeper.story.lineage import line_to
from talekeeper.story.rows import NO_LIMIT, story_messages
from talekeeper.story.views import Address, Coordinate, Job, Message

Ranges = list[tuple[int, int]]

_DONE = "j.state = 'succeeded' AND "
_BY_MESSAGE = "line.branch = j.covered_branch AND j.covered_end <= line.upto"
_BY_JOB = "line.branch = j.branch AND j.range_end <= line.upto AND j.covered_end IS NOT NULL"


class Coverage:
    """Ranges of depths, inclusive, in order, merged where they touch. A coordinate left out is the session's head."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def covered(
        self, address: Address, plugin: str, kind: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Ranges:
        """Ranges of the lineage's messages that succeeded jobs cover, those of other takes too."""
        return self._core.read(lambda tx: _ranges(tx, address, plugin, kind, at, _DONE + _BY_MESSAGE), tx)

    def settled(
        self, address: Address, plugin: str, kind: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Ranges:
        """Ranges that jobs of the lineage's own turns have covered, whether or not they are due again."""
        return self._core.read(lambda tx: _ranges(tx, address, plugin, kind, at, _BY_JOB), tx)

    def uncovered(
        self,
        address: Address,
        plugin: str,
        kind: str,
        *,
        at: Coordinate | None = None,
        limit: int = 100,
        hidden: bool = True,
        own: bool = False,
        tx: Tx | None = None,
    ) -> list[Message]:
        """The first story messages that are not covered, at most `limit`, up to the next that is.

        With `own`, only jobs of the lineage's own turns count: what a take that lost has paid for is then not covered.
        """
        which = _DONE + (_BY_JOB if own else _BY_MESSAGE)

        def find(tx: Tx) -> list[Message]:
            begin = 0
            for start, end in [*_ranges(tx, address, plugin, kind, at, which), (NO_LIMIT, NO_LIMIT)]:
                found = story_messages(tx, address, at, begin, start - 1, limit, hidden=hidden)
                if found:
                    return found
                begin = end + 1
            return []

        return self._core.read(find, tx)

    def superseded(self, address: Address, job: Job, *, tx: Tx | None = None) -> bool:
        """Whether a job of the same kind that ends further on along the head's lineage has succeeded."""
        line = line_to(address, None)
        sql = (
            f"{line.sql} SELECT 1 FROM job j JOIN line ON line.branch = j.branch AND j.range_end <= line.upto "
            "WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? AND j.kind = ? AND j.state = 'succeeded' "
            "AND j.range_end > ? LIMIT 1"
        )
        params = (*line.params, address.workspace, address.session, job.plugin, job.kind, job.end)
        return self._core.read(lambda tx: tx.one(sql, params), tx) is not None


def _ranges(tx: Tx, address: Address, plugin: str, kind: str, at: Coordinate | None, which: str) -> Ranges:
    line = line_to(address, at)
    rows = tx.rows(
        f"{line.sql} SELECT j.covered_start, j.covered_end FROM line CROSS JOIN job j ON {which} "
        "WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? AND j.kind = ? "
        "ORDER BY j.covered_start, j.covered_end",
        (*line.params, address.workspace, address.session, plugin, kind),
    )
    merged: Ranges = []
    for start, end in rows:
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
