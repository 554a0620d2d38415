"""One level of a search, compiled: the methods to compute it, and the jobs that the crew shares.

    A   the graph, an Adjacency            W   the arrays of this search, a Workspace (both in search/state.py)

Encodings
    parent[v]     of an unvisited vertex is -1 - degree(v): one load shows that v is new and how much it adds to the
                  frontier's arcs. Copied from a prepared array, `unvisited`, at the start.
    queue         every vertex in the order it was found; segments of it are the levels that were pushed.
    bitmaps       rows of 64-vertex words: rows 0 and 1 alternate as frontier and next frontier, rows 2 and 3 as the
                  vertices that an asynchronous pull finds one level early. Bits past the last vertex count as visited.
    distance      of pushed levels is written at the end, from the queue: one pass instead of many.
"""

import numpy as np

from hopwave.engines.cpu import crew
from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.integers import ONE, U0, U1, U4, U6, U8, U16, U63
from hopwave.engines.cpu.intrinsics import inner, noinline
from hopwave.engines.cpu.policy import NOTING_DEGREE
from hopwave.engines.cpu.search.state import BUFFER, CANDIDATES

# Kinds of jobs. NumPy's integers, not Python's, for each of which Numba would compile a separate version.
INIT, PUSH, PULL, PULL_AHEAD, GATHER, FILL, MARK_UNREACHED, MARK_UP = (np.int64(kind) for kind in range(8))
# Flags of a pull. KEEPS_OPEN: some pull of the plan looks for visited vertices. Vertices without in-arcs, which are
# never found, must then not count as visited, and pulls skip them themselves.
ROWS_ALL, OPERAND_VISITED, EARLY_EXIT, KEEPS_OPEN = 1, 2, 4, 8
NEIGHBOURS_AHEAD = 6  # neighbours of a vertex that is pushed soon, prefetched; times are flat from 4 to 8


# ------------------------------------------------------------------ one level, pushed


@inner
def push_alone(indptr, indices, parent, queue, begin, end, tail):
    """The full level on one thread. Returns the new end of the queue and the out-arcs of the found vertices."""
    noinline()
    end, tail = np.uint64(end), np.uint64(tail)
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    edges = 0
    for i in range(np.uint64(begin), end):
        if enough and i + U16 < tail:
            asm.prefetch(indptr, queue[i + U16])
            asm.prefetch(indices, indptr[queue[i + U8]])
            first = min(np.uint64(indptr[queue[i + U4]]), last)
            for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                asm.prefetch(parent, indices[first + j])
        u = queue[i]
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            c = parent[v]
            if c < 0:
                parent[v] = np.int32(u)
                queue[tail] = v
                tail += U1
                edges -= c + 1
    return np.int64(tail), edges


@inner
def flush(buffer, kept, queue, board):
    place = np.uint64(asm.atomic_add(board, crew.TAIL, kept))
    for i in range(kept):
        queue[place + i] = buffer[i]


@inner
def claim_noted(parent, new, seen_from, noted, buffer, kept, queue, board):
    """Swap the parents of the buffered vertices. Returns the buffer's new size, and the arcs of claimed vertices."""
    noinline()
    edges = 0
    for i in range(min(noted, U8)):
        asm.prefetch_to_write(parent, new[i])
    for i in range(noted):
        if i + U8 < noted:
            asm.prefetch_to_write(parent, new[i + U8])
        v = new[i]
        c = parent[v]
        if c < 0 and asm.compare_and_swap(parent, v, c, seen_from[i]):
            if kept == np.uint64(BUFFER):
                flush(buffer, kept, queue, board)
                kept = U0
            buffer[kept] = v
            kept += U1
            edges -= c + 1
    return kept, edges


