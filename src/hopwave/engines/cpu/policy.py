"""Every number by which the CPU engine decides: when to share work, what to prepare, which way to go.

Kernels read them when they are compiled, Python code as `policy.NAME`. They change times, and at most rounding.
"""

# ------------------------------------------------------------------ threads

# A search gets one more thread per VERTICES_PER_THREAD vertices or ARCS_PER_THREAD arcs; with less work than that,
# waking a helper costs more than it saves. (A search of a dense graph looks at few of its arcs.)
VERTICES_PER_THREAD = 1 << 12
ARCS_PER_THREAD = 1 << 25
ENTRIES_PER_THREAD = 1 << 16  # of a matrix, in a loop over its rows
ARCS_PER_WIDE_THREAD = 1 << 18  # of betweenness, which looks at all arcs
SMALL_LEVEL = 1024  # arcs and vertices of a level below which the leader pushes it alone
MANY_MARKS = 4096  # vertices of a frontier from which on all threads make the first bitmap, by a pass over all vertices
LARGE_SHARE = 16  # one thread makes that pass if the frontier has at least n / LARGE_SHARE vertices
SMALL_BUCKET = 256  # entries of a bucket of shortest paths below which the leader passes them on alone
HUBS_AT_ONCE = 64  # blocks of a bucket up to which hubs in it are dealt out one by one
HUB_ARCS = 64  # per entry, on average, from which on they are hubs
FUSED_BLOCKS = 8  # of 64 entries in the current bucket: a thread that found no more goes on with them by itself
SMALL_GRAPH = 1 << 13  # vertices and arcs up to which one thread, pushing, is done before a shared search has begun
SECONDS_PER_PUSHED_ARC, SECONDS_PER_SETTLED_ARC = (
    1e-8,
    3e-8,
)  # about: a plain search, a search along lengths on one core
SMALL_JOB = 1 << 17  # betweenness sources × (vertices and arcs) up to which waking a worker costs more than it saves
SPINS = 200  # looks at the board before a helper that waits yields its core at every further look
LINGER = 2_000_000  # nanoseconds for which a helper looks out for another call: waking fifteen takes half as long
MAX_TEAM = 62  # helpers of one call
POLL_SECONDS = 0.05  # how often a long run looks at Ctrl-C, progress and checkpoints

# Chunks: how many rows, vertices or words a thread takes at a time. Small enough to end together, large enough that
# the shared counter is no bottleneck.
MAX_ROWS_PER_CHUNK = 4096
CHUNKS_PER_THREAD = 8  # at least, where rows are about equal
CHUNKS_PER_THREAD_OF_ROWS = 32  # at least, where rows of a matrix differ in length
CHUNKS_PER_THREAD_OF_PUSH = 8  # at least, of a pushed level
NOTING_DEGREE = 16  # mean degree from which on threads that push together note new vertices before they claim them
MAX_VERTICES_PER_PUSH, ARCS_PER_PUSH = 2048, 4096  # few vertices where they are hubs, many where they are not
MIN_ARCS_PER_PUSH = 512  # below, taking a chunk costs as much as pushing it
VERTICES_PER_EFFICIENCY_CHUNK = 16  # each is a small graph of its own
VERTICES_PER_SQUARES_CHUNK = 16  # a hub looks at the rows of all its neighbours
ROWS_OF_TRIANGLES = 64  # each looks at the rows of all its neighbours
PARTS_OF_PATH_SUMS = 32  # of all sources, each with scores of its own, whatever the number of threads
PARTS_PER_THREAD = 2  # of the rows in a matrix push: more parts are more even, but each goes through all columns

# ------------------------------------------------------------------ what is prepared for a graph

SEARCHES_BEFORE_HUBS = 1  # finding the hubs costs about one pass over the arcs
SOURCES_BEFORE_ARRANGING = 256  # of one call that searches from many sources together
SOURCES_BEFORE_RENUMBERING = 32  # of one betweenness call; numbering by degree costs as much as about ten sources
IRREGULAR = 8.0  # greatest degree over mean degree from which pulls gain by arranged rows
CACHED_VERTICES = 1 << 15  # of a graph whose searches stay in a core's own cache, at most
SCATTERED = 64  # neighbours whose median distance in numbers is over n / 64 rarely share a cache line
BYTES_LEFT = 1 << 28  # of workers' arrays, and of tables, that one run leaves to the next, with the graph
ANSWERS_KEPT = 4  # arrays of distances or predecessors, and of scores, that wait to be used again
TABLES_KEPT = 2  # tables of distances, of one size and within BYTES_LEFT together

# ------------------------------------------------------------------ which way

