"""Search by meaning in one home: questions become vectors when they are searched for, passages when there is time.

Without an embedding provider or slot nothing here does anything, and searches are by words alone. Whatever goes wrong
with an encoder is a sentence beside an answer by words, never an error of the search.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from talekeeper.db import ensure_outside_write
from talekeeper.errors import Cancelled, InputError, ModelError, PluginError
from talekeeper.story import Address, Scope, Story

if TYPE_CHECKING:  # a search where nothing embeds loads no encoder
    from talekeeper.embedding.encoders import Encoder, PluginStore, Vector
    from talekeeper.models import Cancel
    from talekeeper.story import Unembedded

T = TypeVar("T")

AFTER_A_TURN = 1_000
"""Passages embedded at most when a turn's jobs have run; the rest waits for the next turn or a rebuild."""

_AGAIN = 30.0  # seconds until an encoder that failed is tried again by a search
_QUESTIONS = 256  # whose vectors are remembered
_FAULTS = (ModelError, PluginError, InputError)


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """The vectors of a question's texts, by text, in the space of `fingerprint`; `fault` says why there are none."""

    fingerprint: str
    vectors: dict[str, Vector]
    fault: str = ""
    store: PluginStore | None = None


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """How far the home's passages are embedded. `encoder` is empty where nothing embeds, `fault` where all is well."""

    encoder: str
    passages: int
    embedded: int
    fault: str = ""


class Semantics:
    """`open_encoder` gives None where nothing embeds; it is called once, and again some time after a failure."""

    def __init__(self, story: Story, open_encoder: Callable[[], Encoder | None]) -> None:
        self._story = story
        self._open = open_encoder
        self._encoder: Encoder | None = None
        self._is_open = False
        self._failed: tuple[float, str] | None = None
        self._known: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._done: dict[tuple[int, str], int] = {}
        self._swept: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def encoder(self) -> Encoder | None:
        """What embeds; raises `ModelError`, `PluginError` or `InputError` where it cannot be had."""
        with self._lock:
            if not self._is_open:
                self._encoder, self._is_open = self._open(), True
            return self._encoder

    def embed_question(self, texts: Sequence[str]) -> EmbeddedQuestion | None:
        """The vectors of a question; None where nothing embeds. Fails only in the answer's `fault`, within 10 s."""
        ensure_outside_write("the embedding of a question")
        if self._failed is not None and time.monotonic() - self._failed[0] < _AGAIN:
            return EmbeddedQuestion("", {}, self._failed[1])
        try:
            encoder = self.encoder()
            vectors = {} if encoder is None else self._vectors(encoder, texts)
        except _FAULTS as fault:
            self._failed = (time.monotonic(), fault.sentence())
            return EmbeddedQuestion("", {}, fault.sentence())
        self._failed = None
        return None if encoder is None else EmbeddedQuestion(encoder.fingerprint, vectors, store=encoder.store)

    def with_question(self, texts: Sequence[str], read: Callable[[EmbeddedQuestion | None], T]) -> T:
        """What `read` gives with the texts' vectors; by words alone where a store of vectors fails in the middle."""
        embedded = self.embed_question(texts)
        try:
            return read(embedded)
        except PluginError as fault:
            if embedded is None or embedded.store is None:
                raise
            return read(EmbeddedQuestion("", {}, fault.sentence()))

    def status(self) -> EmbeddingStatus:
        """Counts all passages of the home."""
        try:
            encoder = self.encoder()
        except _FAULTS as fault:
            return EmbeddingStatus("", *self._story.vectors.count(""), fault.sentence())
        name, fingerprint = ("", "") if encoder is None else (encoder.name, encoder.fingerprint)
        return EmbeddingStatus(name, *self._story.vectors.count(fingerprint))

    def unreachable(self) -> str:
        """Why no question can be embedded now, tried with a word; empty where one can, or where nothing embeds."""
        embedded = self.embed_question(["key"])
        return "" if embedded is None else embedded.fault

    def embed(
        self,
        address: Address | None = None,
        *,
        limit: int | None = None,
        cancel: Cancel | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Embeds passages that have no vector, of a session and its workspace or of the home; gives how many.

        Each batch is kept when it is there, so what is broken off goes on where it was. At most `limit` passages;
        `progress` gets how many are done. Raises what the encoder raises, and `Cancelled`.
        """
        ensure_outside_write("the embedding of passages")
        encoder = self.encoder()
        if encoder is None:
            return 0
        removals = self._story.vectors.removals() if encoder.store is not None else ()
        if encoder.store is not None and removals != self._swept:
            encoder.store.sweep(self._story)  # takes what removed passages have left there
            self._swept = removals
        done = 0
        for scope in self._story.vectors.scopes(address):
            for waiting in self._waiting(scope, encoder.fingerprint):
                known = list(waiting.texts)
                for docs in (known[start : start + encoder.batch] for start in range(0, len(known), encoder.batch)):
                    if cancel is not None and cancel.is_set():
                        raise Cancelled("the embedding was broken off; what is done is kept")
                    done += self._embed(encoder, waiting, docs, cancel)
                    if progress is not None:
                        progress(done)
                    if limit is not None and done >= limit:
                        return done
        return done

    def _waiting(self, scope: Scope, fingerprint: str) -> Iterator[Unembedded]:
        """Stretch by stretch. How far a partition has been dealt with is remembered: passages are added at its end."""
        part = self._story.vectors.part(scope)
        after = -1 if part is None else self._done.get((part, fingerprint), -1)
        while (waiting := self._story.vectors.waiting(scope, fingerprint, after=after)) is not None:
            yield waiting
            after = self._done[waiting.part, fingerprint] = waiting.end

    def _embed(self, encoder: Encoder, waiting: Unembedded, docs: Sequence[int], cancel: Cancel | None) -> int:
        """Keeps a vector for each passage, an empty one for a blank passage."""
        written = [doc for doc in docs if waiting.texts[doc].strip()]
        vectors: Sequence[Vector] = encoder.passages([waiting.texts[doc] for doc in written], cancel) if written else []
        embedded = dict(zip(written, vectors, strict=True))
        store = encoder.store
        kept_here: dict[int, Vector | None] = dict(embedded)
        if store is not None and written:
            store.write(waiting.part, embedded)
            kept_here = dict.fromkeys(written)
        kept = self._story.vectors.keep(waiting.part, encoder.fingerprint, dict.fromkeys(docs, ()) | kept_here)
        late = sorted(set(written) - set(kept))
        if store is not None and late:
            store.remove(waiting.part, late)
        return len(docs)

    def _vectors(self, encoder: Encoder, texts: Sequence[str]) -> dict[str, Vector]:
        with self._lock:
            found = {text: self._known.get((encoder.fingerprint, text)) for text in texts}
        unknown = [text for text, vector in found.items() if vector is None]
        made = dict(zip(unknown, encoder.question(unknown, None), strict=True)) if unknown else {}
        with self._lock:
            for text, vector in made.items():
                self._known[encoder.fingerprint, text] = vector
            while len(self._known) > _QUESTIONS:
                self._known.popitem(last=False)
        return {text: vector for text, vector in (found | made).items() if vector is not None}
