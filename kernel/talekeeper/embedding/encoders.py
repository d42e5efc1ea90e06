"""What embeds in a home: the provider its configuration names, or the endpoint of its `embedding` slot.

Everything is looked up when it is first needed: a home without either pays nothing. Vectors are kept in the home's
database, or in a plugin's store in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, TypeVar

from talekeeper.clock import Clock
from talekeeper.errors import BadReply, NoModel, PluginError
from talekeeper.models import EMBEDDING, LOCAL, Cancel, Models, ProviderSettings, Slot, TimeLimits, storable_text
from talekeeper.plugins import Call, Host
from talekeeper.story import WAY, Story

T = TypeVar("T")

Vector = Sequence[float]
Encode = Callable[[Sequence[str], Cancel | None], Sequence[Vector]]

_QUESTION = TimeLimits(connect=2.0, first=8.0, between=8.0, total=10.0)
"""Seconds: a search that waits longer for its question's vectors answers by words."""

_AT_ONCE = 1_000  # keys in one call of a store

Embed = Callable[[Sequence[str], str], Sequence[Sequence[float]]]
"""`embed(texts, model)` gives one vector for each text, in order, all of one length."""


@dataclass(frozen=True, slots=True)
class EmbeddingProvider:
    """`version` changes whenever the same text would get another vector: all vectors are then made again."""

    name: str
    version: str
    embed: Embed
    list_models: Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class VectorStore:
    """Keeps vectors by key, outside the home's database.

    `get(keys)` gives those that are there; `upsert(vectors)` writes by key; `list(after, limit)` gives keys in order
    behind `after`; `remove(keys)` takes them away, unknown ones too; `prune(prefix)` takes away all keys that do not
    begin with it, and gives how many.
    """

    name: str
    get: Callable[[Sequence[str]], Mapping[str, Sequence[float]]]
    upsert: Callable[[Mapping[str, Sequence[float]]], None]
    list: Callable[[str, int], Sequence[str]]
    remove: Callable[[Sequence[str]], None]
    prune: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Encoder:
    """`fingerprint` is that of the space its vectors lie in; `batch` the most texts at once.

    `passages` takes its time over many texts; `question` is quick or gives up. Both take texts as they are written,
    and raise `ModelError` or `PluginError`. Vectors are kept in `store`, without one in the home's database.
    """

    name: str
    fingerprint: str
    batch: int
    passages: Encode
    question: Encode
    store: PluginStore | None = None


def open_encoder(
    models: Models, host: Host, clock: Clock, providers: Mapping[str, EmbeddingProvider] = MappingProxyType({})
) -> Encoder | None:
    """None where nothing embeds. Raises `ModelError` or `PluginError` where it cannot be had.

    `providers` are those of the process, by name; a plugin's are called `plugin/name` and run under the guard.
    """
    provided, slot = models.provided, models.slot(EMBEDDING)
    if provided is not None:
        encoder = _prefixed(_provided(provided, host, providers), provided)
        if not provided.store:
            return encoder
        # Another store is another space: what one has the other has not.
        fingerprint = f"{encoder.fingerprint}\n{provided.store}"
        return replace(encoder, fingerprint=fingerprint, store=PluginStore(host, provided.store, fingerprint))
    return None if slot is None else _prefixed(_endpoint(models, slot, clock), slot)


def _prefixed(encoder: Encoder, settings: Slot | ProviderSettings) -> Encoder:
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
    return lambda texts, cancel: encode([storable_text(prefix + text) for text in texts], cancel)


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


def _provided(provided: ProviderSettings, host: Host, providers: Mapping[str, EmbeddingProvider]) -> Encoder:
    plugin_id, _, name = provided.provider.partition("/")
    own, deadlines = providers.get(provided.provider), host.guard.deadlines
    if own is None and provided.provider == LOCAL:
        from talekeeper.embedding.local_encoder import LOCAL_MODEL, local_embed, local_version  # noqa: PLC0415 -- an extra

        own = EmbeddingProvider(LOCAL, local_version(), lambda texts, _: local_embed(texts), lambda: [LOCAL_MODEL])
    provider = own or _of_plugin(host, provided.provider)

    def run(call: Callable[[], T], *, quick: bool) -> T:
        if own is not None:
            return call()
        seconds = deadlines.tool if quick else deadlines.job
        return host.guard.call(Call(plugin_id, f"embedding provider {name}", seconds), call)

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


