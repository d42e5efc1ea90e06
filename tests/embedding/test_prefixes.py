"""What an encoder is sent: each text behind the prefix of its kind, whatever embeds, and nothing that ends a string."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from talekeeper.embedding import EmbeddingProvider
from talekeeper.home import Home
from talekeeper.memory_search import read_question, search_memory
from talekeeper.models import Models, ProviderSettings
from talekeeper.story import Address, Draft
from talekeeper.testing import ScriptedServer, hash_vector

STORY = Address("harbour", "low-house")
TEXTS = ("the lamp is lit", "the boat is late")
QUESTION = "is the boat late"
NOMIC = 'query_prefix = "search_query: "\npassage_prefix = "search_document: "'

Open = Callable[..., Home]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def open_home(tmp_path: Path, server: ScriptedServer) -> Iterator[Open]:
    """Opens the home anew, with these lines in its embedding slot, which is at the server."""
    opened: list[Home] = []

    def open_home(lines: str = "") -> Home:
        folder = tmp_path / "home"
        is_new = not folder.exists()
        folder.mkdir(exist_ok=True)
        slot = f'base_url = "{server.base_url}"\nmodel = "hash"\n{lines}'
        (folder / "talekeeper.toml").write_text(f"[models.embedding]\n{slot}\n", encoding="utf-8")
        home = Home.open(folder, tracing=False)
        opened.append(home)
        assert home.models.slots  # read before the next one is written
        if is_new:
            home.story.sessions.create(STORY.workspace, session_id=STORY.session)
            home.story.messages.append(STORY, [Draft("narrator", text) for text in TEXTS])
        return home

    yield open_home
    for home in opened:
        home.close()


def sent(server: ScriptedServer) -> list[list[str]]:
    return [request.body["input"] for request in server.requests]


def ask(home: Home, query: str) -> dict[str, Any]:
    return search_memory(home.services, STORY, read_question({"query": query})).as_json()


def fingerprint(home: Home) -> str:
    encoder = home.semantics.encoder()
    assert encoder is not None
    return encoder.fingerprint


@pytest.mark.parametrize(
    ("lines", "passage", "query"),
    [
        pytest.param("", "", "", id="none"),
        pytest.param('query_prefix = ""\npassage_prefix = ""', "", "", id="empty"),
        pytest.param(NOMIC, "search_document: ", "search_query: ", id="both"),
        pytest.param('query_prefix = "Ask:\\n"', "", "Ask:\n", id="questions alone"),
        pytest.param('passage_prefix = "文:"', "文:", "", id="passages alone"),
    ],
)
def test_an_endpoint_is_sent_each_text_behind_its_prefix(
    open_home: Open, server: ScriptedServer, lines: str, passage: str, query: str
) -> None:
    home = open_home(lines)

    home.semantics.embed()
    answer = ask(home, QUESTION)

    assert sent(server) == [[passage + text for text in TEXTS], [query + QUESTION]]
    assert (answer["mode"], answer["results"][0]["text"]) == ("hybrid", TEXTS[1])


def provide(home: Home, provided: ProviderSettings) -> list[str]:
    """What the provider is given."""
    given: list[str] = []

    def embed(texts: Sequence[str], model: str) -> list[list[float]]:
        given.extend(texts)
        return [hash_vector(text) for text in texts]

    home.providers[provided.provider] = EmbeddingProvider(provided.provider, "1", embed, lambda: ["m"])
    home.use_models(Models(provided=provided))
    return given


@pytest.mark.parametrize("name", ["local", "lantern/small"])
def test_a_provider_is_given_each_text_behind_its_prefix(open_home: Open, name: str) -> None:
    home = open_home()
    given = provide(home, ProviderSettings(name, query_prefix="query: ", passage_prefix="passage: "))

    home.semantics.embed()
    ask(home, QUESTION)

    assert given == [*(f"passage: {text}" for text in TEXTS), f"query: {QUESTION}"]


def test_without_a_passage_prefix_the_space_is_what_it_was(open_home: Open, server: ScriptedServer) -> None:
    endpoint = open_home('query_prefix = "query: "\npassage_prefix = ""')
    provider = open_home()
    provide(provider, ProviderSettings("small", query_prefix="query: "))

    assert fingerprint(endpoint) == f"endpoint\n{server.base_url}\nhash\nspeaker: text/1"
    assert fingerprint(provider) == "small\n1\nm\nspeaker: text/1"


def test_each_passage_prefix_has_a_space_of_its_own(open_home: Open) -> None:
    plain = ProviderSettings("small")
    settings = [
        plain,
        replace(plain, passage_prefix="a/b"),
        replace(plain, passage_prefix="a/b\n"),
        replace(plain, passage_prefix="\na/b"),
    ]

    spaces: list[str] = []
    for each in settings:
        home = open_home()
        provide(home, each)
        spaces.append(fingerprint(home))

    assert len(set(spaces)) == len(settings)


def test_another_passage_prefix_makes_old_vectors_count_no_more(open_home: Open, server: ScriptedServer) -> None:
    open_home('passage_prefix = "passage: "').semantics.embed()

    home = open_home(NOMIC)
    before, standing = ask(home, QUESTION), home.semantics.status()
    made = home.semantics.embed()
    after = ask(home, QUESTION)

    assert (before["mode"], standing.embedded, made, after["mode"]) == ("lexical", 0, len(TEXTS), "hybrid")
    assert [f"search_document: {text}" for text in TEXTS] in sent(server)


def test_another_query_prefix_leaves_the_vectors_alone(open_home: Open, server: ScriptedServer) -> None:
    open_home('passage_prefix = "passage: "').semantics.embed()

    home = open_home('passage_prefix = "passage: "\nquery_prefix = "query: "')
    made = home.semantics.embed()
    answer = ask(home, QUESTION)

    assert (made, answer["mode"]) == (0, "hybrid")
    assert sent(server)[-1] == [f"query: {QUESTION}"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("the\0 boat", "the boat", id="NUL"),
        pytest.param("the\ud83d boat", "the\ufffd boat", id="half a pair"),
        pytest.param("the \ud83d\udea2", "the 🚢", id="a pair in two halves"),
    ],
)
def test_what_no_encoder_can_read_never_reaches_one(
    open_home: Open, server: ScriptedServer, text: str, told: str
) -> None:
    home, other = open_home('query_prefix = "a\\u0000sk: "'), open_home()
    given = provide(other, ProviderSettings("small"))

    meant = [each.semantics.embed_question([text]) for each in (home, other)]

    assert [list(each.vectors) if each else [] for each in meant] == [[text], [text]]
    assert sent(server) == [[f"ask: {told}"]]
    assert given == [told]
