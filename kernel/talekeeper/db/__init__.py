"""The database: one writer behind a gate, readers on snapshots, leases, migrations, the canonical form of documents."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.db.canonical import MAX_INTEGER, dumps, loads, stored
    from talekeeper.db.connect import Synchronous
    from talekeeper.db.database import Database
    from talekeeper.db.examine import examine_file, readable
    from talekeeper.db.gate import Gate
    from talekeeper.db.guard import WriteOpen, ensure_outside_write
    from talekeeper.db.leases import Lease, Leases
    from talekeeper.db.publish import draft_of, publish_file
    from talekeeper.db.tx import Row, Tx
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "MAX_INTEGER",
    "Database",
    "Gate",
    "Lease",
    "Leases",
    "Row",
    "Synchronous",
    "Tx",
    "WriteOpen",
    "draft_of",
    "dumps",
    "ensure_outside_write",
    "examine_file",
    "loads",
    "publish_file",
    "readable",
    "stored",
]
