"""Work on the index between turns: flush, merge, wipe out removed words, rebuild. Each step is a short transaction.

Any number of processes may do this at once: a step reads the database afresh, and a late one does nothing. A rebuild
works in place: each batch takes out what it is about to put in, so a search in the middle finds every passage once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, groupby
from typing import Any

from talekeeper.db import Database, Tx
from talekeeper.search.passage import Passage
from talekeeper.search.storage.codec import IndexDamaged
from talekeeper.search.storage.segments import (
    FAN,
    FLUSH,
    LARGEST,
    STAGED_AT_ONCE,
    TOP_LEVEL,
    NewSegment,
    Replacement,
    Segment,
    begin,
    combine,
    flush,
    is_in_the_making,
    next_flush,
    put,
    read_segments,
    replace,
)
from talekeeper.search.storage.writing import (
    MIXED,
    abandon,
    add,
    drop_part,
    find_source,
    finish,
    make_part,
    remove_docs,
    versions,
)
from talekeeper.search.vector.stored import StoredVector, held, move
from talekeeper.text import TOKENS_FINGERPRINT

_TOO_DEAD = 4  # a segment is rewritten once a quarter of it is dead
_WORTH_A_LOOK = 32  # tombstones of a partition
_STRETCH = 4_000  # postings deleted in a transaction: some 20 ms, for what is deleted is overwritten
_DUE = """
SELECT id FROM part WHERE docs - settled >= ? OR purge = 1
OR removals >= ? AND (SELECT count(*) FROM dead WHERE dead.part = part.id) >= ?
"""
_UNPURGED = """
SELECT workspace, session, preset FROM part WHERE purge = 1 AND (
    EXISTS (SELECT 1 FROM dead WHERE dead.part = part.id AND dead.doc < part.settled)
    OR EXISTS (SELECT 1 FROM search_counter WHERE name = 'segment in the making of part ' || part.id)
    OR EXISTS (SELECT 1 FROM retired)
) ORDER BY workspace, session, preset
"""

Choice = tuple[Sequence[Segment], int]
"""Adjacent segments to put together, and the level of what comes out."""


def maintain_index(db: Database, *, part: int | None = None) -> None:
    """Flushes, merges, and wipes out what was forgotten, in short transactions of its own; between turns.

    Does what is due in all partitions, or in one. Cheap when nothing is.
    """
    due = [part] if part is not None else db.read(_due)
    for one in due:
        while (change := db.read(partial(next_flush, part=one))) is not None:
            if not _write(db, one, change.new, partial(flush, part=one, change=change), "index flush"):
                break
            _merge_all(db, one, _run_of_a_level)
        _merge_all(db, one, _mostly_dead)
        if db.read(partial(_must_purge, part=one)):
            purge_index(db, one)
    _sweep(db)


def purge_index(db: Database, part: int) -> None:
    """Rewrites segments until none holds a word of a removed passage."""
    db.write(partial(abandon, part=part), name="index purge")
    _merge_all(db, part, _any_dead)
    _sweep(db)
    # Last, so that a process that dies before leaves it to be seen that words are left.
    db.write(partial(_purged, part=part), name="index purge")


def unpurged(tx: Tx, part: int) -> int:
    """How many removed passages still have their words in a segment; 0 after `purge_index`."""
    row = tx.one("SELECT count(*) FROM dead JOIN part ON part.id = dead.part WHERE part = ? AND doc < settled", (part,))
    return int(row[0]) if row else 0


def unpurged_parts(tx: Tx) -> list[tuple[str, str, str]]:
    """Scopes (workspace, session, preset) that words were to be wiped out of, and that may have them in a segment yet.

    Postings of replaced segments belong to no scope, so while there are any they count for every such scope.
    """
    return [(row[0], row[1], row[2]) for row in tx.rows(_UNPURGED)]


def _due(tx: Tx) -> list[int]:
    return [row[0] for row in tx.rows(_DUE, (FLUSH, _WORTH_A_LOOK, _WORTH_A_LOOK))]


def _must_purge(tx: Tx, part: int) -> bool:
    return tx.one("SELECT 1 FROM part WHERE id = ? AND purge = 1", (part,)) is not None


def _purged(tx: Tx, part: int) -> None:
    """Notes that nothing is left to purge, if that is so: a passage may have been removed meanwhile."""
    if not unpurged(tx, part):
        tx.run("UPDATE part SET purge = 0 WHERE id = ?", (part,))


def _merge_all(db: Database, part: int, choose: Callable[[Tx, int], Choice | None]) -> None:
    def prepare(tx: Tx) -> Replacement | None:
        choice = choose(tx, part)
        return None if choice is None else combine(tx, part, *choice)

    while (change := db.read(prepare)) is not None:
        if not _write(db, part, change.new, partial(replace, part=part, change=change), "index merge"):
            return


def _write(db: Database, part: int, new: NewSegment | None, publish: Callable[..., bool], name: str) -> bool:
    """Writes a segment, a large one in stretches; False when another process makes one in this partition.

    A change that came too late is left undone, and its postings are swept away: the next look finds what is due now.
    """
    if new is None or len(new.terms) <= STAGED_AT_ONCE:
        db.write(publish, name=name)
        return True
    segment = db.write(partial(begin, part=part), name=name)
    for start in range(0, len(new.terms), STAGED_AT_ONCE):
        stretch = slice(start, start + STAGED_AT_ONCE)
        stage = partial(put, part=part, segment=segment, terms=new.terms[stretch], blobs=new.blobs[stretch])
        if not db.write(stage, name=name):
            return False

    def end(tx: Tx) -> bool:
        if not is_in_the_making(tx, part, segment):
            return False
        if publish(tx, staged=segment):
            finish(tx, part)
        else:
            abandon(tx, part)
        return True

    return db.write(end, name=name)


def _run_of_a_level(tx: Tx, part: int) -> Choice | None:
    for (level, _), run in groupby(read_segments(tx, part), key=lambda one: (one.level, one.tokens)):
        first = list(run)[:FAN]
        if len(first) == FAN and level < TOP_LEVEL:
            return _fitting(first), level + 1
    return None


def _fitting(segments: Sequence[Segment]) -> Sequence[Segment]:
    """As many of the first as make one segment: those of a level written by other code may be larger than ours."""
    ends = accumulate(segment.n for segment in segments)
    return segments[: max(1, sum(end <= LARGEST for end in ends))]


def _mostly_dead(tx: Tx, part: int) -> Choice | None:
    return _with_dead(tx, part, lambda segment, dead: dead * _TOO_DEAD >= segment.n)


def _any_dead(tx: Tx, part: int) -> Choice | None:
    return _with_dead(tx, part, lambda _, dead: dead > 0)


def _with_dead(tx: Tx, part: int, is_due: Callable[[Segment, int], bool]) -> Choice | None:
    dead: dict[int, int] = dict(
        tx.rows(
            "SELECT segment.id, count(*) FROM dead JOIN segment ON segment.part = dead.part"
            " AND segment.lo <= dead.doc AND dead.doc < segment.hi WHERE dead.part = ? GROUP BY segment.id",
            (part,),
        )
    )
    for segment in read_segments(tx, part):
        if segment.id in dead and is_due(segment, dead[segment.id]):
            return [segment], segment.level
    return None


def _sweep(db: Database) -> None:
    """Deletes the postings of retired segments."""
    while db.read(lambda tx: tx.one("SELECT 1 FROM retired")) is not None:
        db.write(_sweep_a_stretch, name="index sweep")


def _sweep_a_stretch(tx: Tx) -> None:
    room = _STRETCH
    for (segment,) in tx.rows("SELECT segment FROM retired ORDER BY segment LIMIT 16"):
        border = tx.one("SELECT term FROM posting WHERE segment = ? ORDER BY term LIMIT 1 OFFSET ?", (segment, room))
        if border is not None:
            tx.run("DELETE FROM posting WHERE segment = ? AND term < ?", (segment, border[0]))
            return
        room -= tx.run("DELETE FROM posting WHERE segment = ?", (segment,))
        tx.run("DELETE FROM retired WHERE segment = ?", (segment,))
        if room <= 0:
            return


Passages = Callable[[Tx, Any], tuple[Sequence[Passage], Any]]
"""Gives the passages after a cursor, and the cursor after them; both are None at the two ends.

