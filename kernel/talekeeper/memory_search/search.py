"""Answers a question in one snapshot: what may be searched → `Query` → `Ranking` → rows with their snippets."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from talekeeper.api import Also, Answer, Hit, Json
from talekeeper.db import Tx
from talekeeper.memory_search.sources import MESSAGES, Searchable, Sources, part_scopes, resolve
from talekeeper.memory_search.tool import Question
from talekeeper.search import Kind, Meaning, Query, Ranked, Ranking, snippet, vector_space
from talekeeper.services import Services
from talekeeper.story import Address, Coordinate, Message, Record, Session
from talekeeper.text import query_terms

if TYPE_CHECKING:
    from talekeeper.embedding import EmbeddedQuestion

T = TypeVar("T")

_LOST = "a found passage is not in the store; run talekeeper doctor --index"


def search_memory(
    services: Services,
    address: Address,
    question: Question,
    *,
    at: Coordinate | None = None,
    running_turn: int | None = None,
    shown: Collection[str] = (),
    explain: bool = False,
) -> Answer:
    """The answer to a checked question, whose `limit` may pass the tool's. Raises `NotFound` for the session.

    `at` is the head when left out. Messages of `running_turn` and later are never results; `shown` are ids of messages
    the prompt has already; `explain` adds `why` to every result: how each term made its part of the score.
    """
    services.host.ready(address)

    def read(tx: Tx, embedded: EmbeddedQuestion | None) -> tuple[Answer, Sources]:
        session = services.story.sessions.get(address, tx=tx)
        roster = services.host.roster(session=session, tx=tx)
        sources = resolve(tx, session, roster, question.scope, question.sources)
        query = Query(
            texts=question.texts,
            parts=part_scopes(services, tx, address, sources.scopes(session), at),
            sources=sources.for_query(),
            turn_from=question.turn_from,
            turn_to=question.turn_to,
            before_turn=running_turn,
            depth=question.limit,
            explain=explain,
            meaning=query_meaning(tx, embedded),
        )
        request = _Request(services, tx, session, at, question, sources, shown, embedded, explain)
        return _answer(request, services.index.search(tx, query)), sources

    started = time.monotonic()
    answer, sources = read_embedded(
        services, question.texts, lambda embedded: services.story.read(lambda tx: read(tx, embedded))
    )
    services.report(
        "memory.search",
        address,
        turn=running_turn,
        searched=answer.searched,
        mode=answer.mode,
        results=len(answer.results),
        unavailable=len(answer.unavailable),
        seconds=round(time.monotonic() - started, 4),
    )
    for namespace in sources.withheld:
        services.report("denied", address, turn=running_turn, what=f"{namespace} is for the owner alone")
    return answer


def read_embedded(services: Services, texts: Sequence[str], read: Callable[[EmbeddedQuestion | None], T]) -> T:
    """Calls `read` with the texts' vectors, or with None where nothing embeds."""
    return read(None) if services.semantics is None else services.semantics.with_question(texts, read)


def query_meaning(tx: Tx, embedded: EmbeddedQuestion | None) -> Meaning | None:
    """The part of a `Query` that compares vectors; None where no passage or no text of the question has one."""
    space = vector_space(tx, embedded.fingerprint) if embedded is not None and embedded.vectors else None
    if space is None or embedded is None:
        return None
    return Meaning(space, embedded.vectors, None if embedded.store is None else embedded.store.read)


@dataclass(frozen=True, slots=True)
class _Request:
    """A question on its way to its answer; `shown` are ids of messages the prompt has already."""

    services: Services
    tx: Tx
    session: Session
    at: Coordinate | None
    question: Question
    sources: Sources
    shown: Collection[str]
    embedded: EmbeddedQuestion | None
    explain: bool


def _answer(request: _Request, ranking: Ranking) -> Answer:
    hits = _hits(request, ranking.hits)
    pending = request.services.story.index.pending(request.session.workspace, tx=request.tx)
    searched = [one.namespace for one in request.sources.namespaces]
    faults = [_LOST if len(hits) < len(ranking.hits) else "", _by_words(request.embedded, ranking)]
    return Answer(
        results=tuple(hits),
        searched=ranking.searched,
        mode="hybrid" if ranking.compared else "lexical",
        degraded="; ".join(fault for fault in faults if fault),
        unavailable=request.sources.unavailable,
        indexing=tuple(one.path for one in searched if (one.plugin, one.name) in pending),
        hint="" if hits else _hint(request, ranking),
        left_out=ranking.left_out,
    )


