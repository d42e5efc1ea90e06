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
    findings, rebuilt = _examine(options, only_index=only_index, rebuild=rebuild)
    if options.as_json:
        output.emit(_document(findings, rebuilt=rebuilt))
    else:
        if rebuilt:
            output.say("index: rebuilt")
        _show(findings)
    return 1 if findings.faults else 0


def _examine(options: Common, *, only_index: bool, rebuild: bool) -> tuple[Findings, bool]:
    """What there is to say, and whether the index was written anew."""
    from talekeeper.home import database_of  # noqa: PLC0415 - numpy and sqlite load with a home, not with --help

    try:
        home = options.open()
    except StoreUnusable as fault:
        return of_unusable(database_of(options.home), fault), False
    with home:
        failed = _rebuild(home) if rebuild else ""
        findings = of_home(home, only_index=only_index)
        if failed:
            findings.parts["index"].insert(0, failed)
    return findings, rebuild and not failed


def _rebuild(home: Home) -> str:
    """Gives the reason why it could not be done; empty when it was."""
    try:
        with output.progress("index", 100) as reach:
            home.story.index.rebuild(progress=lambda done, total: reach(100 * done // max(total, 1)))
        home.story.index.maintain()
    except StoreError as fault:
        return f"it could not be rebuilt: {fault.what}"
    return ""


def _document(findings: Findings, *, rebuilt: bool) -> dict[str, object]:
    return {
        "sound": not findings.faults,
        "state": findings.state,
        "reasons": [part for part, found in findings.parts.items() if found],
        "faults": findings.parts,
        "rebuilt": rebuilt,
        "database_bytes": findings.database_bytes,
        "index": findings.index,
        "readable": findings.readable,
    }


def _show(findings: Findings) -> None:
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
    reasons = [part for part, found in findings.parts.items() if found]
    output.say(f"state: {findings.state}" + (f" ({', '.join(reasons)})" if reasons else ""))
    for part in reasons:
        if part in _CURES:
            output.note(_CURES[part])


_ILL = frozenset({State.INVALID, State.INCOMPATIBLE, State.BLOCKED, State.FAILED})


@dataclass(slots=True)
class Findings:
    """Faults by part, in the order they were looked at; `readable` counts rows of a database that cannot be used."""

    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    database_bytes: int = 0
    index: IndexSize | None = None
    readable: dict[str, int] | None = None

    @property
    def faults(self) -> int:
        """How many there are in all."""
        return sum(map(len, self.parts.values()))

    @property
    def state(self) -> Literal["ok", "degraded", "failed"]:
        """Failed when the database itself is at fault, degraded when something that can be made anew or left out is."""
        if self.parts.get("database"):
            return "failed"
        return "degraded" if self.faults else "ok"

    def look(self, part: str, find: Callable[[], Iterable[str]]) -> None:
        """Notes what `find` gives; a store that refuses to go on is one more fault."""
        found = self.parts.setdefault(part, [])
        try:
            found.extend(find())
        except StoreError as fault:
            found.append(fault.what)


def of_home(home: Home, *, only_index: bool) -> Findings:
    """Of a home that could be opened."""
    findings = Findings(database_bytes=sum(home.db.sizes()))
    if not only_index:
        findings.look("database", home.db.integrity)
    findings.look("index", lambda: _index_faults(home))
    findings.look("forgotten words", lambda: _unpurged(home))
    if not only_index:
        findings.look("plugins", lambda: _plugin_faults(home))
        findings.look("models", lambda: model_faults(home))
        findings.look("jobs", lambda: unrecorded(home))
        findings.look("traces", lambda: _missing_events(home))
    try:
        findings.index = home.story.index.size()
    except StoreError:
        findings.index = None  # the reason stands among the faults
    return findings


def of_unusable(database: Path, fault: StoreError) -> Findings:
    """Of a home that could not be opened: the reason, and what SQLite says of a file that is one of its own."""
    findings = Findings({"database": [fault.what if fault.where == str(database) else str(fault)]})
    if os.path.isfile(database):  # noqa: PTH113 - false, too, for what cannot be looked at
        findings.database_bytes = database.stat().st_size
        findings.parts["database"].extend(examine_file(database))
        findings.readable = readable(database)
    return findings


def _index_faults(home: Home) -> Iterator[str]:
    for fault in home.story.index.check():
        yield f"{_name(fault.scope)}: {fault.difference}"


def _unpurged(home: Home) -> Iterator[str]:
    for scope in home.story.index.unpurged():
        yield f"{_name(scope)}: the index still holds some"


def _name(scope: Scope) -> str:
    return "/".join(part for part in (scope.workspace, scope.preset, scope.session) if part)


def _missing_events(home: Home) -> Iterator[str]:
    from talekeeper.home import TRACES  # noqa: PLC0415 - the home has loaded it

    _, dropped = count_events(home.folder / TRACES)
    if dropped:
        yield f"{counted(dropped, 'event')} came faster than they could be written, and are missing"


def _plugin_faults(home: Home) -> Iterator[str]:
    for plugin in home.host.roster().plugins:
        if plugin.state in _ILL:
            yield f"{plugin.id} is {plugin.state}: {plugin.reason}"
