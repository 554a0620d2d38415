"""Every kernel that the engine may launch: for `hopwave warmup`, and for tests that compile all of them."""

from itertools import product

from hopwave.engines.cuda.launch import expression


def words(kind: str, names: str) -> list[str]:
    return [f"hopwave::steps::{kind}::{name}" for name in names.split()]


ROWS = "int", "long long"  # types of row offsets
PACKED_ROWS = (*ROWS, "unsigned long long")  # types of row offsets, including packed rows
INT = ("int",)
BOTH = "false", "true"
WIDTHS = "1", "32"  # threads per column
FLOATS = "float", "double"
COUNTS = "unsigned", "double"  # types of path counts
SLOTS = "unsigned int", "unsigned long long"  # types of slots in a rank's part
EXTENDED, PACKED = "hopwave::Extended", "hopwave::Packed"
TABLE: tuple[tuple[str, str, *tuple[list[str] | tuple[str, ...], ...]], ...] = (
    ("betweenness/batch.cuh", "gather_level", INT, ("false, false", "true, false", "true, true")),
    ("betweenness/batch.cuh", "finish_longs", INT, BOTH),
    ("betweenness/batch.cuh", "set_sources close_level add_batches", INT),
    ("betweenness/block.cuh", "sources_alone", PACKED_ROWS, ("double, false",), BOTH, BOTH),
    ("betweenness/block.cuh", "sources_alone", PACKED_ROWS, ("double, true",), BOTH, ("false",)),
    ("betweenness/block.cuh", "sources_alone", PACKED_ROWS, (f"{EXTENDED}, false, false, false",)),
    ("betweenness/block.cuh", "add_rows sum_rows", INT),
    ("betweenness/core.cuh", "core_forward core_demand core_backward", INT),
    ("betweenness/batch.cuh", "sum_pieces scan_pieces write_pieces write_chunks", ROWS),
    ("betweenness/renumber.cuh", "count_near find_farthest morton_keys ranks_and_lengths row_lengths", ROWS),
    ("betweenness/renumber.cuh", "move_rows old_places to_new_order to_old_order", ROWS),
    ("betweenness/sampled_paths.cuh", "sample_paths", ROWS),
    ("betweenness/turbobc.cuh", "discover spread collect flows_arcs", ROWS, COUNTS),
    ("betweenness/turbobc.cuh", "flows_columns", ROWS, COUNTS, WIDTHS),
    ("betweenness/turbobc.cuh", "backward_columns", ROWS, BOTH, WIDTHS),
    ("betweenness/turbobc.cuh", "backward_arcs scores add_row", ROWS),
    ("betweenness/weighted.cuh", "sources_weighted", ROWS, ("double, false", "double, true", f"{EXTENDED}, false")),
    ("betweenness/wide.cuh", "one_source", PACKED_ROWS),
    ("build/arcs.cuh", "add_reverse scale_values count_inside write_inside", ROWS),
    ("build/arcs.cuh", "judge_vertices judge_arcs judge_found", ROWS),
    ("build/rows.cuh", "greatest_length find_long rows_of_keys", PACKED_ROWS),
    ("build/rows.cuh", "spread measure_groups place_groups pack_groups unpack", INT),
    ("build/rows.cuh", "number_keys extent count_buckets count_part write_part", ROWS),
    ("build/rows.cuh", "write_offsets degree_keys rank_keys neighbours_of_ranks", ROWS),
    ("build/rows.cuh", "scan count_kept write_kept sum_degrees ranks", INT),
    ("build/rows.cuh", "write_weights find_nan", FLOATS),
    ("common/products.cuh", "forward_arcs", ROWS, COUNTS),
    ("common/products.cuh", "forward_columns", ROWS, COUNTS, WIDTHS),
    ("components/hooking.cuh", "plant hook_first hook_rest flatten sample_roots count_roots scan_roots", PACKED_ROWS),
    ("components/hooking.cuh", "number_roots write_labels", PACKED_ROWS),
    ("components/hooking.cuh", "hook_sides_first hook_sides write_sides neighbour_range join_others", ROWS),
    ("components/strong.cuh", "count_open close_reached regroup find_lowest name_by_lowest", ROWS),
    ("components/strong.cuh", "trim reach spread_colours close_colours", ROWS),
    ("generate/kronecker.cuh", "draw_edges", ROWS),
    ("generate/kronecker.cuh", "count_ends fill_rows draw_keys sum_edges", INT),
    ("generate/kronecker.cuh", "sum_rows", ("int", PACKED)),
    ("linalg/independent_set.cuh", "draw choose leave", ROWS),
    ("linalg/labels.cuh", "list_long look_short count_labels best_labels look_long move spoil", ROWS),
    ("linalg/peel.cuh", "peel", ROWS),
    ("linalg/power.cuh", "power", PACKED_ROWS, ("false, false, double", "false, true, double", "false, false, float")),
    ("linalg/power.cuh", "power", ROWS, ("true, false, double", "true, true, double")),
    ("linalg/power.cuh", "invert length_keys", PACKED_ROWS),
    ("linalg/power.cuh", "number_arcs orthogonal", ROWS),
    ("linalg/triangles.cuh", "count_up write_up", ROWS),
    ("linalg/triangles.cuh", "count_short count_long", ROWS, BOTH),
    ("many/each.cuh", "search_each", PACKED_ROWS),
    ("many/lengths.cuh", "add_columns", INT),
    ("many/search.cuh", "search_many", PACKED_ROWS, ("2", "16")),
    ("many/lengths.cuh", "search_lengths search_targets search_values", ROWS, BOTH),
    ("one_launch/by_level.cuh", "count_levels scan_levels fill_levels", ROWS),
    ("one_launch/search.cuh", "search", PACKED_ROWS, BOTH, BOTH),
    ("one_launch/search.cuh", "prepare", PACKED_ROWS),
    ("one_launch/search.cuh", "count_paths", ROWS),  # packed rows do not support path counts
    ("rank/part.cuh", "draw_lengths relax name_parents check_lengths", SLOTS),
    ("rank/part.cuh", "check check_long", (*SLOTS, "int", PACKED), ("signed char", "short", "int")),
    ("rank/part.cuh", "hubs_first", SLOTS, ("unsigned char",)),
    ("rank/part.cuh", "expand contract pull_compacted push pull", SLOTS),
    ("rank/part.cuh", "claim", ROWS),
    ("shortest_paths/state.cuh", "measure to_whole", FLOATS),
    ("shortest_paths/predecessors.cuh", "choose walk_back", ROWS, ("unsigned int", *FLOATS)),
    ("shortest_paths/search.cuh", "search", ROWS, ("unsigned int, unsigned int",)),
    ("shortest_paths/search.cuh", "search", ROWS, FLOATS, ("unsigned long long",)),
    ("shortest_paths/spurs.cuh", "find_spurs", INT),
    ("steps/pull.cuh", "all_rows mask", ROWS, ("int", "double")),
    ("steps/pull.cuh", "scatter pull_compacted", ROWS),
    ("steps/double_scan.cuh", "prefix_sum", ROWS),
    ("steps/double_scan.cuh", "scan_segments", ROWS, ("1", "2")),
    ("steps/double_scan.cuh", "pull_queue", ROWS, words("Balance", "static_ thread warp donate"), BOTH),
    ("steps/gather.cuh", "list_lengths list_ends", ROWS),
    ("steps/state.cuh", "level_extent scale_level count_extended", ROWS),
    ("steps/pull.cuh", "pull", ROWS, words("Mapping", "thread warp"), words("Rows", "all unvisited"),
     words("Operand", "frontier visited"), BOTH),
    ("steps/push.cuh", "push_shares contract", ROWS, BOTH),
    ("steps/push.cuh", "push", ROWS, words("Mapping", "thread twc"), words("Output", "queue scan"), BOTH),
    ("steps/push.cuh", "push", ROWS, words("Mapping", "thread twc"), words("Output", "reuse"), ("false",)),
    ("steps/sorted.cuh", "digit_totals gather_pairs reduce_sorted", ROWS),
    ("steps/sorted.cuh", "digit_scatter sort_tile push_tile", ROWS, BOTH),
    ("steps/state.cuh", "set_sources status_to_bits queue_to_bits bits_to_queue", ROWS),
    ("steps/state.cuh", "single_scan merge_bits closed_bits arc_rows", ROWS),
    ("steps/push.cuh", "expand count_arcs", ROWS),
)  # fmt: skip


def all_instances() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for header, names, *choices in TABLE:
        made = [expression(header, name, *some) for name in names.split() for some in product(*choices)]
        found.setdefault(header, []).extend(made)
    return found
