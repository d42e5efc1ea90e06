"""Reads an archive back: every row as it was, the index and the counters made anew.

A session stays hidden until all of it is there, so an import that is killed leaves nothing half done and is simply run
again. A session that is there already is left as it is when it is the same one, and refused when it is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from talekeeper.db import Tx
from talekeeper.errors import Conflict, ImportFileError, StoreError
from talekeeper.exchange.archive import ARCHIVE_KEY, SESSION, TABLES, VERSION, Chain, Table
from talekeeper.exchange.lines import Line, Source, is_object
from talekeeper.exchange.report import Options, Report
from talekeeper.story import Scope, Story
from talekeeper.story.names import check_name

_BATCH = 500
_SAME = ("created", "revision", "messages")


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    table: Table
    values: dict[str, Any]


def restore_archive(
    story: Story, source: Source, options: Options, progress: Callable[[int], None], workspace: str | None
) -> Report:
    """Imports an open archive into `workspace`, or into the one it was written from.

    `Options.session` gives the one session of an archive another id. A dry run checks every line and writes nothing.
    A fault ends the import: `Report.error` says where; the sessions before it are complete.
    """
    report = Report(source.name, ARCHIVE_KEY, dry_run=options.dry_run)
    source.stream.seek(0)
    try:
        lines = _checked(source, progress)
        head = next(lines)
        restore = _Restore(story, source, options, report, workspace or str(head[1]["workspace"]))
        for line, value in lines:
            restore.take(_row(source, line, value))
        restore.end()
    except ImportFileError as fault:
        report.error = fault
    return report


def _checked(source: Source, progress: Callable[[int], None]) -> Iterator[tuple[Line, dict[str, Any]]]:
    """The header and the rows, each line held against its hash; the last line is there or the file is cut off."""
    chain = Chain()
    ended = False
    line: Line | None = None
    for line in source.lines():
        if ended:
            source.fail(line.number, "lines stand after the end of the archive", "split what was put together")
        value = source.json_object(line)
        given = value.pop("hash", None)
        if chain.add(value) != given:
            source.fail(line.number, "the line is not the one that was written here", _CURE)
        if line.number == 1:
            _check_version(source, value)
        ended = "end" in value
        progress(line.end)
        if not ended:
            yield line, value
    if not ended:
        source.fail(line.number if line else None, "the archive is cut off: its last line is missing", _CURE)


_CURE = "take another copy of the file; what was imported before it is kept"


def _check_version(source: Source, head: dict[str, Any]) -> None:
    if head.get(ARCHIVE_KEY) != "archive" or not isinstance(head.get("workspace"), str):
        source.fail(1, "this is no archive of Talekeeper")
    if head.get("version") != VERSION:
        what = f"the archive is of version {head.get('version')}, this Talekeeper reads version {VERSION}"
        source.fail(1, what, "import it with the Talekeeper that wrote it, or a newer one")


def _row(source: Source, line: Line, value: dict[str, Any]) -> _Row:
    table = TABLES.get(str(value.get("table")))
    values = value.get("row")
    if table is None or not is_object(values):
        source.fail(line.number, "the line is no row of a table that archives hold")
    if values.keys() != set(table.columns):
        source.fail(line.number, f"the row has not the columns of table {table.name!r}")
    for name, each in values.items():
        if isinstance(each, str):
            source.check(each, name, line.number)
        elif not isinstance(each, int | None):
            source.fail(line.number, f"the column {name!r} holds {type(each).__name__}")
    return _Row(line.number, table, values)


class _Restore:
    """Takes rows in the order of the file; holds a batch and the session it is at."""

    def __init__(self, story: Story, source: Source, options: Options, report: Report, workspace: str) -> None:
        self._story = story
        self._source = source
        self._options = options
        self._report = report
        self._workspace = workspace
        self._batch: list[_Row] = []
        self._session: str | None = None
        self._written: str | None = None
        self._skipping = False
        self._scopes: set[str] = set()
        if not options.dry_run:
            # What is being deleted must be gone before rows of the same name come in.
            story.maintain()

    def take(self, row: _Row) -> None:
        """Puts a row where it belongs: a session's own row opens it, others must be the open session's."""
        if row.table is SESSION:
            self._close()
            self._open(row)
            return
        if row.table.name == "workspace":
            if not self._options.dry_run:
                self._story.create_workspace(self._workspace, title=str(row.values["title"]))
            return
        if row.table.session and row.values[row.table.session] != (self._written or ""):
            self._source.fail(row.line, f"a row of table {row.table.name!r} stands outside its session")
        if self._session is not None and row.table.session:
            row.values[row.table.session] = self._session
        elif row.table.name == "record":
            self._scopes.add(row.values["preset"])
        if row.table.name == "message" and self._session is not None:
            count = self._report.session(self._session)
            count.already_there += self._skipping
            count.imported += not self._skipping
        if not self._skipping:
            self._add(row)

    def end(self) -> None:
        """Completes the last session, then what belongs to the workspace and its presets."""
        self._close()
        if self._options.dry_run:
            return
        for preset in sorted(self._scopes):
            scope = Scope(self._workspace, preset=preset)
            self._write(partial(_count, scope))
            self._story.rebuild_index(scope)

    def _open(self, row: _Row) -> None:
        self._written = row.values["id"]
        if self._session is not None and self._options.session is not None:
            cure = "leave --session away; each keeps its own id"
            self._source.fail(row.line, "the archive holds several sessions", cure)
        self._session = check_name(self._options.session or str(self._written), "session")
        row.values["id"] = self._session
        there = self._story.read(self._there)
        if there is not None and any(there[name] != row.values[name] for name in _SAME):
            what = f"there is already another session {self._session!r}"
            self._source.fail(row.line, what, "import it under another name with --session NAME")
        self._skipping = there is not None and not there["deleting"]
        self._report.session(self._session).created = not self._skipping
        if not self._skipping:
            self._add(row)

    def _there(self, tx: Tx) -> dict[str, Any] | None:
        row = tx.one(
            "SELECT created, revision, messages, deleting FROM session WHERE workspace = ? AND id = ?",
            (self._workspace, self._session),
        )
        return None if row is None else dict(zip((*_SAME, "deleting"), row, strict=True))

    def _add(self, row: _Row) -> None:
        self._batch.append(row)
        if len(self._batch) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if batch and not self._options.dry_run:
            try:
                self._write(partial(_insert, self._workspace, batch))
            except StoreError as fault:
                if not isinstance(fault, Conflict):
                    raise
                lines = f"{batch[0].line} to {batch[-1].line}"
                self._source.fail(batch[0].line, f"of the lines {lines} one does not fit the others: {fault.what}")

    def _close(self) -> None:
        self._flush()
        if self._session is None or self._skipping or self._options.dry_run:
            return
        scope = Scope(self._workspace, session=self._session)
        self._write(partial(_count, scope))
        self._story.rebuild_index(scope)
        self._write(partial(_show, scope))

    def _write(self, fn: Callable[[Tx], None]) -> None:
        self._story.write(fn, name="import an archive")


def _insert(workspace: str, batch: list[_Row], tx: Tx) -> None:
    """Rows that are there stay as they are: an import taken up again, or a workspace's own records."""
    for row in batch:
        columns = ("workspace", *row.table.columns)
        values = [workspace, *(row.values[column] for column in row.table.columns)]
        if row.table is SESSION:
            columns, values = (*columns, "deleting"), [*values, 1]
        marks = ", ".join("?" * len(columns))
        tx.run(
            f"INSERT INTO {row.table.name}({', '.join(columns)}) VALUES ({marks}) ON CONFLICT DO NOTHING",  # noqa: S608 - names of our own
            values,
        )


def _count(scope: Scope, tx: Tx) -> None:
    """Counts the records of a scope as the store keeps count of them."""
    place = (scope.workspace, scope.preset, scope.session)
    tx.run("DELETE FROM tally WHERE workspace = ? AND preset = ? AND session = ?", place)
    tx.run(
        "INSERT INTO tally(workspace, preset, session, plugin, namespace, keys, versions) "
        "SELECT workspace, preset, session, plugin, namespace, count(DISTINCT key), max(count(*), max(seq)) "
        "FROM record WHERE workspace = ? AND preset = ? AND session = ? "
        "GROUP BY workspace, preset, session, plugin, namespace",
        place,
    )


def _show(scope: Scope, tx: Tx) -> None:
    tx.run("UPDATE session SET deleting = 0 WHERE workspace = ? AND id = ?", (scope.workspace, scope.session))
