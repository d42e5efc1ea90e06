"""The published schema: generated, valid, and of one mind with the model."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators
from pydantic import ValidationError
from talekeeper.manifest.model.manifest import generated_schema, model
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.shape import filled, fits_schema
from talekeeper.text import is_table

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
SCRIPT = ROOT / "scripts" / "make_manifest_schema.py"


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[Any]:
    # JSON Schema reads patterns as ECMA 262 does, where $ is the very end; Python's $ also stands before a last \n.
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        from jsonschema.exceptions import ValidationError as Broken  # noqa: PLC0415 - pydantic's name is taken

        yield Broken(f"{instance!r} does not match")


PUBLISHED = generated_schema()
SCHEMA: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})(PUBLISHED)  # type: ignore[no-untyped-call]  # jsonschema has no types


def model_takes(document: Any) -> bool:
    try:
        model().model_validate(document)
    except ValidationError:
        return False
    return True


def schema_takes(document: Any) -> bool:
    return bool(SCHEMA.is_valid(document))


def test_what_is_published_is_what_is_generated() -> None:
    spec = importlib.util.spec_from_file_location("make_manifest_schema", SCRIPT)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    outputs: dict[Path, str] = script.outputs()

    assert {path: path.read_bytes() for path in outputs} == {path: text.encode() for path, text in outputs.items()}


def test_the_published_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(generated_schema())


def test_the_published_schema_is_closed_and_knows_no_null() -> None:
    text = json.dumps(PUBLISHED)
    tables = [it for it in _schemas(PUBLISHED) if it.get("type") == "object" and "title" not in it]

    assert '"null"' not in text
    assert [it for it in tables if it.get("additionalProperties") is not False] == [
        {"additionalProperties": True, "description": "Free notes, never read by the host.", "type": "object"}
    ]


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    if is_table(value):
        yield value
        for item in value.values():
            yield from _schemas(item)


def test_every_point_is_in_the_schema_with_what_it_is_about() -> None:
    published = PUBLISHED["$defs"]["Contributes"]["properties"]

    assert {name: it["description"] for name, it in published.items()} == {it.name: it.about for it in POINTS.values()}


@pytest.mark.parametrize("path", sorted(HERE.glob("good/*/plugin.toml")), ids=lambda it: it.parent.name)
def test_both_take_every_good_manifest(path: Path) -> None:
    document = tomli.loads(path.read_text(encoding="utf-8"))

    assert model_takes(document)
    assert schema_takes(document)


# What is no TOML is refused before either sees it; of infinity a JSON schema has nothing to say.
UNSEEN = {"TK002", "TK004", "TK005", "TK006", "TK007"}
BROKEN = [it for it in sorted(HERE.glob("bad/**/*.toml")) if it.stem not in UNSEEN]


@pytest.mark.parametrize("path", BROKEN, ids=lambda it: str(it.relative_to(HERE / "bad")))
def test_both_say_the_same_of_every_bad_manifest(path: Path) -> None:
    document = tomli.loads(path.read_text(encoding="utf-8"))

    assert model_takes(document) == schema_takes(document)


_NAMES = """a A a-b a_b _a 1 session none schedule system embedding boolean string turn-committed refuse oldest recall
owner monday 03:30 3:30 memory/facts api.example.org *.json ../x code a.b >=1 0.1.0"""
WORDS = st.sampled_from([*_NAMES.split(), "", "a" * 41, "a" * 65, "a\n", "a b", "é", "é.example", "x\u2028", "a\x00"])
LEAVES = st.one_of(
    WORDS, st.booleans(), st.integers(-2, 12), st.sampled_from([1.0, 0.5, 10.5, 1e9, -1e9, 10**7, 10**9])
)
VALUES = st.recursive(
    LEAVES, lambda it: st.lists(it, max_size=2) | st.dictionaries(WORDS, it, max_size=2), max_leaves=4
)


def _of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that mostly follow a part of the schema, and go astray now and then at any depth."""
    if "$ref" in schema:
        return _of(PUBLISHED["$defs"][schema["$ref"].rsplit("/", 1)[-1]])
    if "anyOf" in schema:
        return st.one_of(*map(_of, schema["anyOf"]))
    if "enum" in schema:
        return st.one_of(st.sampled_from(schema["enum"]), WORDS)
    return _straying(schema, _by_type(schema))


def _by_type(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    kind = schema["type"]
    if kind == "array":
        return st.lists(_of(schema["items"]), max_size=2)
    if kind == "object" and "patternProperties" in schema:
        return st.dictionaries(WORDS, _of(next(iter(schema["patternProperties"].values()))), max_size=2)
    if kind == "object" and "properties" in schema:
        known = {key: _of(it) for key, it in schema["properties"].items()}
        needed = {key: it for key, it in known.items() if key in schema.get("required", ())}
        return st.fixed_dictionaries(needed, optional={key: it for key, it in known.items() if key not in needed})
    simple = {"string": WORDS, "boolean": st.booleans(), "integer": st.integers(-2, 12), "number": st.floats(-1, 12)}
    return simple.get(kind, VALUES)


def _straying(schema: dict[str, Any], usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 19).flatmap(
        lambda it: VALUES if it == 0 else usual.map(_with_stranger) if it == 1 and "properties" in schema else usual
    )


def _with_stranger(table: Any) -> Any:
    return {**table, "stranger": 1} if is_table(table) else table


def _as_made_by_both(document: Any) -> tuple[str, str]:
    # The text of a value tells 1 from 1.0 and true, and has the order of keys. Of notes nothing is ever made.
    whole = {key: it for key, it in document.items() if key != "x"}
    return repr(filled(whole)), repr(model().model_validate(whole).model_dump(by_alias=True, exclude_none=True))


PLUGINS = [it for folder in ("examples", "plugins", "tests/manifest") for it in (ROOT / folder).rglob("plugin.toml")]
MANIFESTS = sorted({*PLUGINS, *BROKEN})


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda it: str(it.relative_to(ROOT)))
def test_of_a_manifest_that_fits_the_schema_schema_and_model_make_the_same(path: Path) -> None:
    document = tomli.loads(path.read_text(encoding="utf-8"))

    plainly = fits_schema(document)

    assert plainly or "bad" in path.parts
    assert not plainly or model_takes(document)
    assert not plainly or len(set(_as_made_by_both(document))) == 1


@given(_of(PUBLISHED))
def test_both_make_the_same_of_any_manifest_that_fits_the_schema(document: Any) -> None:
    plainly = is_table(document) and fits_schema(document)

    assert not plainly or model_takes(document)
    assert not plainly or len(set(_as_made_by_both(document))) == 1


@given(_of(PUBLISHED))
def test_both_say_the_same_of_any_manifest(document: Any) -> None:
    assert model_takes(document) == schema_takes(document)


@given(st.data(), st.sampled_from(["plugin", "data", "tools", "settings", "jobs", "permissions"]))
def test_both_say_the_same_of_any_single_table(data: st.DataObject, table: str) -> None:
    properties = PUBLISHED["properties"]
    plugin = {"id": "a", "version": "1", "api": 1}
    document: dict[str, Any] = {"plugin": plugin}
    if table in properties:
        document[table] = data.draw(_of(properties[table]))
    else:
        document["contributes"] = {table: data.draw(_of(PUBLISHED["$defs"]["Contributes"]["properties"][table]))}

    taken = model_takes(document)

    assert taken == schema_takes(document)
    assert taken or not fits_schema(document)
    assert not taken or len(set(_as_made_by_both(document))) == 1
