"""A home written by the version before still works: it opens, lists, searches, plays on and validates.

`old_home.sqlite.xz` is its database, of 1 December 2026: the session `quay` (nine turns told by a scripted model, an
undo, a redo and a fork, with the memory plugin's records and jobs), the session `imported` (takes, an edit, a hidden
and a deleted message), the workspace `other`, and a vector of 16 numbers for every passage.
"""

from __future__ import annotations

import lzma
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from talekeeper.clock import SystemClock
from talekeeper.home import Home
from talekeeper.memory_search import read_question, search_memory
from talekeeper.story import Address, Coordinate, JobState, Scope
from talekeeper.testing import Recorded, ScriptedServer, Step, say, say_json

QUAY = Address("default", "quay")
IMPORTED = Address("default", "imported")


LISTING = """
import sys
from pathlib import Path
from talekeeper.home import Home

with Home.open(Path(sys.argv[1]), new=False, tracing=False) as home:
    print(*(one.id for one in home.story.sessions.all("default")))
print(*(name for name in sys.modules if name in {"numpy", "httpx", "jsonschema_rs", "pydantic"}))
print(*(name for name in sys.modules if name.startswith("talekeeper.search.")))
"""


def answer(request: Recorded) -> Step:
    """The memory plugin asks for JSON; the narrator's part is a sentence."""
    return say_json({}) if "response_format" in request.body else say("The bell rings over the water.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written = Path(__file__).with_name("old_home.sqlite.xz").read_bytes()
    (tmp_path / "talekeeper.sqlite").write_bytes(lzma.decompress(written))
    return tmp_path


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with ScriptedServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with Home.open(folder, clock=SystemClock(), new=False, tracing=False) as home:
            yield home


def test_its_sessions_are_listed(home: Home) -> None:
    sessions = home.story.sessions.all("default")

    assert [workspace.id for workspace in home.story.workspaces.all()] == ["default", "other"]
    assert {(one.id, one.title, one.head) for one in sessions} == {
        ("quay", "The quay", Coordinate(2, 5)),
        ("imported", "From a file", Coordinate(0, 4)),
    }
    assert [one.name for one in home.story.tree.branches(QUAY)] == ["", "", "another road"]


def test_listing_them_loads_neither_the_index_nor_a_heavy_library(folder: Path) -> None:
    listing = [sys.executable, "-c", LISTING, str(folder)]

    done = subprocess.run(listing, capture_output=True, text=True, check=True)

    assert done.stdout.split("\n") == ["imported quay", "", "", ""]


def test_it_validates(home: Home) -> None:
    assert home.db.integrity() == []
    assert home.story.index.check() == []


def test_its_messages_and_records_are_read(home: Home) -> None:
    story = home.story
    messages = {one.ref: one for one in story.messages.all(IMPORTED)}
    facts = home.host.namespace("memory/facts")

    assert [one.text for one in story.messages.texts(IMPORTED, messages["2"].id)] == [
        "The ferryman rang the bell.",
        "The old ferryman rang the bronze bell.",
    ]
    assert (messages["3"].hidden, [one.deleted for one in messages.values()].count(True)) == (True, 1)
    assert [one.value["text"] for one in story.records.list(facts, Scope("default", "quay"), at=Coordinate(0, 1))] == [
        "Mara hid the iron key in the old well.",
        "Tobin keeps the harbour lamp.",
    ]
    assert {job.state for job in story.jobs.all(QUAY)} <= {JobState.SUCCEEDED, JobState.SKIPPED, JobState.PENDING}


def test_it_is_searched(home: Home) -> None:
    def found(address: Address, query: str) -> str:
        return str(
            search_memory(home.services, address, read_question({"query": query})).as_json()["results"][0]["text"]
        )

    assert "bronze bell" in found(IMPORTED, "who rang the bell")
    assert "iron key" in found(QUAY, "where is Mara's key")


def test_its_vectors_are_kept(home: Home) -> None:
    (fingerprint,) = home.db.read(lambda tx: tx.rows("SELECT fingerprint FROM vector_space"))[0]

    passages, embedded = home.story.vectors.count(fingerprint)

    assert passages == embedded == 26


def test_it_plays_on(home: Home) -> None:
    before = home.story.messages.read(QUAY)

    home.narrator().turn(QUAY, "I ring the bell.")
    home.jobs().run(QUAY)
    home.story.tree.undo(QUAY)
    home.story.tree.redo(QUAY)
    home.story.index.rebuild()

    after = home.story.messages.read(QUAY)
    assert [one.text for one in after] == [
        *(one.text for one in before),
        "I ring the bell.",
        "The bell rings over the water.",
    ]
    assert home.story.index.check() == []
