"""A slot: which model does a kind of work, where it is reached and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from talekeeper.models.keys import KeySource
from talekeeper.models.price import Price
from talekeeper.models.urls import BaseUrl, Network

NARRATOR = "narrator"
EMBEDDING = "embedding"
SLOTS = (NARRATOR, "extract", "summary", "dream", EMBEDDING)
"""The slots the kernel knows. Others may be configured and named by a session; all but `embedding` fall back to
`narrator`."""

JsonMode = Literal["schema", "object", "prompt"]
"""How an endpoint is asked for JSON: `response_format` with the schema, `response_format` without it, or by words. The
schema stands in the prompt for the latter two."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds: until connected, until the first word, from one to the next, and for the whole call with its repeats."""

    connect: float = 10.0
    first: float = 120.0
    between: float = 60.0
    total: float = 600.0

    def of(self, phase: Literal["connect", "first", "between"]) -> float:
        """The limit of one phase."""
        return {"connect": self.connect, "first": self.first, "between": self.between}[phase]


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot, resolved.

    `model` may be empty: the endpoint is then asked for its list and the first that is no embedding model is taken.
    `context` and `reply` are tokens; `retries` repeats at most after the first attempt; `batch` is the most texts in
    one embeddings request. `tools` and `json` say what the endpoint can do, `reply_parameter` how it calls the limit
    of an answer, `stream` whether it can answer piece by piece and `usage` whether it can
    count tokens then. One that `thinks` begins its answers inside thoughts, of which only the end is marked. Without a
    `price` nobody knows what tokens cost. Of the embedding slot alone, `query_prefix` and `passage_prefix` go before
    the texts whose vectors are asked for, and tell the model a question from a passage.
    """

    name: str
    url: BaseUrl
    model: str = ""
    key: KeySource | None = None
    network: Network = "public"
    context: int = 8192
    reply: int = 1024
    limits: TimeLimits = TimeLimits()
    retries: int = 2
    tools: bool = True
    json: JsonMode = "schema"
    stream: bool = True
    usage: bool = True
    reply_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    batch: int = 64
    query_prefix: str = ""
    passage_prefix: str = ""
    price: Price | None = None
    thinks: bool = False
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
