"""What a change of the story writes into the index, inside the story's own transaction: a few rows, nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from talekeeper.db import Tx
from talekeeper.errors import NotFound
from talekeeper.search.message_features import flags_of
from talekeeper.search.passage import LONGEST, Kind, Passage
from talekeeper.text import TOKENS_FINGERPRINT

encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_MESSAGES = 0
MIXED = ""
"""In `part.tokens`: the partition must be rebuilt, or is being rebuilt."""

_STALE = "SELECT id FROM part WHERE tokens < ? OR tokens > ? ORDER BY id"  # <> would not use the index
_OF_KEY = "SELECT doc FROM doc WHERE part = ? AND source = ? AND key = ?"
# In two steps: SQLite takes the index of keys only where that holds all that is asked; else it reads the partition.
_VERSIONS = f"SELECT doc, revision FROM doc WHERE part = ? AND doc IN ({_OF_KEY})"  # noqa: S608 -- from above
_SLOT = f"SELECT slot FROM doc WHERE part = ? AND doc IN ({_OF_KEY} LIMIT 1)"  # noqa: S608 -- from above


def new_stamp() -> int:
    """A random number, so large that no two are equal."""
    return int.from_bytes(os.urandom(8)) >> 2  # fits a signed column


def count_up(tx: Tx, name: str) -> int:
    """The next number of `name`, never given out before by a transaction that committed."""
    rows = tx.rows(
        "INSERT INTO search_counter (name, value) VALUES (?, 1)"
        " ON CONFLICT (name) DO UPDATE SET value = search_counter.value + 1 RETURNING value",
        (name,),
    )
    return int(rows[0][0])


def dump_terms(counts: Mapping[str, int]) -> str:
    """The text stored in `tail.terms`: JSON without spaces."""
    if "".join(counts).isalnum():  # nothing to escape: three times as fast
        names = '":%d,"'.join(counts)
        return f'{{"{names}":%d}}' % tuple(counts.values())
    return encode(dict(counts))


def find_part(tx: Tx, workspace: str, session: str, preset: str) -> int | None:
    """The partition of a scope, None while nothing was indexed in it."""
    row = tx.one("SELECT id FROM part WHERE workspace = ? AND session = ? AND preset = ?", (workspace, session, preset))
    return None if row is None else int(row[0])


def part_for(tx: Tx, workspace: str, session: str, preset: str) -> int:
    """The partition of a scope, made if need be; '' where a scope has no such part."""
    part = find_part(tx, workspace, session, preset)
    return make_part(tx, workspace, session, preset) if part is None else part


def make_part(tx: Tx, workspace: str, session: str, preset: str) -> int:
    """A new, empty partition."""
    part = count_up(tx, "part")
    tx.run(
        "INSERT INTO part (id, workspace, session, preset, docs, settled, removals, layout, stamp, purge, tokens)"
        " VALUES (?, ?, ?, ?, 0, 0, 0, ?, ?, 0, ?)",
        (part, workspace, session, preset, new_stamp(), new_stamp(), TOKENS_FINGERPRINT),
    )
    tx.run(
        "INSERT INTO part_source (part, id, kind, plugin, namespace) VALUES (?, ?, ?, '', '')",
        (part, _MESSAGES, Kind.MESSAGE),
    )
    return part


def add(tx: Tx, part: int, passage: Passage) -> int:
    """Adds a passage and gives its number in the partition; raises `NotFound` for a partition that does not exist.

    Every search finds it from here on in this transaction, and after its commit. Takes four statements for a message,
    six for a record.
    """
    stamp = new_stamp()
    doc = _next_doc(tx, part, stamp)
    source, slot = _MESSAGES, doc
    if passage.kind is Kind.RECORD:
        source = _source(tx, part, passage.kind, passage.plugin, passage.namespace)
        slot = _slot(tx, part, source, passage.key, doc)
    tx.run(
        "INSERT INTO doc (part, doc, source, key, revision, slot, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (part, doc, source, passage.key, passage.revision, slot, passage.digest),
    )
    tx.run(
        "INSERT INTO tail (part, doc, stamp, tokens, branch, depth, turn, length, flags, terms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            part,
            doc,
            stamp,
            TOKENS_FINGERPRINT,
            passage.branch,
            passage.depth,
            passage.turn,
            min(passage.terms.length, LONGEST),
            flags_of(passage),
            dump_terms(passage.terms.counts),
        ),
    )
    return doc


def remove(
    tx: Tx,
    part: int,
    *,
    kind: Kind,
    plugin: str,
    namespace: str,
    key: str,
    revision: int | None = None,
    forget: bool = False,
) -> int:
    """Removes all versions of a key, or one of them; gives how many were there.

    With `forget`, the next `maintain_index` wipes the words of all removed passages of the partition off the disk.
    """
    if forget:
        tx.run("UPDATE part SET purge = 1 WHERE id = ?", (part,))
    source = find_source(tx, part, kind, plugin, namespace)
    if source is None:
        return 0
    return remove_docs(tx, part, versions(tx, part, source, key, revision))


def versions(tx: Tx, part: int, source: int, key: str, revision: int | None) -> list[int]:
    """The numbers of all versions of a key, or of one."""
    if revision is None:
        return [doc for (doc,) in tx.rows(_OF_KEY, (part, source, key))]
    return [doc for doc, held in tx.rows(_VERSIONS, (part, part, source, key)) if held == revision]


def stale_parts(tx: Tx) -> list[int]:
    """Partitions with terms of another tokeniser than this code's, or made by half; `rebuild_index` mends them."""
    return [row[0] for row in tx.rows(_STALE, (TOKENS_FINGERPRINT, TOKENS_FINGERPRINT))]


