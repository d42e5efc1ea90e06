"""`talekeeper doctor`: whether the home is what it should be.

The file is sound, the index equal to the rows and rid of what was forgotten, and no plugin is ill.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from talekeeper.cli import screen
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.plugins import State
from talekeeper.story import Scope

if TYPE_CHECKING:
    from talekeeper.home import Home

_ILL = frozenset({State.INVALID, State.INCOMPATIBLE, State.BLOCKED, State.FAILED})


@click.command(epilog="Example:  talekeeper doctor")
@click.option("--index", "only_index", is_flag=True, help="Check the index alone.")
@click.option("--rebuild", is_flag=True, help="Write the index anew first.")
@common
@pass_common
def command(options: Common, /, *, only_index: bool, rebuild: bool) -> int:
    """Check the database, the index and the plugins.

    Exits with 1 when something is wrong. Reads the whole database, so it takes its time on a large one.
    """
    with options.open() as home:
        if rebuild:
            with screen.progress("index", 100) as reach:
                home.story.rebuild_index(progress=lambda done, total: reach(100 * done // max(total, 1)))
            home.story.maintain()
        parts = {} if only_index else {"database": list(home.db.integrity())}
        parts["index"] = list(_index_faults(home))
        parts["forgotten words"] = [f"{_name(scope)}: the index still holds some" for scope in home.story.unpurged()]
        if not only_index:
            parts["plugins"] = list(_plugin_faults(home))
        size, log = home.db.sizes()
    faults = sum(map(len, parts.values()))
    if options.as_json:
        screen.emit({"sound": not faults, "faults": parts, "rebuilt": rebuild, "database_bytes": size + log})
    else:
        for part, found in parts.items():
            screen.say(f"{part}: {'sound' if not found else screen.counted(len(found), 'fault')}", bold=bool(found))
            for fault in found:
                screen.say(f"  {fault}")
        if parts["index"]:
            screen.note("talekeeper doctor --rebuild writes the index anew")
        if parts["forgotten words"]:
            screen.note("they were wiped out as this command ended; talekeeper doctor proves it")
    return 1 if faults else 0


def _index_faults(home: Home) -> Iterator[str]:
    for fault in home.story.check_index():
        yield f"{_name(fault.scope)}: {fault.difference}"


def _name(scope: Scope) -> str:
    return "/".join(part for part in (scope.workspace, scope.preset, scope.session) if part)


def _plugin_faults(home: Home) -> Iterator[str]:
    for plugin in home.host.roster().plugins:
        if plugin.state in _ILL:
            yield f"{plugin.id} is {plugin.state}: {plugin.reason}"
