"""A workspace or some of its sessions as JSON Lines: what the lines are, and the hash that chains them.

    {"talekeeper": "archive", "version": 2, "workspace": …, "written": …, "hash": …}
    {"table": "session", "row": {…}, "hash": …}          a row of the store; those of a session follow its own
    {"end": {"sessions": 2, "lines": 312}, "hash": …}

A line's hash covers the hash before it and the line without its own, so that a line changed, lost or moved shows. Index
and counters are not in it: a restore makes them from the rows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from talekeeper.db import loads
from talekeeper.errors import ParameterError
from talekeeper.exchange.source import is_text_list
from talekeeper.story import check_name
from talekeeper.text import EXACT_INTEGER, is_table

ARCHIVE_KEY = "talekeeper"
"""The key that only the first line of an archive has."""
VERSION = 2
"""Of the archives that are written. Those of version 1 are read too: their rows may lack what `added` gives."""

# Coordinates, turns and revisions fit the four bytes that the index has for them.
MAX_PLACE = 2**31 - 1

ColumnCheck = Callable[[object], str]
"""Gives what a value must be, as in "must be text"; empty when it is."""


def text(value: object) -> str:
    """Any text."""
    return "" if isinstance(value, str) else "must be text"


def name(value: object) -> str:
    """What may name a session or a record."""
    try:
        return text(value) or (check_name(str(value), "name") and "")
    except ParameterError as fault:
        return f"must be a name: {fault.what}"


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def time(value: object) -> str:
    """A moment as `clock.iso` writes it."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return "must be a time that there is"
        return ""
    return "must be a time, such as 2024-03-05T12:00:00.000Z"


def number(low: int, high: int = MAX_PLACE) -> ColumnCheck:
    """A whole number in an inclusive range."""

    def fits(value: object) -> str:
        inside = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return "" if inside else f"must be a whole number from {low} to {high}"

    return fits


def one_of(*choices: str) -> ColumnCheck:
    """One of the texts listed."""
    return lambda value: "" if isinstance(value, str) and value in choices else f"must be one of {', '.join(choices)}"


def or_null(kind: ColumnCheck) -> ColumnCheck:
    """The kind, or null."""
    return lambda value: "" if value is None else (wanted := kind(value)) and f"{wanted}, or null"


def _document(wanted: str, fits: Callable[[Any], bool], *, or_empty: bool = False) -> ColumnCheck:
    def check(value: object) -> str:
        if or_empty and value == "":
            return ""
        try:
            return "" if isinstance(value, str) and fits(loads(value, "document")) else f"must be {wanted}, as text"
        except ParameterError as fault:
            return f"must be {wanted}, as text: {fault.what}"

    return check


def _is_search_table(value: object) -> bool:
    """What `story.passages` writes: `text` is the list of properties, `tags` and the others name one or none."""
    if not is_table(value) or value.keys() != {"text", "title", "speaker", "time", "tags", "when"}:
        return False
    texts = value.pop("text")
    return is_text_list(texts) and bool(texts) and all(isinstance(one, str | None) for one in value.values())


place = number(-1)
count = number(0)
large = number(0, EXACT_INTEGER)
flag = number(0, 1)
json_any = _document("JSON", lambda _: True)
json_object = _document("a JSON object", is_table)
json_object_or_null = _document("a JSON object or null", lambda value: value is None or is_table(value))
json_names = _document("a JSON list of texts", is_text_list)
# Empty for a namespace that is not indexed.
search_table = _document("a search table", _is_search_table, or_empty=True)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the store: its columns without `workspace`, what each may hold, and `key`, those that order its rows.

    `session` is the column that names the session, empty where a row belongs to the workspace alone.
    """

    name: str
    columns: Mapping[str, ColumnCheck]
    key: tuple[str, ...]
    session: str


def _table(name: str, columns: dict[str, ColumnCheck], key: str, session: str = "session") -> Table:
    """`columns` maps names, several with blanks between them, to what they hold."""
    each = {column: kind for names, kind in columns.items() for column in names.split()}
    return Table(name, each, tuple(key.split()), session)


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

TABLES = {table.name: table for table in (*OF_WORKSPACE, SESSION, *OF_SESSION, *OF_BOTH)}
"""Every table that an archive may hold, in the order of the file; within a table, rows ascend by `key`."""


def added(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What columns that came after version 1 hold for a row from before them, as a migration of the store has it."""
    if table == "usage":
        return {"cost": None, "currency": ""}
    if table == "job":
        return {"covered_branch": None if row.get("covered_end") is None else row.get("branch")}
    return {}


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
