"""From a ranking to an answer: reads the row of every hit in the ranking's own snapshot and cuts its excerpt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.embedding import EmbeddedQuestion
from talekeeper.memory_search.arguments import Question
from talekeeper.memory_search.sources import MESSAGES, Searchable, Sources
from talekeeper.memory_search.services import Services
from talekeeper.plugin_types import Also, Answer, Hit, Json
from talekeeper.search import Kind, Ranked, Ranking, snippet
from talekeeper.story import Coordinate, Message, Record, Session
from talekeeper.text import query_terms

_LOST = "a found passage is not in the store; run talekeeper doctor --index"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question on its way: the snapshot, who is asked, and `shown`, the messages the prompt has already."""

    services: Services
    tx: Tx
    session: Session
    at: Coordinate | None
    asked: Question
    sources: Sources
    shown: Collection[str]
    meant: EmbeddedQuestion | None = None
    explain: bool = False


def answer(request: SearchRequest, ranking: Ranking) -> Answer:
    """The answer with everything that has to be said beside the results."""
    hits = _hits(request, ranking.hits)
    pending = request.services.story.indexing(request.session.workspace, tx=request.tx)
    reached = [one.namespace for one in request.sources.namespaces]
    faults = [_LOST if len(hits) < len(ranking.hits) else "", _by_words(request.meant, ranking)]
    return Answer(
        results=tuple(hits),
        searched=ranking.searched,
        mode="hybrid" if ranking.compared else "lexical",
        degraded="; ".join(fault for fault in faults if fault),
        unavailable=request.sources.unavailable,
        indexing=tuple(one.path for one in reached if (one.plugin, one.name) in pending),
        hint="" if hits else _hint(request, ranking),
        left_out=ranking.left_out,
    )


def _by_words(meant: EmbeddedQuestion | None, ranking: Ranking) -> str:
    """What was searched by words alone though there is an encoder, and why."""
    if meant is None:
        return ""
    if meant.fault:
        return f"searched by words alone, because the question could not be embedded: {meant.fault}"
    lacking = ranking.searched - ranking.compared
    if not lacking:
        return ""
    which = f"{lacking:,} of {ranking.searched:,} passages"
    return f"{which} were searched by words alone; talekeeper index rebuild embeds them"


def _hits(request: SearchRequest, ranked: tuple[Ranked, ...]) -> list[Hit]:
    address, tx = request.session.address, request.tx
    ids = [one.key for one in ranked if one.kind is Kind.MESSAGE]
    messages = request.services.story.messages_by_id(address, ids, tx=tx)
    searched = {(one.namespace.plugin, one.namespace.name): one for one in request.sources.namespaces}
    hits: list[Hit] = []
    for one in ranked:
        if one.kind is Kind.MESSAGE:
            message = messages.get(one.key)
            if message is not None:
                hits.append(_of_message(request, one, message))
        else:
            found = searched[one.plugin, one.namespace]
            record = request.services.story.records.get(found.namespace, found.scope, one.key, at=request.at, tx=tx)
            if record is not None:
                hits.append(_of_record(request, one, found, record))
    return hits


def _of_message(request: SearchRequest, one: Ranked, message: Message) -> Hit:
    return Hit(
        source=MESSAGES,
        id=message.id,
        turn=message.turn,
        text=_excerpt(message.text, request.asked),
        score=one.score,
        matched=one.matched,
        time=message.time or "",
        speaker=message.speaker,
        near=one.near,
        also=_also(one),
        in_prompt=message.id in request.shown,
        why=one.explanation,
        closeness=one.closeness if request.explain else None,
        placing=one.placing,
    )


def _of_record(request: SearchRequest, one: Ranked, found: Searchable, record: Record) -> Hit:
    search, value = found.search, record.value
    covers = record.turn_from not in {record.turn, -1}
    return Hit(
        source=found.label,
        id=record.key,
        turn=_known(record.turn),
        text=_excerpt("\n".join(text for name in search.text if (text := text_of(value, name))), request.asked),
        score=one.score,
        matched=one.matched,
        plugin=one.plugin,
        namespace=one.namespace,
        turn_from=record.turn_from if covers else None,
        time=text_of(value, search.time),
        speaker=text_of(value, search.speaker),
        title=text_of(value, search.title),
        authority=text_of(value, "authority"),
        also=_also(one),
        why=one.explanation,
        closeness=one.closeness if request.explain else None,
        placing=one.placing,
    )


def text_of(value: Mapping[str, Json], name: str | None) -> str:
    """A property that is text; empty where it is not."""
    found = value.get(name) if name else None
    return found if isinstance(found, str) else ""


def _also(one: Ranked) -> tuple[Also, ...]:
    return tuple(Also(key, _known(turn)) for key, turn in one.also)


def _known(turn: int) -> int | None:
    return None if turn < 0 else turn


def _excerpt(text: str, asked: Question) -> str:
    return snippet(text, " ".join(asked.texts))


def _hint(request: SearchRequest, ranking: Ranking) -> str:
    asked = request.asked
    if not any(query_terms(text) for text in asked.texts):
        return "the query has no words; name people, places and things"
    bounded = asked.turn_from is not None or asked.turn_to is not None
    if request.sources.unavailable and not request.sources.messages and not request.sources.namespaces:
        return "none of these sources can be searched"
    if not ranking.searched:
        narrowed = bool(asked.sources) or asked.scope != "all"
        if bounded:
            return f"nothing{' of these sources' if narrowed else ''} lies between these turns{_turns(request)}"
        return "these sources hold nothing to search" if narrowed else "there is nothing to search here"
    wider = "; leave out the bounds of turns" if bounded else "; search all" if asked.scope != "all" else ""
    why = " or comes near it in meaning" if ranking.compared else ": words are matched, not meaning"
    return f"no passage shares a word with the query{why}; try names and other wordings{wider}"


def _turns(request: SearchRequest) -> str:
    """Which turns there are to ask for."""
    newest = request.services.story.newest_turn(request.session.address, tx=request.tx)
    return f"; the story has turns 0 to {newest[0].turn}" if newest else ""
