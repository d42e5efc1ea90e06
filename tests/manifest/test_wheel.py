"""Wheels: which archives are refused, and that nothing in one makes the checker raise."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.manifest.distributions import Wheel, WheelRefused
from talekeeper.manifest.targets import check_target


def _archive(path: Path, members: dict[str, bytes], mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return path


INFO = {
    "lore-1.dist-info/METADATA": b"Name: lore\nVersion: 1\n",
    "lore-1.dist-info/RECORD": b"",
    "lore-1.dist-info/WHEEL": b"Wheel-Version: 1.0\n",
}


@pytest.mark.parametrize(
    ("members", "mode", "says"),
    [
        ({"../out.py": b"", **INFO}, 0, "leads out"),
        ({"/abs.py": b"", **INFO}, 0, "leads out"),
        ({"a\\..\\b.py": b"", **INFO}, 0, "leads out"),
        ({"a.py": b"/etc/passwd", **INFO}, 0o120777, "symbolic link"),
        ({"a.py": b""}, 0, "0 .dist-info folders"),
        ({**INFO, "other-1.dist-info/METADATA": b""}, 0, "2 .dist-info folders"),
        ({"a.py": b"", "a.py/b.py": b"", **INFO}, 0, '"a.py/b.py" lies in what is a file'),
        *(({name: INFO[name] for name in INFO if name != it}, 0, f"it has no {it}, without which") for it in INFO),
    ],
    ids=["parent", "absolute", "backslash", "link", "no-info", "two-infos", "file-and-folder", *INFO],
)
def test_a_wheel_that_cannot_be_trusted_is_refused(
    tmp_path: Path, members: dict[str, bytes], mode: int, says: str
) -> None:
    wheel = _archive(tmp_path / "lore-1-py3-none-any.whl", members, mode)

    (diagnostic,) = check_target(str(wheel)).diagnostics

    assert diagnostic.code == "TK406"
    assert says in diagnostic.message


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_wheel_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "lore-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for content in ("a", "b"):
            archive.writestr("lore-1.dist-info/METADATA", content)

    assert [it.code for it in check_target(str(wheel)).diagnostics] == ["TK406"]


def test_a_bomb_is_refused_by_what_it_says_of_itself(tmp_path: Path) -> None:
    wheel = tmp_path / "lore-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * (65 * 1024 * 1024))

    with pytest.raises(WheelRefused, match="64 MiB"):
        Wheel(wheel)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"x" * 1000], ids=["empty", "cut", "other"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    wheel = tmp_path / "lore-1-py3-none-any.whl"
    wheel.write_bytes(content)

    assert [it.code for it in check_target(str(wheel)).diagnostics] == ["TK406"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), min_size=1, max_size=3))
def test_no_damage_to_a_wheel_makes_the_checker_raise(tmp_path: Path, damage: list[tuple[int, int]]) -> None:
    members = {
        "lore_plugin/plugin.toml": b"[plugin]\nid = 'lore'\n" * 40,
        "lore-1.dist-info/entry_points.txt": b"[talekeeper.plugins]\nlore = lore_plugin\n",
        **INFO,
    }
    wheel = tmp_path / "lore-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    raw = bytearray(wheel.read_bytes())
    for at, byte in damage:
        raw[at % len(raw)] = byte
    wheel.write_bytes(raw)

    found = check_target(str(wheel))

    assert found.diagnostics
    assert all("\\x" not in it.message and "b'" not in it.message for it in found.diagnostics)
