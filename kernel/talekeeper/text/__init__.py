"""Everything a string is asked for: its terms, its day, where it may be cut, whether it may be stored. No I/O."""

from __future__ import annotations

from talekeeper.text.characters import paired_characters
from talekeeper.text.check import check_text, digest
from talekeeper.text.dates import Day, date_words, read_day
from talekeeper.text.estimate import estimate_tokens, token_quarters
from talekeeper.text.graphemes import cut_graphemes, grapheme_border
from talekeeper.text.sentences import sentence_ends
from talekeeper.text.terms import Terms
from talekeeper.text.tokens import SINGLE, TOKENS_FINGERPRINT, document_terms, everyday_terms, query_terms

__all__ = [
    "SINGLE",
    "TOKENS_FINGERPRINT",
    "Day",
    "Terms",
    "check_text",
    "cut_graphemes",
    "date_words",
    "digest",
    "document_terms",
    "estimate_tokens",
    "everyday_terms",
    "grapheme_border",
    "paired_characters",
    "query_terms",
    "read_day",
    "sentence_ends",
    "token_quarters",
]
