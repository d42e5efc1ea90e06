"""The database: one writer behind a gate, readers on snapshots, leases, migrations, the canonical form of documents."""

from talekeeper.db.canonical import NotJson, dumps, loads, parse, stored
from talekeeper.db.database import Database
from talekeeper.db.guard import ensure_outside_write
from talekeeper.db.leases import Lease, Leases
from talekeeper.db.tx import Row, Tx

__all__ = [
    "Database",
    "Lease",
    "Leases",
    "NotJson",
    "Row",
    "Tx",
    "dumps",
    "ensure_outside_write",
    "loads",
    "parse",
    "stored",
]
