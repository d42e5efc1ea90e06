"""What every plugin must hold, as a class that a plugin's own tests inherit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from talekeeper.manifest import FILE_NAME, Namespace, as_text, check_target, installed, read_manifest
from talekeeper.plugin_types import Answer, Json, Record
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
        if not hasattr(cls, "plugin"):
            raise TypeError(f'{cls.__name__} does not say where the plugin is; give it plugin = Path("…")')

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
                answer = talekeeper_host.search(word, sources=[namespace.path], limit=_MOST_RESULTS)

                assert key in _found(answer), f"record {key!r} of {namespace.path} is not found by {word!r}"

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
    """The words of the searched text that can be asked for, each with its terms."""
    texts = [record.value.get(name) for name in (namespace.search.text if namespace.search else ())]
    words: Iterable[str] = chain.from_iterable(text.split() for text in texts if isinstance(text, str))
    terms = {word: query_terms(word) for word in words if len(word) <= _LONGEST_QUERY}
    return {word: found for word, found in terms.items() if found}


def _found(answer: Answer) -> set[str]:
    return {hit.id for hit in answer.results} | {also.id for hit in answer.results for also in hit.also}
