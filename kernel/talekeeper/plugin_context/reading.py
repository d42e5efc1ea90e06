"""`ctx.history`, `ctx.session` and `ctx.search`: what a plugin reads of the story."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from talekeeper.api import Answer, Holding, MessageView, Scope, ScoredRecord, SessionView
from talekeeper.db import Tx
from talekeeper.embedding import EmbeddedQuestion
from talekeeper.errors import NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.memory_search import part_scopes, query_meaning, read_embedded, read_question, search_memory
from talekeeper.plugin_context.bound import Bound
from talekeeper.search import Query, RankedText, Source, rank_texts, snippet
from talekeeper.story import Coordinate, Job, Message, Session, Story
from talekeeper.text import freeze, query_terms

_LOOK_BACK = 50
_EVERY = 100_000


def session_view(story: Story, session: Session, at: Coordinate | None = None) -> SessionView:
    """The session as a plugin sees it; the player is the one that its settings name, else the last who spoke as one."""
    player: Mapping[str, Any] = session.settings.get("player") or {}
    if not player:
        recent = story.messages.read(session.address, last=_LOOK_BACK, at=at)
        names = [message.speaker for message in recent if message.role == "player" and message.speaker]
        player = {"name": names[-1]} if names else {}
    return SessionView(session.id, session.workspace, session.preset, session.locale, session.title, freeze(player))


class StoryHistory:
    """See `protocols.History`; hidden messages are left out."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def messages(self, *, turns: tuple[int, int] | None = None, last: int | None = None) -> tuple[MessageView, ...]:
        """Messages in story order."""
        bound = self._bound.live()
        found = bound.story.messages.read(bound.address, turns=turns, last=last, at=bound.at, hidden=False)
        return tuple(map(message_view, found))

    def message(self, message_id: str) -> MessageView | None:
        """The message with this id, when it is on the lineage."""
        bound = self._bound.live()
        story, address = bound.story, bound.address

        def read(tx: Tx) -> Message | None:
            found = story.messages.by_id(address, [message_id], tx=tx).get(message_id)
            if found is None or found.hidden or found.deleted:
                return None
            return found if story.tree.on_lineage(address, found.coordinate, at=bound.at, tx=tx) else None

        message = story.read(read)
        return None if message is None else message_view(message)

    def speakers(self) -> tuple[str, ...]:
        """Every name a message was spoken under."""
        bound = self._bound.live()
        return tuple(bound.story.messages.speakers(bound.address, at=bound.at))

    def settled(self, job: str) -> tuple[tuple[int, int], ...]:
        """Depths that runs of one of the plugin's jobs cover, by turns of the lineage."""
        bound = self._bound.live()
        return tuple(bound.story.coverage.settled(bound.address, bound.plugin.id, job, at=bound.at))


