"""How the recalls of a turn were decided, for people to read."""

from __future__ import annotations

from talekeeper.errors import NotFound
from talekeeper.story import Address, Coordinate, Decision, Story


def decisions(story: Story, address: Address, turn: int, *, decision: str = "", every: bool = False) -> list[Decision]:
    """The decision records of a turn as told on the head's lineage, or with `every` on all branches.

    `decision` picks the one with this id. Raises `NotFound` for a turn without any.
    """

    def on_lineage(place: Coordinate) -> bool:
        return story.on_lineage(address, place)

    found = [one for one in story.turn_log.decisions(address, turn) if every or on_lineage(one.coordinate)]
    if decision:
        found = [one for one in found if one.id == decision]
    if not found:
        what = f"decision {decision!r} of turn {turn}" if decision else f"record of a prompt of turn {turn}"
        raise NotFound(f"there is no {what}", where=address.session, cure="name a turn that a model has narrated")
    return sorted(found, key=_place)


def _place(decision: Decision) -> tuple[str, int, str, str]:
    """The takes in the order they were told, in each the kernel's own decision first."""
    return decision.created, decision.coordinate.branch, decision.plugin, decision.segment
