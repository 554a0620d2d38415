"""Every number by which the CPU engine decides: when to share work, what to prepare, which algorithm to use.

Kernels read the numbers when they are compiled, Python code as `policy.NAME`. They affect only times and rounding.
"""

# ------------------------------------------------------------------ threads

# A search uses one more thread per VERTICES_PER_THREAD vertices or ARCS_PER_THREAD arcs; with less work, waking a
# helper costs more than it saves. (A search of a dense graph inspects few of its arcs.)
VERTICES_PER_THREAD = 1 << 12
ARCS_PER_THREAD = 1 << 25
ENTRIES_PER_THREAD = 1 << 16  # matrix entries per thread, in a loop over rows
ARCS_PER_WIDE_THREAD = 1 << 18  # arcs per thread in betweenness, which inspects all arcs
SMALL_LEVEL = 1024  # arcs and vertices of a level below which only the leader pushes it
MANY_MARKS = 4096  # minimum frontier at which all threads build the first bitmap, by a pass over all vertices
LARGE_SHARE = 16  # one thread passes over all vertices if the frontier has at least n / LARGE_SHARE
SMALL_BUCKET = 256  # entries of a bucket of shortest paths below which only the leader relaxes them
FUSED_BLOCKS = 8  # maximum blocks of 64 entries in the current bucket that a thread relaxes without a new job
SMALL_GRAPH = 1 << 13  # maximum vertices and arcs at which one pushing thread finishes before a shared search starts
# Estimated times on one core: of a search, of a source of betweenness, of a search along lengths.
SECONDS_PER_PUSHED_ARC, SECONDS_PER_SUMMED_ARC, SECONDS_PER_SETTLED_ARC = 1e-8, 2e-8, 3e-8
SMALL_JOB = 1 << 17  # maximum sources × (vertices and arcs) of betweenness at which waking a worker costs time
SPINS = 200  # reads of the board before a waiting helper yields its core at every further read
LINGER = 2_000_000  # nanoseconds for which a helper waits for another call: waking fifteen takes half as long
MAX_TEAM = 62  # maximum helpers of one call
POLL_SECONDS = 0.05  # interval at which a long run checks Ctrl-C, progress and checkpoints

# Chunks: the number of rows, vertices or words that a thread takes at a time. Small enough that threads finish
# together, large enough that the shared counter is not a bottleneck.
MAX_ROWS_PER_CHUNK = 4096
CHUNKS_PER_THREAD = 8  # minimum chunks per thread when rows have similar lengths
CHUNKS_PER_THREAD_OF_ROWS = 32  # minimum chunks per thread when rows of a matrix differ in length
CHUNKS_PER_THREAD_OF_PUSH = 8  # minimum chunks per thread of a pushed level
NOTING_DEGREE = 16  # minimum mean degree at which threads that push together buffer new vertices before they claim them
MAX_VERTICES_PER_PUSH, ARCS_PER_PUSH = 2048, 4096  # few vertices if they are hubs, many if they are not
MIN_ARCS_PER_PUSH = 512  # below, taking a chunk costs as much as pushing it
VERTICES_PER_EFFICIENCY_CHUNK = 16  # vertices per chunk of local efficiency: each induces its own small graph
VERTICES_PER_SQUARES_CHUNK = 16  # vertices per chunk of square counting: a hub reads the rows of all its neighbours
ROWS_OF_TRIANGLES = 64  # rows per chunk of triangle counting: each reads the rows of all its neighbours
PARTS_OF_PATH_SUMS = 32  # parts of all sources, each with its own scores, independent of the number of threads
PARTS_PER_THREAD = 2  # parts of the rows per thread in a matrix push: more balance better, but each scans all columns

# ------------------------------------------------------------------ what is prepared for a graph

SEARCHES_BEFORE_HUBS = 1  # searches before hubs are found, which costs about one pass over the arcs
SOURCES_BEFORE_ARRANGING = 256  # minimum sources of one joint search at which rows are arranged first
SOURCES_BEFORE_RENUMBERING = 32  # minimum sources of one betweenness call; numbering by degree costs about ten sources
IRREGULAR = 8.0  # minimum ratio of maximum to mean degree at which pulls benefit from arranged rows
CACHED_VERTICES = 1 << 15  # maximum vertices of a graph whose searches stay in a core's own cache
SCATTERED = 64  # neighbours whose median difference of numbers exceeds n / 64 rarely share a cache line
BYTES_LEFT = 1 << 28  # bytes of workers' arrays, and of tables, that one run leaves to the next, cached with the graph
ANSWERS_KEPT = 4  # cached arrays of distances or predecessors, and of scores, for reuse
TABLES_KEPT = 2  # cached tables of distances, of one size and within BYTES_LEFT in total

