"""Slots, each a model for a kind of work: where it is reached and how long it may take; and the models of a home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from talekeeper.clock import Clock
from talekeeper.errors import AuthFailed, NoModel
from talekeeper.models.secrets import KeySource, Redactor
from talekeeper.models.source import FILE_NAME
from talekeeper.models.urls import BaseUrl, Network
from talekeeper.text import EXACT_INTEGER

if TYPE_CHECKING:
    from talekeeper.models.client import Client
    from talekeeper.models.http import Means

NARRATOR = "narrator"
EMBEDDING = "embedding"
SLOTS = (NARRATOR, "extract", "summary", "dream", EMBEDDING)
"""The slots the kernel knows. Others may be configured and named by a session; all but `embedding` fall back to
`narrator`."""

JsonMode = Literal["schema", "object", "prompt"]
"""How a request demands JSON: `response_format` with the schema, `response_format` without it, or by words. The
schema is in the prompt for the latter two."""

BILLION = 1_000_000_000
"""Costs are whole billionths of the currency: one token of the cheapest model is some dozen of them."""

LOCAL = "local"
"""The encoder of the `semantic` extra, which runs in this process."""

Origin = Literal["file", "environment", "local", "none"]
"""Where the models come from; `none` is no-model mode."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens of a prompt and of an answer, in units of the currency."""

    prompt: float
    completion: float
    currency: str = "USD"

    def cost(self, prompt: int | None, completion: int | None) -> int | None:
        """Billionths of the currency for so many tokens; None where the endpoint counted none."""
        if prompt is None or completion is None:
            return None
        return min(EXACT_INTEGER, round((prompt * self.prompt + completion * self.completion) * (BILLION // 1_000_000)))


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

    `model` may be empty: the first non-embedding model that the endpoint lists is then used.
    `context` and `reply` are tokens; `retries` repeats at most after the first attempt; `batch` is the most texts in
    one embeddings request. `tools` and `json` say what the endpoint can do, `reply_parameter` how it calls the limit
    of an answer, `stream` whether it can answer piece by piece and `usage` whether it can
    count tokens then. One that `thinks` begins its answers inside thoughts, of which only the end is marked. Without a
    `price` the cost of tokens is unknown. Of the embedding slot alone, `query_prefix` and `passage_prefix` go before
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


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """`provider` is `local` or `plugin/name`; `model` is one of those it lists, its first where empty.

    `batch` is the most texts it is given at once. `store` is a plugin's vector store, empty for the home's database.
    `query_prefix` and `passage_prefix` are as in a slot.
    """

    provider: str
    model: str = ""
    batch: int = 64
    store: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Models:
    """What is configured. Without anything it is still a value: every slot is absent, with a reason to show."""

    origin: Origin = "none"
    slots: Mapping[str, Slot] = field(default_factory=dict[str, Slot])
    provided: ProviderSettings | None = None
    """What embeds in place of an endpoint."""
    _clients: dict[str, Client] = field(default_factory=dict[str, "Client"], init=False, repr=False, compare=False)

    def slot(self, name: str) -> Slot | None:
        """The slot that does this work: itself, else the narrator's; embeddings are made by their own slot only."""
        found = self.slots.get(name)
        if found is None and name in SLOTS and name != EMBEDDING:
            return self.slots.get(NARRATOR)
        return found

    def missing(self, name: str) -> str:
        """Why there is no such slot and what to do, in a sentence; empty when there is one."""
        if self.slot(name) is not None:
            return ""
        if name == EMBEDDING:
            if self.provided is not None:
                return f"embeddings are made by the provider {self.provided.provider}, which is no endpoint"
            return f"no embedding model is configured; write [models.{EMBEDDING}] in {FILE_NAME}"
        if name not in SLOTS:
            return f"the slot {name} is not configured; write [models.{name}] in {FILE_NAME}"
        others = f", which has only {', '.join(sorted(self.slots))}" if self.slots else ""
        return (
            f"no model is configured; write [models.{NARRATOR}] in {FILE_NAME}{others}, set OPENAI_BASE_URL, or start a"
            " model server on this machine"
        )

    def client(self, name: str, *, clock: Clock, means: Means | None = None) -> Client:
        """The client for the slot's work, with `means` one of its own; raises `NoModel` when there is none.

        It is kept, because it remembers the model that an endpoint was found to have. Opens no connection.
        """
        from talekeeper.models.client import Client  # noqa: PLC0415 -- brings httpcore, which no-model mode never needs

        slot = self.slot(name)
        if slot is None:
            what, _, cure = self.missing(name).partition("; ")
            raise NoModel(what, cure=cure, slot=name)
        if means is not None:
            return Client(slot, clock=clock, means=means)
        return self._clients.setdefault(name, Client(slot, clock=clock))

    def redactor(self) -> Redactor:
        """Knows every key in use, for what is written down about calls: traces, logs, reports."""
        keys: set[str] = set()
        for slot in self.slots.values():
            try:
                keys |= {slot.key.read().reveal()} if slot.key else set()
            except AuthFailed:
                continue  # what cannot be read is not in use either
        return Redactor(sorted(keys))


NO_MODELS = Models()
"""No-model mode: the person writes both sides, and what needs a model waits."""
