"""What the rooms above ask for a model, and the one that reads a home's configuration only when it is asked.

Loading it loads no slot: a search where nothing embeds is over before any is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from talekeeper.errors import InputError, NoModel

if TYPE_CHECKING:
    from talekeeper.clock import Clock
    from talekeeper.models.chat import ChatModel
    from talekeeper.models.slots import Slot


FILE_NAME = "talekeeper.toml"
"""Of a home: the one place that can name something that embeds."""


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


class LazyModels:
    """Models that are read at the first use: most commands use none, and need no sound configuration.

    A mistake in the configuration is then why there is no model.
    """

    def __init__(self, read: Callable[[], ModelSource]) -> None:
        self._read = read

    def slot(self, name: str) -> Slot | None:
        """The slot that does this work."""
        source = self._source()
        return None if isinstance(source, InputError) else source.slot(name)

    def missing(self, name: str) -> str:
        """Why there is no such slot and what to do."""
        source = self._source()
        return source.sentence() if isinstance(source, InputError) else source.missing(name)

    def client(self, name: str, *, clock: Clock) -> ChatModel:
        """What answers for the slot; raises `NoModel`."""
        source = self._source()
        if isinstance(source, InputError):
            raise NoModel(source.what, where=source.where, cure=source.cure, slot=name) from source
        return source.client(name, clock=clock)

    def _source(self) -> ModelSource | InputError:
        try:
            return self._read()
        except InputError as mistake:
            return mistake
