"""What a plugin's function is called with: its `PluginContext`, bound to a session and a place in it, for one call.

Also runs what people may run of a plugin: its commands and importers.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.plugin_context.bound import Bound, InJob, InTurn, Lifetime
    from talekeeper.plugin_context.calls import (
        CallContext,
        Imported,
        call_plugin,
        check_arguments,
        import_lore,
        importers_aside,
        importers_for,
        run_command,
        run_importer,
        working_plugin,
    )
    from talekeeper.plugin_context.models import with_cost
    from talekeeper.plugin_context.pending import Pending
    from talekeeper.plugin_context.reading import CallJob, message_view, session_view
    from talekeeper.plugin_context.records import record_view
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "Bound",
    "CallContext",
    "CallJob",
    "Imported",
    "InJob",
    "InTurn",
    "Lifetime",
    "Pending",
    "call_plugin",
    "check_arguments",
    "import_lore",
    "importers_aside",
    "importers_for",
    "message_view",
    "record_view",
    "run_command",
    "run_importer",
    "session_view",
    "with_cost",
    "working_plugin",
]
