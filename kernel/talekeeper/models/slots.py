"""The models of a home: which slots are there, and why one is not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from talekeeper.clock import Clock
from talekeeper.errors import AuthFailed, InputError, NoModel
from talekeeper.models.chat import ChatModel
from talekeeper.models.provided import Provided
from talekeeper.models.redact import Redactor
from talekeeper.models.settings import EMBEDDING, NARRATOR, SLOTS, Slot
from talekeeper.models.settings_file import (
    FILE_NAME,
    provided_of_file,
    slots_of_environment,
    slots_of_file,
    slots_of_local,
)

if TYPE_CHECKING:
    from talekeeper.models.call import Means
    from talekeeper.models.client import Client

Origin = Literal["file", "environment", "local", "none"]
"""Where the models come from; `none` is no-model mode."""


@dataclass(frozen=True, slots=True)
class Models:
    """What is configured. Without anything it is still a value: every slot is absent, with a reason to show."""

    origin: Origin = "none"
    slots: Mapping[str, Slot] = field(default_factory=dict[str, Slot])
    provided: Provided | None = None
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
        from talekeeper.models.client import Client  # noqa: PLC0415 -- brings httpx, which no-model mode never needs

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


class ModelSource(Protocol):
    """What the rooms above ask for a model: `Models` is one, and a test passes its own."""

    def slot(self, name: str) -> Slot | None:
        """The slot that does this work."""
        ...

    def missing(self, name: str) -> str:
        """Why there is no such slot and what to do, in a sentence; empty when there is one."""
        ...

    def client(self, name: str, *, clock: Clock) -> ChatModel:
        """What answers for the slot; raises `NoModel`."""
        ...


class ModelsWhenAsked:
    """Models that are read when the first is asked for: most commands ask none, and need no sound configuration.

    A mistake in the configuration is then why there is no model.
    """

    def __init__(self, read: Callable[[], ModelSource]) -> None:
        self._read = read

    def slot(self, name: str) -> Slot | None:
        """The slot that does this work."""
        try:
            return self._read().slot(name)
        except InputError:
            return None

    def missing(self, name: str) -> str:
        """Why there is no such slot and what to do."""
        try:
            return self._read().missing(name)
        except InputError as mistake:
            return mistake.sentence()

    def client(self, name: str, *, clock: Clock) -> ChatModel:
        """What answers for the slot; raises `NoModel`."""
        try:
            source = self._read()
        except InputError as mistake:
            raise NoModel(mistake.what, where=mistake.where, cure=mistake.cure, slot=name) from mistake
        return source.client(name, clock=clock)


NO_MODELS = Models()
"""No-model mode: the person writes both sides, and what needs a model waits."""


def open_models(home: Path, *, environ: Mapping[str, str] | None = None, remembered: str = "") -> Models:
    """What the home's file configures, else `OPENAI_BASE_URL`, else the remembered local server, else `NO_MODELS`.

    Touches no network and reads no key. `remembered` is the URL of a server that `find_local_servers` found and a
    person was told of. Raises `InputError` for a configuration with a mistake in it.
    """
    slots, provided = slots_of_file(home, environ), provided_of_file(home)
    if slots:
        return Models("file", slots, provided)
    if slots := slots_of_environment(os.environ if environ is None else environ):
        return Models("environment", slots, provided)
    if remembered:
        return Models("local", slots_of_local(remembered), provided)
    return replace(NO_MODELS, provided=provided) if provided else NO_MODELS
