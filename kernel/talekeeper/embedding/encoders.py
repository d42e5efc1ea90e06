"""What embeds in a home: the provider its configuration names, or the endpoint of its `embedding` slot.

Everything is looked up when it is first needed: a home without either pays nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Protocol, TypeVar

import numpy as np

from talekeeper.clock import Clock
from talekeeper.errors import BadReply, NoModel
from talekeeper.models import EMBEDDING, LOCAL, Cancel, Models, Provided, Slot, TimeLimits, fit
from talekeeper.plugins import Call, EmbeddingProvider, Host, Providers, VectorStore, registered
from talekeeper.story import WAY, Story

T = TypeVar("T")

Vector = Sequence[float]
Encode = Callable[[Sequence[str], Cancel | None], Sequence[Vector]]

_QUESTION = TimeLimits(connect=2.0, first=8.0, between=8.0, total=10.0)
"""Seconds: a search that waits longer for what its question means answers by words."""


_TABLE = 2  # dimensions of an array: texts by numbers


class _Run(Protocol):
    """Calls a provider's function; a `quick` one has less time."""

    def __call__(self, call: Callable[[], T], /, *, quick: bool) -> T: ...


@dataclass(frozen=True, slots=True)
class Encoder:
    """`fingerprint` is that of the space its vectors lie in; `batch` the most texts at once.

    `passages` takes its time over many texts; `question` is quick or gives up. Both take texts as they are written,
    and raise `ModelError` or `PluginError`.
    """

    name: str
    fingerprint: str
    batch: int
    passages: Encode
    question: Encode
    outside: Outside | None = None
    """Where vectors are kept, None in the home's database."""


def open_encoder(models: Models, host: Host, providers: Providers, clock: Clock) -> Encoder | None:
    """None where nothing embeds. Raises `ModelError` or `PluginError` where it cannot be had."""
    if models.provided is not None:
        encoder = _prefixed(_provided(models.provided, host, providers), models.provided)
        return _kept_outside(encoder, host, models.provided.store) if models.provided.store else encoder
    slot = models.slot(EMBEDDING)
    return None if slot is None else _prefixed(_endpoint(models, slot, clock), slot)


def _prefixed(encoder: Encoder, settings: Slot | Provided) -> Encoder:
    # Passages behind another prefix lie elsewhere; without one the space is that of an encoder that knows of none.
    prefix = settings.passage_prefix
    return replace(
        encoder,
        fingerprint=f"{encoder.fingerprint}\n{json.dumps(prefix)}" if prefix else encoder.fingerprint,
        passages=_behind(prefix, encoder.passages),
        question=_behind(settings.query_prefix, encoder.question),
    )


def _behind(prefix: str, encode: Encode) -> Encode:
    # Not every text was checked to be storable, and a library in C ends at a NUL, or fails at half a surrogate pair.
    return lambda texts, cancel: encode([fit(prefix + text) for text in texts], cancel)


def _kept_outside(encoder: Encoder, host: Host, store: str) -> Encoder:
    # Another store is another space: what one has the other has not.
    fingerprint = f"{encoder.fingerprint}\n{store}"
    return replace(encoder, fingerprint=fingerprint, outside=Outside(host, store, fingerprint))


def _endpoint(models: Models, slot: Slot, clock: Clock) -> Encoder:
    from talekeeper.models import Client  # noqa: PLC0415 -- brings httpx

    client = models.client(EMBEDDING, clock=clock)
    model = client.model()
    quick = Client(replace(slot, model=model, limits=_QUESTION, retries=0), clock=clock)
    return Encoder(
        name=f"{model} at {slot.url}",
        fingerprint=_fingerprint("endpoint", str(slot.url), model),
        batch=slot.batch,
        passages=lambda texts, cancel: client.embed(texts, cancel=cancel),
        question=lambda texts, cancel: quick.embed(texts, cancel=cancel),
    )


def _provided(provided: Provided, host: Host, providers: Providers) -> Encoder:
    if provided.provider == LOCAL and providers.embedding(LOCAL) is None:
        _register_local(providers)
    registered = providers.embedding(provided.provider)
    if registered is not None:
        return _encoder(registered, provided, _plainly)
    plugin_id, _, name = provided.provider.partition("/")
    deadlines = host.guard.deadlines

    def guarded(call: Callable[[], T], *, quick: bool) -> T:
        seconds = deadlines.tool if quick else deadlines.job
        return host.guard.call(Call(plugin_id, f"embedding provider {name}", seconds), call)

    return _encoder(_of_plugin(host, plugin_id, name), provided, guarded)


def _plainly(call: Callable[[], T], *, quick: bool) -> T:
    del quick
    return call()


def _register_local(providers: Providers) -> None:
    from talekeeper.models import MODEL, local_embed, local_version  # noqa: PLC0415 -- an extra

    providers.register_embedding_provider(
        LOCAL, version=local_version(), models=[MODEL], embed=lambda texts, _: local_embed(texts)
    )