FLAT_DEGREE = 7.0  # meshes and roads have a lower mean degree, and no level that betweenness would gain by pulling
PUSH_COST = 2  # of an arc in searches from many sources, against an arc that a pull looks at
PULL_SHARE = 2  # the first pull of many searches is expected to look at m / PULL_SHARE arcs; flat around 2
PULL_COST = 1.0  # of a term looked up along a column in a matrix product, against a term scattered along a row
MUCH_LONGER = 16  # times as long as the other list: entries are then searched for, not walked past
SHORT_ROWS = 16  # entries that a neighbour's row has, on average, up to which two rows are walked to count triangles
LOOKS_WORTH_SORTING = 24  # looks per arc from which on vertices are sorted by degree to count triangles
MOST_OF_CORE = 1 << 13  # vertices, at most, whose neighbours are bits, too, to count triangles: 8 MB
BITS_OF_CORE = 16  # for each arc, at most
MIXED = 0.05  # share of entries in a vector from which a branch for each is no longer predicted
DENSE_FROM = 16  # a push that finds at least n / 16 places returns a dense vector
SPARSE_FROM = 100  # a pull that finds fewer than n / 100 places returns a list

# ------------------------------------------------------------------ how much at a time

WIDE_SHARE = 4  # threads per source from which on all of them work on one source after the other
MANY_THREADS, WIDE_SHARE_OF_MANY = 16, 2  # from 16 threads on, 2 per source: with a source each, half would sleep
FEW_SOURCES = 4  # of a mesh, up to which threads share them
SHARED_MESH_DEGREE = 5.0  # mean degree of such a mesh
PULL_WIDE = 6  # threads that share a source pull once mf > mu / PULL_WIDE (planning/rules.py)
TEAM_OF_MESH = 2  # threads per source of a mesh, at least, where several sources are worked on at once
SORTED_SHARE = 8  # betweenness has room to sort m / SORTED_SHARE arcs, 12 bytes each
WIDE_VERTICES = 1 << 19  # of a graph with hubs, from which on even two or three threads share its only source
MAX_SOURCES_PER_BLOCK = 32  # of betweenness, where there are many sources
SOURCES_OF_FLOWS = 16  # whose flows through edges are added up together, where levels are pulled
MIN_BLOCKS = 256  # into which they are divided before blocks grow, so that workers end together
SOURCES_PER_WORKER = 4  # at least, of searches that share their steps: four take a fifth of what 64 take
SHALLOW = 12  # levels of searches that are pulled, so that each looks at all vertices that are not yet found
THREADS_SIDE_BY_SIDE = 8  # at least, and sources
SOURCES_PER_SHARE = 32  # sources per thread from which on each thread has batches of its own
BATCHES_PER_WORKER = 8  # from which on every batch has 64 sources
COMPILED_FUNCTIONS_KEPT = 64  # loops compiled for users' functions
FEW_WORKERS, THIN_DEGREE = 4, 3.0  # up to which one core finds shortest paths sooner than that many workers
LENGTH_BUCKETS = 1 << 12  # in which vertices wait for Dijkstra's algorithm; a core's first cache holds their heads
SHORT_SHARE = 1 / 8  # of the arcs, which searches along weights follow first; see many/settling.py
SPLIT_DEGREE, SOURCES_BEFORE_SPLITTING = 16, 4  # mean degree and searches from which on that pays
WIDER = 1 + 2.0**-8  # a weight is that many buckets wide, so that rounding never leaves both its ends in one


def length_buckets(least, greatest):
    """Buckets per unit of length, the greatest weight within a ring, and whether no weight is narrower than one."""
    tiny = 1e-290  # 1 / tiny is finite
    least, greatest = float(least), float(greatest)  # Python's numbers become infinite without a warning
    if least > tiny and greatest * WIDER <= (LENGTH_BUCKETS - 2) * least:
        return WIDER / least, True
    return (LENGTH_BUCKETS - 2) / greatest if greatest > tiny else 1.0, False


def short_arcs_first(n, m, directed, sources, mapped=False):
    """Whether searches along weights take a copy of the short arcs first. Directed rows would lead elsewhere."""
    return m >= SPLIT_DEGREE * n and sources >= SOURCES_BEFORE_SPLITTING and not directed and not mapped


