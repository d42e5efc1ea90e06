"""The two writes of a turn: the player's message at its beginning, the narration and what goes with it at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from talekeeper.db import Lease, Tx
from talekeeper.errors import NotFound
from talekeeper.story import Address, Coordinate, Draft, Job, Message, Session, Story
from talekeeper.turn.tool_loop import ToolLoop
from talekeeper.turn.turn_context import Accepted, SegmentReport, TurnContext, TurnResult

Enqueue = Callable[[Tx, Session, Message, Sequence[Message]], tuple[Job, ...]]


def accept(story: Story, address: Address, draft: Draft) -> Accepted:
    """Appends the message, unless it waits at the head already; a message beside one that waits joins its turn."""

    def write(tx: Tx) -> Accepted:
        waiting = _waiting(story.tree.newest_turn(address, tx=tx))
        if waiting and waiting[-1].text == draft.text:
            return resume(story, address, tx)
        joined = replace(draft, turn=waiting[-1].turn) if waiting else draft
        (message,) = story.messages.append(address, [joined], tx=tx)
        session = story.sessions.get(address, tx=tx)
        return Accepted(session, message.coordinate, message.turn, message, tuple(waiting))

    return story.write(write, name="accept a message")


def resume(story: Story, address: Address, tx: Tx) -> Accepted:
    """The turn of the messages that wait at the head; where none does, one that continues by itself."""
    session = story.sessions.get(address, tx=tx)
    newest = story.tree.newest_turn(address, tx=tx)
    if waiting := _waiting(newest):
        player = waiting[-1]
        return Accepted(session, player.coordinate, player.turn, player, tuple(waiting[:-1]), resumed=True)
    return Accepted(session, session.head, newest[-1].turn + 1 if newest else 0, None)


def retry(story: Story, address: Address, tx: Tx) -> Accepted:
    """The newest turn once more; raises `NotFound` when there is none."""
    newest = story.tree.newest_turn(address, tx=tx)
    if not newest:
        raise NotFound("there is no turn to retry", where=address.session)
    session = story.sessions.get(address, tx=tx)
    asked = [message for message in newest if message.role == "player"]
    if not asked:
        first = newest[0].coordinate
        return Accepted(session, Coordinate(first.branch, first.depth - 1), newest[0].turn, None, retry=True)
    player = asked[-1]
    return Accepted(session, player.coordinate, player.turn, player, tuple(asked[:-1]), retry=True)


def unsent(story: Story, address: Address, text: str) -> Accepted:
    """A turn at the head with a player's message that has not been sent."""
    session = story.sessions.get(address)
    newest = story.tree.newest_turn(address)
    number = newest[-1].turn + (0 if _waiting(newest) else 1) if newest else 1
    message = Message(
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
    return Accepted(session, session.head, number, message)


def commit(loop: ToolLoop, text: str, lease: Lease, enqueue: Enqueue) -> TurnResult:
    """Writes the narration under its player message, wherever the head is now, with uses, decisions, usage and jobs."""
    turn, toolbox, story = loop.turn, loop.toolbox, loop.turn.services.story

    def write(tx: Tx) -> TurnResult:
        lease.check(tx)
        narration = _answer(turn, text, tx)
        at = narration.coordinate
        faults = toolbox.pending.commit(tx, at)
        story.turn_log.show(turn.address, at, turn.number, toolbox.prompt.uses, tx)
        decided = [(one.plugin, one.segment, one.document) for one in _with_faults(toolbox.prompt.decided, faults)]
        decisions = story.turn_log.decide(turn.address, at, turn.number, decided, tx)
        story.turn_log.spend(turn.address, loop.used, tx=tx)
        jobs = enqueue(tx, turn.session, narration, turn.asked)
        return TurnResult((*turn.asked, narration), loop.usage, tuple(toolbox.done), tuple(decisions), jobs)

    result = story.write(write, name="commit a turn")
    message, uses = result.narration.id, len(toolbox.prompt.uses)
    turn.report("turn.committed", message=message, calls=len(result.calls), jobs=len(result.jobs), uses=uses)
    return result


def commit_by_hand(story: Story, address: Address, draft: Draft, lease: Lease, enqueue: Enqueue) -> TurnResult:
    """Writes a narration in a person's words, where a model's would stand."""

    def write(tx: Tx) -> TurnResult:
        lease.check(tx)
        accepted = resume(story, address, tx)
        player = accepted.player
        asked = (*accepted.before, *([player] if player else []))
        answer = replace(draft, kind="narration" if player else "continue", turn=accepted.number)
        (narration,) = story.messages.answer(address, accepted.at, [answer], tx=tx)
        return TurnResult((*asked, narration), jobs=enqueue(tx, accepted.session, narration, asked))

    return story.write(write, name="write a narration")


def _answer(turn: TurnContext, text: str, tx: Tx) -> Message:
    """Appends the narration; in a retry the head goes to it, if it still is where it was."""
    story = turn.services.story
    if turn.retry and story.sessions.get(turn.address, tx=tx).head == turn.session.head:
        story.tree.go(turn.address, turn.at, tx=tx)
    kind = "narration" if turn.player else "continue"
    draft = Draft("narrator", text, speaker=turn.narration.name, kind=kind, turn=turn.number, origin="generated")
    (narration,) = story.messages.answer(turn.address, turn.at, [draft], tx=tx)
    return narration


def _with_faults(decided: Sequence[SegmentReport], faults: Sequence[str]) -> list[SegmentReport]:
    """The kernel's own decision also says which batches were left out."""
    if not faults:
        return list(decided)
    own = decided[0]
    return [replace(own, document={**own.document, "faults": list(faults)}), *decided[1:]]


def _waiting(newest: list[Message]) -> list[Message]:
    """The unanswered messages of the player at the end of the newest turn."""
    start = len(newest)
    while start and newest[start - 1].role == "player":
        start -= 1
    return newest[start:]
