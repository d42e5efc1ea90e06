from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class USE:
    def __init__(self, threads: int = 4) -> None: ...
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
