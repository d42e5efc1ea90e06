"""`talekeeper doctor`: whether the database, index, plugins, models, jobs and traces are sound, part by part."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from talekeeper.cli import output
from talekeeper.cli.commands.status import model_faults, unrecorded
from talekeeper.cli.options import Common, common
from talekeeper.db import examine_file, readable
from talekeeper.errors import StoreError, StoreUnusable
from talekeeper.plugins import State
from talekeeper.story import Scope
from talekeeper.text import counted
from talekeeper.trace import count_events

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.plugins import Plugin
    from talekeeper.search import IndexSize

_CURES = {
    "database": "restore a backup, or move the database away to start over; first export what can still be read",
    "index": "talekeeper doctor --rebuild rebuilds the index",
    "traces": "nothing needs them: move traces.sqlite away to start over",
    "forgotten words": "this command erased them as it ended; run talekeeper doctor again to verify",
}


@click.command(epilog="Example:  talekeeper doctor")
@click.option("--index", "only_index", is_flag=True, help="Check only the index.")
@click.option("--rebuild", is_flag=True, help="Rebuild the index first.")
@common
def command(options: Common, /, *, only_index: bool, rebuild: bool) -> int:
    """Check the database, index, plugins and settings.

    Exits with 1 when something is wrong. Reads the whole database, which takes a while if it is large. Reports mistakes
    in talekeeper.toml, but asks no model.
    """
    findings = _examine(options, only_index=only_index, rebuild=rebuild)
    if options.as_json:
        output.emit(_document(findings))
    else:
        _show(findings)
    return 1 if findings.reasons else 0


def _examine(options: Common, *, only_index: bool, rebuild: bool) -> Findings:
    from talekeeper.home import database_of  # noqa: PLC0415 - numpy and sqlite load with a home, not with --help

    try:
        home = options.open()
    except StoreUnusable as fault:
        return _of_unusable(database_of(options.home), fault)
    with home:
        failed = _rebuild(home) if rebuild else ""
        findings = _of_home(home, only_index=only_index)
        if failed:
            findings.parts["index"].insert(0, failed)
    findings.rebuilt = rebuild and not failed
    return findings


def _rebuild(home: Home) -> str:
    """Gives the reason why it could not be done; empty when it was."""
    try:
        with output.progress("index", 100) as reach:
            home.story.index.rebuild(progress=lambda done, total: reach(100 * done // max(total, 1)))
        home.story.index.maintain()
    except StoreError as fault:
        return f"it could not be rebuilt: {fault.what}"
    return ""


def _document(findings: Findings) -> dict[str, object]:
    return {
        "sound": not findings.reasons,
        "state": findings.state,
        "reasons": findings.reasons,
        "faults": findings.parts,
        "rebuilt": findings.rebuilt,
        "database_bytes": findings.database_bytes,
        "index": findings.index,
        "readable": findings.readable,
    }


def _show(findings: Findings) -> None:
    if findings.rebuilt:
        output.say("index: rebuilt")
    for part, found in findings.parts.items():
        output.say(f"{part}: {'sound' if not found else counted(len(found), 'fault')}", bold=bool(found))
        for fault in found:
            output.say(f"  {fault}")
    if findings.readable is not None:
        counts = (counted(count, f"{table} row") for table, count in findings.readable.items())
        output.say(f"can still be read: {', '.join(counts) or 'nothing'}")
    if findings.index is not None:
        size = findings.index
        output.say(
            f"index size: {output.sized(sum(size.bytes.values()))} for {counted(size.passages, 'passage')} "
            f"in {counted(size.partitions, 'partition')} and {counted(size.segments, 'segment')} "
            f"({', '.join(f'{name} {output.sized(count)}' for name, count in size.bytes.items())})"
        )
    output.say(f"state: {findings.state}" + (f" ({', '.join(findings.reasons)})" if findings.reasons else ""))
    for part in findings.reasons:
        if part in _CURES:
            output.note(_CURES[part])


@dataclass(slots=True)
class Findings:
    """Faults by part, in the order they were looked at; `readable` counts rows of a database that cannot be used."""

    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    database_bytes: int = 0
    index: IndexSize | None = None
    readable: dict[str, int] | None = None
    rebuilt: bool = False

    @property
    def reasons(self) -> list[str]:
        """The parts that have faults."""
        return [part for part, found in self.parts.items() if found]

    @property
    def state(self) -> Literal["ok", "degraded", "failed"]:
        """Failed when the database itself is at fault, degraded when something that can be made anew or left out is."""
        if self.parts.get("database"):
            return "failed"
        return "degraded" if self.reasons else "ok"


def _of_home(home: Home, *, only_index: bool) -> Findings:
    index = home.story.index
    checks: dict[str, Callable[[], Iterable[str]]] = {
        "database": home.db.integrity,
        "index": lambda: (f"{_name(fault.scope)}: {fault.difference}" for fault in index.check()),
        "forgotten words": lambda: (f"{_name(scope)}: the index still holds some" for scope in index.unpurged()),
        "plugins": lambda: (f"{one.id} is {one.state}: {one.reason}" for one in _ill_plugins(home)),
        "models": lambda: model_faults(home),
        "jobs": lambda: unrecorded(home),
        "traces": lambda: _missing_events(home),
    }
    findings = Findings(database_bytes=sum(home.db.sizes()))
    for part in ("index", "forgotten words") if only_index else checks:
        found = findings.parts[part] = []
        try:
            found.extend(checks[part]())
        except StoreError as fault:
            found.append(fault.what)  # a store that refuses to go on is one more fault
    try:
        findings.index = index.size()
    except StoreError:
        findings.index = None  # the reason stands among the faults
    return findings


def _of_unusable(database: Path, fault: StoreError) -> Findings:
    """The reason, and what SQLite says of a file that is one of its own."""
    findings = Findings({"database": [fault.what if fault.where == str(database) else str(fault)]})
    if os.path.isfile(database):  # noqa: PTH113 - false, too, for what cannot be looked at
        findings.database_bytes = database.stat().st_size
        findings.parts["database"].extend(examine_file(database))
        findings.readable = readable(database)
    return findings


def _ill_plugins(home: Home) -> list[Plugin]:
    ill = {State.INVALID, State.INCOMPATIBLE, State.BLOCKED, State.FAILED}
    return [plugin for plugin in home.host.roster().plugins if plugin.state in ill]


def _name(scope: Scope) -> str:
    return "/".join(part for part in (scope.workspace, scope.preset, scope.session) if part)


def _missing_events(home: Home) -> Iterator[str]:
    from talekeeper.home import TRACES  # noqa: PLC0415 - the home has loaded it

    _, dropped = count_events(home.folder / TRACES)
    if dropped:
        yield f"{counted(dropped, 'event')} came faster than they could be written, and are missing"
