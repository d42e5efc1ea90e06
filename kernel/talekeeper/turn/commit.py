"""Writes a told turn down: all of it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from talekeeper.db import Lease, Tx
from talekeeper.models import Usage
from talekeeper.plugin_context import Pending
from talekeeper.story import Address, Draft, Job, Message, ModelUse, Session, Story
from talekeeper.turn.accepting import accept
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.results import Decided, ToolDone, TurnResult
from talekeeper.turn.turn_context import Scene

Enqueue = Callable[[Tx, Session, Message, Sequence[Message]], tuple[Job, ...]]


@dataclass(frozen=True, slots=True)
class NarratedTurn:
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


def _with(decided: Sequence[Decided], faults: Sequence[str]) -> list[Decided]:
    """The kernel's own decision also says which batches were left out."""
    if not faults:
        return list(decided)
    own = decided[0]
    return [Decided(own.plugin, own.segment, {**own.document, "faults": list(faults)}), *decided[1:]]
