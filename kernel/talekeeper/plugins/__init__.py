"""Plugins: found, checked, switched, loaded, guarded; their settings, seeds and migrations.

A folder or entry point becomes a `Plugin` with a state and a reason; a `Host` says who works where and hands out the
functions of their code, which context calls through the `Guard`.
"""

from talekeeper.plugins.explain import Explanation
from talekeeper.plugins.found import Found, Origin
from talekeeper.plugins.guard import Call, Deadlines, Guard
from talekeeper.plugins.host import Host
from talekeeper.plugins.states import Plugin, Roster, State
from talekeeper.plugins.switches import Switches, switches

__all__ = [
    "Call",
    "Deadlines",
    "Explanation",
    "Found",
    "Guard",
    "Host",
    "Origin",
    "Plugin",
    "Roster",
    "State",
    "Switches",
    "switches",
]
