"""The array types search works with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Positions = NDArray[np.intp]
Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Column = NDArray[np.integer[Any]]
