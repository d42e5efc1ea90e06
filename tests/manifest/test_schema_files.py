"""Schema files: found, read, valid, closed in themselves; and what they say of the properties search names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.json_schema import endless, properties, resolve, types
from talekeeper.manifest.loader import examine
from talekeeper.manifest.package import Folder

Found = Callable[..., list[str]]
SCHEMA_USE = '[contributes.data.entries]\nschema = "it.json"\nsearch = { text = "body" }\n'


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("{", "TK303", "it.json:1:2 is not JSON"),
        ('{"type": "object", "type": "object"}', "TK303", 'it.json has the key "type" twice'),
        ('{"const": NaN}', "TK303", "it.json has NaN"),
        ("[" * 100_000, "TK303", "it.json is nested too deeply"),
        ("9" * 5000, "TK303", "it.json has a whole number beyond"),
        ("x" * 300_000, "TK303", "it.json is larger than"),
        ('{"not": ' * 70 + "{}" + "}" * 70, "TK304", "it.json is nested more than 64 levels deep"),
        ("[]", "TK305", "it.json holds a list"),
        ("true", "TK305", "it.json holds true"),
        ('{"type": "array"}', "TK305", 'it.json has type "array" at its top'),
        ('{"properties": {}}', "TK305", "it.json has no type at its top"),
        ('{"type": "object", "required": ["a", "a"]}', "TK304", "it.json#/required: "),
        ('{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}', "TK304", "it.json is written for"),
        ('{"type": "object", "$ref": "other.json"}', "TK306", "outside itself"),
        ('{"type": "object", "$ref": "#/$defs/none"}', "TK306", "which is no schema in it"),
        ('{"type": "object", "$ref": "#none"}', "TK306", "which is no schema in it"),
        ('{"type": "object", "x": {"a": {"pattern": "(a+)+$"}}, "$ref": "#/x/a"}', "TK306", "which is no schema in it"),
        ('{"type": "object", "properties": {"a": {}}, "$ref": "#/properties"}', "TK306", "which is no schema in it"),
        ('{"type": "object", "$defs": {"a": {"$id": "urn:a"}}}', "TK306", 'calls itself "urn:a"'),
        ('{"type": "object", "not": {"$schema": "http://json-schema.org/draft-07/schema"}}', "TK304", "is written for"),
        ('\ufeff{"type": "object"}', "TK303", "it.json begins with a byte order mark"),
        ('{"type": "object", "maximum": 1e999}', "TK303", "it.json has the number 1e999"),
        ('{"type": "object", "title": "\\u0000"}', "TK303", "it.json has a NUL character"),
        ("null", "TK305", "it.json holds null"),
        ('{"type": "object", "allOf": [{"anyOf": [{"$ref": "#"}]}]}', "TK306", "refers to itself without end"),
        ('{"type": "object", "patternProperties": {"^(a+)+$": {}}}', "TK313", "it.json has a regular expression"),
    ],
)
def test_what_is_wrong_with_a_schema_file_is_told_by_its_code(
    found: Found, head: str, text: str, code: str, says: str
) -> None:
    told = [it for it in found(head + SCHEMA_USE, it_json=text) if "TK30" in it or "TK313" in it]

    assert [it.split()[1] for it in told] == [code]
    assert says in told[0]


def test_a_schema_that_is_not_utf8_is_told(found: Found, folder: Path, head: str) -> None:
    (folder / "latin.json").write_bytes(b'{"title": "\xe9"}')

    assert found(head + SCHEMA_USE.replace("it.json", "latin.json")) == ["7:10 TK303 latin.json is not UTF-8"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../entries.schema.json",
        "a/../../x.json",
        "..\\x.json",
        "C:\\x.json",
        "C:x.json",
        "~/x.json",
        "\\\\host\\x",
    ],
)
def test_a_path_that_leaves_the_package_is_refused_as_text(found: Found, head: str, path: str) -> None:
    told = found(head + SCHEMA_USE.replace('"it.json"', f"'{path}'"))

    assert [it.split()[1] for it in told] == ["TK302"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("https://example.org/x.json", "it is an address, and nothing is fetched"),
        ("file:///etc/passwd", "it is an address, and nothing is fetched"),
        ("~/x.json", '"~" is somebody\'s home folder'),
        ("/etc/passwd", "it is absolute"),
        ("C:/x.json", "it names a drive"),
    ],
)
def test_a_path_is_refused_for_what_it_is(found: Found, head: str, path: str, says: str) -> None:
    assert found(head + SCHEMA_USE.replace("it.json", path)) == [
        f'7:10 TK302 "{path}" is not a path inside the package: {says}'
    ]


def test_what_is_no_regular_file_is_called_what_it_is(found: Found, folder: Path, head: str) -> None:
    (folder / "inner").mkdir()
    os.mkfifo(folder / "pipe")

    inner, pipe = (found(head + SCHEMA_USE.replace("it.json", name)) for name in ("inner", "pipe"))

    assert inner == ['7:10 TK301 "inner" is a folder, expected a file']
    assert pipe == ['7:10 TK301 "pipe" is no regular file']


@pytest.mark.parametrize("use", ['schema = "it.json"', 'schema = "entries.schema.json"\nseed = "lore*.jsonl"'])
def test_a_link_that_nothing_names_does_not_matter(found: Found, folder: Path, head: str, use: str) -> None:
    (folder / "away").symlink_to("/")
    (folder / "here").symlink_to("here")

    told = found(f"{head}[contributes.data.entries]\n{use}\nsearch = {{ text = 'body' }}\n")

    assert [it.split()[1] for it in told] in (["TK301"], ["TK310"])


class _Sealed(Folder):
    """A folder whose files are there and may not be opened."""

    def read(self, path: str, limit: int) -> bytes:
        raise PermissionError(13, "Permission denied", path)


def test_a_file_that_may_not_be_read_is_a_finding(folder: Path, head: str) -> None:
    text = head + '[contributes.data.a]\nschema = "entries.schema.json"\nsearch = { text = "body" }\n'

    checked = examine(text.encode(), _Sealed(folder), "plugin.toml")

    assert [it.message for it in checked.diagnostics] == ['"entries.schema.json" cannot be read: permission denied']


def test_a_link_that_leaves_the_package_is_refused(found: Found, folder: Path, tmp_path: Path, head: str) -> None:
    (tmp_path / "outside.json").write_text('{"type": "object"}', encoding="utf-8")
    (folder / "it.json").symlink_to(tmp_path / "outside.json")
    (folder / "inside.json").symlink_to(folder / "entries.schema.json")

    outside = found(head + SCHEMA_USE)
    inside = found(head + SCHEMA_USE.replace("it.json", "inside.json"))

    assert outside == [
        '7:10 TK302 "it.json" is not a path inside the package: a symbolic link leads out of the package'
    ]
    assert inside == []


@pytest.mark.parametrize(
    ("declared", "fits"),
    [
        ({"type": "string"}, True),
        ({"type": ["string", "null"]}, True),
        ({"enum": ["a", "b"]}, True),
        ({"const": "a"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        ({"$ref": "#/$defs/text"}, True),
        ({"allOf": [{"$ref": "#/$defs/text"}, {"minLength": 1}]}, True),
        ({"type": "integer"}, False),
        ({"type": ["string", "integer"]}, False),
        ({"enum": ["a", 1]}, False),
        ({"oneOf": [{"type": "string"}, {"type": "array"}]}, False),
        ({}, False),
        (True, False),
    ],
    ids=str,
)
def test_text_is_a_property_that_can_only_be_a_string(found: Found, head: str, declared: Any, *, fits: bool) -> None:
    schema = {
        "type": "object",
        "required": ["body"],
        "properties": {"body": declared},
        "$defs": {"text": {"type": "string"}},
    }

    told = found(head + SCHEMA_USE, it_json=schema)

    assert [it.split()[1] for it in told] == ([] if fits else ["TK308"])


@pytest.mark.parametrize(
    ("key", "declared", "fits"),
    [
        ("tags", {"type": "array", "items": {"type": "string"}}, True),
        ("tags", {"type": ["array", "null"], "items": {"enum": ["a"]}}, True),
        ("tags", {"type": "array"}, False),
        ("tags", {"type": "string"}, False),
        ("tags", {"type": "array", "items": {"type": "integer"}}, False),
        ("when", {"type": "boolean"}, True),
        ("when", {"type": "string"}, False),
        ("time", {"type": "string", "format": "date"}, True),
    ],
)
def test_tags_are_strings_and_when_is_a_boolean(
    found: Found, head: str, key: str, declared: Any, *, fits: bool
) -> None:
    schema = {"type": "object", "required": ["body"], "properties": {"body": {"type": "string"}, "it": declared}}

    told = found(head + SCHEMA_USE.replace('"body"', f'"body", {key} = "it"'), it_json=schema)

    assert [it.split()[1] for it in told] == ([] if fits else ["TK308"])


def test_properties_of_all_parts_of_a_record_count() -> None:
    schema: dict[str, Any] = {
        "allOf": [{"properties": {"a": {"type": "string"}}}, {"$ref": "#/$defs/more"}],
        "properties": {"b": True},
        "$defs": {"more": {"properties": {"c": {"$ref": "#/allOf/0/properties/a"}}}},
    }

    found = properties(schema)

    assert set(found) == {"a", "b", "c"}
    assert types(schema, found["c"]) == {"string"}


def test_a_reference_leads_by_pointer_or_by_anchor() -> None:
    schema: dict[str, Any] = {"$defs": {"a/b": {"$anchor": "here"}, "any thing": True}, "examples": [{}]}

    assert resolve(schema, "#/$defs/a~1b") is schema["$defs"]["a/b"]
    assert resolve(schema, "#here") is schema["$defs"]["a/b"]
    assert resolve(schema, "#") is schema
    assert resolve(schema, "#/$defs/any%20thing") == {}
    assert resolve(schema, "#/$defs/none") is None
    assert resolve(schema, "#/examples/0") is None


@pytest.mark.parametrize(
    ("schema", "never_ends"),
    [
        ({"$ref": "#"}, True),
        ({"not": {"$ref": "#"}}, True),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}, True),
        ({"properties": {"child": {"$ref": "#"}}}, False),
        ({"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, False),
        ({"$defs": {"a": {"type": "string"}}, "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}, False),
    ],
)
def test_a_schema_that_asks_itself_about_the_same_value_never_ends(schema: dict[str, Any], *, never_ends: bool) -> None:
    assert endless(schema) == never_ends
