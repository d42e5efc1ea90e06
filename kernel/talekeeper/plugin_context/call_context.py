"""Makes the `PluginContext` of one call."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from talekeeper.clock import Clock
from talekeeper.plugin_context.bound import Bound
from talekeeper.plugin_context.records import Records
from talekeeper.plugin_context.models import CallModels
from talekeeper.plugin_context.reading import StoryHistory, StorySearch, session_view
from talekeeper.plugin_types import Json, SessionView, TurnView
from talekeeper.plugins import Plugin


class CallContext:
    """See `protocols.PluginContext`."""

    def __init__(self, bound: Bound, plugin: Plugin) -> None:
        services, session = bound.services, bound.session
        self._life = bound.life
        self._bound = bound
        self._session: SessionView | None = None
        self._settings = services.host.settings(plugin, session.workspace, session.id)
        self._data = Records(bound)
        self._history = StoryHistory(bound)
        self._search = StorySearch(bound)
        self._turn = None if bound.turn is None else bound.turn.view
        self._models = CallModels(bound)
        self._clock = services.clock
        self._log = logging.getLogger(f"talekeeper.plugin.{plugin.id}")

    @property
    def session(self) -> SessionView:
        """Where the call is bound to; read when first asked for."""
        if self._session is None:
            self._session = session_view(self._bound.services.story, self._bound.session, self._bound.at)
        return self._session

    @property
    def settings(self) -> Mapping[str, Json]:
        """Every declared setting with its value here."""
        return self._settings

    @property
    def data(self) -> Records:
        """The plugin's records, and those it declares to read."""
        return self._data

    @property
    def history(self) -> StoryHistory:
        """The story so far."""
        return self._history

    @property
    def search(self) -> StorySearch:
        """Terms, ranking and memory-search."""
        return self._search

    @property
    def turn(self) -> TurnView | None:
        """The turn a tool or segment is called in."""
        return self._turn

    @property
    def models(self) -> CallModels:
        """The language models the manifest may use."""
        return self._models

    @property
    def clock(self) -> Clock:
        """The time."""
        return self._clock

    @property
    def log(self) -> logging.Logger:
        """The plugin's own logger."""
        return self._log

    def check(self) -> None:
        """Raises `ContextClosed` when the call is over its time, `Cancelled` when it was cancelled."""
        self._life.check()

    def close(self) -> None:
        """Ends the context; waits for a write that is being committed."""
        self._life.close()
