"""What is said of a partition that could not be compared with what it should hold."""

from __future__ import annotations

from talekeeper.search.checking import Difference
from talekeeper.search.passage import Kind


class Unreadable(Difference):
    """Stands for every passage of the partition; `what` is the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(Kind.MESSAGE, "", "", "", 0, reason)

    def __str__(self) -> str:
        return self.what
