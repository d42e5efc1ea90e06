"""What every plugin, embedding provider and vector store must hold, as classes that a plugin's own tests inherit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, cast

from talekeeper.api import Json, Record
from talekeeper.manifest import FILE_NAME, Namespace, as_text, check_target, installed, read_manifest
from talekeeper.plugins import discover
from talekeeper.testing.host import Host
from talekeeper.text import query_terms

_LONGEST_QUERY = 1_000
_MOST_RESULTS = 20


class PluginContract:
    """Inherit it, say where the plugin is, and pytest runs these tests with your own.

        class TestLorebook(PluginContract):
            plugin = Path(__file__).parents[1] / "talekeeper_lorebook"
            samples = {"entries": [{"name": "Hesper Lowe", "body": "Keeps the lamp."}]}

    `plugin` is as for `Host.add`: the folder of the package or project, or the id of an installed plugin. `samples` has
    records for each namespace; one whose manifest has a seed needs none.
    """

    plugin: ClassVar[Path | str]
    samples: ClassVar[Mapping[str, Sequence[Mapping[str, Json]]]] = MappingProxyType({})

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        _require(cls)

    def test_nothing_can_be_said_against_the_manifest(self) -> None:
        """As `validate-plugin --strict` says it."""
        checked = check_target(_target(self.plugin))

        assert not checked.diagnostics, "\n".join(as_text([checked]))

    def test_the_code_registers_what_the_manifest_declares(self, talekeeper_host: Host) -> None:
        """And nothing else."""
        assert talekeeper_host.add(self.plugin)

    def test_sample_records_are_kept_as_given(self, talekeeper_host: Host) -> None:
        """Each fits its schema; every namespace has one."""
        for namespace, records in self._kept(talekeeper_host):
            given = self.samples.get(namespace.name, ())
            kept = [record.value for record in records]

            assert kept, f"{namespace.path} has neither samples nor a seed"
            assert [value for value in given if value not in kept] == []

    def test_records_are_found_by_a_word_of_their_text(self, talekeeper_host: Host) -> None:
        """Each record of a searched namespace, unless its `when` property switches it off."""
        for namespace, records in self._kept(talekeeper_host):
            words = {record.key: _words(namespace, record) for record in records if _is_searched(namespace, record)}
            common = Counter(chain.from_iterable(set(chain(*each.values())) for each in words.values()))
            for key, terms in words.items():
                assert terms, f"the text of record {key!r} of {namespace.path} has no word to search for"
                word = min(terms, key=lambda word: min(common[term] for term in terms[word]))
                results = talekeeper_host.search(word, sources=[namespace.path], limit=_MOST_RESULTS).results
                found = {hit.id for hit in results} | {also.id for hit in results for also in hit.also}

                assert key in found, f"record {key!r} of {namespace.path} is not found by {word!r}"

    def _kept(self, host: Host) -> Iterator[tuple[Namespace, tuple[Record, ...]]]:
        host.add(self.plugin)
        host.session(preset="sample")
        declared = {namespace.name: namespace for namespace in _namespaces(self.plugin)}
        assert set(self.samples) <= set(declared), "samples are given for a namespace that is not declared"
        for name, namespace in declared.items():
            yield namespace, host.records(namespace.path, self.samples.get(name, ()))


def _target(plugin: Path | str) -> str:
    """What validate-plugin would be pointed at."""
    if isinstance(plugin, Path):
        return str(plugin)
    return next((entry.dist.name for entry in installed() if entry.name == plugin and entry.dist), plugin)


def _namespaces(plugin: Path | str) -> tuple[Namespace, ...]:
    """Those that the manifest declares."""
    if isinstance(plugin, Path):
        (found,) = discover(home=None, paths=[plugin], entries=tuple)
    else:
        (found,) = discover(home=None, entries=lambda: (entry for entry in installed() if entry.name == plugin))
    return () if found.root is None else read_manifest(found.root / FILE_NAME).data


def _is_searched(namespace: Namespace, record: Record) -> bool:
    table = namespace.search
    return table is not None and (table.when is None or record.value.get(table.when) is not False)


def _words(namespace: Namespace, record: Record) -> dict[str, tuple[str, ...]]:
    """The words of the searched text that a query can look for, each with its terms."""
    texts = [record.value.get(name) for name in (namespace.search.text if namespace.search else ())]
    words: Iterable[str] = chain.from_iterable(text.split() for text in texts if isinstance(text, str))
    terms = {word: query_terms(word) for word in words if len(word) <= _LONGEST_QUERY}
    return {word: found for word, found in terms.items() if found}


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
        _require(cls, "provider")

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
        texts = ("Hesper Lowe keeps the lamp.", "The boat is late.", "It rains on the pier.")
        for text in texts:
            talekeeper_host.tell(text)

        embedded = talekeeper_host.embed_with(f"{plugin}/{self.provider}")
        answer = talekeeper_host.search("Who keeps the lamp?")

        assert embedded == len(texts)
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
        _require(cls, "store")

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


def _require(cls: type, *names: str) -> None:
    """Raises TypeError for a class without its `plugin`, or without one of `names`."""
    if not hasattr(cls, "plugin"):
        raise TypeError(f'{cls.__name__} does not say where the plugin is; give it plugin = Path("…")')
    for name in names:
        if not hasattr(cls, name):
            raise TypeError(f"{cls.__name__} does not say its {name}; give it {name} = …")


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
