"""The database: one writer behind a gate, readers on snapshots, leases, migrations, the canonical form of documents."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.db.canonical import dumps, loads, stored
    from talekeeper.db.connect import Synchronous
    from talekeeper.db.database import Database
    from talekeeper.db.files import draft_of, examine_file, publish_file, readable
    from talekeeper.db.leases import Lease, Leases
    from talekeeper.db.transaction import Row, Tx
    from talekeeper.db.write_gate import Gate, WriteOpen, ensure_outside_write
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
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
