"""How much of a model's context a text takes, before any model has counted it."""

from __future__ import annotations

import re
from functools import cache

_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rounded up: one for a Chinese, Japanese or Korean character, a quarter for any other."""
    return -(token_quarters(text) // -_PER_TOKEN)


def token_quarters(text: str) -> int:
    """The same in quarters of a token, not rounded: that of texts together is the sum of theirs."""
    dense = 0 if text.isascii() else len(_dense().findall(text))
    return dense * _PER_TOKEN + len(text) - dense


@cache
def _dense() -> re.Pattern[str]:
    """Letters and punctuation of Chinese, Japanese, Korean, wide forms included; compiled when first asked for."""
    return re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff01-\uffdc\U00017000-\U0003ffff]")
