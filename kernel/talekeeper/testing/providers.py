"""What every embedding provider and every vector store must hold, as classes that a plugin's own tests inherit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from talekeeper.testing.host import Host

_SAME = 0.999  # cosine: what comes of half precision and of other sums is less
_CLOSE = 1e-2
_PAGE = 3
_ODD = ("", " ", "\n", "🙂", "x" * 20_000, "שלום", "\u200b", "Ω≈ç√", "一")

Functions = Mapping[str, Any]


class EmbeddingProviderContract:
    """Inherit it, say where the plugin is and which of its providers it is about, and pytest runs these tests.

    class TestSmall(EmbeddingProviderContract):
        plugin = Path(__file__).parents[1] / "talekeeper_lantern"
        provider = "small"
    """

    plugin: ClassVar[Path | str]
    provider: ClassVar[str]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        _check(cls, "provider")

    def test_it_says_which_models_it_has(self, talekeeper_host: Host) -> None:
        """At least one, each by a name."""
        models = _models(_functions(talekeeper_host, self.plugin, self.provider))

        assert models
        assert all(isinstance(cast("object", model), str) and model for model in models)

    def test_every_text_has_a_vector(self, talekeeper_host: Host) -> None:
        """All of one length, of finite numbers, whatever the texts are."""
        embed = _embed(talekeeper_host, self.plugin, self.provider)

        vectors = embed(_ODD)

        assert len(vectors) == len(_ODD)
        assert len({len(vector) for vector in vectors}) == 1
        assert all(math.isfinite(number) for vector in vectors for number in vector)

    def test_no_texts_have_no_vectors(self, talekeeper_host: Host) -> None:
        """An empty list, and no error."""
        embed = _embed(talekeeper_host, self.plugin, self.provider)

        vectors = embed(())

        assert list(vectors) == []

    def test_a_text_means_the_same_in_any_company(self, talekeeper_host: Host) -> None:
        """Alone, first or last."""
        embed = _embed(talekeeper_host, self.plugin, self.provider)
        text, others = "Hesper Lowe keeps the lamp.", ["It rains.", "The boat is late, and nobody knows why."]

        (alone,) = embed([text])
        first, *_ = embed([text, *others])
        *_, last = embed([*others, text])

        assert _cosine(alone, first) > _SAME
        assert _cosine(alone, last) > _SAME

    def test_passages_are_found_through_it(self, talekeeper_host: Host) -> None:
        """The kernel embeds a story with it and asks it what a question means."""
        plugin = talekeeper_host.add(self.plugin)
        told = ("Hesper Lowe keeps the lamp.", "The boat is late.", "It rains on the pier.")
        for text in told:
            talekeeper_host.tell(text)

        embedded = talekeeper_host.embed_with(f"{plugin}/{self.provider}")
        answer = talekeeper_host.search("Who keeps the lamp?")

        assert embedded == len(told)
        assert (answer.mode, answer.degraded) == ("hybrid", "")
        assert answer.results


class VectorStoreContract:
    """The same for a vector store: `store` is its name.

    class TestShelf(VectorStoreContract):
        plugin = Path(__file__).parents[1] / "talekeeper_lantern"
        store = "shelf"
    """

    plugin: ClassVar[Path | str]
    store: ClassVar[str]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        _check(cls, "store")

    def test_what_is_written_comes_back(self, talekeeper_host: Host) -> None:
        """As good as half precision is; keys that are not there are left out."""
        store = _functions(talekeeper_host, self.plugin, self.store)
        written = {"1/2/3": [0.6, -0.8], "1/2/4": [1.0, 0.0]}

        store["upsert"](written)
        found = store["get"](["1/2/4", "1/2/3", "1/2/5"])

        assert {key: [round(number, 2) for number in vector] for key, vector in found.items()} == written

    def test_a_key_has_the_vector_written_last(self, talekeeper_host: Host) -> None:
        """Writing is replacing."""
        store = _functions(talekeeper_host, self.plugin, self.store)

        store["upsert"]({"1/2/3": [1.0, 0.0]})
        store["upsert"]({"1/2/3": [0.0, 1.0]})

        assert math.dist(store["get"](["1/2/3"])["1/2/3"], [0.0, 1.0]) < _CLOSE

    def test_keys_are_listed_in_order_page_by_page(self, talekeeper_host: Host) -> None:
        """By their text; `after` is the last one seen."""
        store = _functions(talekeeper_host, self.plugin, self.store)
        keys = [f"1/7/{number}" for number in range(7)]
        store["upsert"]({key: [1.0] for key in reversed(keys)})

        pages: list[Sequence[str]] = [store["list"]("", _PAGE)]
        while pages[-1]:
            pages.append(store["list"](pages[-1][-1], _PAGE))

        assert [key for page in pages for key in page] == keys
        assert max(map(len, pages)) <= _PAGE

    def test_removed_keys_are_gone(self, talekeeper_host: Host) -> None:
        """Those that never were are no error."""
        store = _functions(talekeeper_host, self.plugin, self.store)
        store["upsert"]({"1/2/3": [1.0], "1/2/4": [1.0]})

        store["remove"](["1/2/3", "9/9/9"])

        assert list(store["get"](["1/2/3", "1/2/4"])) == ["1/2/4"]
        assert list(store["list"]("", 10)) == ["1/2/4"]

    def test_pruning_leaves_one_space(self, talekeeper_host: Host) -> None:
        """Keys that begin otherwise go, and are counted."""
        store = _functions(talekeeper_host, self.plugin, self.store)
        store["upsert"]({"1/2/3": [1.0], "2/2/3": [1.0], "21/2/3": [1.0]})

        before = set(store["list"]("", 10))
        gone = store["prune"]("2/")
        after = list(store["list"]("", 10))

        assert sorted(before - set(after)) == ["1/2/3", "21/2/3"]
        assert gone == len(before) - len(after)
        assert after == ["2/2/3"]


def _check(cls: type, name: str) -> None:
    for needed in ("plugin", name):
        if not hasattr(cls, needed):
            raise TypeError(f"{cls.__name__} does not say its {needed}; give it {needed} = …")


def _functions(host: Host, plugin: Path | str, name: str) -> Functions:
    return host.provider(f"{host.add(plugin)}/{name}")


def _models(functions: Functions) -> Sequence[str]:
    listed: Callable[[], Sequence[str]] | None = functions.get("list_models")
    return functions["models"] if listed is None else listed()


def _embed(host: Host, plugin: Path | str, name: str) -> Callable[[Sequence[str]], Sequence[Sequence[float]]]:
    """With the first of its models."""
    functions = _functions(host, plugin, name)
    model = _models(functions)[0]
    return lambda texts: functions["embed"](texts, model)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 1.0
