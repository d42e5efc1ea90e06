"""Embedding against the real thing: an endpoint over HTTP, a process that is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from talekeeper.embedding import EmbeddingProvider
from talekeeper.home import Home
from talekeeper.memory_search import read_question, search_memory
from talekeeper.models import Models, ProviderSettings
from talekeeper.story import Address, Draft
from talekeeper.testing import ScriptedServer, fail, hash_vector

STORY = Address("harbour", "low-house")
TEXTS = ("the lamp is lit", "the boat is late", "the rain is cold", "the key is lost")
KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[ScriptedServer], Home]]:
    """A home whose embedding slot is at a server, with a story in it."""
    opened: list[Home] = []
    monkeypatch.setenv("EMBEDDING_KEY", KEY)

    def open_at(server: ScriptedServer) -> Home:
        folder = tmp_path / "home"
        folder.mkdir(exist_ok=True)
        slot = f'base_url = "{server.base_url}"\nmodel = "hash"\nkey_env = "EMBEDDING_KEY"\nbatch = 3\nretries = 0'
        (folder / "talekeeper.toml").write_text(f"[models.embedding]\n{slot}\n", encoding="utf-8")
        home = Home.open(folder, tracing=False)
        opened.append(home)
        home.story.sessions.create(STORY.workspace, session_id=STORY.session)
        home.story.messages.append(STORY, [Draft("narrator", text) for text in TEXTS])
        return home

    yield open_at
    for home in opened:
        home.close()


def ask(home: Home, query: str) -> dict[str, Any]:
    return search_memory(home.services, STORY, read_question({"query": query})).as_json()


def test_an_endpoint_embeds_passages_in_batches_and_questions_alone(at: Callable[[ScriptedServer], Home]) -> None:
    with ScriptedServer() as server:
        home = at(server)

        made = home.semantics.embed()
        answer = ask(home, "is the boat late")

        asked = [request.body["input"] for request in server.requests]
    assert made == len(TEXTS)
    assert asked == [list(TEXTS[:3]), [TEXTS[3]], ["is the boat late"]]
    assert (answer["mode"], answer["results"][0]["text"]) == ("hybrid", TEXTS[1])


def test_an_endpoint_that_fails_costs_meaning_and_no_more(at: Callable[[ScriptedServer], Home]) -> None:
    with ScriptedServer(embeddings=[fail(500, message=f"no room for {KEY}")] * 9) as server:
        home = at(server)

        answers = [ask(home, "boat"), ask(home, "lamp")]

        asked = len(server.requests)
    assert [answer["results"][0]["text"] for answer in answers] == [TEXTS[1], TEXTS[0]]
    assert [answer["mode"] for answer in answers] == ["lexical", "lexical"]
    assert "could not be embedded" in answers[0]["degraded"]
    assert KEY not in answers[0]["degraded"]
    assert asked == 1


def test_a_mistake_in_the_configuration_is_told_beside_an_answer_by_words(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "talekeeper.toml").write_text("[models.embedding]\nprovider = 7\n", encoding="utf-8")

    with Home.open(folder, tracing=False) as home:
        home.story.sessions.create(STORY.workspace, session_id=STORY.session)
        home.story.messages.append(STORY, [Draft("narrator", TEXTS[0])])
        answer = ask(home, "lamp")

    assert answer["results"][0]["text"] == TEXTS[0]
    assert "models.embedding.provider" in answer["degraded"]


BUSY = """
import sys, time
from pathlib import Path
from talekeeper.embedding import EmbeddingProvider
from talekeeper.home import Home
from talekeeper.models import Models, ProviderSettings
from talekeeper.testing import hash_vector

def embed(texts, model):
    print(len(texts), flush=True)
    return [hash_vector(text) for text in texts]

home = Home.open(Path(sys.argv[1]), tracing=False)
home.providers["hash"] = EmbeddingProvider("hash", "1", embed, lambda: ["m"])
home.use_models(Models(provided=ProviderSettings("hash", batch=1)))
home.semantics.embed()
print("done", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("batches", [1, 150])
def test_a_process_killed_while_it_embeds_leaves_what_it_had_done(tmp_path: Path, batches: int) -> None:
    with Home.open(tmp_path / "home", tracing=False) as home:
        home.story.sessions.create(STORY.workspace, session_id=STORY.session)
        home.story.messages.append(STORY, [Draft("narrator", f"passage {number}") for number in range(200)])

    worker = subprocess.Popen([sys.executable, "-c", BUSY, str(tmp_path / "home")], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    for _ in range(batches):
        worker.stdout.readline()
    worker.send_signal(signal.SIGKILL)
    worker.communicate()

    embedded: list[str] = []
    with Home.open(tmp_path / "home", tracing=False) as home:
        provide(home, embedded)
        kept = home.semantics.status().embedded
        made = home.semantics.embed()
        standing = home.semantics.status()
        answer = ask(home, "passage 7")
        rest = home.semantics.embed()
    assert batches - 1 <= kept < 200
    assert made == 200 - kept
    assert (standing.embedded, standing.passages, rest) == (200, 200, 0)
    assert (answer["mode"], answer["searched"]) == ("hybrid", 200)


def provide(home: Home, embedded: list[str]) -> None:
    def embed(texts: Sequence[str], model: str) -> list[list[float]]:
        embedded.extend(texts)
        return [hash_vector(text) for text in texts]

    home.providers["hash"] = EmbeddingProvider("hash", "1", embed, lambda: ["m"])
    home.use_models(Models(provided=ProviderSettings("hash")))
