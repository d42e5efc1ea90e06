"""The lines of an archive → checked rows: each by itself, in its place, and those of a session as a tree.

A row is held against its hash, its columns and its place in the file. For a session's tree, memory holds a few numbers
a branch, and the ids and refs of the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from talekeeper.errors import ParameterError
from talekeeper.exchange.archive import (
    ARCHIVE_KEY,
    OF_SESSION,
    OF_WORKSPACE,
    SESSION,
    TABLES,
    VERSION,
    Chain,
    Table,
    added,
)
from talekeeper.exchange.source import Line, Source
from talekeeper.story import check_workspace
from talekeeper.text import is_table

CURE = "nothing of the file was taken in; take another copy of it"
_HEAD = {ARCHIVE_KEY, "version", "workspace", "written"}
_ORDER = {name: place for place, name in enumerate(TABLES)}


@dataclass(frozen=True, slots=True)
class Row:
    """One row and its line; `values` has every column of the table."""

    source: Source
    line: int
    table: Table
    values: dict[str, Any]

    def refuse(self, column: str, what: str) -> NoReturn:
        """Raises `ImportFileError` for what a column says."""
        self.source.fail(self.line, f"the column {column!r} of table {self.table.name!r} {what}", CURE)


def unpack(source: Source, progress: Callable[[int], None]) -> tuple[str, Iterator[Row]]:
    """Reads the first line, and gives the workspace and the rows, which can be run through once.

    Raises `ImportFileError`, as the rows do at the first line that is at fault.
    """
    source.stream.seek(0)
    lines = _chained(source, progress)
    first = next(lines, None)
    if first is None:
        source.fail(None, "the file is empty", CURE)
    head = first[1]
    if head.get(ARCHIVE_KEY) != "archive" or not isinstance(head.get("workspace"), str):
        source.fail(1, "this is no archive of Talekeeper", CURE)
    version: object = head.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        what = f"the archive is of version {version}, this Talekeeper reads versions 1 to {VERSION}"
        source.fail(1, what, "import it with the Talekeeper that wrote it, or a newer one")
    if head.keys() != _HEAD or not isinstance(head["written"], str):
        source.fail(1, "the first line has other keys than an archive's", CURE)
    try:
        workspace = check_workspace(head["workspace"])
    except ParameterError as fault:
        source.fail(1, f"{fault.where}: {fault.what}", CURE)
    return workspace, _rows(source, lines, version)


def _chained(source: Source, progress: Callable[[int], None]) -> Iterator[tuple[Line, dict[str, Any]]]:
    """Every line up to the last, which must be the end."""
    chain = Chain()
    ended = False
    line: Line | None = None
    for line in source.lines():
        if ended:
            source.fail(line.number, "lines stand after the end of the archive", "split what was put together")
        value = source.json_object(line)
        given = value.pop("hash", None)
        if chain.add(value) != given:
            source.fail(line.number, "the line is not the one that was written here", CURE)
        progress(line.end)
        ended = "end" in value
        yield line, value
    if line is not None and not ended:
        source.fail(line.number, "the archive is cut off: its last line is missing", CURE)


def _rows(source: Source, lines: Iterator[tuple[Line, dict[str, Any]]], version: int) -> Iterator[Row]:
    """Rows come in the order of writing, so none can come twice, in another's place, or alone."""
    session, sessions, read = "", set[str](), 1
    last: tuple[int, tuple[Any, ...]] = (-1, ())
    for line, value in lines:
        if "end" in value:
            if value != {"end": {"sessions": len(sessions), "lines": read}}:
                source.fail(line.number, "the last line counts other lines than there are", CURE)
            continue
        row = _row(source, line, value, version)
        table = row.table
        if table is SESSION:
            session, last = row.values["id"], (-1, ())
            if session in sessions:
                row.refuse("id", "names a session that stood in the file before")
            sessions.add(session)
        elif table.session and row.values[table.session] != session:
            row.refuse(table.session, "names another session than the one the row stands in")
        place = (_ORDER[table.name], tuple(row.values[name] for name in table.key))
        if place <= last or table in (OF_WORKSPACE if session else OF_SESSION):
            source.fail(line.number, f"the row of table {table.name!r} is twice there or out of its order", CURE)
        last = place
        read += 1
        yield row


def _row(source: Source, line: Line, value: dict[str, Any], version: int) -> Row:
    table = TABLES.get(str(value.get("table")))
    values = value.get("row")
    if table is None or not is_table(values) or value.keys() != {"table", "row"}:
        source.fail(line.number, "the line is no row of a table that archives hold", CURE)
    if version < VERSION:
        values = {**added(table.name, values), **values}
    if values.keys() != table.columns.keys():
        odd = ", ".join(sorted(values.keys() ^ table.columns.keys())[:5])
        source.fail(line.number, f"the row has not the columns of table {table.name!r}: {odd}", CURE)
    row = Row(source, line.number, table, values)
    for column, kind in table.columns.items():
        if isinstance(values[column], str):
            source.check(values[column], column, line.number)
        if wanted := kind(values[column]):
            row.refuse(column, wanted)
    return row


@dataclass(slots=True)
class _Branch:
    parent: int
    fork_depth: int
    tip: int
    line: Row


