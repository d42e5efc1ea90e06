"""Makes a partition's content anew in place: each batch takes out what it is about to put in.

So a search in the middle finds every passage once, writers need not know, and no transaction is long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from talekeeper.db import Database, Tx
from talekeeper.search.damage import IndexDamaged
from talekeeper.search.maintenance import maintain
from talekeeper.search.passage import Passage
from talekeeper.search.staging import abandon
from talekeeper.search.vectors import StoredVector, held, move
from talekeeper.search.writing import MIXED, add, drop_part, find_source, make_part, remove_docs, versions
from talekeeper.text import TOKENS_FINGERPRINT

Passages = Callable[[Tx, Any], tuple[Sequence[Passage], Any]]
"""Gives the passages after a cursor, and the cursor after them; both are None at the two ends.

Called inside a write transaction, so about a hundred passages at a time are right. Every passage there from beginning
to end must come; one that is written meanwhile may.
"""
_BATCH = 200  # passages removed in a transaction: some 20 ms
_STALE = "SELECT id FROM part WHERE tokens < ? OR tokens > ? ORDER BY id"  # <> would not use the index
_MADE = """
UPDATE part SET tokens = ? WHERE id = ?
AND NOT EXISTS (SELECT 1 FROM segment WHERE part = ? AND tokens <> ?)
AND NOT EXISTS (SELECT 1 FROM tail WHERE part = ? AND tokens <> ?)
"""


def stale(tx: Tx) -> list[int]:
    """Partitions that hold terms of another tokeniser, or whose making was broken off."""
    return [row[0] for row in tx.rows(_STALE, (TOKENS_FINGERPRINT, TOKENS_FINGERPRINT))]


def rebuild(db: Database, part: int, passages: Passages) -> None:
    """Puts in everything `passages` gives and takes out everything else that was there at the beginning.

    Searches find every passage meanwhile. A partition too damaged for that is renewed.
    """
    try:
        _rebuild_in_place(db, part, passages)
    except IndexDamaged:
        renew(db, part, passages)


def renew(db: Database, part: int, passages: Passages) -> None:
    """Throws the partition's content away unread and puts in everything `passages` gives.

    Searches find what is there already. Killed in between, it leaves a partition that is `stale`.
    """
    fresh = db.write(partial(_begin_anew, part=part), name="index renewal")
    if fresh is not None:
        _rebuild_in_place(db, fresh, passages)


def _begin_anew(tx: Tx, part: int) -> int | None:
    scope = tx.one("SELECT workspace, session, preset FROM part WHERE id = ?", (part,))
    if scope is None:
        return None
    abandon(tx, part)
    drop_part(tx, part)
    fresh = make_part(tx, *scope)
    tx.run("UPDATE part SET tokens = ? WHERE id = ?", (MIXED, fresh))
    return fresh


def _rebuild_in_place(db: Database, part: int, passages: Passages) -> None:
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
    made = (TOKENS_FINGERPRINT, part, part, TOKENS_FINGERPRINT, part, TOKENS_FINGERPRINT)
    db.write(lambda tx: tx.run(_MADE, made), name="index rebuild")


def _put_in(tx: Tx, part: int, passages: Passages, cursor: Any) -> Any:
    """The next batch. A passage that had a vector has it still: what it says is what it said."""
    batch, after = passages(tx, cursor)
    vectors: dict[int, StoredVector] = {}
    for passage in batch:
        source = find_source(tx, part, passage.kind, passage.plugin, passage.namespace)
        before = [] if source is None else versions(tx, part, source, passage.key, passage.revision)
        vector = held(tx, part, before, passage.digest)
        remove_docs(tx, part, before)
        doc = add(tx, part, passage)
        if vector is not None:
            vectors[doc] = vector
    move(tx, part, vectors)
    return after


def _take_out(tx: Tx, part: int, below: int) -> bool:
    """Removes passages numbered lower than `below`; False once there are none."""
    rows = tx.rows("SELECT doc FROM doc WHERE part = ? AND doc < ? ORDER BY doc LIMIT ?", (part, below, _BATCH))
    return bool(remove_docs(tx, part, [doc for (doc,) in rows]))
