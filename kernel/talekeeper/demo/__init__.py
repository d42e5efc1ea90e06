"""The bundled stories, told into a fresh home and asked questions, so that a newcomer sees what this is for."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.demo.stories import AskedQuestion, BundledStory, LoadedStory, ask_all, bundled_stories, load_story
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "AskedQuestion",
    "BundledStory",
    "LoadedStory",
    "ask_all",
    "bundled_stories",
    "load_story",
]
