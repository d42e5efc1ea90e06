"""Turns that no job was noted for, since an import brought them, or whose jobs a long backlog has put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from talekeeper.db import Tx
from talekeeper.memory_search import Services
from talekeeper.story import PUT_ASIDE, Address, Coordinate, JobState
from talekeeper.turn.job_call import kinds


@dataclass(frozen=True, slots=True)
class Untold:
    """A job that a turn would have started: of which kind, on which messages."""

    plugin: str
    kind: str
    end: Coordinate
    start: int


def untold(services: Services, address: Address, only: str = "") -> list[Untold]:
    """Every such job on the head's lineage, turn by turn, for all kinds or for the one called `plugin/job`.

    A turn counts once it is answered; text before the first player message belongs to none.
    """
    services.host.ready(address)
    return services.story.read(lambda tx: _untold(services, address, only, tx))


def untold_turns(services: Services, address: Address) -> int:
    """How many turns on the head's lineage have a job that was not noted; loads and changes nothing."""
    found = services.story.read(lambda tx: _untold(services, address, "", tx))
    return len({each.end for each in found})


def _untold(services: Services, address: Address, only: str, tx: Tx) -> list[Untold]:
    session = services.story.session(address, tx=tx)
    wanted = [
        (plugin.id, kind)
        for plugin in services.host.roster(session=session, tx=tx).working
        for kind in kinds(plugin, "turn-committed")
        if only in {"", f"{plugin.id}/{kind}"}
    ]
    if not wanted:
        return []
    turns = list(_turns(services.story.outline(address, tx=tx)))
    noted = {each: _noted(services, address, *each, tx=tx) for each in wanted}
    return [
        Untold(*each, end, start)
        for start, end in turns
        for each in wanted
        if not noted[each].issuperset(range(start, end.depth + 1))
    ]


def _turns(outline: Sequence[tuple[int, str, Coordinate]]) -> Iterator[tuple[int, Coordinate]]:
    """First depth and end of every answered turn."""
    for turn, group in groupby(outline, key=itemgetter(0)):
        told = list(group)
        if turn > 0 and any(role == "narrator" for _, role, _ in told):
            yield told[0][2].depth, told[-1][2]


def _noted(services: Services, address: Address, plugin: str, kind: str, *, tx: Tx) -> set[int]:
    """Depths of the head's lineage that a job of the kind covers, or was noted for and not put aside."""
    jobs, reach = services.story.jobs, services.story.lineage(address, tx=tx)
    found = [
        (job.start, job.end)
        for job in jobs.all(address, tx=tx)
        if (job.plugin, job.kind) == (plugin, kind)
        and job.end <= reach.get(job.coordinate.branch, -2)
        and (job.state, job.reason) != (JobState.SKIPPED, PUT_ASIDE)
    ]
    found += jobs.covered(address, plugin, kind, tx=tx)
    return {depth for start, end in found for depth in range(start, end + 1)}
