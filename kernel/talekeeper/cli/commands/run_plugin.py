"""The process in which `validate-plugin --imports` runs a plugin's code: `run_plugin MANIFEST PACKAGE ANSWER`.

Imports and registers by hand first, to tell faults apart; then lets the host's own loader load, unload and load again,
so that this and the host cannot disagree. Writes a JSON list of findings to ANSWER, and what it is doing to a file
beside it, for the case that the plugin ends the process.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from talekeeper.errors import PluginError
from talekeeper.manifest import (
    HOOK_FAILED,
    IMPORT_FAILED,
    NO_HOOK,
    NOT_DECLARED,
    NOT_REGISTERED,
    NOT_RELOADABLE,
    POINTS,
    Code,
    PluginManifest,
    read_manifest,
)
from talekeeper.plugins import (
    HOOK,
    PROJECT,
    Found,
    Guard,
    Key,
    Loader,
    Origin,
    Plugin,
    Registrations,
    Spec,
    State,
    exception_text,
    import_code,
    modules_of,
    purge,
)

Told = dict[str, Any]


class _Broken(Exception):
    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> None:
    """Runs the plugin of the arguments and writes what was found."""
    file, package, answer = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    sys.dont_write_bytecode = True
    answer.write_text(json.dumps(look(file, package, answer.with_suffix(".stage"))), encoding="utf-8")
    # A thread that the plugin left running, or its atexit functions, would keep whoever waits waiting.
    os._exit(0)


def look(file: Path, package: str, stage: Path) -> list[Told]:
    """Runs the code of a plugin whose manifest holds: `code`, `message` and `path` of everything wrong with it.

    `package` is its import name, "" for one of the kernel's making. `stage` is told whether it is importing or
    registering.
    """
    manifest = read_manifest(file)
    found = Found((manifest.id,), Origin.PATH, str(file.parent), file.parent, package or None)
    return list(_findings(found, manifest, stage))


def _findings(found: Found, manifest: PluginManifest, stage: Path) -> Iterator[Told]:
    try:
        first = _registered(found, manifest, stage)
    except _Broken as broken:
        yield _told(broken.code, str(broken))
        return
    told = [_told(HOOK_FAILED, fault) for fault in first.faults]
    told += _two_way(manifest, set(first.functions))
    yield from told or _hosted(found, manifest, set(first.functions))


def _hosted(found: Found, manifest: PluginManifest, registered: set[Key]) -> Iterator[Told]:
    loader = Loader(Guard())
    plugin = Plugin(manifest.id, State.ENABLED, "", found, manifest)
    try:
        loader.functions(plugin)
        loader.unload(plugin)
        changed = sorted(set(loader.functions(plugin)) ^ registered)
        loader.unload(plugin)
    except PluginError as error:
        yield _told(NOT_RELOADABLE, f"loaded again, the code fails: {error.what}")
        return
    if changed:
        names = ", ".join(map(_words, changed))
        yield _told(NOT_RELOADABLE, f"loaded again, the code registers otherwise: {names}")


def _registered(found: Found, manifest: PluginManifest, stage: Path) -> Registrations:
    """What one loading registers. Raises _Broken; the plugin's modules are forgotten afterwards."""
    before = set(sys.modules)
    registrations = Registrations()
    try:
        stage.write_text("importing", encoding="utf-8")
        with _telling(IMPORT_FAILED, manifest):
            code = import_code(found, manifest.root, manifest.module or "")
        stage.write_text("registering", encoding="utf-8")
        with _telling(HOOK_FAILED, manifest):
            _ask(code, registrations, manifest)
    finally:
        registrations.close()
        purge(modules_of(found, manifest.root, set(sys.modules) - before))
    return registrations


def _ask(code: ModuleType, registrations: Registrations, manifest: PluginManifest) -> None:
    hooks = pluggy.PluginManager(PROJECT)
    hooks.add_hookspecs(Spec)
    hooks.register(code)
    callers = hooks.get_hookcallers(code) or []
    others = sorted(it.name for it in callers if not it.has_spec())
    if not hooks.hook.talekeeper_register.get_hookimpls():
        meant = f"; it has {', '.join(others)}" if others else ""
        raise _Broken(NO_HOOK, f"{manifest.module} has no function {HOOK} under @hookimpl{meant}")
    registrations.faults.extend(f"@hookimpl on {name}: the only hook is {HOOK}" for name in others)
    hooks.hook.talekeeper_register(registry=registrations)


@contextmanager
def _telling(code: Code, manifest: PluginManifest) -> Generator[None]:
    """Whatever the plugin raises becomes _Broken with this code."""
    try:
        yield
    except _Broken:
        raise
    except BaseException as error:
        raise _Broken(code, _sentence(error, manifest.root)) from error


def _sentence(error: BaseException, root: Path) -> str:
    frames = [it for it in traceback.extract_tb(error.__traceback__) if Path(it.filename).is_relative_to(root)]
    where = f" at {Path(frames[-1].filename).relative_to(root).as_posix()}:{frames[-1].lineno}" if frames else ""
    text = exception_text(error)
    return f"{type(error).__name__}{where}: {text}" if text else f"{type(error).__name__}{where}"


def _two_way(manifest: PluginManifest, registered: set[Key]) -> Iterator[Told]:
    declared = dict(_declared(manifest))
    allowed = {*declared, *(("migrations", it.name) for it in manifest.data)}
    for key, path in declared.items():
        if key not in registered:
            yield _told(NOT_REGISTERED, f"{_words(key)} is declared, and the code does not register it", path)
    for key in sorted(registered - allowed):
        yield _told(NOT_DECLARED, f"the code registers {_words(key)}, which is not declared")


def _words(key: Key) -> str:
    point, name = key
    return f'the {POINTS[point].noun if point in POINTS else "migration of"} "{name}"'


def _declared(manifest: PluginManifest) -> Iterator[tuple[Key, list[str | int]]]:
    for point in POINTS.values():
        entries = manifest.contributes.get(point.name, ()) if point.code else ()
        for index, entry in enumerate(entries):
            yield (point.name, str(entry[point.named_by])), ["contributes", point.name, index, point.named_by]
    for space in manifest.data:
        if space.version > 1:
            yield ("migrations", space.name), ["contributes", "data", space.name, "version"]


def _told(code: Code, message: str, path: list[str | int] | None = None) -> Told:
    return {"code": code.id, "message": message, "path": path or ["plugin", "module"]}


if __name__ == "__main__":
    main()
