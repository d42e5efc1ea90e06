"""The turn from the player's message to the committed narration.

Accept → prepare → narrate → commit. Until the commit nothing is written but the player's message, and no write
transaction is open while a model or a plugin's code is at work.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from functools import partial

from talekeeper.db import Lease, Leases
from talekeeper.errors import Busy, Cancelled, NoModel, ParameterError, StoreError, TalekeeperError
from talekeeper.models import Cancel, ChatModel, ModelSource, Slot
from talekeeper.plugin_context import Pending
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Session
from talekeeper.text import estimate_tokens
from talekeeper.turn.commit import Enqueue, accept, commit, commit_by_hand, resume, retry, unsent
from talekeeper.turn.jobs import JobRunner
from talekeeper.turn.presets import Preset, narration_settings
from talekeeper.turn.prompt import Prompt, assemble
from talekeeper.turn.tool_loop import OnText, ToolLoop, describe_actions
from talekeeper.turn.tools import Approve, Toolbox, offers
from talekeeper.turn.turn_context import Accepted, DryRun, TurnContext, TurnResult

PresetOf = Callable[[Session], Preset]

_WAIT = 2.0
"""Seconds to wait for another turn of the session: enough where one ends as the next begins, not for a whole one."""

_SHRINK = 0.4
"""What is left of the budget once the endpoint has said that the prompt was too long. Scripts such as Cyrillic and Thai
take up to twice what is estimated, and local servers are often started with half the context a slot says."""


class Narrator:
    """Runs the turns of any session of one home; threads may share it."""

    def __init__(
        self,
        services: Services,
        models: ModelSource,
        leases: Leases,
        *,
        presets: PresetOf = lambda _: Preset(),
        enqueue: Enqueue | None = None,
        wait: float = _WAIT,
    ) -> None:
        self._services = services
        self._models = models
        self._leases = leases
        self._wait = wait
        self._presets = presets
        self._enqueue = enqueue or JobRunner(services, models, leases).enqueue
        self._clients: dict[str, tuple[Slot | None, ChatModel]] = {}
        self._without_tools: list[Slot] = []

    def turn(
        self,
        address: Address,
        text: str | None,
        *,
        kind: str = "",
        speaker: str = "",
        origin: str = "",
        on_text: OnText | None = None,
        cancel: Cancel | None = None,
        approve: Approve | None = None,
    ) -> TurnResult:
        """Appends the player's message and has it answered; without a text the story goes on by itself.

        A player's message that still waits at the head is answered: the same text, or none, resumes its turn, and
        another text is added to it. Without a `speaker` it has the session's name for the player. `origin` is `typed`
        or `pasted` when the face knows. `approve` decides whether a tool may act outside the story in a turn that holds
        text from elsewhere; without it such calls are refused. Raises `ModelError`, `Cancelled`, `InputError`, and
        `Busy` while another turn of the session runs; the player's message stays then, and can be sent again.
        """
        if text is not None and not text.strip():
            raise ParameterError("text", "it is empty", cure="write something, or let the story continue by itself")
        story = self._services.story
        with self._alone(address) as lease:
            if text is None:
                accepted = story.read(partial(resume, story, address))
            else:
                name = speaker or narration_settings(story.sessions.get(address)).player
                accepted = accept(story, address, Draft("player", text, speaker=name, kind=kind, origin=origin))
            return self._narrate(accepted, lease, on_text, cancel, approve)

    def retry(
        self,
        address: Address,
        *,
        on_text: OnText | None = None,
        cancel: Cancel | None = None,
        approve: Approve | None = None,
    ) -> TurnResult:
        """Has the newest turn answered once more, as another take; one that fails changes nothing.

        Raises as `turn` does, and `NotFound` when there is no turn.
        """
        story = self._services.story
        with self._alone(address) as lease:
            return self._narrate(story.read(partial(retry, story, address)), lease, on_text, cancel, approve)

    def by_hand(self, address: Address, text: str, *, speaker: str = "") -> TurnResult:
        """Commits a narration in a person's own words: it answers what waits at the head, else continues the story.

        Its jobs follow as after any turn. Without a `speaker` it has the session's name for the narrator.
        """
        name = speaker or narration_settings(self._services.story.sessions.get(address)).name
        draft = Draft("narrator", text, speaker=name, origin="typed")
        if not text.strip():
            raise ParameterError("text", "it is empty", cure="write what the narrator says")
        self._services.host.ready(address)
        with self._alone(address) as lease:
            return commit_by_hand(self._services.story, address, draft, lease, self._enqueue)

    def recall(self, address: Address, text: str) -> DryRun:
        """What a turn with this text would show its narrator: the same code, and nothing is written or counted."""
        if not text.strip():
            raise ParameterError("text", "it is empty", cure="write what the player might say")
        turn = self._turn_context(unsent(self._services.story, address, text), None, dry=True)
        prompt = assemble(turn, Pending(self._services.story, turn.at), beside=_beside(turn))
        return DryRun(turn.number, prompt.history_from, prompt.decided)

    @contextmanager
    def _alone(self, address: Address) -> Generator[Lease]:
        """One turn of a session at a time, in whatever process."""
        self._services.story.sessions.get(address)
        name = f"turn:{address.session}"
        with ExitStack() as held:
            try:
                lease = held.enter_context(self._leases.hold(address.workspace, name, wait=self._wait))
            except Busy as busy:
                who = busy.data.get("holder") or "somebody else"
                raise Busy(
                    f"another turn is running in this session, by {who}",
                    where=address.session,
                    cure="wait until it has finished, then send again",
                    holder=who,
                ) from busy
            yield lease

    def _narrate(
        self,
        accepted: Accepted,
        lease: Lease,
        on_text: OnText | None,
        cancel: Cancel | None,
        approve: Approve | None,
    ) -> TurnResult:
        turn = self._turn_context(accepted, cancel)
        turn.report("turn.accepted", resumed=turn.resumed, anew=turn.retry)
        try:
            loop = self._loop(turn, on_text, approve)
            text = loop.narrate()
            if loop.by_schema and turn.slot and turn.slot.tools and turn.slot not in self._without_tools:
                self._without_tools.append(turn.slot)
            turn.check()
            result = commit(loop, text, lease, self._enqueue)
        except Cancelled:
            turn.report("turn.cancelled")
            raise
        except TalekeeperError as fault:
            turn.report("turn.failed", error=type(fault).__name__, reason=str(fault))
            raise
        try:
            # The index is brought in order between turns; this one is committed whatever becomes of that.
            self._services.story.index.maintain(turn.address)
        except StoreError as fault:
            turn.report("turn.untidy", reason=str(fault))
        return result

    def _loop(self, turn: TurnContext, on_text: OnText | None, approve: Approve | None) -> ToolLoop:
        pending = Pending(self._services.story, turn.at)
        beside = _beside(turn)
        prompt = assemble(turn, pending, beside=beside)
        toolbox = Toolbox(turn, prompt, offers(turn), pending, approve)

        def shrink() -> Prompt:
            pending.drop_segments()
            return assemble(turn, pending, beside=beside, share=_SHRINK)

        tools = turn.slot is not None and turn.slot.tools and turn.slot not in self._without_tools
        return ToolLoop(turn, self._client(turn.slot_name), toolbox, shrink, on_text, by_schema=not tools)

    def _client(self, name: str) -> ChatModel:
        """Kept from turn to turn: where the slot names no model, its client asks the endpoint for one, once."""
        slot, (known, client) = self._models.slot(name), self._clients.get(name, (None, None))
        if client is None or known != slot:
            client = self._models.client(name, clock=self._services.clock)
            self._clients[name] = (slot, client)
        return client

    def _turn_context(self, accepted: Accepted, cancel: Cancel | None, *, dry: bool = False) -> TurnContext:
        self._services.host.ready(accepted.session.address)
        session, preset = accepted.session, self._presets(accepted.session)
        narration = narration_settings(session)
        name = narration.slot or preset.slot
        slot = self._models.slot(name)
        if slot is None and not dry:
            what, _, cure = self._models.missing(name).partition("; ")
            raise NoModel(what, cure=cure, slot=name)
        return TurnContext(
            **{one.name: getattr(accepted, one.name) for one in fields(accepted)},
            services=self._services,
            roster=self._services.host.roster(session=session),
            preset=preset,
            narration=narration,
            slot=slot,
            cancel=cancel,
            dry=dry,
        )


def _beside(turn: TurnContext) -> int:
    """Tokens of the tools' descriptions, which go beside the prompt in one way or the other."""
    return estimate_tokens(describe_actions(turn, offers(turn)))
