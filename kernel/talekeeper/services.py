"""What one open home offers to searches, plugin calls and turns: one value handed down through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command that needs some of them loads no others
    from talekeeper.clock import Clock
    from talekeeper.embedding import Semantics
    from talekeeper.models import ModelSource
    from talekeeper.plugins import Host
    from talekeeper.search import Index
    from talekeeper.story import Address, Story
    from talekeeper.trace import Trace


@dataclass(frozen=True, slots=True)
class Services:
    """Without `semantics` a search is by words alone; without a `trace` nothing is reported."""

    story: Story
    index: Index
    host: Host
    clock: Clock
    models: ModelSource
    trace: Trace | None = None
    semantics: Semantics | None = None

    def report(
        self, event: str, address: Address, *, turn: int | None = None, body: object = None, **facts: object
    ) -> None:
        """Reports an event of a session, where somebody listens; raises nothing."""
        if self.trace is not None:
            where, session = address.workspace, address.session
            self.trace.event(event, workspace=where, session=session, turn=turn, body=body, **facts)
