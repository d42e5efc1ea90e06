"""What pytest finds of Talekeeper by itself, through the entry-point group `pytest11`: the fixture `talekeeper_host`.

pytest imports this in every run in an environment that has Talekeeper, so it imports nothing else before it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from talekeeper.testing import Host


@pytest.fixture
def talekeeper_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A `talekeeper.testing.Host` of the test's own: no plugin but those added, a temporary home, strict."""
    from talekeeper.testing import Host  # noqa: PLC0415 - numpy and sqlite load with the first test that asks

    with Host(tmp_path_factory.mktemp("talekeeper")) as host:
        yield host