def remove_docs(tx: Tx, part: int, docs: Sequence[int]) -> int:
    """Removes passages by number; they must be live."""
    if not docs:
        return 0
    (before,) = tx.rows("SELECT removals FROM part WHERE id = ?", (part,))[0]
    for removal, doc in enumerate(docs, before + 1):
        stamp = new_stamp()
        tx.run("UPDATE part SET removals = ?, stamp = ? WHERE id = ?", (removal, stamp, part))
        tx.run("DELETE FROM doc WHERE part = ? AND doc = ?", (part, doc))
        tx.run("DELETE FROM tail WHERE part = ? AND doc = ?", (part, doc))
        tx.run("INSERT INTO dead (part, removal, doc, stamp) VALUES (?, ?, ?, ?)", (part, removal, doc, stamp))
    return len(docs)


def drop_part(tx: Tx, part: int) -> None:
    """Removes a partition; the postings of its segments go at the next maintenance, a stretch at a time."""
    abandon(tx, part)
    tx.run("INSERT INTO retired (segment) SELECT id FROM segment WHERE part = ?", (part,))
    for table in ("segment", "tail", "doc", "dead", "part_source"):
        tx.run(f"DELETE FROM {table} WHERE part = ?", (part,))  # noqa: S608 -- names from the line above
    tx.run("DELETE FROM part WHERE id = ?", (part,))


def finish(tx: Tx, part: int) -> None:
    """Takes the segment for made; the caller gives it to the partition."""
    tx.run("DELETE FROM search_counter WHERE name = ?", (staged_name(part),))


def abandon(tx: Tx, part: int) -> None:
    """Has the next maintenance delete what was written of a segment in the making, if there is one."""
    tx.run("INSERT INTO retired (segment) SELECT value FROM search_counter WHERE name = ?", (staged_name(part),))
    finish(tx, part)


def staged_name(part: int) -> str:
    """The counter that has the number of the partition's staged segment."""
    return f"segment in the making of part {part}"


def find_source(tx: Tx, part: int, kind: Kind, plugin: str, namespace: str) -> int | None:
    """The number of a source in the partition."""
    row = tx.one(
        "SELECT id FROM part_source WHERE part = ? AND kind = ? AND plugin = ? AND namespace = ?",
        (part, kind, plugin, namespace),
    )
    return None if row is None else int(row[0])


def _next_doc(tx: Tx, part: int, stamp: int) -> int:
    # Asked for first, because RETURNING costs more than a statement of its own.
    row = tx.one("SELECT docs, tokens FROM part WHERE id = ?", (part,))
    if row is None:
        raise NotFound(f"the search index has no partition {part}")
    doc, tokens = row
    tx.run("UPDATE part SET docs = ?, stamp = ? WHERE id = ?", (doc + 1, stamp, part))
    if tokens not in {TOKENS_FINGERPRINT, MIXED}:
        # By itself, because a statement that names an indexed column writes its index.
        tx.run("UPDATE part SET tokens = ? WHERE id = ?", (MIXED, part))
    return int(doc)


def _source(tx: Tx, part: int, kind: Kind, plugin: str, namespace: str) -> int:
    source = find_source(tx, part, kind, plugin, namespace)
    if source is None:
        (source,) = tx.rows("SELECT coalesce(max(id), 0) + 1 FROM part_source WHERE part = ?", (part,))[0]
        tx.run(
            "INSERT INTO part_source (part, id, kind, plugin, namespace) VALUES (?, ?, ?, ?, ?)",
            (part, source, kind, plugin, namespace),
        )
    return source


def _slot(tx: Tx, part: int, source: int, key: str, doc: int) -> int:
    """What the versions of a key have in common: the number the first of them got."""
    row = tx.one(_SLOT, (part, part, source, key))
    return doc if row is None else int(row[0])
