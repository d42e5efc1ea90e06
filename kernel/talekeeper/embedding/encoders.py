"""What embeds in a home: the provider its configuration names, or the endpoint of its `embedding` slot.

Everything is looked up when it is first needed: a home without either pays nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from talekeeper.clock import Clock
from talekeeper.embedding.outside import Outside
from talekeeper.errors import BadReply, NoModel
from talekeeper.models import EMBEDDING, LOCAL, Cancel, Models, Provided, Slot, TimeLimits, fit
from talekeeper.plugins import Call, EmbeddingProvider, Host, Providers, registered
from talekeeper.story import WAY

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
