"""What plugin code is given and gives back: frozen values, the protocols of its context, and the hook it registers by.

`talekeeper.api` exports these to authors; `plugin_context` implements the protocols, `turn` makes and takes the values.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.plugin_types.frozen import FrozenDict, FrozenList, freeze, thaw
    from talekeeper.plugin_types.hooks import (
        HOOK,
        PROJECT,
        Called,
        Importer,
        Job,
        Migration,
        Prompt,
        Registry,
        Spec,
        hookimpl,
    )
    from talekeeper.plugin_types.protocols import (
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
    from talekeeper.plugin_types.values import (
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
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "HOOK",
    "PROJECT",
    "Also",
    "Answer",
    "Authority",
    "Batch",
    "Called",
    "Completion",
    "Considered",
    "Covers",
    "Data",
    "FrozenDict",
    "FrozenList",
    "History",
    "Hit",
    "Holding",
    "ImportReport",
    "Importer",
    "Job",
    "JobResult",
    "JobView",
    "Json",
    "Line",
    "MessageView",
    "Migration",
    "Models",
    "NamespaceData",
    "Order",
    "PluginContext",
    "Prompt",
    "Recalled",
    "Record",
    "Registry",
    "Scope",
    "ScoredRecord",
    "Search",
    "SessionView",
    "Spec",
    "TurnView",
    "Use",
    "freeze",
    "hookimpl",
    "thaw",
]
