"""What a plugin's function gets, what people may run of plugins, and memory-search.

Plugins declare, story keeps, search ranks; context binds a call to a session and puts the three together.
"""

from talekeeper.context.importing import Imported, import_lore, importers_aside, importers_for, run_importer
from talekeeper.context.plugin_context import CallContext
from talekeeper.context.question import Question, question
from talekeeper.context.running import run_command
from talekeeper.context.services import Services

__all__ = [
    "CallContext",
    "Imported",
    "Question",
    "Services",
    "import_lore",
    "importers_aside",
    "importers_for",
    "question",
    "run_command",
    "run_importer",
]
