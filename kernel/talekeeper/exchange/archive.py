"""A workspace or some of its sessions as JSON Lines: what the lines are, and the hash that chains them.

    {"talekeeper": "archive", "version": 1, "workspace": …, "written": …, "hash": …}
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

ARCHIVE_KEY = "talekeeper"
"""The key that only the first line of an archive has."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the store: `columns` without `workspace`, and `key`, those that order its rows.

    `session` is the column that names the session, empty where a row belongs to the workspace alone.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    session: str = "session"


def _table(name: str, columns: str, key: str, session: str = "session") -> Table:
    return Table(name, tuple(columns.split()), tuple(key.split()), session)


OF_WORKSPACE = (
    _table("workspace", "title created", "", ""),
    _table("declared", "plugin namespace search", "plugin namespace", ""),
    _table("plugin_namespace", "plugin namespace version", "plugin namespace", ""),
)
SESSION = _table(
    "session",
    "id title preset owner channel locale plugins settings head_branch head_depth redo_branch redo_depth messages "
    "branches revision created updated",
    "id",
    "id",
)
OF_SESSION = (
    _table("branch", "session id parent fork_depth name created", "id"),
    _table("lineage", "session branch upto", "branch"),
    _table(
        "message",
        "session id seq ref branch depth turn role kind speaker text time origin caption extra created written "
        "revision hidden deleted",
        "seq",
    ),
    _table("message_text", "session message revision text written", "message revision"),
    _table(
        "job",
        "session id seq plugin kind branch range_start range_end state attempts did_work covered_start covered_end "
        "reason not_before details fence created updated",
        "id",
    ),
)
OF_BOTH = (
    _table(
        "record",
        "preset session plugin namespace key revision seq branch depth value version created turn turn_from "
        "range_start range_end job dedupe person withdrawn forgotten source_edited",
        "preset plugin namespace key revision",
    ),
    _table("plugin_switch", "session plugin enabled changed", "plugin"),
    _table("plugin_setting", "session plugin name value changed", "plugin name"),
    _table("plugin_seed", "preset session plugin namespace digest", "preset plugin namespace"),
    _table("plugin_seed_record", "preset session plugin namespace key digest", "preset plugin namespace key"),
)
"""Their rows belong to a session, or with an empty one to the workspace or a preset."""

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
        self._last = hashlib.blake2b((self._last + text).encode(), digest_size=16).hexdigest()
        self.lines += 1
        return self._last