class SessionChecker:
    """Takes every row of a session in the order of the file; raises `ImportFileError` naming line and column."""

    def __init__(self, session: Row) -> None:
        self._session = session
        self._branches: list[_Branch] = []
        self._lineage: dict[int, tuple[int, Row]] = {}
        self._revisions: dict[str, int] = {}
        self._refs: set[str] = set()
        self._checks: dict[str, Callable[[Row], None]] = {
            "branch": self._branch,
            "lineage": self._lineage_row,
            "message": self._message,
            "message_text": self._message_text,
            "job": self._job,
            "record": self._record,
            "use": self._coordinate,
            "decision": self._coordinate,
        }

    def add(self, row: Row) -> None:
        """Checks a row against those before it."""
        check = self._checks.get(row.table.name)
        if check is not None:
            check(row)

    def end(self) -> None:
        """Checks what only the whole session shows: its counts, its head, and where branches begin."""
        session = self._session
        for column, found in (("messages", len(self._revisions)), ("branches", len(self._branches))):
            if session.values[column] != found:
                session.refuse(column, f"says {session.values[column]}, and {found} are there")
        for branch in self._branches[1:]:
            self._place(branch.line, "fork_depth", branch.parent, branch.fork_depth, starts=False)
        for name in ("head", "redo"):
            place = session.values[f"{name}_branch"], session.values[f"{name}_depth"]
            if place != (None, None):
                self._place(session, f"{name}_depth", *place)
        self._check_lineage()

    def _place(self, row: Row, column: str, branch: int | None, depth: int | None, *, starts: bool = True) -> None:
        """Refuses a place that is neither a message nor the root nor (with `starts`) the start of a branch."""
        if (branch, depth) == (0, -1):
            return
        if branch is not None and depth is not None and 0 <= branch < len(self._branches):
            there = self._branches[branch]
            if there.fork_depth + (0 if starts else 1) <= depth <= there.tip:
                return
        row.refuse(column, "names a place where nothing stands")

    def _check_lineage(self) -> None:
        branch: int = self._session.values["head_branch"]
        depth: int = self._session.values["head_depth"]
        wanted = {branch: depth}
        while branch:
            branch, depth = self._branches[branch].parent, self._branches[branch].fork_depth
            wanted[branch] = depth
        for branch, (upto, row) in self._lineage.items():
            if wanted.get(branch) != upto:
                row.refuse("upto", "is not on the way to the session's head")
        if len(wanted) > len(self._lineage):
            self._session.refuse("head_branch", "names a place that the lineage does not lead to")

    def _branch(self, row: Row) -> None:
        number, parent, fork = row.values["id"], row.values["parent"], row.values["fork_depth"]
        if number != len(self._branches):
            row.refuse("id", f"says {number} where branch {len(self._branches)} is due")
        if parent >= max(number, 1):
            row.refuse("parent", "names a branch that is not there before it")
        if number == 0 and fork != -1:
            row.refuse("fork_depth", "of the first branch must be -1")
        self._branches.append(_Branch(parent, fork, fork, row))

    def _lineage_row(self, row: Row) -> None:
        self._known_branch(row)
        self._lineage[row.values["branch"]] = (row.values["upto"], row)

    def _known_branch(self, row: Row) -> None:
        if row.values["branch"] >= len(self._branches):
            row.refuse("branch", "names a branch that is not there")

    def _message(self, row: Row) -> None:
        self._known_branch(row)
        number: int = row.values["branch"]
        branch = self._branches[number]
        if row.values["depth"] != branch.tip + 1:
            row.refuse("depth", f"says {row.values['depth']} where {branch.tip + 1} is due")
        branch.tip += 1
        if row.values["seq"] != len(self._revisions):
            row.refuse("seq", f"says {row.values['seq']} where {len(self._revisions)} is due")
        if row.values["id"] in self._revisions:
            row.refuse("id", "names a message that stood before")
        self._revisions[row.values["id"]] = row.values["revision"]
        ref = row.values["ref"]
        if ref is not None:
            if ref in self._refs:
                row.refuse("ref", "names a message that stood before")
            self._refs.add(ref)

    def _message_text(self, row: Row) -> None:
        newest = self._revisions.get(row.values["message"])
        if newest is None:
            row.refuse("message", "names a message that is not there")
        elif row.values["revision"] >= newest:
            row.refuse("revision", f"is not before {newest}, that of the message")

    def _job(self, row: Row) -> None:
        self._known_branch(row)
        if row.values["range_start"] > row.values["range_end"] + 1:
            row.refuse("range_start", "is behind the range's end")
        if (row.values["covered_start"] is None) != (row.values["covered_end"] is None):
            row.refuse("covered_end", "is given without the other end, or missing")
        place = row.values["covered_branch"], row.values["covered_end"]
        if place != (None, None):
            self._place(row, "covered_branch", *place)

    def _record(self, row: Row) -> None:
        if row.values["preset"]:
            row.refuse("preset", "must be empty in a session")
        self._coordinate(row)
        check_record(row)

    def _coordinate(self, row: Row) -> None:
        self._place(row, "depth", row.values["branch"], row.values["depth"])


def check_record(row: Row) -> None:
    """What must hold for a record of any scope."""
    values = row.values
    start, end = values["range_start"], values["range_end"]
    if (start is None) != (end is None) or (start is not None and start > end):
        row.refuse("range_end", "and range_start are no range")
    if values["forgotten"] and (values["value"] != "null" or not values["withdrawn"]):
        row.refuse("forgotten", "is set on a record that still says something")
    if values["value"] == "null" and not values["withdrawn"]:
        row.refuse("value", "is null in a record that was not withdrawn")
