"""Work on the index between turns: flush, merge, wipe out removed words. Each step is a short transaction of its own.

Any number of processes may do this at once: a step looks at the database anew, and a late one does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, groupby

from talekeeper.db import Database, Tx
from talekeeper.search.segments import (
    FAN,
    FLUSH,
    LARGEST,
    TOP_LEVEL,
    NewSegment,
    Replacement,
    Segment,
    combine,
    flush,
    next_flush,
    read_segments,
    replace,
)
from talekeeper.search.staging import AT_ONCE, abandon, begin, finish, is_in_the_making, put

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


def maintain(db: Database, part: int | None) -> None:
    """Flushes and merges one partition, or all that need it, and deletes what is no longer used."""
    due = [part] if part is not None else [row[0] for row in db.read(_due)]
    for one in due:
        while (change := db.read(partial(next_flush, part=one))) is not None:
            if not _write(db, one, change.new, partial(flush, part=one, change=change), "index flush"):
                break
            _merge_all(db, one, _run_of_a_level)
        _merge_all(db, one, _mostly_dead)
        if db.read(partial(_must_purge, part=one)):
            purge(db, one)
    _sweep(db)


def purge(db: Database, part: int) -> None:
    """Rewrites every segment that holds words of removed passages, until none does."""
    db.write(partial(abandon, part=part), name="index purge")
    _merge_all(db, part, _any_dead)
    _sweep(db)
    # Last, so that a process that dies before leaves it to be seen that words are left.
    db.write(partial(_purged, part=part), name="index purge")


def unpurged(tx: Tx, part: int) -> int:
    """Removed passages whose words are still in a segment."""
    row = tx.one("SELECT count(*) FROM dead JOIN part ON part.id = dead.part WHERE part = ? AND doc < settled", (part,))
    return int(row[0]) if row else 0


def unpurged_parts(tx: Tx) -> list[tuple[str, str, str]]:
    """Scopes (workspace, session, preset) that words were to be wiped out of, and that may have them in a segment yet.

    Postings of replaced segments are nobody's, so while there are any they count for every such scope.
    """
    return [(row[0], row[1], row[2]) for row in tx.rows(_UNPURGED)]


def _due(tx: Tx) -> list[tuple[int]]:
    return [(row[0],) for row in tx.rows(_DUE, (FLUSH, _WORTH_A_LOOK, _WORTH_A_LOOK))]


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
    if new is None or len(new.terms) <= AT_ONCE:
        db.write(publish, name=name)
        return True
    segment = db.write(partial(begin, part=part), name=name)
    for start in range(0, len(new.terms), AT_ONCE):
        stretch = slice(start, start + AT_ONCE)
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
