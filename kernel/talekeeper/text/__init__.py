"""Everything a string is asked for: its terms, its dates, where it may be cut, whether it may be stored. No I/O."""

from __future__ import annotations

from talekeeper.text.check import check_text, digest
from talekeeper.text.terms import Terms
from talekeeper.text.tokens import SINGLE, TOKENS_FINGERPRINT, document_terms, query_terms

__all__ = [
    "SINGLE",
    "TOKENS_FINGERPRINT",
    "Terms",
    "check_text",
    "digest",
    "document_terms",
    "query_terms",
]
