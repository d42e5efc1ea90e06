"""What a turn asks for and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from talekeeper.models import Usage
from talekeeper.story import Job, Message


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that acts outside the story, wanted in a turn that holds text nobody here has written: may it be made?

    `arguments` have been checked against the tool's schema; `because` says in words where such text came from.
    """

    plugin: str
    tool: str
    description: str
    arguments: Mapping[str, Any]
    because: str


@dataclass(frozen=True, slots=True)
class ToolDone:
    """One tool call of a turn. `fault` is what the model was told instead of a result, empty when there was one."""

    tool: str
    plugin: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A committed turn: its messages, the narration last, and what came of it.

    `usage` sums what the endpoint counted, None when it counted nothing. `decisions` are ids for `why`.
    """

    messages: tuple[Message, ...]
    usage: Usage | None = None
    calls: tuple[ToolDone, ...] = ()
    decisions: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()

    @property
    def narration(self) -> Message:
        """What the narrator has said."""
        return self.messages[-1]


@dataclass(frozen=True, slots=True)
class Decided:
    """How one segment was filled, as the decision record keeps it; `text` is what the prompt shows of it.

    With an empty `plugin` it is the kernel's own decision: how much of the history was shown.
    """

    plugin: str
    segment: str
    document: Mapping[str, Any]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Dry:
    """What a turn would show its narrator; nothing was written and nothing counted.

    `history_from` is the first turn that the prompt would show whole.
    """

    turn: int
    history_from: int
    decided: tuple[Decided, ...]
