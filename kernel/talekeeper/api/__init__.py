"""What a plugin's code imports: the values it is given and gives back, the protocols of its context, and the hook.

    from talekeeper.api import PluginContext, Registry, hookimpl

Public beside it are `talekeeper.errors` and, for tests, `talekeeper.testing`; the rest of the kernel may change freely.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.api.hooks import Called, Importer, Job, Migration, Prompt, Registry, hookimpl
    from talekeeper.api.protocols import (
        Batch,
        Covers,
        Data,
        History,
        JobView,
        Models,
        NamespaceData,
        Order,
        PluginContext,
        Scope,
        Search,
        SessionView,
    )
    from talekeeper.api.values import (
        Also,
        Answer,
        Authority,
        Completion,
        Considered,
        Hit,
        Holding,
        ImportReport,
        JobResult,
        Json,
        Line,
        MessageView,
        Recalled,
        Record,
        ScoredRecord,
        TurnView,
        Use,
    )
    from talekeeper.errors import (
        BadReply,
        ContextClosed,
        LimitReached,
        ModelError,
        NoModel,
        NotFound,
        ParameterError,
        PermissionDenied,
        PluginError,
        Retry,
        Skip,
        TalekeeperError,
        UserError,
    )
    from talekeeper.search import RankedText, TermScore
    from talekeeper.story import ROOT, Coordinate
    from talekeeper.text import cut_graphemes, estimate_tokens, sentence_ends
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "ROOT",
    "Also",
    "Answer",
    "Authority",
    "BadReply",
    "Batch",
    "Called",
    "Completion",
    "Considered",
    "ContextClosed",
    "Coordinate",
    "Covers",
    "Data",
    "History",
    "Hit",
    "Holding",
    "ImportReport",
    "Importer",
    "Job",
    "JobResult",
    "JobView",
    "Json",
    "LimitReached",
    "Line",
    "MessageView",
    "Migration",
    "ModelError",
    "Models",
    "NamespaceData",
    "NoModel",
    "NotFound",
    "Order",
    "ParameterError",
    "PermissionDenied",
    "PluginContext",
    "PluginError",
    "Prompt",
    "RankedText",
    "Recalled",
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
    "TurnView",
    "Use",
    "UserError",
    "cut_graphemes",
    "estimate_tokens",
    "hookimpl",
    "sentence_ends",
]
