"""The contract tests of embedding providers and vector stores, run on a plugin that has both, and on broken ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from talekeeper.testing import EmbeddingProviderContract, Host, VectorStoreContract

LANTERN = Path(__file__).parent / "lantern"
Embed = Callable[[Sequence[str], str], list[list[float]]]
TOLD = ("Hesper Lowe keeps the lamp.", "The boat is late.", "It rains on the pier.", "Nobody sleeps.")


class TestSpelling(EmbeddingProviderContract):
    plugin = LANTERN
    provider = "spelling"


class TestShelf(VectorStoreContract):
    plugin = LANTERN
    store = "shelf"


@pytest.fixture
def shelf(talekeeper_host: Host) -> Mapping[str, Any]:
    """The store's functions, in a story that has been told and embedded into it."""
    talekeeper_host.add(LANTERN)
    for text in TOLD:
        talekeeper_host.tell(text)
    talekeeper_host.embed_with("lantern/spelling", store="lantern/shelf")
    return talekeeper_host.provider("lantern/shelf")


def keys(shelf: Mapping[str, Any]) -> list[str]:
    return list(shelf["list"]("", 100))


def test_a_class_that_does_not_say_its_provider_is_refused() -> None:
    with pytest.raises(TypeError, match="does not say its provider"):
        type("Unsaid", (EmbeddingProviderContract,), {"plugin": LANTERN})


def test_a_store_outside_has_a_vector_of_every_passage(talekeeper_host: Host, shelf: Mapping[str, Any]) -> None:
    answer = talekeeper_host.search("Who keeps the lamp?")

    assert len(keys(shelf)) == len(TOLD)
    assert (answer.mode, answer.degraded) == ("hybrid", "")


def test_what_is_deleted_leaves_the_store_at_the_next_sweep(talekeeper_host: Host, shelf: Mapping[str, Any]) -> None:
    message = talekeeper_host.tell("A word too much.")
    talekeeper_host.embed_with("lantern/spelling", store="lantern/shelf")

    talekeeper_host.delete(message.id)
    answer = talekeeper_host.search("A word too much.")
    talekeeper_host.embed_with("lantern/spelling", store="lantern/shelf")

    assert message.id not in {hit.id for hit in answer.results}
    assert len(keys(shelf)) == len(TOLD)


def test_vectors_of_other_spaces_are_pruned(talekeeper_host: Host, shelf: Mapping[str, Any]) -> None:
    shelf["upsert"]({"0123456789abcdef/1/1": [1.0]})
    talekeeper_host.tell("One more.")

    talekeeper_host.embed_with("lantern/spelling", store="lantern/shelf")

    assert not any(key.startswith("0123456789abcdef/") for key in keys(shelf))
    assert len(keys(shelf)) == len(TOLD) + 1


def test_what_the_store_has_lost_is_searched_by_words(talekeeper_host: Host, shelf: Mapping[str, Any]) -> None:
    shelf["remove"](keys(shelf)[:1])
    talekeeper_host.embed_with("lantern/spelling", store="lantern/shelf")

    answer = talekeeper_host.search("Who keeps the lamp?")

    assert answer.mode == "hybrid"
    assert answer.results


@pytest.mark.parametrize("path", ["lantern/spelling", "lantern/none", "nobody/shelf"])
def test_a_store_that_is_none_is_told_beside_the_answer(talekeeper_host: Host, path: str) -> None:
    talekeeper_host.add(LANTERN)
    talekeeper_host.tell(TOLD[0])

    with pytest.raises(Exception, match=r"vector store|not installed"):
        talekeeper_host.embed_with("lantern/spelling", store=path)
    answer = talekeeper_host.search("lamp")

    assert answer.results
    assert answer.mode == "lexical"
    assert answer.degraded


def _plain(texts: Sequence[str], model: str) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def _too_few(texts: Sequence[str], model: str) -> list[list[float]]:
    return [[1.0]]


def _no_numbers(texts: Sequence[str], model: str) -> list[list[float]]:
    return [[float("nan")] for _ in texts]


def _by_company(texts: Sequence[str], model: str) -> list[list[float]]:
    return [[1.0, float(len(texts) > 1)] for _ in texts]


@pytest.mark.parametrize(
    ("embed", "models", "test"),
    [
        pytest.param(_plain, [], "test_it_says_which_models_it_has", id="no model"),
        pytest.param(_too_few, ["m"], "test_every_text_has_a_vector", id="too few"),
        pytest.param(_no_numbers, ["m"], "test_every_text_has_a_vector", id="no numbers"),
        pytest.param(_by_company, ["m"], "test_a_text_means_the_same_in_any_company", id="company matters"),
        pytest.param(_too_few, ["m"], "test_no_texts_have_no_vectors", id="one of nothing"),
    ],
)
def test_a_provider_that_breaks_the_contract_fails_the_test_of_it(
    embed: Embed, models: list[str], test: str, monkeypatch: pytest.MonkeyPatch, talekeeper_host: Host
) -> None:
    def provider(host: Host, path: str) -> Mapping[str, Any]:
        return {"version": "1", "models": models, "embed": embed}

    monkeypatch.setattr(Host, "provider", provider)
    broken: Callable[[Host], None] = getattr(TestSpelling(), test)

    with pytest.raises(AssertionError):
        broken(talekeeper_host)


@pytest.mark.parametrize("rubbish", [[float("nan")], [[1.0]], ["x"]], ids=["nan", "nested", "text"])
def test_a_store_that_gives_no_vector_is_at_fault_and_not_the_index(tmp_path: Path, rubbish: list[Any]) -> None:
    with Host(tmp_path, strict=False) as host:
        host.add(LANTERN)
        host.tell(TOLD[0])
        host.embed_with("lantern/spelling", store="lantern/shelf")
        shelf = host.provider("lantern/shelf")
        shelf["upsert"]({keys(shelf)[0]: rubbish})

        answer = host.search("Who keeps the lamp?")

    assert (answer.mode, len(answer.results)) == ("lexical", 1)
    assert "vector store shelf" in answer.degraded
