"""The job a function is called for, as it sees it; see `protocols.JobView`."""

from __future__ import annotations

from talekeeper.plugin_context.bound import Bound, InJob
from talekeeper.plugin_context.reading import message_view
from talekeeper.plugin_types import MessageView
from talekeeper.story import Coordinate


class CallJob:
    """Reads the story as it stands at the job's own end; hidden messages are left out."""

    def __init__(self, bound: Bound, seat: InJob) -> None:
        self._bound = bound
        self._seat = seat
        self._job = seat.job

    @property
    def kind(self) -> str:
        """The id in the manifest."""
        return self._job.kind

    @property
    def turn(self) -> int:
        """The turn that caused it."""
        return self._seat.turn

    @property
    def coordinate(self) -> Coordinate:
        """The last message of its range."""
        return self._job.coordinate

    @property
    def range(self) -> tuple[int, int]:
        """The depths of its messages, first and last."""
        return self._job.start, self._job.end

    @property
    def attempt(self) -> int:
        """Counted from 1."""
        return self._job.attempts

    @property
    def reason(self) -> str:
        """Why it runs again."""
        return self._job.reason

    @property
    def superseded(self) -> bool:
        """Whether a later job of its kind has succeeded."""
        self._bound.life.check()
        return self._bound.services.story.jobs.superseded(self._bound.session.address, self._job)

    def messages(self) -> tuple[MessageView, ...]:
        """The story messages of its range."""
        self._bound.life.check()
        start, end = self.range
        found = self._bound.services.story.story_messages(
            self._bound.session.address, start, end, at=self.coordinate, hidden=False
        )
        return tuple(map(message_view, found))

    def uncovered(self, limit: int = 100) -> tuple[MessageView, ...]:
        """The first stretch no succeeded job of its kind covers."""
        return self._left(limit, own=False)

    def unsettled(self, limit: int = 100) -> tuple[MessageView, ...]:
        """The first stretch no succeeded job of this lineage covers."""
        return self._left(limit, own=True)

    def _left(self, limit: int, *, own: bool) -> tuple[MessageView, ...]:
        self._bound.life.check()
        job, address = self._job, self._bound.session.address
        found = self._bound.services.story.jobs.uncovered(
            address, job.plugin, job.kind, at=job.coordinate, limit=limit, hidden=False, own=own
        )
        return tuple(map(message_view, found))
