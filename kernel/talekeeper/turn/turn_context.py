"""What every step of one turn works with."""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.errors import Cancelled
from talekeeper.memory_search import Services
from talekeeper.models import Cancel, Slot
from talekeeper.plugin_context import message_view
from talekeeper.plugin_types import TurnView
from talekeeper.plugins import Roster
from talekeeper.story import Address, Coordinate, Message, Session
from talekeeper.trace import Trace
from talekeeper.turn import limits
from talekeeper.turn.presets import Preset
from talekeeper.turn.voice import Voice
from talekeeper.turn.wording import Wording, wording


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn. `at` is where it reads and is answered from; `player` is None in one that continues by itself.

    Only a `dry` one, which asks no model, may have no slot.
    """

    services: Services
    session: Session
    roster: Roster
    at: Coordinate
    number: int
    player: Message | None
    preset: Preset
    voice: Voice
    slot: Slot | None
    trace: Trace | None
    cancel: Cancel | None = None
    dry: bool = False

    @property
    def address(self) -> Address:
        """The session's."""
        return self.session.address

    @property
    def words(self) -> Wording:
        """The kernel's own words, in the session's language."""
        return wording(self.session.locale)

    @property
    def context(self) -> int:
        """Tokens a prompt may have: the slot's context less the reply."""
        whole, reply = (self.slot.context, self.slot.reply) if self.slot else (limits.CONTEXT, limits.REPLY)
        return max(0, whole - (self.preset.reply or reply))

    @property
    def slot_name(self) -> str:
        """The slot's name."""
        return self.slot.name if self.slot else self.voice.slot or self.preset.slot

    @property
    def model_name(self) -> str:
        """What the slot calls its model; empty where the endpoint chooses."""
        return self.slot.model if self.slot else ""

    def view(self, history_from: int) -> TurnView:
        """The turn as plugins see it."""
        player = None if self.player is None else message_view(self.player)
        return TurnView(self.number, self.at, player, history_from, self.session.locale, self.dry)

    def check(self) -> None:
        """Raises `Cancelled` once somebody asked for the turn to end."""
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("the turn was cancelled", where=self.session.id)

    def tell(self, kind: str, body: object = None, **facts: object) -> None:
        """Reports an event of this turn."""
        if self.trace is not None:
            session = self.session
            self.trace.event(
                kind, workspace=session.workspace, session=session.id, turn=self.number, body=body, **facts
            )
