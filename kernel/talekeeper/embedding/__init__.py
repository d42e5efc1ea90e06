"""Texts to vectors: what embeds in a home, and search by meaning with it.

Questions are embedded when they are asked, passages when there is time; story stores the vectors, search ranks by them.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.embedding.encoders import EmbeddingProvider, Encoder, open_encoder
    from talekeeper.embedding.semantics import AFTER_A_TURN, EmbeddedQuestion, EmbeddingStatus, Semantics
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "AFTER_A_TURN",
    "EmbeddedQuestion",
    "EmbeddingProvider",
    "EmbeddingStatus",
    "Encoder",
    "Semantics",
    "open_encoder",
]
