"""Cards in PNG pictures, and pictures made to do harm."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.api import UserError
from talekeeper.testing import Host
from talekeeper_memory.card_import import SIGNATURE, card_in

CARD = {"spec": "chara_card_v2", "data": {"name": "Ilse", "description": "{{char}} guards the gate. 小明"}}
NEWER = {
    "spec": "chara_card_v3",
    "data": {
        "name": "Ilse of Saltgate",
        "nickname": "Ilse",
        "description": "{{char}} guards the gate.",
        "character_book": {
            "entries": [
                {"keys": ["oath"], "content": "@@depth 4\n@@@position x\n{{char}} swore.\n@@ stays", "name": "Oath"},
                {"keys": ["t(i|o)de"], "use_regex": True, "content": "The tide.", "name": "Tide"},
            ]
        },
    },
}
START = (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
END = (b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(*chunks: tuple[bytes, bytes]) -> bytes:
    return SIGNATURE + b"".join(chunk(*one) for one in (START, *chunks, END))


def packed(card: object) -> bytes:
    return base64.b64encode(json.dumps(card).encode())


def text(keyword: bytes, card: object) -> tuple[bytes, bytes]:
    return b"tEXt", keyword + b"\0" + packed(card)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(text(b"chara", CARD), id="tEXt"),
        pytest.param((b"zTXt", b"chara\0\0" + zlib.compress(packed(CARD))), id="zTXt"),
        pytest.param((b"iTXt", b"chara\0\0\0en\0card\0" + packed(CARD)), id="iTXt"),
        pytest.param((b"iTXt", b"chara\0\x01\0\0\0" + zlib.compress(packed(CARD))), id="iTXt packed"),
        pytest.param((b"tEXt", b"chara\0" + base64.encodebytes(json.dumps(CARD).encode())), id="in lines"),
    ],
)
def test_a_card_is_read_from_every_kind_of_text(made: tuple[bytes, bytes]) -> None:
    assert json.loads(card_in(picture((b"tEXt", b"Title\0x"), made))) == CARD


@pytest.mark.parametrize("turned", [False, True])
def test_the_newer_card_wins_wherever_it_stands(turned: bool) -> None:
    both = [text(b"chara", CARD), text(b"ccv3", NEWER)]

    assert json.loads(card_in(picture(*(both[::-1] if turned else both)))) == NEWER


@pytest.fixture
def host(talekeeper_host: Host) -> Host:
    talekeeper_host.add("memory")
    talekeeper_host.session()
    return talekeeper_host


BOMB = zlib.compress(b"A" * (64 << 20))
GOOD = picture(text(b"chara", CARD))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        pytest.param(SIGNATURE, "is cut off: the chunk at byte 8", id="nothing"),
        pytest.param(GOOD[:60], "is cut off: the chunk at byte 33", id="cut"),
        pytest.param(GOOD[:-12], "is cut off", id="no end"),
        pytest.param(GOOD.replace(b"chara\0", b"chara\0x", 1)[:-1], "is ", id="shifted"),
        pytest.param(SIGNATURE + struct.pack(">I4s", 0xFFFFFFFF, b"tEXt") + b"chara\0", "is cut off", id="huge length"),
        pytest.param(GOOD.replace(b"chara\0e", b"chara\0f", 1), "is damaged: the checksum of the chunk", id="checksum"),
        pytest.param(picture((b"zTXt", b"chara\0\0" + BOMB)), "is larger than 16 MiB when it is unpacked", id="bomb"),
        pytest.param(picture((b"iTXt", b"chara\0\x01\0\0\0" + BOMB)), "is larger than 16 MiB", id="bomb in iTXt"),
        pytest.param(picture((b"zTXt", b"chara\0\0junk")), "cannot be unpacked", id="not packed"),
        pytest.param(picture((b"tEXt", b"chara\0{}")), "its text 'chara', is not base64", id="not base64"),
        pytest.param(picture(), "carries no character card", id="no card"),
        pytest.param(picture((b"eXIf", b"chara\0e30=")), "carries no character card", id="other chunk"),
    ],
)
def test_a_hostile_picture_is_one_sentence(made: bytes, says: str) -> None:
    with pytest.raises(UserError, match=says):
        card_in(made)


@given(st.data())
def test_no_bytes_make_it_fail_otherwise(data: Any) -> None:
    at = data.draw(st.integers(8, len(GOOD)))
    made = GOOD[:at] + data.draw(st.binary(max_size=20)) + GOOD[at + data.draw(st.integers(0, 20)) :]

    try:
        card_in(made)
    except UserError:
        return


def test_a_picture_becomes_the_character_and_its_book(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "ilse.png"
    file.write_bytes(picture(text(b"chara", CARD), text(b"ccv3", NEWER)))

    report = host.import_file(file)

    cards = {record.key: record.value for record in host.records("memory/cards")}
    assert report.importer == "memory/character-card"
    assert cards["Ilse of Saltgate"]["body"] == "Ilse guards the gate."
    assert cards["Ilse of Saltgate"]["keys"] == ["Ilse of Saltgate", "Ilse"]
    assert cards["Oath"]["body"] == "Ilse swore.\n@@ stays"
    assert "keys" not in cards["Tide"]
    assert report.left_out == [("keys of entry 1", "they are regular expressions, which are never run")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(SIGNATURE, "cut off", id="picture"),
        pytest.param(picture(text(b"chara", [])), "no character card: it has no name", id="no card in it"),
        pytest.param(b'{"name": ' + b"1" * 6000 + b"}", "a number of thousands of digits", id="digits"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="depth"),
        pytest.param(b"\xff", "no PNG picture, and as text it is not UTF-8", id="encoding"),
        pytest.param(picture((b"iTXt", b"chara\0\x01")), "line 1, column 1: expecting value", id="short iTXt"),
    ],
)
def test_what_is_no_card_is_one_sentence(host: Host, tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "x.png"
    file.write_bytes(content)

    with pytest.raises(Exception, match=says) as refused:
        host.import_file(file)

    assert "\n" not in str(refused.value)
    assert not host.records("memory/cards")
