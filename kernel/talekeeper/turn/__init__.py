"""The turn: a player's message, the prompt in its frame, the narrator's tools, and the commit.

The rooms below know records, search and plugins; here they meet the model. `Narrator` tells turns.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.turn.frame import clean
    from talekeeper.turn.jobs import JobRunner
    from talekeeper.turn.narrator import Narrator
    from talekeeper.turn.presets import Preset, all_presets, preset
    from talekeeper.turn.results import Approval, Decided, Dry, ToolDone, TurnResult
    from talekeeper.turn.untold import untold_turns
    from talekeeper.turn.voice import session_voice
    from talekeeper.turn.why import decisions
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