def block_size(sources):
    """Betweenness sources per block, by their number alone: threads change no result."""
    return max(1, min(MAX_SOURCES_PER_BLOCK, sources // MIN_BLOCKS))


def worth_renumbering(loaded, job):
    """Whether there are enough sources to earn back a numbering by degree; independent of threads and earlier calls."""
    if job.edges or job.memory_limit is not None or loaded.graph.is_mapped:
        return False
    return loaded.irregular and loaded.n > CACHED_VERTICES and job.planned_sources >= SOURCES_BEFORE_RENUMBERING


def all_on_one_source(loaded, job, plan, threads):
    """Whether threads share each source: not where blocks of several sources would be added up in another order."""
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
    """Room for arcs that betweenness sorts on the way back: levels with more of them are gathered along."""
    return 1024 + arcs // SORTED_SHARE


def few_sources(vertices, irregular, flat, sources, threads):
    if vertices <= CACHED_VERTICES or threads == 1 or block_size(sources) > 1:
        return False
    share = TEAM_OF_MESH if flat else WIDE_SHARE if threads < MANY_THREADS else WIDE_SHARE_OF_MANY
    if sources * share <= threads:
        return True
    return sources == 1 and (not irregular or vertices >= WIDE_VERTICES)


def is_small_job(loaded, job, plan):
    """Whether the calling thread finishes a betweenness job before workers would start; independent of threads."""
    if plan.regime != "block" or job.memory_limit is not None or job.copies is not None:
        return False
    return job.planned_sources * (loaded.n + loaded.m) <= SMALL_JOB


PULL_NEVER, PULL_BY_RULE, PULL_ALWAYS = range(3)


def pulls_of(plan, loaded):
    """Whether levels are pulled: never, by the plan's rule, or always."""
    if len(plan.steps) == 1:
        return PULL_ALWAYS if plan.steps[0].direction == "pull" else PULL_NEVER
    return PULL_NEVER if loaded.flat else PULL_BY_RULE


def side_by_side(depth, sources, threads):
    """Whether all threads work on each batch of 64 searches together, instead of a batch for each."""
    return 0 < depth <= SHALLOW and threads >= THREADS_SIDE_BY_SIDE <= sources < SOURCES_PER_SHARE * threads


def batch_width(sources, workers, together):
    """Sources per batch: 64, or as many as give every worker the same number of batches where those are few."""
    if not together:
        return 1
    if sources >= BATCHES_PER_WORKER * workers * 64:
        return 64
    rounds = max(1, -(-sources // (workers * 64)))
    return max(2, -(-sources // (workers * rounds)))


# ------------------------------------------------------------------ shortest paths

ROUND_WORKERS, ROUND_DEGREE, ROUND_HUB = 4, 8.0, 64  # where the k nearest are found in rounds
ROUND_ARCS = {True: 1 << 19, False: 1 << 22}  # least k × arcs for such rounds: along lengths, by hops
ARCS_PER_PATH_THREAD = 1 << 16  # of a graph with lengths, per thread of a search for shortest paths
ENTRIES_PER_VERTEX = 1  # that the first pool of blocks has room for; it grows where that is too few
BLOCKS_PER_WORKER = 2048  # at least: each may have one open block per bin
LENGTHS_LOOKED_AT = 4096  # to choose the width of buckets
CHAIN_DEGREE = 3  # below this mean degree most vertices lie inside a chain, which is then followed without a bin
REGULAR_DEGREE = 10.0  # mean degree above which buckets are wider in graphs without hubs
BUCKET_WIDTH, BUCKET_POWER = 40.0, 2.4  # Δ = WIDTH · median length / mean degree ^ POWER; both may differ without harm


def path_threads(arcs):
    worth = arcs // ARCS_PER_PATH_THREAD
    return worth if worth >= FEW_WORKERS else 1


def round_workers(threads, arcs, k, weighted, mean_degree, greatest_degree):
    """How many workers find the k nearest in rounds (nearest_of.py); 0 if one search on one core is faster."""
    if threads < ROUND_WORKERS or k * arcs < ROUND_ARCS[weighted]:
        return 0
    return threads if mean_degree <= ROUND_DEGREE and greatest_degree <= ROUND_HUB else 0


# ------------------------------------------------------------------ power iterations

ARCS_TO_ACCELERATE = 1 << 17  # of an undirected graph; smaller ones are ranked round for round as NetworkX does
PRECISE = 0.01  # if Σ |change| must be below this, a run begins with better ranks than NetworkX does
FIRST_BOUND, WIDEN = 0.35, 1.25  # the first bound of the eigenvalues; estimates are widened by that factor
WORK_PER_BLOCK, MOST_BLOCKS = 1 << 12, 1 << 11  # arcs and vertices of a block of rows


# ------------------------------------------------------------------ plain arithmetic, compiled too


def push_chunk(vertices, arcs, threads):
    """Vertices of a pushed level that a thread takes at a time: few where they are hubs, many where they are not."""
    arcs, even = max(1, arcs), vertices // (CHUNKS_PER_THREAD_OF_PUSH * threads)
    even = max(even, MIN_ARCS_PER_PUSH * vertices // arcs)
    return max(1, min(MAX_VERTICES_PER_PUSH, min(ARCS_PER_PUSH * vertices // arcs, even)))


def _even(least, most, per_thread):
    """A function of (size, threads): how much a thread takes at a time, so that each takes some chunks."""

    def chunk(size, threads):
        return max(least, min(most, size // (per_thread * threads)))

    return chunk


pull_chunk = _even(1, 256, CHUNKS_PER_THREAD)  # words of 64 vertices
gather_chunk = _even(16, 512, CHUNKS_PER_THREAD)  # vertices whose rows are read whole
copy_chunk = _even(256, 1 << 62, CHUNKS_PER_THREAD)  # vertices that cost one store each
region_chunk = _even(16, 1 << 62, 4)  # words of 64 vertices, each one store, off a thread's own region


CHUNK_SIZES = (push_chunk, pull_chunk, gather_chunk, copy_chunk, region_chunk)