def _by_words(embedded: EmbeddedQuestion | None, ranking: Ranking) -> str:
    """What was searched by words alone though there is an encoder, and why."""
    if embedded is None:
        return ""
    if embedded.fault:
        return f"searched by words alone, because the question could not be embedded: {embedded.fault}"
    lacking = ranking.searched - ranking.compared
    if not lacking:
        return ""
    which = f"{lacking:,} of {ranking.searched:,} passages"
    return f"{which} were searched by words alone; talekeeper index rebuild embeds them"


def _hits(request: _Request, ranked: Sequence[Ranked]) -> list[Hit]:
    """The hits in the ranking's order; one whose row is not in the store is left out."""
    story, tx = request.services.story, request.tx
    ids = [one.key for one in ranked if one.kind is Kind.MESSAGE]
    messages = story.messages.by_id(request.session.address, ids, tx=tx)
    searched = {(one.namespace.plugin, one.namespace.name): one for one in request.sources.namespaces}
    hits: list[Hit] = []
    for one in ranked:
        if one.kind is Kind.MESSAGE:
            if (message := messages.get(one.key)) is not None:
                hits.append(_of_message(request, one, message))
            continue
        found = searched[one.plugin, one.namespace]
        record = story.records.get(found.namespace, found.scope, one.key, at=request.at, tx=tx)
        if record is not None:
            hits.append(_of_record(request, one, found, record))
    return hits


def _of_message(request: _Request, one: Ranked, message: Message) -> Hit:
    return _hit(
        request,
        one,
        message.text,
        source=MESSAGES,
        id=message.id,
        turn=message.turn,
        time=message.time or "",
        speaker=message.speaker,
        near=one.near,
        in_prompt=message.id in request.shown,
    )


def _of_record(request: _Request, one: Ranked, found: Searchable, record: Record) -> Hit:
    search, value = found.search, record.value
    covers = record.turn_from not in {record.turn, -1}
    return _hit(
        request,
        one,
        "\n".join(text for name in search.text if (text := _text(value, name))),
        source=f"{search.tier}:plugin_data",
        id=record.key,
        turn=_known(record.turn),
        plugin=one.plugin,
        namespace=one.namespace,
        turn_from=record.turn_from if covers else None,
        time=_text(value, search.time),
        speaker=_text(value, search.speaker),
        title=_text(value, search.title),
        authority=_text(value, "authority"),
    )


def _hit(request: _Request, one: Ranked, text: str, **row: Any) -> Hit:
    return Hit(
        text=snippet(text, " ".join(request.question.texts)),
        score=one.score,
        matched=one.matched,
        also=tuple(Also(key, _known(turn)) for key, turn in one.also),
        why=one.explanation,
        closeness=one.closeness if request.explain else None,
        placing=one.placing,
        **row,
    )


def _text(value: Mapping[str, Json], name: str | None) -> str:
    found = value.get(name) if name else None
    return found if isinstance(found, str) else ""


def _known(turn: int) -> int | None:
    return None if turn < 0 else turn


def _hint(request: _Request, ranking: Ranking) -> str:
    """What to try next, where there is no result."""
    question = request.question
    if not any(query_terms(text) for text in question.texts):
        return "the query has no words; name people, places and things"
    bounded = question.turn_from is not None or question.turn_to is not None
    if request.sources.unavailable and not request.sources.messages and not request.sources.namespaces:
        return "none of these sources can be searched"
    if not ranking.searched:
        narrowed = bool(question.sources) or question.scope != "all"
        if bounded:
            newest = request.services.story.tree.newest_turn(request.session.address, tx=request.tx)
            turns = f"; the story has turns 0 to {newest[0].turn}" if newest else ""
            return f"nothing{' of these sources' if narrowed else ''} lies between these turns{turns}"
        return "these sources hold nothing to search" if narrowed else "there is nothing to search here"
    wider = "; leave out the bounds of turns" if bounded else "; search all" if question.scope != "all" else ""
    why = " or comes near it in meaning" if ranking.compared else ": words are matched, not meaning"
    return f"no passage shares a word with the query{why}; try names and other wordings{wider}"
