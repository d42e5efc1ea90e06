"""The backlog of a story: answered turns that lack jobs, since an import brought them or the jobs were put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from talekeeper.db import Tx
from talekeeper.plugins import Plugin
from talekeeper.services import Services
from talekeeper.story import PUT_ASIDE, Address, Coordinate, JobState


@dataclass(frozen=True, slots=True)
class MissingJob:
    """A job that a turn would have started, on the messages from depth `start` to `end`."""

    plugin: str
    kind: str
    end: Coordinate
    start: int


def backlog(services: Services, address: Address, only: str = "") -> list[MissingJob]:
    """Every missing job on the head's lineage, turn by turn, for all kinds or for the one called `plugin/job`.

    A turn counts once it is answered; text before the first player message belongs to none.
    """
    services.host.ready(address)
    return services.story.read(lambda tx: _backlog(services, address, only, tx))


def count_backlog(services: Services, address: Address) -> int:
    """How many turns on the head's lineage miss a job; loads no plugin and changes nothing."""
    found = services.story.read(lambda tx: _backlog(services, address, "", tx))
    return len({each.end for each in found})


def kinds(plugin: Plugin, *on: str) -> list[str]:
    """The jobs that a plugin declares, those started by one of `on` if given, in the order of its manifest."""
    return [str(entry["id"]) for entry in plugin.declared.contributes.get("jobs", ()) if not on or entry["on"] in on]


def _backlog(services: Services, address: Address, only: str, tx: Tx) -> list[MissingJob]:
    session = services.story.sessions.get(address, tx=tx)
    wanted = [
        (plugin.id, kind)
        for plugin in services.host.roster(session=session, tx=tx).working
        for kind in kinds(plugin, "turn-committed")
        if only in {"", f"{plugin.id}/{kind}"}
    ]
    if not wanted:
        return []
    turns = list(_answered_turns(services.story.messages.outline(address, tx=tx)))
    noted = {each: _noted_depths(services, address, *each, tx=tx) for each in wanted}
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


def _noted_depths(services: Services, address: Address, plugin: str, kind: str, *, tx: Tx) -> set[int]:
    """Depths of the head's lineage that a job of the kind covers, or was noted for and not put aside."""
    jobs, reach = services.story.jobs, services.story.tree.lineage(address, tx=tx)
    found = [
        (job.start, job.end)
        for job in jobs.all(address, tx=tx)
        if (job.plugin, job.kind) == (plugin, kind)
        and job.end <= reach.get(job.coordinate.branch, -2)
        and (job.state, job.reason) != (JobState.SKIPPED, PUT_ASIDE)
    ]
    found += services.story.coverage.covered(address, plugin, kind, tx=tx)
    return {depth for start, end in found for depth in range(start, end + 1)}
