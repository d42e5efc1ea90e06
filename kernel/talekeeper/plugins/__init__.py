"""Plugins: found, checked, switched, loaded, guarded; their settings, seeds and migrations.

A folder or entry point becomes a `Plugin` with a state and a reason; a `Host` says who works where and hands out the
functions of their code, which context calls through the `Guard`.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.plugins.discovery import Found, Origin, discover
    from talekeeper.plugins.guard import Call, Deadlines, Guard, exception_text
    from talekeeper.plugins.host import Host
    from talekeeper.plugins.loader import (
        HOOK,
        PROJECT,
        Key,
        Loader,
        Registrations,
        Spec,
        import_code,
        modules_of,
        purge,
    )
    from talekeeper.plugins.resolver import Overrides, Plugin, Roster, State, read_overrides, read_plugins
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "HOOK",
    "PROJECT",
    "Call",
    "Deadlines",
    "Found",
    "Guard",
    "Host",
    "Key",
    "Loader",
    "Origin",
    "Overrides",
    "Plugin",
    "Registrations",
    "Roster",
    "Spec",
    "State",
    "discover",
    "exception_text",
    "import_code",
    "modules_of",
    "purge",
    "read_overrides",
    "read_plugins",
]
