"""Small integer constants of the type of the other operand in compiled code.

Ids are uint32, offsets and words of bits uint64. Numba converts an unsigned and a signed integer to float64.
"""

import numpy as np

U0, U1, U2, U3, U4, U6, U8, U16, U32, U63 = (np.uint64(x) for x in (0, 1, 2, 3, 4, 6, 8, 16, 32, 63))
ONE = np.uint32(1)
