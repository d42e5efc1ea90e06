"""Makes a partition's content anew in place: each batch takes out what it is about to put in.

So a search in the middle finds every passage once, writers need not know, and no transaction is long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from talekeeper.db import Database, Tx
from talekeeper.search.maintenance import maintain
from talekeeper.search.passage import Passage
from talekeeper.search.writing import add, find_source, remove_docs
from talekeeper.text import TOKENS_FINGERPRINT

Passages = Callable[[Tx, Any], tuple[Sequence[Passage], Any]]
"""Gives the passages after a cursor, and the cursor after them; both are None at the two ends.

Called inside a write transaction, so about a hundred passages at a time are right. Every passage there from beginning
to end must come; one that is written meanwhile may.
"""
_BATCH = 200  # passages removed in a transaction: some 20 ms
_STALE = """
SELECT part FROM segment WHERE tokens <> ? UNION SELECT part FROM tail WHERE tokens <> ? ORDER BY part
"""


def stale(tx: Tx) -> list[int]:
    """Partitions that hold terms of another tokeniser."""
    return [row[0] for row in tx.rows(_STALE, (TOKENS_FINGERPRINT, TOKENS_FINGERPRINT))]


def rebuild(db: Database, part: int, passages: Passages) -> None:
    """Puts in everything `passages` gives and takes out everything else that was there at the beginning."""
    row = db.read(lambda tx: tx.one("SELECT docs FROM part WHERE id = ?", (part,)))
    if row is None:
        return
    cursor: Any = None
    is_first = True
    while is_first or cursor is not None:
        is_first = False
        cursor = db.write(partial(_put_in, part=part, passages=passages, cursor=cursor), name="index rebuild")
        maintain(db, part)
    while db.write(partial(_take_out, part=part, below=row[0]), name="index rebuild"):
        pass
    maintain(db, part)


def _put_in(tx: Tx, part: int, passages: Passages, cursor: Any) -> Any:
    batch, after = passages(tx, cursor)
    for passage in batch:
        source = find_source(tx, part, passage.kind, passage.plugin, passage.namespace)
        held = tx.rows(
            "SELECT doc FROM doc WHERE part = ? AND source = ? AND key = ? AND revision = ?",
            (part, source, passage.key, passage.revision),
        )
        remove_docs(tx, part, [doc for (doc,) in held])
        add(tx, part, passage)
    return after


def _take_out(tx: Tx, part: int, below: int) -> bool:
    """Removes passages numbered lower than `below`; False once there are none."""
    rows = tx.rows("SELECT doc FROM doc WHERE part = ? AND doc < ? ORDER BY doc LIMIT ?", (part, below, _BATCH))
    return bool(remove_docs(tx, part, [doc for (doc,) in rows]))
