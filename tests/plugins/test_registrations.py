from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.api import Registry
from talekeeper.manifest import Namespace, PluginManifest
from talekeeper.plugins.loader import Registrations


def _manifest(**contributes: Any) -> PluginManifest:
    return PluginManifest("lore", "1.0", 1, module="code", contributes=contributes)


def _work(*_arguments: Any) -> Any: ...


def test_everything_declared_and_registered_agrees() -> None:
    manifest = PluginManifest(
        "lore",
        "1.0",
        1,
        module="code",
        data=(Namespace("lore", "entries", version=2),),
        contributes={
            "tools": ({"name": "roll"},),
            "prompt": ({"id": "recalled"},),
            "jobs": ({"id": "extract"},),
            "commands": ({"id": "check"},),
            "importers": ({"id": "book"},),
            "providers": ({"kind": "embedding", "name": "small"}, {"kind": "vector-store", "name": "box"}),
            "settings": ({"key": "size"},),
        },
    )
    registry = cast("Registry", Registrations())

    registry.tool("roll", _work)
    registry.prompt("recalled", _work)
    registry.job("extract", _work)
    registry.command("check", _work)
    registry.importer("book", _work)
    registry.migration("entries", _work)
    registry.embedding_provider("small", version="1", embed=_work, models=["m"])
    registry.vector_store("box", get=_work, upsert=_work, list=_work, remove=_work, prune=_work)

    assert isinstance(registry, Registrations)
    assert registry.differences(manifest) == []


def test_both_directions_are_told_at_once() -> None:
    registry = Registrations()
    registry.command("chekc", _work)

    differences = registry.differences(_manifest(commands=({"id": "check"},), tools=({"name": "roll"},)))

    assert differences == [
        "plugin.toml declares command 'check', the code does not register it",
        "plugin.toml declares tool 'roll', the code does not register it",
        "the code registers command 'chekc', plugin.toml does not declare it",
    ]


@given(
    declared=st.sets(st.sampled_from("abcd")),
    registered=st.sets(st.sampled_from("abcd")),
)
def test_the_check_is_a_comparison_of_two_sets(declared: set[str], registered: set[str]) -> None:
    registry = Registrations()
    for name in registered:
        registry.job(name, _work)

    differences = registry.differences(_manifest(jobs=tuple({"id": name} for name in sorted(declared))))

    assert len(differences) == len(declared ^ registered)


def _not_a_function(registry: Registry) -> None:
    registry.tool("roll", cast("Any", 3))


def _not_a_string(registry: Registry) -> None:
    registry.tool(cast("Any", b"roll"), _work)


def _twice(registry: Registry) -> None:
    registry.tool("roll", _work)
    registry.tool("roll", _work)


def _half_a_store(registry: Any) -> None:
    registry.vector_store("roll", get=_work)


def _no_models(registry: Registry) -> None:
    registry.embedding_provider("roll", version="1", embed=_work)


@pytest.mark.parametrize(
    ("register", "told"),
    [
        (_not_a_function, "registered with int, not a function"),
        (_not_a_string, "under bytes, not a string"),
        (_twice, "registered twice"),
        (_half_a_store, "must give exactly"),
        (_no_models, "neither or both"),
    ],
)
def test_a_wrong_registration_is_a_fault(register: Callable[[Any], None], told: str) -> None:
    registry = Registrations()

    register(registry)

    assert told in "; ".join(registry.differences(_manifest(tools=({"name": "roll"},))))


def test_a_provider_of_another_kind_is_a_fault() -> None:
    registry = Registrations()
    registry.embedding_provider("box", version="1", embed=_work, models=["m"])

    differences = registry.differences(_manifest(providers=({"kind": "vector-store", "name": "box"},)))

    assert differences == ["provider 'box' is declared as vector-store and registered as embedding"]


def test_registering_after_the_end_is_a_fault() -> None:
    registry = Registrations()
    registry.close()

    registry.command("late", _work)

    assert registry.differences(_manifest()) == ["the code registers after talekeeper_register has ended"]


def test_an_older_namespace_version_needs_a_migration_only_where_there_is_code() -> None:
    data = (Namespace("lore", "entries", version=2),)
    with_code = PluginManifest("lore", "1.0", 1, module="code", data=data)
    without = PluginManifest("lore", "1.0", 1, data=data)

    assert "migration of namespace 'entries'" in Registrations().differences(with_code)[0]
    assert Registrations().differences(without) == []
