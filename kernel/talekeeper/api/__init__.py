"""What a plugin's code imports.

    from talekeeper.api import PluginContext, Registry, hookimpl

Public beside it are `talekeeper.errors` and, for tests, `talekeeper.testing`; the rest of the kernel may change freely.
"""

from talekeeper.errors import (
    ContextClosed,
    LimitReached,
    NotFound,
    ParameterError,
    PermissionDenied,
    PluginError,
    Retry,
    Skip,
    TalekeeperError,
    UserError,
)
from talekeeper.plugins.border import (
    Also,
    Answer,
    Hit,
    ImportReport,
    Json,
    MessageView,
    Record,
    ScoredRecord,
)
from talekeeper.plugins.hooks import Called, Importer, Migration, Registry, hookimpl
from talekeeper.plugins.offered import (
    Batch,
    Data,
    History,
    NamespaceData,
    Order,
    PluginContext,
    Scope,
    Search,
    SessionView,
)
from talekeeper.search import RankedText, TermScore
from talekeeper.story import ROOT, Coordinate

__all__ = [
    "ROOT",
    "Also",
    "Answer",
    "Batch",
    "Called",
    "ContextClosed",
    "Coordinate",
    "Data",
    "History",
    "Hit",
    "ImportReport",
    "Importer",
    "Json",
    "LimitReached",
    "MessageView",
    "Migration",
    "NamespaceData",
    "NotFound",
    "Order",
    "ParameterError",
    "PermissionDenied",
    "PluginContext",
    "PluginError",
    "RankedText",
    "Record",
    "Registry",
    "Retry",
    "Scope",
    "ScoredRecord",
    "Search",
    "SessionView",
    "Skip",
    "TalekeeperError",
    "TermScore",
    "UserError",
    "hookimpl",
]
