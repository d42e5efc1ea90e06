"""`talekeeper doctor`: whether the home is what it should be.

The file is sound, the index equal to the rows and rid of what was forgotten, no plugin is ill, and models are
configured without a mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from talekeeper.cli import output
from talekeeper.cli.checkup import Findings, of_home, of_unusable
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.errors import StoreError, StoreUnusable

if TYPE_CHECKING:
    from talekeeper.home import Home

_CURES = {
    "database": "restore a backup, or move the database away to begin anew; export what can still be read before",
    "index": "talekeeper doctor --rebuild writes the index anew",
    "traces": "nothing needs them: to begin anew, move traces.sqlite away",
    "forgotten words": "they were wiped out as this command ended; talekeeper doctor proves it",
}


@click.command(epilog="Example:  talekeeper doctor")
@click.option("--index", "only_index", is_flag=True, help="Check the index alone.")
@click.option("--rebuild", is_flag=True, help="Write the index anew first.")
@common
@pass_common
def command(options: Common, /, *, only_index: bool, rebuild: bool) -> int:
    """Check the database, index, plugins and settings.

    Exits with 1 when something is wrong. Reads the whole database, so it takes its time on a large one. Of
    talekeeper.toml it tells mistakes, and asks no model.
    """
    findings, rebuilt = _examine(options, only_index=only_index, rebuild=rebuild)
    if options.as_json:
        output.emit(_document(findings, rebuilt=rebuilt))
    else:
        if rebuilt:
            output.say("index: written anew")
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
            home.story.rebuild_index(progress=lambda done, total: reach(100 * done // max(total, 1)))
        home.story.maintain()
    except StoreError as fault:
        return f"it could not be written anew: {fault.what}"
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
        output.say(f"{part}: {'sound' if not found else output.counted(len(found), 'fault')}", bold=bool(found))
        for fault in found:
            output.say(f"  {fault}")
    if findings.readable is not None:
        counts = (output.counted(count, f"{table} row") for table, count in findings.readable.items())
        output.say(f"can still be read: {', '.join(counts) or 'nothing'}")
    if findings.index is not None:
        size = findings.index
        output.say(
            f"index size: {output.sized(sum(size.bytes.values()))} for {output.counted(size.passages, 'passage')} "
            f"in {output.counted(size.partitions, 'partition')} and {output.counted(size.segments, 'segment')} "
            f"({', '.join(f'{name} {output.sized(count)}' for name, count in size.bytes.items())})"
        )
    reasons = [part for part, found in findings.parts.items() if found]
    output.say(f"state: {findings.state}" + (f" ({', '.join(reasons)})" if reasons else ""))
    for part in reasons:
        if part in _CURES:
            output.note(_CURES[part])