def _of_plugin(host: Host, path: str) -> EmbeddingProvider:
    plugin_id, _, name = path.partition("/")
    found = _operations(host, plugin_id, name, operation="embed", noun="embedding provider")
    models: Sequence[str] = found["models"]
    return EmbeddingProvider(path, found["version"], found["embed"], found.get("list_models", lambda: models))


def _operations(host: Host, plugin_id: str, name: str, *, operation: str, noun: str) -> Mapping[str, Any]:
    """What a plugin registered under the name of a provider that has this operation; raises `PluginError`.

    `noun` says what is looked for: `vector store`.
    """
    plugin = host.roster().by_id.get(plugin_id)
    if plugin is None or not plugin.works:
        reason = f"it is {plugin.state}: {plugin.reason}" if plugin else "it is not installed"
        raise PluginError(reason, where=plugin_id, cure=f"enable it, or name another {noun}")
    found: Mapping[str, Any] | None = host.functions(plugin).get(("providers", name))
    if found is None or operation not in found:
        raise PluginError(f"it has no {noun} {name!r}", where=plugin_id, plugin=plugin_id)
    return found


def _model(name: str, offered: Sequence[str], wanted: str) -> str:
    if wanted and wanted not in offered:
        known = ", ".join(offered) or "none"
        raise NoModel(f"{name} has no model {wanted!r}", cure=f"it has {known}", slot=EMBEDDING)
    if not offered:
        raise NoModel(f"{name} offers no model", slot=EMBEDDING)
    return wanted or offered[0]


def _checked(name: str, texts: Sequence[str], vectors: Sequence[Vector]) -> Sequence[Vector]:
    if not texts or (_are_finite(vectors, dimensions=2) and len(vectors) == len(texts) and len(vectors[0])):
        return vectors
    cure = "it has to give one for each, all of one length and of finite numbers"
    raise BadReply(f"{name} gave no vectors for {len(texts)} texts", cure=cure, slot=EMBEDDING)


def _are_finite(numbers: Any, *, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415 - a home that embeds nothing does not need it

    try:
        array = np.asarray(numbers, np.float64)
    except (TypeError, ValueError):
        return False
    return array.ndim == dimensions and bool(np.isfinite(array).all())


def _fingerprint(*parts: str) -> str:
    return "\n".join((*parts, WAY))


class PluginStore:
    """The vectors of one space in a plugin's store, under keys `space/part/passage`.

    The database still says which passages have one. A plugin cannot take part in its transactions: the vector of a
    passage that is gone is no longer found at once, and leaves the store at the next sweep. Whatever goes wrong in the
    plugin is a `PluginError`.
    """

    def __init__(self, host: Host, path: str, fingerprint: str) -> None:
        plugin, _, name = path.partition("/")
        found = _operations(host, plugin, name, operation="upsert", noun="vector store")
        operations = {operation: found[operation] for operation in ("get", "upsert", "list", "remove", "prune")}
        self._store = VectorStore(path, **operations)
        self._guard = host.guard
        self._call = Call(plugin, f"vector store {name}", host.guard.deadlines.tool)
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
            given = self._run(partial(self._get, list(keys)))
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

    def _get(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Raises for what are no vectors, which the guard takes for the plugin's fault."""
        found = dict(self._store.get(keys))
        if not all(_are_finite(vector, dimensions=1) for vector in found.values()):
            raise ValueError("what it gave for a key is no vector of finite numbers")
        return found

    def _run(self, call: Callable[[], T]) -> T:
        return self._guard.call(self._call, call)
