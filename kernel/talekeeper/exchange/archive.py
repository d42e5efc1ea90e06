"""A workspace or some of its sessions as JSON Lines: what the lines are, and the hash that chains them.

    {"talekeeper": "archive", "version": 2, "workspace": …, "written": …, "hash": …}
    {"table": "session", "row": {…}, "hash": …}          a row of the store; those of a session follow its own
    {"end": {"sessions": 2, "lines": 312}, "hash": …}

A line's hash covers the hash before it and the line without its own, so that a line changed, lost or moved shows. Index
and counters are not in it: they are made anew from the rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from talekeeper.exchange.columns import (
    Column,
    Kind,
    count,
    flag,
    json_any,
    json_names,
    json_object,
    json_object_or_null,
    large,
    name,
    number,
    one_of,
    or_null,
    place,
    search_table,
    text,
    time,
)

ARCHIVE_KEY = "talekeeper"
"""The key that only the first line of an archive has."""
VERSION = 2
"""Of the archives that are written. Those of version 1 are read too: their rows may lack what `added` gives."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the store: its columns without `workspace`, and `key`, those that order its rows.

    `session` is the column that names the session, empty where a row belongs to the workspace alone.
    """

    name: str
    declared: tuple[Column, ...]
    key: tuple[str, ...]
    session: str = "session"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.declared)


def _table(name: str, columns: dict[str, Kind], key: str, session: str = "session") -> Table:
    """`columns` maps names, several with blanks between them, to what they hold."""
    declared = tuple(Column(each, kind) for names, kind in columns.items() for each in names.split())
    return Table(name, declared, tuple(key.split()), session)


OF_WORKSPACE = (
    _table("workspace", {"title": text, "created": time}, "", ""),
    _table("declared", {"plugin namespace": text, "search": search_table}, "plugin namespace", ""),
    _table("plugin_namespace", {"plugin namespace": text, "version": count}, "plugin namespace", ""),
)
SESSION = _table(
    "session",
    {
        "id": name,
        "title preset owner channel locale": text,
        "plugins": json_names,
        "settings": json_object,
        "head_branch": count,
        "head_depth": place,
        "redo_branch": or_null(count),
        "redo_depth": or_null(place),
        "messages": count,
        "branches": number(1),
        "revision": count,
        "created updated": time,
    },
    "id",
    "id",
)
OF_SESSION = (
    _table(
        "branch",
        {"session": text, "id parent": count, "fork_depth": place, "name": text, "created": time},
        "id",
    ),
    _table("lineage", {"session": text, "branch": count, "upto": place}, "branch"),
    _table(
        "message",
        {
            "session id": text,
            "seq": count,
            "ref": or_null(text),
            "branch depth turn": count,
            "role": one_of("player", "narrator", "tool", "system"),
            "kind speaker text": text,
            "time": or_null(text),
            "origin": one_of("typed", "pasted", "tool", "imported", "generated"),
            "caption extra": text,
            "created written": time,
            "revision": count,
            "hidden deleted": flag,
        },
        "seq",
    ),
    _table(
        "message_text",
        {"session message": text, "revision": count, "text": text, "written": time},
        "message revision",
    ),
    _table(
        "job",
        {
            "session id": text,
            "seq": count,
            "plugin kind": text,
            "branch range_start": count,
            "range_end": place,
            "state": one_of("pending", "running", "succeeded", "reopened", "failed", "skipped"),
            "attempts": count,
            "did_work": flag,
            "covered_start covered_end": or_null(place),
            "covered_branch": or_null(count),
            "reason": text,
            "not_before": or_null(time),
            "details": json_object,
            "fence": large,
            "created updated": time,
        },
        "id",
    ),
    _table(
        "usage",
        {
            "session": text,
            "seq turn": count,
            "plugin slot model": text,
            "prompt completion": or_null(count),
            "created": time,
            "cost": or_null(large),
            "currency": text,
        },
        "seq",
    ),
    _table(
        "use",
        {"session plugin namespace": text, "key": name, "branch": count, "depth": place, "turn": count},
        "plugin namespace key branch depth",
    ),
    _table(
        "decision",
        {
            "session id": text,
            "turn branch": count,
            "depth": place,
            "plugin segment": text,
            "created": time,
            "document": json_object,
        },
        "id",
    ),
)
OF_BOTH = (
    _table(
        "record",
        {
            "preset session plugin namespace": text,
            "key": name,
            "revision": number(1),
            "seq": count,
            "branch": count,
            "depth": place,
            "value": json_object_or_null,
            "version": count,
            "created": time,
            "turn turn_from": place,
            "range_start range_end": or_null(count),
            "job": text,
            "dedupe": or_null(text),
            "person withdrawn forgotten source_edited": flag,
        },
        "preset plugin namespace key revision",
    ),
    _table("plugin_switch", {"session plugin": text, "enabled": flag, "changed": time}, "plugin"),
    _table("plugin_setting", {"session plugin name": text, "value": json_any, "changed": time}, "plugin name"),
    _table("plugin_seed", {"preset session plugin namespace digest": text}, "preset plugin namespace"),
    _table("plugin_seed_record", {"preset session plugin namespace key digest": text}, "preset plugin namespace key"),
)
"""Their rows belong to a session, or with an empty one to the workspace or a preset."""

IN_ORDER = {table.name: place for place, table in enumerate((*OF_WORKSPACE, SESSION, *OF_SESSION, *OF_BOTH))}
"""Where a table stands among those of its workspace or session; within a table, rows ascend by `key`."""


def added(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What columns that came after version 1 hold for a row from before them, as a migration of the store has it."""
    if table == "usage":
        return {"cost": None, "currency": ""}
    if table == "job":
        return {"covered_branch": None if row.get("covered_end") is None else row.get("branch")}
    return {}


TABLES = {table.name: table for table in (*OF_WORKSPACE, SESSION, *OF_SESSION, *OF_BOTH)}
"""Every table that an archive may hold."""


class Chain:
    """Hashes lines one after the other, for writing and for checking alike."""

    def __init__(self) -> None:
        self._last = ""
        self.lines = 0

    def add(self, line: Mapping[str, Any]) -> str:
        """The hash of a line that has none yet."""
        text = json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        # Half a surrogate pair is none of ours, but a line that holds one must have a hash to be refused for.
        raw = (self._last + text).encode("utf-8", "surrogatepass")
        self._last = hashlib.blake2b(raw, digest_size=16).hexdigest()
        self.lines += 1
        return self._last
