"""hopwave.distributed.linalg: masked products over semirings, of a matrix and vectors that are split over ranks.

Yang, Buluç and Owens name GraphBLAS on several GPUs as future work (push-pull, section 8). Each rank stores the entries
of some rows and columns and the values of its own vertices. A product gathers the operand, multiplies with
`hopwave.linalg` on the rank's CPU or GPU, and sends sums to the owners of their positions. Operations without exchanges
(`assign`, `select`, `apply`, …) use `hopwave.linalg` on `vector.own`.

>>> import hopwave as hw
>>> from hopwave.distributed import linalg as da
>>> A = da.DistributedMatrix.from_matrix(hw.generate.path(5))
>>> da.bfs(A, 1).gather().to_dense(-1).tolist()
[1, 0, 1, 2, 3]
"""

from hopwave.checks.keywords import offer
from hopwave.distributed.linalg.matrix import DistributedMatrix, DistributedVector
from hopwave.distributed.linalg.products import bfs, mxv, pagerank, reduce, sssp, vxm

__all__ = ["DistributedMatrix", "DistributedVector", "bfs", "mxv", "pagerank", "reduce", "sssp", "vxm"]

offer(globals(), __all__)