@inner
def push_chunk(A, W, board, me, begin, stop, kept, level):
    """Push queue[begin:stop]; the first thread to swap a parent owns the vertex. Returns buffer size and new arcs."""
    noinline()
    indptr, indices, parent, queue, buffer = A.indptr, A.indices, W.parent, W.queue, W.buffers[me]
    new, seen_from = W.buffers[me, BUFFER : BUFFER + 2 * CANDIDATES], W.buffers[me, BUFFER + 2 * CANDIDATES :]
    end, noted, many = np.uint64(board[crew.JOB_END]), U0, np.uint64(CANDIDATES)
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    noting, edges = indices.size >= NOTING_DEGREE * (indptr.size - 1), 0
    for i in range(np.uint64(begin), np.uint64(stop)):
        if enough and i + U16 < end:
            asm.prefetch(indptr, queue[i + U16])
            asm.prefetch(indices, indptr[queue[i + U8]])
            first = min(np.uint64(indptr[queue[i + U4]]), last)
            for ahead in range(np.uint64(NEIGHBOURS_AHEAD)):
                asm.prefetch_to_write(parent, indices[first + ahead])
        u = queue[i]
        mark = u if level < 0 else np.uint32(level)
        j, row_end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
        if not noting:
            for place in range(j, row_end):
                v = indices[place]
                c = parent[v]
                if c < 0 and asm.compare_and_swap(parent, v, c, mark):
                    if kept == np.uint64(BUFFER):
                        flush(buffer, kept, queue, board)
                        kept = U0
                    buffer[kept] = v
                    kept += U1
                    edges -= c + 1
            j = row_end
        while j < row_end:
            for place in range(j, min(j + many, row_end)):
                v = indices[place]
                new[noted] = v
                seen_from[noted] = mark
                noted += np.uint64(parent[v] < 0)
            j += many
            if noted >= many:
                kept, more = claim_noted(parent, new, seen_from, noted, buffer, kept, queue, board)
                edges += more
                noted = U0
    kept, more = claim_noted(parent, new, seen_from, noted, buffer, kept, queue, board)
    return kept, edges + more


@inner
def push_shared(A, W, board, me):
    noinline()
    kept, edges, end = U0, 0, board[crew.JOB_END]
    while True:
        begin, stop = crew.next_chunk(board)
        if begin >= end:
            break
        kept, more = push_chunk(A, W, board, me, begin, stop, kept, -1)
        edges += more
    flush(W.buffers[me], kept, W.queue, board)
    asm.ordered_add(board, crew.EDGES, edges)


# ------------------------------------------------------------------ one level, pulled


@inner
def pull_words(A, parent, distance, visited, operand, new, first, last, depth, flags):
    """Unvisited vertices of words [first, last) look for a parent, their hub first. Returns found, edges, checked."""
    noinline()
    found = 0
    edges = 0
    checked = 0
    early_exit = flags & EARLY_EXIT != 0
    own_mask = flags & OPERAND_VISITED == 0
    keeps_open = flags & KEEPS_OPEN != 0
    in_indptr, in_indices, hub, padding = A.in_indptr, A.in_indices, A.hub, A.padding
    closed, n = A.closed, np.uint64(parent.size)
    hub_first = hub.size > 0 and early_exit
    for w in range(np.uint64(first), np.uint64(last)):
        mask = ~visited[w]
        if keeps_open:
            mask &= ~closed[w]
        rows = ~padding[w] if flags & ROWS_ALL else mask
        fresh = U0
        base = w << U6
        if hub_first and rows != U0:
            asking = rows
            while asking != U0:
                bit = asm.trailing_zeros(asking)
                asking &= asking - U1
                u = np.uint64(hub[base + bit])
                fresh |= ((operand[u >> U6] >> (u & U63)) & U1) << bit
            checked += asm.count_ones(rows)
            rows &= ~fresh
            fresh &= mask
            asking = fresh
            while asking != U0:
                v = base + asm.trailing_zeros(asking)
                asking &= asking - U1
                edges -= parent[v] + 1
                parent[v] = np.int32(hub[v])
                distance[v] = depth
        while rows != U0:
            bit = asm.trailing_zeros(rows)
            rows &= rows - U1
            v = base + bit
            asm.prefetch(in_indices, in_indptr[min(v + U16, n)])
            chosen = np.int64(-1)
            j = begin = np.uint64(in_indptr[v])
            end = np.uint64(in_indptr[v + U1])
            while j < end:
                u = np.uint64(in_indices[j])
                j += U1
                if (operand[u >> U6] >> (u & U63)) & U1:
                    chosen = np.int64(u)
                    if early_exit:
                        break
            checked += np.int64(j - begin)
            if chosen >= 0 and (mask >> bit) & U1:
                edges -= parent[v] + 1
                parent[v] = np.int32(chosen)
                distance[v] = depth
                fresh |= U1 << bit
        new[w] = fresh
        if fresh:
            found += asm.count_ones(fresh)
            if own_mask:  # no other worker reads this word, unless `visited` is the operand: then it is merged later
                visited[w] |= fresh
    return found, edges, checked


