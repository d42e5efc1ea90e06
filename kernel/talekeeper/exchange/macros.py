"""`{{user}}` and `{{char}}` in a chat's texts, which front ends fill in only when they show them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}", re.IGNORECASE)
_PLAYER = re.compile(r"\{\{\s*user\s*\}\}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """Whom the two stand for; of one whose name is empty the text stays as it is written."""

    player: str = ""
    character: str = ""

    def fill(self, text: str) -> str:
        """The text with the names that are known."""
        if "{{" not in text:
            return text
        if self.character:
            text = _CHARACTER.sub(lambda _: self.character, text)
        return _PLAYER.sub(lambda _: self.player, text) if self.player else text
