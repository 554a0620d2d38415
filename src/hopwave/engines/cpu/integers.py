"""Small whole numbers of the type that compiled code has on the other side of an operator.

Ids are uint32, offsets and words of bits uint64. Numba makes a float64 of an unsigned and a signed integer together.
"""

import numpy as np

U0, U1, U2, U3, U4, U6, U8, U16, U63 = (np.uint64(x) for x in (0, 1, 2, 3, 4, 6, 8, 16, 63))
ONE = np.uint32(1)
