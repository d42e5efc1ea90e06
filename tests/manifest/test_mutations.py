"""Good manifests with random damage: nothing crashes, and everybody who reads them gives the same verdict."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.errors import ManifestError
from talekeeper.manifest import read_manifest
from talekeeper.manifest.loader import check_file, examine
from talekeeper.manifest.package import Folder
from talekeeper.manifest.report import as_document, as_github, as_text
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.targets import check_target
from talekeeper.plugins import State, discover, read_plugins

GOOD = sorted(Path(__file__).parent.glob("good/*"))
# fmt: off - one to a line they would fill a page
SCRAPS = [
    "",
    " ",
    "\n",
    "\r",
    "\t",
    "\0",
    "\ufeff",
    "\u202e",
    "\\",
    "\\u0000",
    "\\ud800",
    '"',
    "'",
    '"""',
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "#",
    "true",
    "nan",
    "-inf",
    "0",
    "-1",
    "1.0",
    "9" * 20,
    "9" * 5000,
    "1979-05-27 07:32:00",
    "2024-01-01",
    "[]",
    "{}",
    '""',
    "a",
    "é",
    "漢字",
    "🦉",
    "x" * 300,
    "../",
    "/",
    "C:\\\\",
    "_",
    "-",
    "*",
    "**",
    "text",
    "search",
    "schema",
    "contributes.data",
    "[plugin]\n",
    "[x]\n",
    "api = 2\n",
    "limit = 1\n",
    'on-limit = "oldest"\n',
]
# fmt: on


@st.composite
def damaged(draw: st.DrawFn) -> tuple[Path, bytes]:
    """A good plugin's folder and its manifest after one to three changes."""
    folder = draw(st.sampled_from(GOOD))
    text = (folder / "plugin.toml").read_bytes().decode()
    for _ in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from(CHANGES))(draw, text)
    raw = text.encode(errors="surrogatepass")
    return folder, draw(st.sampled_from([raw] * 9 + [raw[: len(raw) // 2] + b"\xff" + raw[len(raw) // 2 :]]))


def _replaced(draw: st.DrawFn, text: str) -> str:
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.sampled_from(SCRAPS)) + text[start + draw(st.integers(0, 6)) :]


def _line_lost(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    lines.pop(draw(st.integers(0, len(lines) - 1)))
    return "\n".join(lines)


def _line_doubled(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(lines)))
    return "\n".join(lines)


def _lines_swapped(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def _word_swapped(draw: st.DrawFn, text: str) -> str:
    words = text.split(" ")
    one, other = (draw(st.integers(0, len(words) - 1)) for _ in range(2))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _value_swapped(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if " = " in line]
    values = [
        *(lines[at].split(" = ", 1)[1] for at in places),
        "-1",
        "nan",
        '""',
        '"é\\u202e"',
        "[[]]",
        "{ x = 1 }",
        "true",
    ]
    if places:
        place = draw(st.sampled_from(places))
        lines[place] = f"{lines[place].split(' = ', 1)[0]} = {draw(st.sampled_from(values))}"
    return "\n".join(lines)


def _key_misspelt(draw: st.DrawFn, text: str) -> str:
    keys = list(re.finditer(r"[a-z-]{3,}(?= = )|(?<=\.)[a-z]+(?=\])", text))
    if not keys:
        return text
    key = draw(st.sampled_from(keys))
    return text[: key.start() + 1] + text[key.start() + 2 : key.end()] + text[key.end() :]


CHANGES = [
    _replaced,
    _line_lost,
    _line_doubled,
    _lines_swapped,
    _word_swapped,
    _value_swapped,
    _value_swapped,
    _key_misspelt,
]


def read(manifest: Path) -> bool:
    try:
        read_manifest(manifest)
    except ManifestError as error:
        told = error.data["diagnostics"]
    else:
        return True
    assert told == check_file(manifest).diagnostics
    return False


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of every good plugin, to be damaged again and again."""
    place = tmp_path_factory.mktemp("damaged")
    for source in GOOD:
        shutil.copytree(source, place / source.name)
    return place


@given(damage=damaged())
def test_validator_reader_and_host_agree_on_any_damage(copies: Path, damage: tuple[Path, bytes]) -> None:
    folder = copies / damage[0].name
    (folder / "plugin.toml").write_bytes(damage[1])

    result = check_target(str(folder))
    (plugin,) = read_plugins(discover(home=None, paths=[folder], entries=lambda: ()))

    errors = {it.code for it in result.diagnostics if it.severity == "error"}
    assert (plugin.state in {State.VALID, State.INCOMPATIBLE}) == (not errors)
    # A reader of the file alone does not know its folder.
    assert read(folder / "plugin.toml") == (errors <= {"TK408"})
    assert all(0 < it.column < it.end_column for it in result.diagnostics if it.line)
    assert len(list(as_text([result]))) > len(result.diagnostics)
    assert len(list(as_github([result]))) == len(result.diagnostics)
    assert json.loads(json.dumps(as_document([result])))["targets"][0]["manifests"]


@given(damage=damaged())
def test_the_schema_and_the_model_make_the_same_of_any_damage(damage: tuple[Path, bytes]) -> None:
    folder, raw = damage

    by_schema = examine(raw, Folder(folder), "plugin.toml")
    # Points that are equal, and not the host's own, are in no published schema.
    by_model = examine(raw, Folder(folder), "plugin.toml", points={**POINTS})

    assert by_schema.diagnostics == by_model.diagnostics
    # A text of it tells 1 from 1.0 and true, and has the order of keys.
    assert repr(by_schema.manifest) == repr(by_model.manifest)