Called inside a write transaction, so about a hundred passages at a time are right. Every passage there from beginning
to end must come; one that is written meanwhile may.
"""
_BATCH = 200  # passages removed in a transaction: some 20 ms
_MADE = """
UPDATE part SET tokens = ? WHERE id = ?
AND NOT EXISTS (SELECT 1 FROM segment WHERE part = ? AND tokens <> ?)
AND NOT EXISTS (SELECT 1 FROM tail WHERE part = ? AND tokens <> ?)
"""


def rebuild_index(db: Database, part: int, passages: Passages) -> None:
    """Puts in everything `passages` gives, batch by batch, and takes out everything else that was there before.

    Searches and writes go on. Killed at any moment, it leaves every passage findable once, by its old terms or its new.
    A partition too damaged for that is renewed.
    """
    try:
        _rebuild_in_place(db, part, passages)
    except IndexDamaged:
        renew_index(db, part, passages)


def renew_index(db: Database, part: int, passages: Passages) -> None:
    """Throws the partition's content away unread and puts in everything `passages` gives.

    Searches find what is there already. Killed in between, it leaves a partition that is stale.
    """
    fresh = db.write(partial(_begin_again, part=part), name="index renewal")
    if fresh is not None:
        _rebuild_in_place(db, fresh, passages)


def _begin_again(tx: Tx, part: int) -> int | None:
    scope = tx.one("SELECT workspace, session, preset FROM part WHERE id = ?", (part,))
    if scope is None:
        return None
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
        maintain_index(db, part=part)
    while db.write(partial(_take_out, part=part, below=row[0]), name="index rebuild"):
        pass
    maintain_index(db, part=part)
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
