"""The bytes of a world file → a `World`, or one sentence with the line that is at fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeGuard, cast

from talekeeper.config import Key, KeyPath, Places, key_faults, parse
from talekeeper.errors import ImportFileError, ParameterError
from talekeeper.exchange import opened
from talekeeper.story import check_line, check_name
from talekeeper.text import check_text

LIMIT = 4 * 1024 * 1024
"""Bytes: some thousand pages of lore."""

_TEXTS = ("title", "locale", "preset", "narrator", "opening", "persona", "author_note")
_KEYS = {**dict.fromkeys(_TEXTS, Key.text()), "player": Key.table(), "plugin": Key.table()}
_NAMES = frozenset({"locale", "preset"})
_LINES = frozenset({"narrator"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A record for `plugin/namespace`; an empty `key` is one of the kernel's making. `steps` lead to it in the file."""

    path: str
    key: str
    value: Mapping[str, Any]
    steps: KeyPath

    @property
    def plugin(self) -> str:
        """The plugin's id."""
        return self.path.partition("/")[0]


@dataclass(frozen=True, slots=True)
class World:
    """What a world file says; what it does not say is empty. `player` has a `name` when there is a player."""

    file: str
    title: str = ""
    locale: str = ""
    preset: str = ""
    narrator: str = ""
    opening: str = ""
    persona: str = ""
    author_note: str = ""
    player: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entries: tuple[Entry, ...] = ()
    places: Places = field(default_factory=Places, repr=False)

    def fault(self, steps: KeyPath, what: str, *, cure: str = "", key: bool = False) -> ImportFileError:
        """The error about a place in the file; `key` when the key itself is at fault and not its value."""
        line = self.places.span(steps, "key" if key else "value").line
        return ImportFileError(self.file, line, what, cure=cure)

    @property
    def settings(self) -> dict[str, Any]:
        """What a session keeps of it beside its messages and records.

        All of it is kept as the file's too: it stands in prompts, and nobody here has typed it.
        """
        said = {
            "player": dict(self.player),
            "narrator_name": self.narrator.strip(),
            "persona": self.persona.strip(),
            "author_note": self.author_note.strip(),
        }
        given = {name: value for name, value in said.items() if value}
        return {**given, "world": given} if given else {}


def read_world(name: str) -> World:
    """Reads a file, `-` for standard input; raises `ImportFileError` with file, line and the cure."""
    with opened(name) as stream:
        raw = stream.read(LIMIT + 1)
    source = parse(raw, LIMIT)
    for fault in source.faults:
        line = (fault.span or source.places.span(fault.path, "value")).line
        raise ImportFileError(name, line, fault.message, cure=fault.hint)
    document = dict(source.data or {})
    bare = World(name, places=source.places)
    for wrong in key_faults(document, _KEYS):
        raise bare.fault(wrong.path, f"{wrong.path[-1]}: {wrong.what}", cure=wrong.cure, key=wrong.on == "key")
    texts = {key: _text(bare, key, document[key]) for key in _TEXTS if key in document}
    return World(
        name,
        **texts,
        player=_player(bare, document.get("player", {})),
        entries=tuple(_entries(bare, document.get("plugin", {}))),
        places=source.places,
    )


def _text(world: World, key: str, value: str) -> str:
    try:
        if key in _LINES:
            return check_line(value, key)
        return check_name(value, key, empty=True) if key in _NAMES else check_text(value, key)
    except ParameterError as fault:
        raise world.fault((key,), f"{key}: {fault.what}", cure=fault.cure) from fault


def _player(world: World, value: Mapping[str, Any]) -> Mapping[str, Any]:
    for key, said in value.items():
        if not isinstance(said, (str, int, float, bool)):
            raise world.fault(("player", key), f"{key} of the player is text or a number")
    name = value.get("name")
    if value and (not isinstance(name, str) or not name.strip()):
        raise world.fault(("player",), "the player has no name", cure='write name = "…" under [player]', key=True)
    return value


def _entries(world: World, plugins: object) -> Iterator[Entry]:
    for steps, namespaces in _tables(world, ("plugin",), plugins, "write [plugin.ID.NAMESPACE.KEY]"):
        cure = f"write [plugin.{steps[-1]}.NAMESPACE.KEY] and its properties below"
        if not _is_table(namespaces):
            _refuse(world, steps, cure)
        for name, records in namespaces.items():
            yield from _records(world, (*steps, name), f"{steps[-1]}/{name}", records)


def _records(world: World, steps: KeyPath, path: str, records: object) -> Iterator[Entry]:
    header = f"plugin.{path.replace('/', '.')}"
    if isinstance(records, list):
        for index, value in enumerate(cast("list[object]", records)):
            if not _is_table(value):
                _refuse(world, (*steps, index), f"write [[{header}]] and its properties below")
            yield Entry(path, "", value, (*steps, index))
        return
    for place, value in _tables(world, steps, records, f"write [{header}.KEY] and its properties below"):
        key = str(place[-1])
        if not _is_table(value):
            _refuse(world, place, f"write [{header}.{key}] and its properties below, or [[{header}]]")
        try:
            check_name(key, "key")
        except ParameterError as fault:
            raise world.fault(place, f"key: {fault.what}", cure=fault.cure, key=True) from fault
        yield Entry(path, key, value, place)


def _tables(world: World, steps: KeyPath, value: object, cure: str) -> Iterator[tuple[KeyPath, object]]:
    if not _is_table(value):
        _refuse(world, steps, cure)
    for key, inner in value.items():
        yield (*steps, key), inner


def _refuse(world: World, steps: KeyPath, cure: str) -> NoReturn:
    raise world.fault(steps, f"{'.'.join(map(str, steps))} is a table", cure=cure)


def _is_table(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
