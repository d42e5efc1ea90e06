"""The turn: a player's message, the prompt in its frame, the narrator's tools, the commit, and the jobs after it.

The rooms below know records, search and plugins; here they meet the model.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.turn.backlog import count_backlog
    from talekeeper.turn.jobs import JobRunner
    from talekeeper.turn.narrator import Narrator
    from talekeeper.turn.presets import Preset, narration_settings, read_preset
    from talekeeper.turn.turn_context import Approval, DryRun, SegmentReport, ToolOutcome, TurnResult, turn_decisions
    from talekeeper.turn.worker import Worker
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "Approval",
    "DryRun",
    "JobRunner",
    "Narrator",
    "Preset",
    "SegmentReport",
    "ToolOutcome",
    "TurnResult",
    "Worker",
    "count_backlog",
    "narration_settings",
    "read_preset",
    "turn_decisions",
]
