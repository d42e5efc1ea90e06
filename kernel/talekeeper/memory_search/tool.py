"""The tool memory-search: a session's messages and its plugins' declared data, ranked together.

Arguments → `Question`; the plugins that work in the session, and who asks, give the sources; story gives the lineage;
search ranks; the answer is read in the same snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from talekeeper.db import Tx
from talekeeper.embedding import EmbeddedQuestion
from talekeeper.memory_search.answer import SearchRequest, answer
from talekeeper.memory_search.arguments import PARAMETERS, Question, read_question
from talekeeper.memory_search.sources import Sources, part_scopes, resolve
from talekeeper.memory_search.services import Services
from talekeeper.plugin_types import Answer, freeze
from talekeeper.search import Meaning, Query
from talekeeper.story import Address, Coordinate
from talekeeper.trace import Trace

T = TypeVar("T")

TOOL: Mapping[str, Any] = freeze(
    {
        "name": "memory-search",
        "description": (
            "Search what this story has said so far and the facts, lore and notes kept about it. Words are matched, and"
            " meaning only where an embedding model is set up: give the names of people, places and things, and put"
            " other ways of saying it into wordings. You get the best passages, the turn each belongs to, and where it"
            " comes from; nothing when no passage fits."
        ),
        "parameters": PARAMETERS,
    }
)


class Place(TypedDict):
    """Where an event belongs."""

    workspace: str
    session: str
    turn: int | None


def run(
    services: Services,
    address: Address,
    arguments: Mapping[str, Any],
    *,
    running_turn: int | None = None,
    shown: Collection[str] = (),
    explain: bool = False,
) -> dict[str, Any]:
    """One call of the tool, as JSON. Raises `ParameterError` naming the field, and `NotFound` for the session.

    Messages of `running_turn` and later are never results; `shown` are ids of messages the prompt has already;
    `explain` adds `why` to every result: how each term made its part of the score.
    """
    asked = read_question(arguments)
    return ask(services, address, asked, running_turn=running_turn, shown=shown, explain=explain).as_json()


def ask(
    services: Services,
    address: Address,
    asked: Question,
    *,
    at: Coordinate | None = None,
    running_turn: int | None = None,
    shown: Collection[str] = (),
    explain: bool = False,
) -> Answer:
    """The same for a checked question, whose `limit` may pass the tool's; `at` is the head when left out."""
    services.host.ready(address)

    def read(tx: Tx, meant: EmbeddedQuestion | None) -> tuple[Answer, Sources]:
        session = services.story.session(address, tx=tx)
        roster = services.host.roster(session=session, tx=tx)
        sources = resolve(tx, session, roster, asked.scope, asked.sources)
        query = Query(
            texts=asked.texts,
            parts=part_scopes(services, tx, address, sources.scopes(session), at),
            sources=sources.for_query(),
            turn_from=asked.turn_from,
            turn_to=asked.turn_to,
            before_turn=running_turn,
            depth=asked.limit,
            explain=explain,
            meaning=meaning(services, tx, meant),
        )
        request = SearchRequest(services, tx, session, at, asked, sources, shown, meant, explain)
        return answer(request, services.index.search(tx, query)), sources

    started = time.monotonic()
    found, sources = by_meaning(services, asked.texts, lambda meant: services.story.read(lambda tx: read(tx, meant)))
    _report(services.trace, address, running_turn, found, sources, time.monotonic() - started)
    return found


def by_meaning(services: Services, texts: Sequence[str], read: Callable[[EmbeddedQuestion | None], T]) -> T:
    """What `read` gives with what the texts mean, as far as there is something that embeds."""
    return read(None) if services.semantics is None else services.semantics.answered(texts, read)


def meaning(services: Services, tx: Tx, meant: EmbeddedQuestion | None) -> Meaning | None:
    """What the index is asked by; None where nothing was embedded yet, or the question could not be."""
    space = services.index.space(tx, meant.fingerprint) if meant is not None and meant.vectors else None
    if space is None or meant is None:
        return None
    return Meaning(space, meant.vectors, None if meant.outside is None else meant.outside.read)


def _report(
    trace: Trace | None, address: Address, turn: int | None, found: Answer, sources: Sources, seconds: float
) -> None:
    if trace is None:
        return
    place: Place = {"workspace": address.workspace, "session": address.session, "turn": turn}
    trace.event(
        "memory.search",
        **place,
        searched=found.searched,
        mode=found.mode,
        results=len(found.results),
        unavailable=len(found.unavailable),
        seconds=round(seconds, 4),
    )
    for namespace in sources.withheld:
        trace.event("denied", **place, what=f"{namespace} is for the owner alone")
