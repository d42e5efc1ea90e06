"""What every module of context works with, passed in once."""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.clock import Clock
from talekeeper.embedding import Semantics
from talekeeper.models import NO_MODELS, ModelSource
from talekeeper.plugins import Host
from talekeeper.search import Index
from talekeeper.story import Story
from talekeeper.trace import Trace


@dataclass(frozen=True, slots=True)
class Services:
    """What the rooms below offer, of one home. Without a `trace` nothing is reported."""

    story: Story
    index: Index
    host: Host
    clock: Clock
    models: ModelSource = NO_MODELS
    trace: Trace | None = None
    semantics: Semantics | None = None
    """Search by meaning; None where there is only search by words."""
