"""Writes a told turn down: all of it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from talekeeper.context.pending import Pending
from talekeeper.db import Lease, Tx
from talekeeper.models import Usage
from talekeeper.story import Address, Draft, Job, Message, ModelUse, Session, Story
from talekeeper.turn.accepting import accept
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.results import Decided, ToolDone, TurnResult
from talekeeper.turn.scene import Scene

Enqueue = Callable[[Tx, Session, Message, Sequence[Message]], tuple[Job, ...]]


@dataclass(frozen=True, slots=True)
class Told:
    """A narration with everything that belongs to it; `before` are messages of the turn that came before the player's.

    With `anew` it is another take of the newest turn, and the head goes to it if it still stands where it stood.
    """

    scene: Scene
    prompt: Prompt
    text: str
    pending: Pending
    usage: Usage | None
    used: Sequence[ModelUse]
    calls: Sequence[ToolDone]
    before: Sequence[Message] = ()
    anew: bool = False


def commit(told: Told, lease: Lease, enqueue: Enqueue) -> TurnResult:
    """The narration under its player message, wherever the head is now, and what came of the turn."""
    scene = told.scene
    result = scene.services.story.write(lambda tx: _commit(told, lease, enqueue, tx), name="commit a turn")
    scene.tell(
        "turn.committed",
        message=result.narration.id,
        calls=len(result.calls),
        jobs=len(result.jobs),
        uses=len(told.prompt.uses),
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


def _commit(told: Told, lease: Lease, enqueue: Enqueue, tx: Tx) -> TurnResult:
    scene, story = told.scene, told.scene.services.story
    lease.check(tx)
    narration = _answer(told, tx)
    at = narration.coordinate
    faults = told.pending.commit(tx, at)
    story.told.show(scene.address, at, scene.number, told.prompt.uses, tx)
    decided = [(one.plugin, one.segment, one.document) for one in _with(told.prompt.decided, faults)]
    decisions = story.told.decide(scene.address, at, scene.number, decided, tx)
    story.told.spend(scene.address, told.used, tx=tx)
    asked = (*told.before, *([scene.player] if scene.player else []))
    jobs = enqueue(tx, scene.session, narration, asked)
    return TurnResult((*asked, narration), told.usage, tuple(told.calls), tuple(decisions), jobs)


def _answer(told: Told, tx: Tx) -> Message:
    scene, story = told.scene, told.scene.services.story
    if told.anew and story.session(scene.address, tx=tx).head == scene.session.head:
        story.go(scene.address, scene.at, tx=tx)
    kind = "narration" if scene.player else "continue"
    draft = Draft("narrator", told.text, kind=kind, turn=scene.number, origin="generated")
    (narration,) = story.answer(scene.address, scene.at, [draft], tx=tx)
    return narration


def _with(decided: Sequence[Decided], faults: Sequence[str]) -> list[Decided]:
    """The kernel's own decision also says which batches were left out."""
    if not faults:
        return list(decided)
    own = decided[0]
    return [Decided(own.plugin, own.segment, {**own.document, "faults": list(faults)}), *decided[1:]]
