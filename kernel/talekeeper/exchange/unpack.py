"""The lines of an archive → its rows, each held against its hash, its columns and its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from talekeeper.errors import ParameterError
from talekeeper.exchange.archive import (
    ARCHIVE_KEY,
    IN_ORDER,
    OF_WORKSPACE,
    SESSION,
    TABLES,
    VERSION,
    Chain,
    Table,
    added,
)
from talekeeper.exchange.lines import Line, Source
from talekeeper.story import check_workspace
from talekeeper.text import is_table

CURE = "nothing of the file was taken in; take another copy of it"
_HEAD = {ARCHIVE_KEY, "version", "workspace", "written"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row and the line it stands on; `values` has every column of the table."""

    line: int
    table: Table
    values: dict[str, Any]

    def refuse(self, source: Source, column: str, what: str) -> NoReturn:
        """Raises `ImportFileError` for what a column says."""
        source.fail(self.line, f"the column {column!r} of table {self.table.name!r} {what}", CURE)


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose first line has been read; `rows` can be run through once."""

    workspace: str
    rows: Iterator[Row]


def unpack(source: Source, progress: Callable[[int], None]) -> Archive:
    """Reads the first line; raises `ImportFileError`, as `rows` do at the first line that is at fault."""
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
    return Archive(workspace, _rows(source, lines, version))


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
    sessions, last, read = 0, _Place(source), 1
    for line, value in lines:
        if "end" in value:
            if value != {"end": {"sessions": sessions, "lines": read}}:
                source.fail(line.number, "the last line counts other lines than there are", CURE)
            continue
        row = _row(source, line, value, version)
        last.follow(row)
        sessions += row.table is SESSION
        read += 1
        yield row


def _row(source: Source, line: Line, value: dict[str, Any], version: int) -> Row:
    table = TABLES.get(str(value.get("table")))
    values = value.get("row")
    if table is None or not is_table(values) or value.keys() != {"table", "row"}:
        source.fail(line.number, "the line is no row of a table that archives hold", CURE)
    if version < VERSION:
        values = {**added(table.name, values), **values}
    if values.keys() != set(table.columns):
        odd = ", ".join(sorted(values.keys() ^ set(table.columns))[:5])
        source.fail(line.number, f"the row has not the columns of table {table.name!r}: {odd}", CURE)
    row = Row(line.number, table, values)
    for column in table.declared:
        each = values[column.name]
        if isinstance(each, str):
            source.check(each, column.name, line.number)
        if wanted := column.kind(each):
            row.refuse(source, column.name, wanted)
    return row


class _Place:
    """Rows stand in the order in which they are written, so none can stand twice, in another's place, or alone."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._session = ""
        self._sessions: set[str] = set()
        self._last: tuple[int, tuple[Any, ...]] = (-1, ())

    def follow(self, row: Row) -> None:
        """Raises `ImportFileError` for a row that cannot come next."""
        if row.table is SESSION:
            self._begin(row)
        elif row.table in OF_WORKSPACE:
            if self._session:
                self._out_of_order(row)
        elif row.values[row.table.session] != self._session:
            row.refuse(self._source, row.table.session, "names another session than the one the row stands in")
        elif self._session == "" and IN_ORDER[row.table.name] < _FIRST_OF_BOTH:
            self._out_of_order(row)
        place = (IN_ORDER[row.table.name], tuple(row.values[name] for name in row.table.key))
        if place <= self._last:
            self._out_of_order(row)
        self._last = place

    def _begin(self, row: Row) -> None:
        self._session = row.values["id"]
        if self._session in self._sessions:
            row.refuse(self._source, "id", "names a session that stood in the file before")
        self._sessions.add(self._session)
        self._last = (-1, ())

    def _out_of_order(self, row: Row) -> NoReturn:
        self._source.fail(row.line, f"the row of table {row.table.name!r} is twice there or out of its order", CURE)


_FIRST_OF_BOTH = IN_ORDER["record"]