class StorySearch:
    """See `protocols.Search`."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def terms(self, text: str) -> tuple[str, ...]:
        """The terms of a text as a query has them."""
        self._bound.live()
        return query_terms(text)

    def rank_texts(
        self, query: str, texts: Sequence[str], limit: int | None = None, min_coverage: float = 0.0
    ) -> tuple[RankedText, ...]:
        """The texts that share a term with the query, best first."""
        self._bound.live()
        return rank_texts(query, texts, limit, min_coverage)

    def excerpt(self, text: str, query: str, limit: int = 500) -> str:
        """The stretch that matches best."""
        self._bound.live()
        return snippet(text, query, limit)

    def memory_search(
        self,
        query: str = "",
        *,
        wordings: Sequence[str] = (),
        scope: Scope = "all",
        sources: Sequence[str] = (),
        turn_from: int | None = None,
        turn_to: int | None = None,
        limit: int = 5,
    ) -> Answer:
        """Asks as the narrator's tool does."""
        bound = self._bound.live()
        arguments = {
            "query": None if wordings and not query else query,
            "wordings": wordings,
            "scope": scope,
            "sources": sources,
            "turn_from": turn_from,
            "turn_to": turn_to,
            "limit": limit,
        }
        with bound.life.asking():  # as in `score`
            return search_memory(bound.services, bound.address, read_question(arguments), at=bound.at)

    def score(
        self, namespace: str, queries: Sequence[tuple[str, float]], *, limit: int | None = None
    ) -> tuple[ScoredRecord, ...]:
        """The live records that share a term with one of the weighted queries, best first."""
        bound = self._bound.live()
        found = self._searched(namespace)
        if limit is not None and limit < 1:
            raise ParameterError("limit", f"{limit} is out of range", cure="use 1 or more, or leave it out")
        # The sum over several queries may be best where none of them is.
        depth = limit if limit is not None and len(queries) == 1 else _EVERY

        def read(embedded: EmbeddedQuestion | None) -> tuple[ScoredRecord, ...]:
            return bound.story.read(lambda tx: self._score(tx, found, queries, embedded, depth))

        # What embeds or keeps vectors may be slow, and its time is not the plugin's.
        with bound.life.asking():
            return read_embedded(bound.services, [text for text, _ in queries], read)[:limit]

    def holding(self, namespace: str, text: str) -> Holding:
        """How many live records there are, and how many hold each term of a text."""
        bound = self._bound.live()
        found, index = self._searched(namespace), bound.services.index

        def read(tx: Tx) -> Holding:
            query = self._query(tx, found, text, 0)
            return Holding(index.search(tx, query).searched, freeze(index.holding(tx, query)))

        return bound.story.read(read)

    def _searched(self, name: str) -> Namespace:
        namespace = self._bound.readable(name)
        if namespace.search is None:
            raise NotFound(f"{namespace.path} is not searched", cure="give it a search table in plugin.toml")
        return namespace

    def _query(
        self, tx: Tx, namespace: Namespace, text: str, depth: int, embedded: EmbeddedQuestion | None = None
    ) -> Query:
        bound = self._bound
        return Query(
            texts=(text,),
            parts=part_scopes(bound.services, tx, bound.address, [bound.scope(namespace)], bound.at),
            sources=(Source(namespace.plugin, namespace.name),),
            depth=depth,
            neighbours=False,
            backs_off=False,  # a plugin counts on it that what shares a term shares one of the text's own
            meaning=query_meaning(tx, embedded),
        )

    def _score(
        self,
        tx: Tx,
        namespace: Namespace,
        queries: Sequence[tuple[str, float]],
        embedded: EmbeddedQuestion | None,
        depth: int,
    ) -> tuple[ScoredRecord, ...]:
        semantic: dict[str, float] = defaultdict(float)
        scores: dict[str, float] = defaultdict(float)
        matched: dict[str, tuple[str, ...]] = {}
        for text, weight in queries:
            for hit in self._bound.services.index.search(tx, self._query(tx, namespace, text, depth, embedded)).hits:
                near = hit.closeness
                score = weight * (hit.score - (near.adds if near else 0))
                for key in (hit.key, *dict(hit.also)) if hit.also else (hit.key,):
                    scores[key] += score
                    known = matched.get(key)
                    matched[key] = tuple(dict.fromkeys((*known, *hit.matched))) if known else hit.matched
                    if near:
                        semantic[key] += weight * near.cosine
        every = {term for text, _ in queries for term in query_terms(text)}
        scored = [
            ScoredRecord(key, score, matched[key], len(matched[key]) / max(len(every), 1), semantic.get(key))
            for key, score in scores.items()
        ]
        return tuple(sorted(scored, key=lambda one: (-one.lexical, one.key)))


def message_view(message: Message) -> MessageView:
    """A message as a plugin sees it."""
    return MessageView(
        id=message.id,
        coordinate=message.coordinate,
        seq=message.seq,
        turn=message.turn,
        role=message.role,
        kind=message.kind,
        speaker=message.speaker,
        text=message.text,
        time=message.time,
        origin=message.origin,
    )


class CallJob:
    """The job a function is called for; see `protocols.JobView`.

    It reads the story as it stands at the job's own end; hidden messages are left out.
    """

    def __init__(self, bound: Bound, job: Job, turn: int) -> None:
        self._bound = bound
        self._job = job
        self.kind = job.kind
        self.turn = turn
        self.coordinate = job.coordinate
        self.range = job.start, job.end
        self.attempt = job.attempts
        self.reason = job.reason

    @property
    def superseded(self) -> bool:
        """Whether a later job of its kind has succeeded."""
        bound = self._bound.live()
        return bound.story.coverage.superseded(bound.address, self._job)

    def messages(self) -> tuple[MessageView, ...]:
        """The story messages of its range."""
        bound = self._bound.live()
        found = bound.story.messages.story(bound.address, *self.range, at=self.coordinate, hidden=False)
        return tuple(map(message_view, found))

    def uncovered(self, limit: int = 100) -> tuple[MessageView, ...]:
        """The first stretch no succeeded job of its kind covers."""
        return self._left(limit, own=False)

    def unsettled(self, limit: int = 100) -> tuple[MessageView, ...]:
        """The first stretch no succeeded job of this lineage covers."""
        return self._left(limit, own=True)

    def _left(self, limit: int, *, own: bool) -> tuple[MessageView, ...]:
        bound, job = self._bound.live(), self._job
        found = bound.story.coverage.uncovered(
            bound.address, job.plugin, job.kind, at=job.coordinate, limit=limit, hidden=False, own=own
        )
        return tuple(map(message_view, found))
