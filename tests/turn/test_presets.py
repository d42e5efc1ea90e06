"""Presets: where they are found, what they say, and a sentence for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from talekeeper.errors import InputError, NotFound
from talekeeper.home import Home
from talekeeper.models import NARRATOR
from talekeeper.turn import Preset, read_preset

WHOLE = """
system = "You are terse."
slot = "big"
reply = 80
plugins = ["memory"]

[sampling]
temperature = 0.5
stop = ["###"]
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / "presets" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_preset_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path, "noir", WHOLE)

    sampling = {"temperature": 0.5, "stop": ["###"]}
    assert read_preset(tmp_path, "w", "noir") == Preset("noir", "You are terse.", "big", 80, sampling, ("memory",))


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    write(tmp_path, "bare", "")

    assert read_preset(tmp_path, "w", "bare") == Preset("bare", "", NARRATOR, 0, {}, None)
    assert read_preset(tmp_path, "w", "") == Preset()


def test_a_workspaces_own_preset_comes_before_the_homes(tmp_path: Path) -> None:
    write(tmp_path, "noir", 'system = "home"')
    write(tmp_path, "plain", "")
    write(tmp_path / "workspaces" / "w", "noir", 'system = "workspace"')

    assert read_preset(tmp_path, "w", "noir").system == "workspace"
    assert read_preset(tmp_path, "other", "noir").system == "home"
    assert read_preset(tmp_path, "w", "plain") == Preset("plain")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("sytem = 'x'", 'sytem: this key is not known; did you mean "system"?', id="unknown"),
        pytest.param("system = 3", "system: must be text", id="no text"),
        pytest.param("reply = 0", "reply: must be a number of tokens from 1", id="nought"),
        pytest.param("reply = true", "reply: must be a number of tokens from 1", id="a truth"),
        pytest.param("slot = ''", "slot: must be the name of a model slot", id="no slot"),
        pytest.param("plugins = 'memory'", "plugins: must be a list of plugin ids", id="no list"),
        pytest.param("sampling = 1", "sampling: must be a table", id="no table"),
        pytest.param("[sampling]\nx = 2020-01-01", "a date or time", id="a date"),
        pytest.param("[sampling]\nx = nan", "not a number that JSON has", id="nan"),
        pytest.param("[sampling]\nmodel = 'x'", "sampling: may not hold 'model'", id="reserved"),
        pytest.param("system =", "the preset is not TOML", id="no TOML"),
    ],
)
def test_a_mistake_is_one_sentence_naming_file_and_key(tmp_path: Path, text: str, sentence: str) -> None:
    path = write(tmp_path, "noir", text)

    with pytest.raises(InputError) as caught:
        read_preset(tmp_path, "w", "noir")

    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"system = 'a\0'"], ids=["no UTF-8", "NUL"])
def test_bytes_that_are_no_preset_are_told(tmp_path: Path, raw: bytes) -> None:
    write(tmp_path, "noir", "").write_bytes(raw)

    with pytest.raises(InputError, match="the preset is not"):
        read_preset(tmp_path, "w", "noir")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "noir", "").write_bytes(b"\xef\xbb\xbfreply = 600\n")

    assert read_preset(tmp_path, "w", "noir").reply == 600


def test_a_preset_that_is_too_large_is_told_so_wherever_it_is_cut(tmp_path: Path) -> None:
    write(tmp_path, "noir", "").write_bytes(b'system = "' + "\u0436".encode() * 600_000 + b'"')

    with pytest.raises(InputError, match="more than a mebibyte"):
        read_preset(tmp_path, "w", "noir")


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "a\\b"])
def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    write(tmp_path.parent, "x", "")

    with pytest.raises(InputError, match="preset"):
        read_preset(tmp_path / "home", "w", name)


def test_a_preset_that_is_not_there_says_where_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no preset 'noir'; write .*presets/noir\.toml, or give the session"):
        read_preset(tmp_path, "w", "noir")


def test_a_home_knows_its_sessions_presets(tmp_path: Path) -> None:
    write(tmp_path, "noir", WHOLE)
    with Home.open(tmp_path, no_plugins="") as home:
        session = home.story.sessions.create("w", preset="noir")

        assert home.preset_of(session).system == "You are terse."


def test_a_remembered_server_is_used_where_nothing_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with Home.open(tmp_path, no_plugins="") as home:
        before = home.models.origin
        home.remember_server("http://127.0.0.1:11434/v1")
        after = home.models.origin

    with Home.open(tmp_path, no_plugins="") as again:
        slot = again.models.slot(NARRATOR)

    assert (before, after) == ("none", "local")
    assert slot is not None
    assert str(slot.url) == "http://127.0.0.1:11434/v1"
