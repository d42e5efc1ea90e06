"""The turn: a player's message, the prompt in its frame, the narrator's tools, and the commit.

The rooms below know records, search and plugins; here they meet the model. `Narrator` tells turns.
"""

from talekeeper.turn.narrator import Narrator
from talekeeper.turn.presets import Preset, preset, presets
from talekeeper.turn.results import Approval, Decided, Dry, ToolDone, TurnResult
from talekeeper.turn.why import decisions

__all__ = [
    "Approval",
    "Decided",
    "Dry",
    "Narrator",
    "Preset",
    "ToolDone",
    "TurnResult",
    "decisions",
    "preset",
    "presets",
]
