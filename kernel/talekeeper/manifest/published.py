"""The JSON schema of manifests as it is published: for editors, and for what checks a manifest without the model.

The file beside this module is generated from the model by `model.publish`, as its copy in `schema/` is.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

PUBLISHED_SCHEMA = Path(__file__).with_name("plugin.schema.json")


def published_text() -> str:
    """The text of the file."""
    return PUBLISHED_SCHEMA.read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a manifest of this host's level; not to be changed."""
    schema: dict[str, Any] = json.loads(published_text())
    return schema
