"""Restores an archive: every row as it was, with a new index and new counters.

The file is read twice: once to check all of it, which writes nothing, and once to take it in. What belongs to the
workspace comes in one transaction. A session stays hidden until it is complete. One that does not get that far is
deleted, by the process itself or, if that was killed, by the next one that opens the home (`sweep_leftovers`). One
that is there already is left as it is when it is the same session, and refused when it is another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from talekeeper.db import Leases, Tx
from talekeeper.errors import Busy, Conflict, ImportFileError, TalekeeperError
from talekeeper.exchange.archive import ARCHIVE_KEY, SESSION
from talekeeper.exchange.archive.reader import CURE, Row, SessionChecker, check_record, unpack
from talekeeper.exchange.importer import Options, Report
from talekeeper.exchange.source import Source
from talekeeper.story import Scope, Story, check_name

_BATCH = 500
_SAME = ("created", "revision", "messages")
_LEASE = "restore"
_WAIT = 30.0  # seconds for another restore of the workspace


def restore_archive(
    story: Story,
    leases: Leases,
    source: Source,
    options: Options,
    progress: Callable[[int], None],
    workspace: str | None,
) -> Report:
    """Imports an open archive into `workspace`, or into the one it was written from.

    `Options.session` gives the one session of an archive another id. A dry run checks every line and writes nothing.
    A fault in the file ends the import before anything is taken in; `Report.error` says where it is. Raises `Busy`
    while another process restores in the workspace.
    """
    report = Report(source.name, ARCHIVE_KEY, dry_run=options.dry_run)
    try:
        into = workspace or unpack(source, lambda _: None)[0]
        check = replace(options, dry_run=True)
        if options.dry_run:
            _Restore(story, source, check, report, into).run(progress)
            return report
        with leases.hold(into, _LEASE, wait=_WAIT):
            # What was deleted or left must be gone before rows of the same name come in.
            story.workspaces.delete_unfinished(into)
            _Restore(story, source, check, Report(source.name, ARCHIVE_KEY), into).run(lambda done: progress(done // 2))
            half = source.stream.tell() // 2
            _Restore(story, source, options, report, into).run(lambda done: progress(half + done // 2))
    except ImportFileError as fault:
        report.error = fault
        if options.dry_run:
            # Of a file with a fault nothing would come in.
            report.sessions.clear()
    return report


def sweep_leftovers(story: Story, leases: Leases) -> None:
    """Deletes what a killed restore left hidden; one that is still at work is left alone."""
    for workspace in story.workspaces.unfinished():
        try:
            with leases.hold(workspace, _LEASE):
                story.workspaces.delete_unfinished(workspace)
        except Busy:
            continue


class _Restore:
    """One run through an archive; a dry one only checks. Holds a batch of rows and the session it is at."""

    def __init__(self, story: Story, source: Source, options: Options, report: Report, workspace: str) -> None:
        self._story = story
        self._source = source
        self._options = options
        self._report = report
        self._workspace = workspace
        self._batch: list[Row] = []
        self._at = 0  # the line of the row that was inserted last
        self._checker: SessionChecker | None = None
        self._session = ""
        self._skipping = False

    def run(self, progress: Callable[[int], None]) -> None:
        """Runs through the file; whatever ends it early, the session it was at is taken away again."""
        try:
            _, rows = unpack(self._source, progress)
            for row in rows:
                self._take(row)
            self._close()
        except BaseException:
            if not self._options.dry_run:
                if not self._skipping:
                    self._report.sessions.pop(self._session, None)
                # A store that cannot be written is swept when it is opened next.
                with suppress(TalekeeperError):
                    self._story.workspaces.delete_unfinished(self._workspace)
            raise

    def _take(self, row: Row) -> None:
        table, values = row.table.name, row.values
        if row.table is SESSION:
            self._close()
            self._open(row)
        elif self._checker is not None:
            self._checker.add(row)
            values["session"] = self._session
            if table == "message":
                count = self._report.session(self._session)
                count.already_there += self._skipping
                count.imported += not self._skipping
            elif table == "job":
                values["fence"] = 0  # fences count the leases of one home
        elif table == "record":
            if (values["branch"], values["depth"]) != (0, -1):
                row.refuse("depth", "names a place in a story, and the record belongs to none")
            check_record(row)
        if not self._skipping:
            self._batch.append(row)
            if self._session and len(self._batch) >= _BATCH:
                self._flush()

    def _open(self, row: Row) -> None:
        if self._session and self._options.session is not None:
            self._source.fail(row.line, "the archive holds several sessions", "leave --session away")
        self._checker = SessionChecker(replace(row, values=dict(row.values)))
        self._session = check_name(self._options.session or str(row.values["id"]), "session")
        row.values["id"] = self._session
        select = f"SELECT {', '.join(_SAME)} FROM session WHERE workspace = ? AND id = ? AND deleting = 0"  # noqa: S608 - names of our own
        there = self._story.read(lambda tx: tx.one(select, (self._workspace, self._session)))
        if there is not None and there != tuple(row.values[name] for name in _SAME):
            what = f"there is already another session {self._session!r}"
            self._source.fail(row.line, what, "import it under another name with --session NAME")
        self._skipping = there is not None
        self._report.session(self._session).created = there is None

    def _close(self) -> None:
        """Completes the session, or what belongs to the workspace and its presets."""
        if self._checker is not None:
            self._checker.end()
        if self._options.dry_run:
            self._batch.clear()
        elif self._checker is None:
            self._write(self._of_workspace)
            self._batch.clear()
            self._story.index.maintain()
        elif not self._skipping:
            self._flush()
            scope = Scope(self._workspace, session=self._session)
            self._write(lambda tx: count_records(scope, tx))
            self._story.index.rebuild(scope)
            self._write(self._show)

    def _show(self, tx: Tx) -> None:
        place = (self._workspace, self._session)
        tx.run("UPDATE session SET deleting = 0 WHERE workspace = ? AND id = ?", place)

    def _of_workspace(self, tx: Tx) -> None:
        """All in one transaction: the rows, their count, and the index's being behind."""
        title = next((row.values["title"] for row in self._batch if row.table.name == "workspace"), "")
        self._story.workspaces.create(self._workspace, title=title, tx=tx)
        fresh = [row for row in self._batch if row.table.name != "workspace" and self._insert(tx, row)]
        records = [row.values for row in fresh if row.table.name == "record"]
        for preset in {values["preset"] for values in records}:
            count_records(Scope(self._workspace, preset=preset), tx)
        for plugin, name in {(values["plugin"], values["namespace"]) for values in records}:
            self._story.index.reindex_later(self._workspace, plugin, name, tx=tx)

    def _flush(self) -> None:
        if not self._options.dry_run:
            self._write(lambda tx: [self._insert(tx, row) for row in self._batch])
        self._batch.clear()

    def _insert(self, tx: Tx, row: Row) -> bool:
        """Writes one row, a session's own as hidden. An existing row of the workspace stays as it is: False."""
        self._at = row.line
        columns = {"workspace": self._workspace, **row.values}
        if row.table is SESSION:
            columns["deleting"] = 1
        marks = ", ".join("?" * len(columns))
        otherwise = " ON CONFLICT DO NOTHING" if self._checker is None else ""
        written = tx.run(
            f"INSERT INTO {row.table.name}({', '.join(columns)}) VALUES ({marks}){otherwise}",  # noqa: S608 - names of our own
            list(columns.values()),
        )
        return written > 0

    def _write(self, fn: Callable[[Tx], object]) -> None:
        try:
            self._story.write(fn, name="import an archive")
        except Conflict as fault:
            self._source.fail(self._at, f"the row does not fit those before it: {fault.what}", CURE)


def count_records(scope: Scope, tx: Tx) -> None:
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
