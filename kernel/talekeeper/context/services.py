"""What every module of context works with, passed in once."""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.clock import Clock
from talekeeper.plugins import Host
from talekeeper.search import Index
from talekeeper.story import Story


@dataclass(frozen=True, slots=True)
class Services:
    """What the rooms below offer, of one home."""

    story: Story
    index: Index
    host: Host
    clock: Clock