@inner
def pull_words_ahead(A, parent, distance, visited, new, early, first, last, depth):
    """XBFS, Algorithm 3: a pull that also accepts a vertex at depth + 1 if only a neighbour at depth is found."""
    noinline()
    found = 0
    edges = 0
    checked = 0
    ahead = 0
    edges_ahead = 0
    in_indptr, in_indices = A.in_indptr, A.in_indices
    for w in range(np.uint64(first), np.uint64(last)):
        rows = ~visited[w]
        fresh = U0
        sooner = U0
        base = w << U6
        while rows != U0:
            bit = asm.trailing_zeros(rows)
            rows &= rows - U1
            v = base + bit
            at_depth = np.int64(-1)
            for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
                u = in_indices[j]
                level = distance[u]
                checked += 1
                if level == depth - 1:
                    edges -= parent[v] + 1
                    parent[v] = np.int32(u)
                    distance[v] = depth
                    fresh |= U1 << bit
                    at_depth = -1
                    break
                if level == depth:
                    at_depth = np.int64(u)
            if at_depth >= 0:
                edges_ahead -= parent[v] + 1
                parent[v] = np.int32(at_depth)
                distance[v] = depth + 1
                sooner |= U1 << bit
        new[w] = fresh
        early[w] = sooner
        if fresh | sooner:
            found += asm.count_ones(fresh)
            ahead += asm.count_ones(sooner)
            visited[w] |= fresh | sooner
    return found, edges, checked, ahead, edges_ahead


# ------------------------------------------------------------------ other jobs


@inner
def count_paths(A, W, begin, end, depth):
    """σ[v] = Σ σ[u] over the in-neighbours one level up, in the order of v's row: independent of threads."""
    noinline()
    in_indptr, in_indices, queue, distance, sigma = A.in_indptr, A.in_indices, W.queue, W.distance, W.sigma
    end = np.uint64(end)
    for i in range(np.uint64(begin), end):
        if i + U16 < end:
            asm.prefetch(in_indptr, queue[i + U16])
            asm.prefetch(in_indices, in_indptr[queue[i + U8]])
        v = queue[i]
        total = 0.0
        for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
            u = in_indices[j]
            if distance[u] == depth - 1:
                total += sigma[u]
        sigma[v] = total


@inner
def fill_distances(places, queue, distance, segments, begin, end):
    """Write the distances of queue[begin:end], from the first `places` segments (begin, depth)."""
    noinline()
    low, high = 0, segments
    while high - low > 1:
        middle = (low + high) // 2
        if places[middle, 0] <= begin:
            low = middle
        else:
            high = middle
    i = begin
    while i < end:
        stop = end if low + 1 == segments else min(end, places[low + 1, 0])
        depth = np.int32(places[low, 1])
        for place in range(np.uint64(i), np.uint64(stop)):
            distance[queue[place]] = depth
        i = stop
        low += 1


@inner
def forget(parent, distance, unvisited, begin, end, distances_too):
    """Mark all vertices as unvisited. Distances are reset only if a step reads them; otherwise written at the end."""
    noinline()
    for v in range(begin, end):
        parent[v] = unvisited[v]
    if distances_too:
        for v in range(begin, end):
            distance[v] = -1


