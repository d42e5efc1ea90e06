"""What `talekeeper doctor` finds: part by part, as far as each can still be looked at."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from talekeeper.cli.output import counted
from talekeeper.cli.work import unrecorded
from talekeeper.db import examine_file, readable
from talekeeper.errors import InputError, ModelError, PluginError, StoreError
from talekeeper.plugins import State
from talekeeper.story import Scope
from talekeeper.trace import count_events

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.search import IndexSize

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
        findings.index = home.story.index_size()
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
    for fault in home.story.check_index():
        yield f"{_name(fault.scope)}: {fault.difference}"


def _unpurged(home: Home) -> Iterator[str]:
    for scope in home.story.unpurged():
        yield f"{_name(scope)}: the index still holds some"


def _name(scope: Scope) -> str:
    return "/".join(part for part in (scope.workspace, scope.preset, scope.session) if part)


def model_faults(home: Home) -> Iterator[str]:
    """A mistake in the configuration of models, or why what embeds in this process is not there. Asks no endpoint."""
    try:
        if home.models.provided is not None:
            home.semantics.encoder()
    except (InputError, ModelError, PluginError) as fault:
        yield fault.sentence()


def _missing_events(home: Home) -> Iterator[str]:
    from talekeeper.home import TRACES  # noqa: PLC0415 - the home has loaded it

    _, dropped = count_events(home.folder / TRACES)
    if dropped:
        yield f"{counted(dropped, 'event')} came faster than they could be written, and are missing"


def _plugin_faults(home: Home) -> Iterator[str]:
    for plugin in home.host.roster().plugins:
        if plugin.state in _ILL:
            yield f"{plugin.id} is {plugin.state}: {plugin.reason}"
