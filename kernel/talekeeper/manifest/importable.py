"""The package that an entry point names, found without running any of it: for who checks it and for who loads it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from talekeeper.manifest.check import FILE_NAME


def is_package_name(name: str) -> bool:
    """Whether it is dotted words of Python: anything else may lead anywhere on the disk when it is taken for a path."""
    return all(part.isidentifier() for part in name.split("."))


def folder_of(package: str) -> Path | None:
    """The folder of an importable package, the one with a manifest where it has several.

    Only the top-level name is looked up: asking for more would run the package.
    """
    if not is_package_name(package):
        return None
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        # ValueError: a loaded module of that name has no spec, as __main__ has none.
        return None
    folders = [Path(it).joinpath(*inner) for it in (spec.submodule_search_locations or ())] if spec else []
    best = next((it for it in folders if (it / FILE_NAME).is_file()), None)
    return best or next((it for it in folders if it.is_dir()), None)
