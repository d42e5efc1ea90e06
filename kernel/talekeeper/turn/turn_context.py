"""What the steps of one turn work with, and what a turn gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from talekeeper.api import TurnView
from talekeeper.errors import Cancelled, NotFound
from talekeeper.models import Cancel, Slot, Usage
from talekeeper.plugin_context import Bound, InTurn, Lifetime, message_view
from talekeeper.plugins import Plugin, Roster
from talekeeper.services import Services
from talekeeper.story import Address, Coordinate, Decision, Job, Message, Session, Story
from talekeeper.turn.presets import NarrationSettings, Preset

_CONTEXT, _REPLY = 8192, 1024  # tokens that a dry run reckons with where no model is configured: a slot's own defaults


@dataclass(frozen=True, slots=True)
class Accepted:
    """A turn to narrate. `session` is as it stood after the message was appended.

    `at` is where the turn reads and is answered from; `player` is None in one that continues by itself. `before` are
    messages the player sent in this turn before `player`, unanswered. A `retry` is another take of the newest turn.
    """

    session: Session
    at: Coordinate
    number: int
    player: Message | None
    before: tuple[Message, ...] = ()
    resumed: bool = False
    retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext(Accepted):
    """An accepted turn with what its steps need. Only a `dry` one, which asks no model, may have no slot."""

    services: Services
    roster: Roster
    preset: Preset
    narration: NarrationSettings
    slot: Slot | None
    cancel: Cancel | None = None
    dry: bool = False

    @property
    def address(self) -> Address:
        """The session's."""
        return self.session.address

    @property
    def asked(self) -> tuple[Message, ...]:
        """The player's messages that this turn answers."""
        return self.before if self.player is None else (*self.before, self.player)

    @property
    def context(self) -> int:
        """Tokens a prompt may have: the slot's context less the reply."""
        whole, reply = (self.slot.context, self.slot.reply) if self.slot else (_CONTEXT, _REPLY)
        return max(0, whole - (self.preset.reply or reply))

    @property
    def slot_name(self) -> str:
        """The session's slot, else the preset's."""
        return self.slot.name if self.slot else self.narration.slot or self.preset.slot

    def view(self, history_from: int) -> TurnView:
        """The turn as plugins see it."""
        player = None if self.player is None else message_view(self.player)
        return TurnView(self.number, self.at, player, history_from, self.session.locale, self.dry)

    def bound(self, plugin: Plugin, in_turn: InTurn) -> Bound:
        """What a call of the plugin in this turn is bound to."""
        life = Lifetime(plugin.id, cancel=self.cancel)
        return Bound(self.services, plugin, self.session, life, at=self.at, turn=in_turn)

    def check(self) -> None:
        """Raises `Cancelled` once the turn was cancelled."""
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("the turn was cancelled", where=self.session.id)

    def report(self, event: str, body: object = None, **facts: object) -> None:
        """Reports an event of this turn."""
        self.services.report(event, self.address, turn=self.number, body=body, **facts)


@dataclass(frozen=True, slots=True)
class Approval:
    """May this call be made? It acts outside the story, in a turn that holds text from elsewhere.

    `arguments` have been checked against the tool's schema; `because` says where the text came from.
    """

    plugin: str
    tool: str
    description: str
    arguments: Mapping[str, Any]
    because: str


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """One tool call of a turn. `fault` is what the model got instead of a result."""

    tool: str
    plugin: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A committed turn: its messages, the narration last, with calls, decisions and jobs.

    `usage` sums what the endpoint counted, None when it counted nothing. `decisions` are ids for `why`.
    """

    messages: tuple[Message, ...]
    usage: Usage | None = None
    calls: tuple[ToolOutcome, ...] = ()
    decisions: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()

    @property
    def narration(self) -> Message:
        """What the narrator has said."""
        return self.messages[-1]


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """How one segment was filled, as the decision record keeps it; `text` is what the prompt shows.

    With an empty `plugin` it is the kernel's own decision: how much of the history was shown.
    """

    plugin: str
    segment: str
    document: Mapping[str, Any]
    text: str = ""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a turn would show its narrator; nothing was written and nothing counted.

    `history_from` is the first turn that the prompt would show whole.
    """

    turn: int
    history_from: int
    decided: tuple[SegmentReport, ...]


def turn_decisions(
    story: Story, address: Address, turn: int, *, decision: str = "", every: bool = False
) -> list[Decision]:
    """The decision records of a turn on the head's lineage, or with `every` on all branches.

    `decision` picks the one with this id. Raises `NotFound` for a turn without any.
    """
    found = story.turn_log.decisions(address, turn)
    found = [one for one in found if every or story.tree.on_lineage(address, one.coordinate)]
    if decision:
        found = [one for one in found if one.id == decision]
    if not found:
        what = f"decision {decision!r} of turn {turn}" if decision else f"record of a prompt of turn {turn}"
        raise NotFound(f"there is no {what}", where=address.session, cure="name a turn that a model has narrated")
    # Takes in the order of their narration, in each the kernel's own decision first.
    return sorted(found, key=lambda one: (one.created, one.coordinate.branch, one.plugin, one.segment))
