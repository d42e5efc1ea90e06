"""The backlog of a story: answered turns that lack jobs, since an import brought them or the jobs were put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from talekeeper.db import Tx
from talekeeper.story import PUT_ASIDE, Address, Coordinate, JobState, Story

if TYPE_CHECKING:  # `talekeeper status` counts the backlog, and runs no plugin
    from talekeeper.plugins import Host, Plugin


@dataclass(frozen=True, slots=True)
class MissingJob:
    """A job that a turn would have started, on the messages from depth `start` to `end`."""

    plugin: str
    kind: str
    end: Coordinate
    start: int


def backlog(story: Story, host: Host, address: Address, only: str = "") -> list[MissingJob]:
    """Every missing job on the head's lineage, turn by turn, for all kinds or for the one called `plugin/job`.

    A turn counts once it is answered; text before the first player message belongs to none.
    """
    host.ready(address)
    return story.read(lambda tx: _backlog(story, host, address, only, tx))


def count_backlog(story: Story, host: Host, address: Address) -> int:
    """How many turns on the head's lineage miss a job; loads no plugin and changes nothing."""
    found = story.read(lambda tx: _backlog(story, host, address, "", tx))
    return len({each.end for each in found})


def kinds(plugin: Plugin, *on: str) -> list[str]:
    """The jobs that a plugin declares, those started by one of `on` if given, in the order of its manifest."""
    return [str(entry["id"]) for entry in plugin.declared.contributes.get("jobs", ()) if not on or entry["on"] in on]


def _backlog(story: Story, host: Host, address: Address, only: str, tx: Tx) -> list[MissingJob]:
    session = story.sessions.get(address, tx=tx)
    wanted = [
        (plugin.id, kind)
        for plugin in host.roster(session=session, tx=tx).working
        for kind in kinds(plugin, "turn-committed")
        if only in {"", f"{plugin.id}/{kind}"}
    ]
    if not wanted:
        return []
    turns = list(_answered_turns(story.messages.outline(address, tx=tx)))
    noted = {each: _noted_depths(story, address, *each, tx=tx) for each in wanted}
    return [
        MissingJob(*each, end, start)
        for start, end in turns
        for each in wanted
        if not noted[each].issuperset(range(start, end.depth + 1))
    ]


def _answered_turns(outline: Sequence[tuple[int, str, Coordinate]]) -> Iterator[tuple[int, Coordinate]]:
    """First depth and end of every answered turn."""
    for turn, group in groupby(outline, key=itemgetter(0)):
        messages = list(group)
        if turn > 0 and any(role == "narrator" for _, role, _ in messages):
            yield messages[0][2].depth, messages[-1][2]


def _noted_depths(story: Story, address: Address, plugin: str, kind: str, *, tx: Tx) -> set[int]:
    """Depths of the head's lineage that a job of the kind covers, or was noted for and not put aside."""
    jobs, reach = story.jobs, story.tree.lineage(address, tx=tx)
    found = [
        (job.start, job.end)
        for job in jobs.all(address, tx=tx)
        if (job.plugin, job.kind) == (plugin, kind)
        and job.end <= reach.get(job.coordinate.branch, -2)
        and (job.state, job.reason) != (JobState.SKIPPED, PUT_ASIDE)
    ]
    found += story.coverage.covered(address, plugin, kind, tx=tx)
    return {depth for start, end in found for depth in range(start, end + 1)}
