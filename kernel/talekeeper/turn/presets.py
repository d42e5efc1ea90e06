"""Presets: `presets/<name>.toml` of a workspace's folder, else of the home.

system = "You narrate a noir story."      # left out: the built-in text in the session's language
slot = "big"                              # the model that speaks, narrator when left out
reply = 800                               # tokens of an answer at most
plugins = ["memory"]                      # what new sessions with the preset have; left out: all that are enabled

[sampling]
temperature = 0.9
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from talekeeper.errors import InputError, NotFound, ParameterError
from talekeeper.models import NARRATOR, sampling_fault
from talekeeper.story import Session, check_name

FOLDER = "presets"
_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Preset:
    """An agent's set-up. `plugins` is None where the preset leaves the choice to the workspace."""

    name: str = ""
    system: str = ""
    slot: str = NARRATOR
    reply: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plugins: tuple[str, ...] | None = None


def read_preset(home: Path, workspace: str, name: str) -> Preset:
    """Reads a preset; an empty name is the built-in one. Raises `NotFound`, or `InputError` naming file and key."""
    if not name:
        return Preset()
    check_name(name, "preset")
    if Path(name).name != name or name in {".", ".."}:
        raise ParameterError("preset", f"{name!r} cannot be a file's name", cure="leave out slashes")
    places = [folder / f"{name}.toml" for folder in folders(home, workspace)]
    for path in places:
        if path.is_file():
            return _read(path, name)
    raise NotFound(f"there is no preset {name!r}", cure=f"write {places[-1]}, or give the session another preset")


def preset_names(home: Path, workspace: str) -> list[str]:
    """The names of all presets that a workspace's sessions may have, in order."""
    found = {path.stem for folder in folders(home, workspace) for path in folder.glob("*.toml") if path.is_file()}
    return sorted(found)


def folders(home: Path, workspace: str) -> tuple[Path, Path]:
    """Where presets are looked for, the workspace's first."""
    return home / "workspaces" / workspace / FOLDER, home / FOLDER


def _read(path: Path, name: str) -> Preset:
    import tomli  # noqa: PLC0415 - sessions without a preset do not need it

    try:
        with path.open("rb") as file:
            raw = file.read(_LIMIT + 1)
        document: dict[str, Any] = {} if len(raw) > _LIMIT else tomli.loads(raw.decode("utf-8-sig"))
    except tomli.TOMLDecodeError as error:
        raise InputError(f"the preset is not TOML: {error}", where=str(path), cure="mend this line") from error
    except OSError as error:
        raise InputError(f"the preset cannot be read ({error.strerror})", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("the preset is not UTF-8", where=str(path), cure="save it as UTF-8") from error
    if len(raw) > _LIMIT:
        raise InputError("the preset has more than a mebibyte", where=str(path), cure="shorten it")
    return Preset(name=name, **{key: _value(path, key, value) for key, value in document.items()})


def _value(path: Path, key: str, value: Any) -> Any:
    if key not in _KINDS:
        near = get_close_matches(key, _KINDS, n=1)
        cure = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(_KINDS)}"
        raise ParameterError(f"{path}: {key}", "this key is not known", cure=cure)
    kind, fits = _KINDS[key]
    fault = "" if fits(value) else f"must be {kind}"
    if not fault and key == "sampling":
        fault = sampling_fault(value)
    if fault:
        raise ParameterError(f"{path}: {key}", fault)
    return tuple(cast("list[str]", value)) if key == "plugins" else value


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in cast("list[object]", value))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "system": ("text", lambda value: isinstance(value, str)),
    "slot": ("the name of a model slot", lambda value: isinstance(value, str) and bool(value)),
    "reply": ("a number of tokens from 1", _is_whole),
    "sampling": ("a table", lambda value: isinstance(value, dict)),
    "plugins": ("a list of plugin ids", _is_names),
}


@dataclass(frozen=True, slots=True)
class NarrationSettings:
    """`slot` is that of the model that speaks, empty for the preset's; `name` and `player` go with what is said.

    The texts are the person's own, but for those that `from_world` names: they stand as a world file has given them.
    """

    slot: str = ""
    name: str = ""
    player: str = ""
    persona: str = ""
    note: str = ""
    from_world: tuple[str, ...] = ()


def narration_settings(session: Session) -> NarrationSettings:
    """Reads the settings; raises `ParameterError` for one that is no text.

    A name that nobody has given is the imported chat's own, and a narrator's in the end that of the slot which the
    session names, for where several speak in turn.
    """
    slot, persona, note = _text(session, "narrator"), _text(session, "persona"), _text(session, "author_note")
    imported = _table(session, "imported")
    name = _text(session, "narrator_name") or _said(imported, "narrator") or slot
    player = _said(_table(session, "player"), "name") or _said(imported, "player")
    return NarrationSettings(slot, name, player, persona, note, _from_world(session))


def _from_world(session: Session) -> tuple[str, ...]:
    """What stands as the world file has given it."""
    given = _table(session, "world")
    stands = [name for name, value in given.items() if value and session.settings.get(name) == value]
    return tuple(name.replace("_", " ") for name in stands)


def _table(session: Session, key: str) -> Mapping[str, object]:
    value: object = session.settings.get(key)
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _said(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    return value.strip() if isinstance(value, str) else ""


def _text(session: Session, key: str) -> str:
    value = session.settings.get(key, "")
    if not isinstance(value, str):
        raise ParameterError(f"session {session.id}: {key}", "this setting is text", cure="set it again, or to nothing")
    return value.strip()
