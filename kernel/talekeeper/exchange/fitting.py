"""Whether the rows of one session are a tree: what each column says alone is checked before.

Holds a few numbers a branch, and the ids and refs of the messages, for as long as the session's rows are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from talekeeper.exchange.lines import Source
from talekeeper.exchange.unpack import Row


@dataclass(slots=True)
class _Branch:
    parent: int
    fork_depth: int
    tip: int
    line: Row


class SessionFit:
    """Told every row of a session in the order of the file; raises `ImportFileError` naming line and column."""

    def __init__(self, source: Source, session: Row) -> None:
        self._source = source
        self._session = session
        self._branches: list[_Branch] = []
        self._lineage: dict[int, tuple[int, Row]] = {}
        self._revisions: dict[str, int] = {}
        self._refs: set[str] = set()
        self._checks: dict[str, Callable[[Row], None]] = {
            "branch": self._branch,
            "lineage": self._kept,
            "message": self._message,
            "message_text": self._message_text,
            "job": self._job,
            "record": self._record,
            "use": self._standing,
            "decision": self._standing,
        }

    def add(self, row: Row) -> None:
        """Checks a row against those before it."""
        check = self._checks.get(row.table.name)
        if check is not None:
            check(row)

    def end(self) -> None:
        """Checks what only the whole session shows: its counts, where its head stands, and where branches grow."""
        session = self._session
        for column, found in (("messages", len(self._revisions)), ("branches", len(self._branches))):
            if session.values[column] != found:
                session.refuse(self._source, column, f"says {session.values[column]}, and {found} are there")
        for branch in self._branches[1:]:
            if not self._stands(branch.parent, branch.fork_depth, starts=False):
                branch.line.refuse(self._source, "fork_depth", "names a place where nothing stands")
        self._check_head("head")
        if session.values["redo_branch"] is not None or session.values["redo_depth"] is not None:
            self._check_head("redo")
        self._check_lineage()

    def _refuse(self, row: Row, column: str, what: str) -> None:
        row.refuse(self._source, column, what)

    def _stands(self, branch: int, depth: int, *, starts: bool = True) -> bool:
        """Whether a place is a message, the root, or (with `starts`) the start of a branch."""
        if (branch, depth) == (0, -1):
            return True
        if not 0 <= branch < len(self._branches):
            return False
        there = self._branches[branch]
        return there.fork_depth + (0 if starts else 1) <= depth <= there.tip

    def _check_head(self, name: str) -> None:
        branch, depth = self._session.values[f"{name}_branch"], self._session.values[f"{name}_depth"]
        if branch is None or depth is None or not self._stands(branch, depth):
            self._refuse(self._session, f"{name}_depth", "names a place where nothing stands")

    def _check_lineage(self) -> None:
        branch: int = self._session.values["head_branch"]
        depth: int = self._session.values["head_depth"]
        wanted = {branch: depth}
        while branch:
            branch, depth = self._branches[branch].parent, self._branches[branch].fork_depth
            wanted[branch] = depth
        for branch, (upto, row) in self._lineage.items():
            if wanted.get(branch) != upto:
                self._refuse(row, "upto", "is not on the way to the session's head")
        if len(wanted) > len(self._lineage):
            self._refuse(self._session, "head_branch", "names a place that the lineage does not lead to")

    def _branch(self, row: Row) -> None:
        number, parent, fork = row.values["id"], row.values["parent"], row.values["fork_depth"]
        if number != len(self._branches):
            self._refuse(row, "id", f"says {number} where branch {len(self._branches)} is due")
        if parent >= max(number, 1):
            self._refuse(row, "parent", "names a branch that is not there before it")
        if number == 0 and fork != -1:
            self._refuse(row, "fork_depth", "of the first branch must be -1")
        self._branches.append(_Branch(parent, fork, fork, row))

    def _kept(self, row: Row) -> None:
        self._known_branch(row)
        self._lineage[row.values["branch"]] = (row.values["upto"], row)

    def _known_branch(self, row: Row) -> None:
        if row.values["branch"] >= len(self._branches):
            self._refuse(row, "branch", "names a branch that is not there")

    def _message(self, row: Row) -> None:
        self._known_branch(row)
        number: int = row.values["branch"]
        branch = self._branches[number]
        if row.values["depth"] != branch.tip + 1:
            self._refuse(row, "depth", f"says {row.values['depth']} where {branch.tip + 1} is due")
        branch.tip += 1
        if row.values["seq"] != len(self._revisions):
            self._refuse(row, "seq", f"says {row.values['seq']} where {len(self._revisions)} is due")
        if row.values["id"] in self._revisions:
            self._refuse(row, "id", "names a message that stood before")
        self._revisions[row.values["id"]] = row.values["revision"]
        ref = row.values["ref"]
        if ref is not None:
            if ref in self._refs:
                self._refuse(row, "ref", "names a message that stood before")
            self._refs.add(ref)

    def _message_text(self, row: Row) -> None:
        newest = self._revisions.get(row.values["message"])
        if newest is None:
            self._refuse(row, "message", "names a message that is not there")
        elif row.values["revision"] >= newest:
            self._refuse(row, "revision", f"is not before {newest}, that of the message")

    def _job(self, row: Row) -> None:
        self._known_branch(row)
        if row.values["range_start"] > row.values["range_end"] + 1:
            self._refuse(row, "range_start", "is behind the range's end")
        if (row.values["covered_start"] is None) != (row.values["covered_end"] is None):
            self._refuse(row, "covered_end", "is given without the other end, or missing")
        branch, depth = row.values["covered_branch"], row.values["covered_end"]
        if (branch is None) != (depth is None) or (branch is not None and not self._stands(branch, depth)):
            self._refuse(row, "covered_branch", "names a place where nothing stands")

    def _record(self, row: Row) -> None:
        if row.values["preset"]:
            self._refuse(row, "preset", "must be empty in a session")
        self._standing(row)
        check_record(self._source, row)

    def _standing(self, row: Row) -> None:
        if not self._stands(row.values["branch"], row.values["depth"]):
            self._refuse(row, "depth", "names a place where nothing stands")


def check_record(source: Source, row: Row) -> None:
    """What must hold for a record of any scope."""
    values = row.values
    start, end = values["range_start"], values["range_end"]
    if (start is None) != (end is None) or (start is not None and start > end):
        row.refuse(source, "range_end", "and range_start are no range")
    if values["forgotten"] and (values["value"] != "null" or not values["withdrawn"]):
        row.refuse(source, "forgotten", "is set on a record that still says something")
    if values["value"] == "null" and not values["withdrawn"]:
        row.refuse(source, "value", "is null in a record that was not withdrawn")
