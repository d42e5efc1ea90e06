"""The turn: a player's message, the prompt in its frame, the narrator's tools, and the commit.

The rooms below know records, search and plugins; here they meet the model. `Narrator` tells turns.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.turn.frame import clean
    from talekeeper.turn.jobs import JobRunner, untold_turns
    from talekeeper.turn.narrator import Narrator
    from talekeeper.turn.presets import Preset, all_presets, preset, session_voice
    from talekeeper.turn.turn_context import Approval, Decided, Dry, ToolDone, TurnResult, decisions
    from talekeeper.turn.worker import Worker
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "Approval",
    "Decided",
    "Dry",
    "JobRunner",
    "Narrator",
    "Preset",
    "ToolDone",
    "TurnResult",
    "Worker",
    "all_presets",
    "clean",
    "decisions",
    "preset",
    "session_voice",
    "untold_turns",
]