def _of_plugin(host: Host, plugin_id: str, name: str) -> EmbeddingProvider:
    found = registered(host, plugin_id, name, operation="embed", noun="embedding provider")
    models: Sequence[str] = found["models"]
    return EmbeddingProvider(
        f"{plugin_id}/{name}", found["version"], found["embed"], found.get("list_models", lambda: models)
    )


def _encoder(provider: EmbeddingProvider, provided: Provided, run: _Run) -> Encoder:
    model = _model(provider.name, list(run(provider.list_models, quick=True)), provided.model)

    def encode(texts: Sequence[str], *, quick: bool) -> Sequence[Vector]:
        return _checked(provider.name, texts, run(lambda: provider.embed(texts, model), quick=quick))

    return Encoder(
        name=f"{provider.name} {model}",
        fingerprint=_fingerprint(provider.name, provider.version, model),
        batch=provided.batch,
        passages=lambda texts, _: encode(texts, quick=False),
        question=lambda texts, _: encode(texts, quick=True),
    )


def _model(name: str, offered: Sequence[str], wanted: str) -> str:
    if wanted and wanted not in offered:
        known = ", ".join(offered) or "none"
        raise NoModel(f"{name} has no model {wanted!r}", cure=f"it has {known}", slot=EMBEDDING)
    if not offered:
        raise NoModel(f"{name} offers no model", slot=EMBEDDING)
    return wanted or offered[0]


def _checked(name: str, texts: Sequence[str], vectors: Sequence[Vector]) -> Sequence[Vector]:
    try:
        table = np.asarray(vectors, np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if not texts or (table.ndim == _TABLE and len(table) == len(texts) and table.size and np.isfinite(table).all()):
        return vectors
    cure = "it has to give one for each, all of one length and of finite numbers"
    raise BadReply(f"{name} gave no vectors for {len(texts)} texts", cure=cure, slot=EMBEDDING)


def _fingerprint(*parts: str) -> str:
    return "\n".join((*parts, WAY))


_AT_ONCE = 1_000


class Outside:
    """One store as it is used for one space; raises `PluginError` for whatever goes wrong in the plugin."""

    def __init__(self, host: Host, path: str, fingerprint: str) -> None:
        self._host = host
        self._plugin, _, self._name = path.partition("/")
        self._store = _store(host, self._plugin, self._name)
        self._fingerprint = fingerprint
        self._prefix = blake2b(fingerprint.encode(), digest_size=8).hexdigest() + "/"

    def write(self, part: int, vectors: Mapping[int, Vector]) -> None:
        """Writes the vectors of passages."""
        self._run(partial(self._store.upsert, {self._key(part, doc): vector for doc, vector in vectors.items()}))

    def read(self, part: int, docs: Sequence[int]) -> dict[int, Vector]:
        """The vectors of those passages that the store has."""
        found: dict[int, Vector] = {}
        for start in range(0, len(docs), _AT_ONCE):
            keys = {self._key(part, doc): doc for doc in docs[start : start + _AT_ONCE]}
            given = self._run(partial(_given, self._store, list(keys)))
            found |= {keys[key]: vector for key, vector in given.items() if key in keys}
        return found

    def remove(self, part: int, docs: Sequence[int]) -> None:
        """Takes vectors away."""
        self._run(partial(self._store.remove, [self._key(part, doc) for doc in docs]))

    def sweep(self, story: Story) -> int:
        """Takes away what belongs to no passage any more, and all of other spaces; gives how many."""
        gone = int(self._run(partial(self._store.prune, self._prefix)))
        after = ""
        while keys := list(self._run(partial(self._store.list, after, _AT_ONCE))):
            after = keys[-1]
            places = {key: place for key in keys if (place := self._place(key)) is not None}
            kept = story.vectors.kept(self._fingerprint, list(places.values()))
            dead = [key for key in keys if places.get(key) not in kept]
            if dead:
                self._run(partial(self._store.remove, dead))
                gone += len(dead)
        return gone

    def _key(self, part: int, doc: int) -> str:
        return f"{self._prefix}{part}/{doc}"

    def _place(self, key: str) -> tuple[int, int] | None:
        part, _, doc = key.removeprefix(self._prefix).partition("/")
        return (int(part), int(doc)) if part.isdecimal() and doc.isdecimal() else None

    def _run(self, call: Callable[[], T]) -> T:
        guard = self._host.guard
        return guard.call(Call(self._plugin, f"vector store {self._name}", guard.deadlines.tool), call)


def _given(store: VectorStore, keys: Sequence[str]) -> dict[str, Vector]:
    """Raises for what are no vectors, which the guard takes for the plugin's fault."""
    found = dict(store.get(keys))
    for vector in found.values():
        numbers = np.asarray(vector, np.float64)
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise ValueError("what it gave for a key is no vector of finite numbers")
    return found


def _store(host: Host, plugin_id: str, name: str) -> VectorStore:
    found = registered(host, plugin_id, name, operation="upsert", noun="vector store")
    operations = {operation: found[operation] for operation in ("get", "upsert", "list", "remove", "prune")}
    return VectorStore(f"{plugin_id}/{name}", **operations)