@inner
def mark_unreached(parent, distance, begin, end):
    """Write distance and parent -1 for unvisited vertices. Branch-free, so that LLVM can vectorise the loop."""
    noinline()
    for v in range(begin, end):
        distance[v] |= parent[v] >> 31  # all bits if the sign is set
        parent[v] = max(parent[v], np.int32(-1))


@inner
def fill(distance, begin, end, depth):
    noinline()
    for v in range(begin, end):
        distance[v] = depth


@inner
def mark_up(parent, visited, front, closed, first, last):
    """Words of both bitmaps from the parents. The frontier may include earlier levels, which is harmless."""
    noinline()
    n = np.uint64(parent.size)
    for w in range(np.uint64(first), np.uint64(last)):
        base, found = w << U6, U0
        for bit in range(min(U1 << U6, n - base)):
            found |= np.uint64(parent[base + bit] >= 0) << bit
        front[w] = found
        visited[w] = found | closed[w]


@inner
def pull_chunks(A, W, board, me):
    ahead_too, region = board[crew.JOB_KIND] == PULL_AHEAD, me
    depth = np.int32(board[crew.JOB_DEPTH])
    flags, which = board[crew.JOB_FLAGS], board[crew.JOB_WHICH]
    parent, distance, visited = W.parent, W.distance, W.visited
    front, new, early = W.bitmaps[which], W.bitmaps[1 - which], W.bitmaps[3 - which]
    operand = visited if flags & OPERAND_VISITED else front
    found = 0
    edges = 0
    checked = 0
    ahead = 0
    edges_ahead = 0
    while True:
        begin, stop, region = crew.next_of_regions(board, region)
        if region < 0:
            break
        if ahead_too:
            f, e, c, a, ea = pull_words_ahead(A, parent, distance, visited, new, early, begin, stop, depth)
            ahead += a
            edges_ahead += ea
        else:
            f, e, c = pull_words(A, parent, distance, visited, operand, new, begin, stop, depth, flags)
        found += f
        edges += e
        checked += c
    if found + ahead + checked:
        asm.ordered_add(board, crew.FOUND, found)
        asm.ordered_add(board, crew.EDGES, edges)
        asm.ordered_add(board, crew.CHECKED, checked)
    if ahead:
        asm.ordered_add(board, crew.AHEAD, ahead)
        asm.ordered_add(board, crew.EDGES_AHEAD, edges_ahead)


@inner
def work(A, W, board, me):
    noinline()
    kind = board[crew.JOB_KIND]
    if kind == PUSH:
        push_shared(A, W, board, me)
        return
    if kind in (PULL, PULL_AHEAD):
        pull_chunks(A, W, board, me)
        return
    depth, flags = np.int32(board[crew.JOB_DEPTH]), board[crew.JOB_FLAGS]
    parent, distance, unvisited = W.parent, W.distance, A.unvisited
    n, region = np.uint64(parent.size), me
    while kind not in (GATHER, FILL):  # words of 64 vertices
        begin, stop, region = crew.next_of_regions(board, region)
        if region < 0:
            return
        first, last = np.uint64(begin) << U6, min(np.uint64(stop) << U6, n)
        if kind == INIT:
            forget(parent, distance, unvisited, first, last, flags)
        elif kind == MARK_UP:
            closed = A.padding if flags & KEEPS_OPEN else A.closed
            mark_up(parent, W.visited, W.bitmaps[board[crew.JOB_WHICH]], closed, begin, stop)
            if depth >= 0:
                fill(distance, first, last, depth)
        else:
            mark_unreached(parent, distance, first, last)
    while True:  # indices in the queue
        begin, stop = crew.next_chunk(board)
        if begin >= stop:
            return
        if kind == GATHER:
            count_paths(A, W, begin, stop, depth)
        else:
            fill_distances(W.segments, W.queue, distance, flags, begin, stop)