# ------------------------------------------------------------------ choice of method

FLAT_DEGREE = 7.0  # meshes and roads have a lower mean degree, and no level at which pulling helps betweenness
PUSH_COST = 2  # cost of pushing an arc in searches from many sources, relative to an arc that a pull reads
PULL_SHARE = 2  # the first pull of many searches is expected to read m / PULL_SHARE arcs; times are flat around 2
PULL_COST = 1.0  # cost of a term looked up along a column in a matrix product, relative to a term scattered along a row
MUCH_LONGER = 16  # ratio of list lengths at which entries are searched for instead of scanned
SHORT_ROWS = 16  # maximum mean entries of a neighbour's row at which two rows are merged to count triangles
LOOKS_WORTH_SORTING = 24  # minimum lookups per arc at which vertices are sorted by degree to count triangles
MOST_OF_CORE = 1 << 13  # maximum vertices whose neighbours are also stored as bits, to count triangles: 8 MB
BITS_OF_CORE = 16  # maximum bits per arc for neighbours stored as bits
MIXED = 0.05  # minimum share of entries in a vector at which a branch per entry is mispredicted
DENSE_FROM = 16  # a push that finds at least n / 16 indices returns a dense vector
SPARSE_FROM = 100  # a pull that finds fewer than n / 100 indices returns a list

# ------------------------------------------------------------------ sizes of batches and blocks

WIDE_SHARE = 4  # minimum threads per source at which all threads share one source after another
MANY_THREADS, WIDE_SHARE_OF_MANY = 16, 2  # with 16 or more threads, 2 per source are enough: with 1, half would sleep
FEW_SOURCES = 4  # maximum number of sources at which threads share each source of a mesh
SHARED_MESH_DEGREE = 5.0  # minimum mean degree of a mesh at which threads share each source
PULL_WIDE = 6  # if threads share a source, they pull once mf > mu / PULL_WIDE (planning/rules.py)
TEAM_OF_MESH = 2  # minimum threads per source of a mesh, if several sources are processed concurrently
SORTED_SHARE = 8  # betweenness reserves memory to sort m / SORTED_SHARE arcs, 12 bytes each
WIDE_VERTICES = 1 << 19  # minimum vertices of a graph with hubs at which two or three threads share its only source
MAX_SOURCES_PER_BLOCK = 32  # maximum sources per block of betweenness, if there are many sources
SOURCES_AT_ONCE = 32  # sources whose searches along weights share the relaxation of an arc
MOST_AT_ONCE = {True: 1 << 15, False: 3 << 14}  # maximum vertices for that, by whether short arcs first would be used
MOST_VISITS = 24  # maximum mean relaxations of an arc for that: about 30 take as long as separate searches
SOURCES_OF_FLOWS = 16  # sources whose flows through edges are added up together, if levels are pulled
MIN_BLOCKS = 256  # minimum number of blocks before blocks grow, so that workers finish together
SOURCES_PER_WORKER = 4  # minimum sources per worker of joint searches: four take a fifth of the time of 64
SHALLOW = 12  # maximum levels of searches that are pulled, so that each level reads all unvisited vertices
THREADS_SIDE_BY_SIDE = 8  # minimum threads and sources at which threads share a batch
SOURCES_PER_SHARE = 32  # minimum sources per thread at which each thread has its own batches
BATCHES_PER_WORKER = 8  # minimum batches per worker at which every batch has 64 sources
COMPILED_FUNCTIONS_KEPT = 64  # loops compiled for users' functions
FEW_WORKERS, THIN_DEGREE = 4, 3.0  # maximum workers and mean degree at which one core finds shortest paths sooner
LENGTH_BUCKETS = 1 << 12  # buckets of waiting vertices in Dijkstra's algorithm; their heads fit into an L1 cache
SHORT_SHARE = 1 / 8  # share of arcs that weighted searches relax first, the shortest; see many/settling.py
SPLIT_DEGREE, SOURCES_BEFORE_SPLITTING = 16, 4  # minimum mean degree and searches for relaxing short arcs first
WIDER = 1 + 2.0**-8  # minimum weight in bucket widths, so that rounding never puts both ends of an arc into one


