"""Seed files: the reading of a line, and what is said of the files of a namespace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.manifest.package import Folder
from talekeeper.manifest.rules.data import SeedRow, seed_rows, survey

Found = Callable[..., list[str]]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["body"],
    "additionalProperties": False,
    "properties": {"body": {"type": "string"}},
}
SEED = '[contributes.data.entries]\nschema = "entries.schema.json"\nsearch = { text = "body" }\nseed = "it.jsonl"\n'


def lines(count: int) -> str:
    return "".join(json.dumps({"id": f"line-{number}", "body": "It is told."}) + "\n" for number in range(count))


def test_a_row_has_its_key_and_the_record_without_the_key() -> None:
    raw = b'{"id": "harbour", "body": "Ice."}\r\n\n  \n{"body": "Fire.", "id": "mill"}'

    assert list(seed_rows(raw, SCHEMA)) == [
        SeedRow(1, "harbour", {"body": "Ice."}),
        SeedRow(4, "mill", {"body": "Fire."}),
    ]


def test_the_key_stays_in_a_record_whose_schema_has_it() -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "id": {"type": "string"}}}

    (row,) = seed_rows(b'{"id": "harbour", "body": "Ice."}', schema)

    assert row.value == {"id": "harbour", "body": "Ice."}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{", "is not JSON: expected a key in double quotes"),
        (b'{"id": "a", "body": NaN}', "has NaN, which is not JSON"),
        (b'{"id": "\xff"}', "is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[]", "is not a JSON object"),
        (b'{"id": "a", "id": "b"}', 'has the key "id" twice'),
        (b'{"id": "a", "n": 9007199254740992}', "has a whole number beyond"),
        (b'{"id": "a", "body": "\\ud800"}', "has half a surrogate pair"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
        (b'{"id": "a", "body": ' + b"[" * 64 + b"]" * 64 + b"}", "is nested more than 64 levels deep"),
        (b'{"body": "a"}', 'has no text of 1 to 200 characters under "id"'),
        (b'{"id": 7}', 'has no text of 1 to 200 characters under "id"'),
        (b'{"id": " "}', 'has no text of 1 to 200 characters under "id"'),
        (b'{"id": "a\\u0000"}', "has a NUL character in a text"),
    ],
    ids=[
        *("cut", "nan", "latin", "deep", "list", "twice", "big", "half", "mark", "nested"),
        *("none", "number", "blank", "nul"),
    ],
)
def test_a_line_that_is_no_record_says_why(line: bytes, fault: str) -> None:
    (row,) = seed_rows(line, SCHEMA)

    assert row.fault.startswith(fault)


def test_faults_are_told_with_file_and_line_and_the_first_five_only(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x", "body": "1"}\n{"id": "y", "body": 2}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"id": "x", "body": "1"}\n' + "[]\n" * 9, encoding="utf-8")

    _, faults = survey(Folder(tmp_path), ["a.jsonl", "b.jsonl"], SCHEMA)

    assert faults == [
        "a.jsonl:2: body must be of type string",
        'b.jsonl:1: "x" stands at a.jsonl:1 already',
        "b.jsonl:2: is not a JSON object",
        "b.jsonl:3: is not a JSON object",
        "b.jsonl:4: is not a JSON object",
    ]


@pytest.mark.parametrize(
    ("more", "count", "told"),
    [
        ("", 200, []),
        ("", 201, ["9:8 TK312 the seed has 201 lines, at most 200 are loaded into a session"]),
        ('scope = "workspace"\n', 201, []),
        ('scope = "workspace"\nlimit = 10\n', 11, ["9:8 TK312 the seed has 11 lines, and limit is 10"]),
    ],
)
def test_a_seed_is_no_longer_than_its_scope_takes(
    found: Found, head: str, more: str, count: int, told: list[str]
) -> None:
    assert found(head + SEED + more, it_jsonl=lines(count)) == told


def test_a_seed_that_is_a_folder_or_leads_out_is_no_seed(found: Found, folder: Path, head: str) -> None:
    (folder / "it.jsonl").mkdir()

    assert found(head + SEED) == ['9:8 TK310 no file in the package matches "it.jsonl"']


def test_a_seed_behind_a_link_out_of_the_package_is_refused(
    found: Found, folder: Path, tmp_path: Path, head: str
) -> None:
    (tmp_path / "outside.jsonl").write_text(lines(1), encoding="utf-8")
    (folder / "it.jsonl").symlink_to(tmp_path / "outside.jsonl")

    assert [it.split()[1] for it in found(head + SEED)] == ["TK302"]
