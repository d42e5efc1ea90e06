"""Writes a told turn down: all of it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from talekeeper.db import Lease, Tx
from talekeeper.errors import NotFound
from talekeeper.models import Usage
from talekeeper.plugin_context import Pending
from talekeeper.story import Address, Coordinate, Draft, Job, Message, ModelUse, Session, Story
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.turn_context import SegmentReport, ToolOutcome, TurnContext, TurnResult

Enqueue = Callable[[Tx, Session, Message, Sequence[Message]], tuple[Job, ...]]


@dataclass(frozen=True, slots=True)
class NarratedTurn:
    """A narration with everything that belongs to it; `before` are messages of the turn that came before the player's.

    With `anew` it is another take of the newest turn, and the head goes to it if it still stands where it stood.
    """

    scene: TurnContext
    prompt: Prompt
    text: str
    pending: Pending
    usage: Usage | None
    used: Sequence[ModelUse]
    calls: Sequence[ToolOutcome]
    before: Sequence[Message] = ()
    anew: bool = False


def commit(narrated: NarratedTurn, lease: Lease, enqueue: Enqueue) -> TurnResult:
    """The narration under its player message, wherever the head is now, and what came of the turn."""
    scene = narrated.scene
    result = scene.services.story.write(lambda tx: _commit(narrated, lease, enqueue, tx), name="commit a turn")
    scene.tell(
        "turn.committed",
        message=result.narration.id,
        calls=len(result.calls),
        jobs=len(result.jobs),
        uses=len(narrated.prompt.uses),
    )
    return result


def written(story: Story, address: Address, draft: Draft, lease: Lease, enqueue: Enqueue, tx: Tx) -> TurnResult:
    """A narration that a person wrote, where a model's would stand."""
    lease.check(tx)
    accepted = accept(story, address, None, tx=tx)
    player = accepted.player
    asked = (*accepted.before, *([player] if player else []))
    draft = replace(draft, kind="narration" if player else "continue", turn=accepted.number)
    (narration,) = story.answer(address, accepted.at, [draft], tx=tx)
    return TurnResult((*asked, narration), jobs=enqueue(tx, accepted.session, narration, asked))


def _commit(narrated: NarratedTurn, lease: Lease, enqueue: Enqueue, tx: Tx) -> TurnResult:
    scene, story = narrated.scene, narrated.scene.services.story
    lease.check(tx)
    narration = _answer(narrated, tx)
    at = narration.coordinate
    faults = narrated.pending.commit(tx, at)
    story.turn_log.show(scene.address, at, scene.number, narrated.prompt.uses, tx)
    decided = [(one.plugin, one.segment, one.document) for one in _with(narrated.prompt.decided, faults)]
    decisions = story.turn_log.decide(scene.address, at, scene.number, decided, tx)
    story.turn_log.spend(scene.address, narrated.used, tx=tx)
    asked = (*narrated.before, *([scene.player] if scene.player else []))
    jobs = enqueue(tx, scene.session, narration, asked)
    return TurnResult((*asked, narration), narrated.usage, tuple(narrated.calls), tuple(decisions), jobs)


def _answer(narrated: NarratedTurn, tx: Tx) -> Message:
    scene, story = narrated.scene, narrated.scene.services.story
    if narrated.anew and story.session(scene.address, tx=tx).head == scene.session.head:
        story.go(scene.address, scene.at, tx=tx)
    kind = "narration" if scene.player else "continue"
    draft = Draft("narrator", narrated.text, speaker=scene.voice.name, kind=kind, turn=scene.number, origin="generated")
    (narration,) = story.answer(scene.address, scene.at, [draft], tx=tx)
    return narration


def _with(decided: Sequence[SegmentReport], faults: Sequence[str]) -> list[SegmentReport]:
    """The kernel's own decision also says which batches were left out."""
    if not faults:
        return list(decided)
    own = decided[0]
    return [SegmentReport(own.plugin, own.segment, {**own.document, "faults": list(faults)}), *decided[1:]]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A turn to be told. `at` is what it is answered under; `session` is as it stood after the message was appended.

    `before` are messages the player sent in this turn before `player`, unanswered.
    """

    session: Session
    at: Coordinate
    number: int
    player: Message | None
    before: tuple[Message, ...] = ()
    resumed: bool = False
    anew: bool = False


def accept(story: Story, address: Address, draft: Draft | None, *, tx: Tx | None = None) -> Accepted:
    """Appends the message, unless it waits at the head already; a message beside one that waits joins its turn."""
    if tx is not None:
        return _accept(story, address, draft, tx)
    return story.write(lambda tx: _accept(story, address, draft, tx), name="accept a message")


def anew(story: Story, address: Address) -> Accepted:
    """The newest turn once more; raises `NotFound` when there is none."""
    return story.read(lambda tx: _anew(story, address, tx))


def asked(story: Story, address: Address, text: str) -> Accepted:
    """A turn that nobody has sent: what the player's message would be, at the head."""
    session = story.session(address)
    newest = story.newest_turn(address)
    number = newest[-1].turn + (0 if _waiting(newest) else 1) if newest else 1
    unsent = Message(
        id="",
        coordinate=session.head,
        seq=session.messages,
        ref=None,
        turn=number,
        role="player",
        kind="",
        speaker="",
        text=text,
        time=None,
        origin="typed",
        caption="",
        extra="",
        created="",
        revision=0,
        hidden=False,
        deleted=False,
    )
    return Accepted(session, session.head, number, unsent)


def _accept(story: Story, address: Address, draft: Draft | None, tx: Tx) -> Accepted:
    waiting = _waiting(story.newest_turn(address, tx=tx))
    if draft is None or (waiting and waiting[-1].text == draft.text):
        return _go_on(story, address, waiting, tx)
    if waiting:
        draft = Draft(
            draft.role, draft.text, speaker=draft.speaker, kind=draft.kind, turn=waiting[-1].turn, origin=draft.origin
        )
    (message,) = story.append(address, [draft], tx=tx)
    session = story.session(address, tx=tx)
    return Accepted(session, message.coordinate, message.turn, message, tuple(waiting))


def _go_on(story: Story, address: Address, waiting: list[Message], tx: Tx) -> Accepted:
    session = story.session(address, tx=tx)
    if waiting:
        player = waiting[-1]
        return Accepted(session, player.coordinate, player.turn, player, tuple(waiting[:-1]), resumed=True)
    newest = story.newest_turn(address, tx=tx)
    number = newest[-1].turn + 1 if newest else 0
    return Accepted(session, session.head, number, None)


def _anew(story: Story, address: Address, tx: Tx) -> Accepted:
    newest = story.newest_turn(address, tx=tx)
    if not newest:
        raise NotFound("there is no turn to retry", where=address.session)
    session = story.session(address, tx=tx)
    places = [place for place, message in enumerate(newest) if message.role == "player"]
    if not places:
        first = newest[0].coordinate
        return Accepted(session, Coordinate(first.branch, first.depth - 1), newest[0].turn, None, anew=True)
    player = newest[places[-1]]
    before = tuple(message for message in newest[: places[-1]] if message.role == "player")
    return Accepted(session, player.coordinate, player.turn, player, before, anew=True)


def _waiting(newest: list[Message]) -> list[Message]:
    """The player's messages at the end of the newest turn, which nobody has answered."""
    start = len(newest)
    while start and newest[start - 1].role == "player":
        start -= 1
    return newest[start:]