def length_buckets(least, greatest):
    """Buckets per unit of length, the largest weight within a ring, and whether no weight is narrower than a bucket."""
    tiny = 1e-290  # 1 / tiny is finite
    least, greatest = float(least), float(greatest)  # Python floats overflow to infinity without a warning
    if least > tiny and greatest * WIDER <= (LENGTH_BUCKETS - 2) * least:
        return WIDER / least, True
    return (LENGTH_BUCKETS - 2) / greatest if greatest > tiny else 1.0, False


def short_arcs_first(n, m, directed, sources, mapped=False):
    """Whether searches along weights first use a copy of the short arcs; undirected graphs only."""
    return m >= SPLIT_DEGREE * n and sources >= SOURCES_BEFORE_SPLITTING and not directed and not mapped


def width_at_once(n, each, short):
    """How many of the `each` searches of a worker along weights share steps; 1 if separate searches are faster."""
    return SOURCES_AT_ONCE if each >= SOURCES_AT_ONCE and n <= MOST_AT_ONCE[short] else 1


def block_size(sources):
    """Betweenness sources per block, which depends only on their number: threads do not affect results."""
    return max(1, min(MAX_SOURCES_PER_BLOCK, sources // MIN_BLOCKS))


def worth_renumbering(loaded, job):
    """Whether there are enough sources to justify numbering by degree; independent of threads and earlier calls."""
    if job.edges or job.memory_limit is not None or loaded.graph.is_mapped:
        return False
    return loaded.irregular and loaded.n > CACHED_VERTICES and job.planned_sources >= SOURCES_BEFORE_RENUMBERING


def all_on_one_source(loaded, job, plan, threads):
    """Whether threads share each source: not if blocks of several sources would be added up in another order."""
    if plan.regime != "block" or job.edges or job.squares or job.copies is not None:
        return False
    if not adds_along_rows(loaded.n, loaded.m, loaded.flat, job.planned_sources):
        return False
    return few_sources(loaded.n, loaded.irregular, loaded.flat, job.planned_sources, threads)


def adds_along_rows(vertices, arcs, flat, sources):
    """Whether betweenness adds up rounded counts in the order of rows, so that threads may share a source."""
    if vertices <= CACHED_VERTICES:
        return False
    return not flat or (sources <= FEW_SOURCES and arcs >= SHARED_MESH_DEGREE * vertices)


def bucket_bits(vertices):
    """A bucket has 2^bits vertices: at most 128 buckets, each within a core's own cache."""
    return max(0, (vertices - 1).bit_length() - 7)


def sorted_arcs(arcs):
    """Capacity for arcs that betweenness sorts in the backward pass: levels with more arcs are gathered."""
    return 1024 + arcs // SORTED_SHARE


def few_sources(vertices, irregular, flat, sources, threads):
    if vertices <= CACHED_VERTICES or threads == 1 or block_size(sources) > 1:
        return False
    share = TEAM_OF_MESH if flat else WIDE_SHARE if threads < MANY_THREADS else WIDE_SHARE_OF_MANY
    if sources * share <= threads:
        return True
    return sources == 1 and (not irregular or vertices >= WIDE_VERTICES)


def runs_alone(job, plan):
    """Whether the kernel of small graphs (betweenness/small.py) supports a betweenness job."""
    return plan.regime == "block" and job.memory_limit is None and job.copies is None


def sums_like_workers(loaded, job, plan):
    """Whether the kernel of small graphs returns the bits of the workers: both push, and add in the same order."""
    pushes = loaded.flat and pulls_of(plan, loaded) == PULL_NEVER
    return runs_alone(job, plan) and pushes and not adds_along_rows(loaded.n, loaded.m, True, job.planned_sources)


PULL_NEVER, PULL_BY_RULE, PULL_ALWAYS = range(3)


def pulls_of(plan, loaded):
    """Whether levels are pulled: never, by the plan's rule, or always."""
    if len(plan.steps) == 1:
        return PULL_ALWAYS if plan.steps[0].direction == "pull" else PULL_NEVER
    return PULL_NEVER if loaded.flat else PULL_BY_RULE


def side_by_side(depth, sources, threads):
    """Whether all threads share each batch of 64 searches, instead of one batch per thread."""
    return 0 < depth <= SHALLOW and threads >= THREADS_SIDE_BY_SIDE <= sources < SOURCES_PER_SHARE * threads


def batch_width(sources, workers, together):
    """Sources per batch: 64, or, if batches are few, as many as balance the batches over the workers."""
    if not together:
        return 1
    if sources >= BATCHES_PER_WORKER * workers * 64:
        return 64
    rounds = max(1, -(-sources // (workers * 64)))
    return max(2, -(-sources // (workers * rounds)))


# ------------------------------------------------------------------ shortest paths

ROUND_WORKERS, ROUND_DEGREE, ROUND_HUB = 4, 8.0, 64  # minimum workers; maximum mean and largest degree (round_workers)
ROUND_ARCS = {True: 1 << 19, False: 1 << 22}  # minimum k × arcs for k nearest in rounds: along lengths, by hops
ARCS_PER_PATH_THREAD = 1 << 16  # arcs per thread of a search for shortest paths
ENTRIES_PER_VERTEX = 1  # initial capacity of the pool of blocks; it grows if necessary
BLOCKS_PER_WORKER = 2048  # minimum blocks per worker: each may have one open block per bin
LENGTHS_LOOKED_AT = 4096  # number of lengths sampled to choose the width of buckets
CHAIN_DEGREE = 3  # below this mean degree most vertices are inside a chain, which is then followed without a bin
REGULAR_DEGREE = 10.0  # mean degree above which buckets are wider in graphs without hubs
BUCKET_WIDTH, BUCKET_POWER = 40.0, 2.4  # Δ = WIDTH · median length / mean degree ^ POWER; both are uncritical


def path_threads(arcs):
    worth = arcs // ARCS_PER_PATH_THREAD
    return worth if worth >= FEW_WORKERS else 1


def round_workers(threads, arcs, k, weighted, mean_degree, greatest_degree):
    """The number of workers that find the k nearest in rounds (nearest_of.py); 0 if one core is faster."""
    if threads < ROUND_WORKERS or k * arcs < ROUND_ARCS[weighted]:
        return 0
    return threads if mean_degree <= ROUND_DEGREE and greatest_degree <= ROUND_HUB else 0


# ------------------------------------------------------------------ power iterations

ARCS_TO_ACCELERATE = 1 << 17  # minimum arcs of an undirected graph; smaller graphs follow NetworkX round by round
PRECISE = 0.01  # if Σ |change| must be below this, a run starts with better ranks than NetworkX
FIRST_BOUND, WIDEN = 0.35, 1.25  # first bound on the eigenvalues; factor by which estimates are widened
WORK_PER_BLOCK, MOST_BLOCKS = 1 << 12, 1 << 11  # arcs and vertices of a block of rows; maximum blocks


# ------------------------------------------------------------------ plain arithmetic, also compiled


def push_chunk(vertices, arcs, threads):
    """Vertices of a pushed level that a thread takes at a time: few if they are hubs, many if they are not."""
    arcs, even = max(1, arcs), vertices // (CHUNKS_PER_THREAD_OF_PUSH * threads)
    even = max(even, MIN_ARCS_PER_PUSH * vertices // arcs)
    return max(1, min(MAX_VERTICES_PER_PUSH, min(ARCS_PER_PUSH * vertices // arcs, even)))


def _even(least, most, per_thread):
    """A function of (size, threads): the amount that a thread takes at a time, so that each takes several chunks."""

    def chunk(size, threads):
        return max(least, min(most, size // (per_thread * threads)))

    return chunk


pull_chunk = _even(1, 256, CHUNKS_PER_THREAD)  # words of 64 vertices
gather_chunk = _even(16, 512, CHUNKS_PER_THREAD)  # vertices whose full rows are read
copy_chunk = _even(256, 1 << 62, CHUNKS_PER_THREAD)  # vertices that cost one store each
region_chunk = _even(16, 1 << 62, 4)  # words of 64 vertices, one store each, from a thread's own region

CHUNK_SIZES = (push_chunk, pull_chunk, gather_chunk, copy_chunk, region_chunk)
