"""Rows of an archive written to the store, and what is counted from them."""

from __future__ import annotations

from talekeeper.db import Tx
from talekeeper.exchange.archive import SESSION
from talekeeper.exchange.unpack import Row
from talekeeper.story import Address, Scope


def insert(tx: Tx, workspace: str, row: Row, *, anew: bool) -> bool:
    """Writes one row; a session's own row hides it. Unless all is `anew`, one that is there stays as it is: False."""
    columns = ("workspace", *row.table.columns)
    values = [workspace, *(row.values[column] for column in row.table.columns)]
    if row.table is SESSION:
        columns, values = (*columns, "deleting"), [*values, 1]
    marks = ", ".join("?" * len(columns))
    otherwise = "" if anew else " ON CONFLICT DO NOTHING"
    written = tx.run(
        f"INSERT INTO {row.table.name}({', '.join(columns)}) VALUES ({marks}){otherwise}",  # noqa: S608 - names of our own
        values,
    )
    return written > 0


def count_records(scope: Scope, tx: Tx) -> None:
    """Counts the records of a scope as the store keeps count of them."""
    place = (scope.workspace, scope.preset, scope.session)
    tx.run("DELETE FROM tally WHERE workspace = ? AND preset = ? AND session = ?", place)
    tx.run(
        "INSERT INTO tally(workspace, preset, session, plugin, namespace, keys, versions) "
        "SELECT workspace, preset, session, plugin, namespace, count(DISTINCT key), max(count(*), max(seq)) "
        "FROM record WHERE workspace = ? AND preset = ? AND session = ? "
        "GROUP BY workspace, preset, session, plugin, namespace",
        place,
    )


def show(address: Address, tx: Tx) -> None:
    """Lets everybody see a session that is complete."""
    tx.run("UPDATE session SET deleting = 0 WHERE workspace = ? AND id = ?", (address.workspace, address.session))
