"""The reference: every public name, in groups, and the command.

The pages of the names are made of their docstrings; here are only the names. The page of the command is made by typer
from what `--help` prints.
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

PUBLIC_MODULES = (
    "hopwave",
    "hopwave.generate",
    "hopwave.datasets",
    "hopwave.linalg",
    "hopwave.linalg.algorithms",
    "hopwave.distributed",
    "hopwave.distributed.linalg",
    "hopwave.graph500",
)
PLACE = re.compile(r"(<!-- names -->\n).*?(<!-- /names -->)", re.DOTALL)


@dataclass(frozen=True)
class Group:
    """One page of the reference: names of one module."""

    file: str
    title: str
    about: str
    module: str
    names: tuple[str, ...]


def _group(file: str, title: str, about: str, names: str, module: str = "hopwave") -> Group:
    return Group(file, title, about, module, tuple(names.split()))


GROUPS = (
    _group("graph", "Graphs", "What everything runs on. {doc}`../graphs` is the guide.", "Graph Statistics"),
    _group(
        "files",
        "Files, devices, plans",
        "Reading and writing graphs, what this machine has, the memory of a question, and the catalogue of plans.",
        "read write formats devices Device estimate_memory MemoryEstimate plan plans validate Validation",
    ),
    _group(
        "search",
        "Searches",
        "Hops from a source. {doc}`../searching` is the guide.",
        "bfs bfs_each bfs_many k_hop has_path BFSResult ScaledCounts Trace Level",
    ),
    _group(
        "paths",
        "Shortest paths",
        "Paths in hops or along weights. {doc}`../shortest-paths` is the guide.",
        "sssp sssp_each sssp_many nearest shortest_path shortest_paths k_shortest_paths all_shortest_paths "
        "ShortestPaths BucketTrace Bucket",
    ),
    _group(
        "centralities",
        "Centralities",
        "One score per vertex or edge. {doc}`../ranking` says which to take.",
        "betweenness_centrality edge_betweenness_centrality closeness_centrality harmonic_centrality pagerank "
        "eigenvector_centrality katz_centrality hits degree_centrality in_degree_centrality out_degree_centrality "
        "strength percolation_centrality load_centrality stress_centrality group_betweenness_centrality "
        "group_closeness_centrality BetweennessResult "
        "EdgeBetweennessResult Certificate VertexScores HubsAndAuthorities",
    ),
    _group(
        "distances",
        "Distances",
        "Questions about all distances of a graph. {doc}`../distances` is the guide.",
        "eccentricity diameter radius center periphery barycenter average_shortest_path_length wiener_index "
        "global_efficiency local_efficiency distance_histogram distance_blocks pairs_within hyperball "
        "DistanceHistogram Estimate HyperBall",
    ),
    _group(
        "tables",
        "Travel tables and accessibility",
        "Distances from sources to targets, and what is within reach. {doc}`../accessibility` is the guide.",
        "distance_table accessibility nearest_of isochrone DistanceTable Accessibility NearestOf Isochrone Routes",
    ),
    _group(
        "structure",
        "Components and structure",
        "Components, sides, triangles, cores and communities.",
        "connected_components weakly_connected_components strongly_connected_components is_connected "
        "is_weakly_connected is_strongly_connected condensation topological_order is_directed_acyclic_graph "
        "is_bipartite bipartite_sides biconnected_components articulation_points bridges "
        "triangles triangle_count clustering average_clustering transitivity "
        "square_clustering core_numbers k_core maximal_independent_set label_propagation modularity "
        "Components Communities Blocks",
    ),
    _group(
        "errors",
        "Errors and warnings",
        "Everything that hopwave raises is a HopwaveError.",
        "HopwaveError GraphError FormatError PlanError EngineError ExecutorError ConvergenceError LinalgError "
        "DownloadError IgnoredColumnWarning IgnoredWeightsWarning LostDirectionWarning SparseIdsWarning",
    ),
    _group(
        "generate",
        "hopwave.generate",
        "Generated graphs.",
        "kronecker kronecker_edges rmat uniform uniform_edges smallworld barabasi_albert mycielskian delaunay "
        "geometric grid star path cycle complete diamonds generators Generator Parameter",
        "hopwave.generate",
    ),
    _group(
        "datasets",
        "hopwave.datasets",
        "Small graphs that come with hopwave, and large ones to download.",
        "load names fetch download published Published cache_folder",
        "hopwave.datasets",
    ),
    _group(
        "linalg",
        "hopwave.linalg",
        "Masked products over semirings. {doc}`../linear-algebra` is the guide.",
        "Matrix Vector mxv vxm mxm waves Waves Explanation apply select reduce ewise_add ewise_mult assign extract bfs "
        "semiring Semiring monoid Monoid binary BinaryOp unary UnaryOp CONVERT Shares",
        "hopwave.linalg",
    ),
    _group(
        "linalg-algorithms",
        "hopwave.linalg.algorithms",
        "Algorithms that are made of such products, one short file each.",
        "betweenness bfs connected_components core_numbers delta_stepping eigenvector_centrality hits katz_centrality "
        "label_propagation maximal_independent_set pagerank sssp triangle_count triangle_list triangles",
        "hopwave.linalg.algorithms",
    ),
    _group(
        "distributed",
        "hopwave.distributed",
        "Graphs over the ranks of an MPI job; needs mpi4py. {doc}`../distributed` is the guide.",
        "from_edges read kronecker uniform spread bfs betweenness_centrality edge_betweenness_centrality "
        "DistributedGraph DistributedBFSResult DistributedBetweennessResult World world Layout",
        "hopwave.distributed",
    ),
    _group(
        "distributed-linalg",
        "hopwave.distributed.linalg",
        "Masked products over semirings, of matrices and vectors over ranks.",
        "DistributedMatrix DistributedVector mxv vxm reduce bfs pagerank sssp",
        "hopwave.distributed.linalg",
    ),
    _group("graph500", "hopwave.graph500", "The Graph500 benchmark.", "run Outcome Searched", "hopwave.graph500"),
)


def public_names() -> set[str]:
    """Every public name, in full: what the `__all__` of the public modules lists, without modules and errors twice.

    >>> {"hopwave.bfs", "hopwave.linalg.mxv", "hopwave.generate.grid"} <= public_names()
    True
    """
    found = set()
    for module_name in PUBLIC_MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            member = getattr(module, name)
            if not isinstance(member, ModuleType) and not (module_name != "hopwave" and name == "LinalgError"):
                found.add(f"{module_name}.{name}")
    return found


def directive(group: Group, name: str) -> str:
    """What tells Sphinx to write down the docstring of a name."""
    member = getattr(importlib.import_module(group.module), name)
    full = f"{group.module}.{name}"
    if inspect.isclass(member):
        options = "\n   :members:\n   :inherited-members: tuple, dict, list" if group.file != "errors" else ""
        return f".. autoclass:: {full}{options}\n   :show-inheritance:" if options else f".. autoexception:: {full}"
    if inspect.isroutine(member):
        return f".. autofunction:: {full}"
    return f".. autodata:: {full}\n   :no-value:"


def row(group: Group, name: str) -> str:
    """A name with a link to its place below, and the first sentence of its docstring.

    >>> row(GROUPS[0], "Graph").partition(" | ")[0]
    '| {py:obj}`Graph <hopwave.Graph>`'
    """
    first = (inspect.getdoc(getattr(importlib.import_module(group.module), name)) or "").partition("\n")[0]
    sentence = first.partition(". ")[0].rstrip(".").replace("|", "\\|")
    return f"| {{py:obj}}`{name} <{group.module}.{name}>` | {sentence}. |"


def page(group: Group) -> str:
    """One page of the reference: a table of its names, then the docstring of each."""
    parts = [f"# {group.title}", group.about]
    parts.append("\n".join(["| name | what it is |", "|---|---|", *(row(group, name) for name in group.names)]))
    parts.append(f"```{{eval-rst}}\n.. currentmodule:: {group.module}\n```")
    for name in group.names:
        parts.append(f"```{{eval-rst}}\n{directive(group, name)}\n```")
    return "\n\n".join(parts) + "\n"


def overview(linked: bool) -> str:
    """Every page and its names: with links on the site, whose pages are made of docstrings; in words elsewhere."""
    rows = [("The command", "command", "`hopwave` and its subcommands")]
    for group in GROUPS:
        shown = (f"{{py:obj}}`{name} <{group.module}.{name}>`" if linked else f"`{name}`" for name in group.names)
        rows.append((group.title, group.file, ", ".join(shown)))
    lines = [
        f"| [{title}](api/{file}.md) | {names} |" if linked else f"| {title} | {names} |" for title, file, names in rows
    ]
    return "\n".join(["| page | names |", "|---|---|", *lines])


def with_names(page: str, linked: bool = False) -> str:
    """The page with its list of names rewritten."""
    return PLACE.sub(lambda found: f"{found[1]}{overview(linked)}\n{found[2]}", page)


def command() -> str:
    """The page of the command: every subcommand with its arguments and options."""
    words = [
        sys.executable,
        "-m",
        "typer",
        "hopwave.cli.app",
        "utils",
        "docs",
        "--name",
        "hopwave",
        "--title",
        "The command",
    ]
    page = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return in_full(page.replace("```console\n$ ", "```sh\n"))


def in_full(page: str) -> str:
    """The page with its lists of subcommands in whole sentences: typer cuts them after a few words.

    >>> in_full("* `bfs`: Hops from...\\n\\n## `hopwave bfs`\\n\\nHops from a source to all. More.\\n").splitlines()[0]
    '* `bfs`: Hops from a source to all.'
    """
    sections = re.findall(r"^#+ `hopwave ([^`]+)`\n\n((?:.+\n)+)", page, re.MULTILINE)
    sentences = {name.split()[-1]: re.split(r"\.\s", text)[0].replace("\n", " ") for name, text in sections}

    def whole(found: re.Match[str]) -> str:
        sentence = sentences.get(found[1], "")
        return f"* `{found[1]}`: {sentence}." if sentence.startswith(found[2]) else found[0]

    return re.sub(r"^\* `([^`]+)`: (.*)\.\.\.$", whole, page, flags=re.MULTILINE)


def write(source: Path) -> None:
    """Write every page of the reference into the folder that Sphinx reads."""
    folder = source / "api"
    folder.mkdir(parents=True, exist_ok=True)
    for group in GROUPS:
        (folder / f"{group.file}.md").write_text(page(group), encoding="utf-8")
    (folder / "command.md").write_text(command(), encoding="utf-8")
    contents = source / "reference.md"
    contents.write_text(with_names(contents.read_text(encoding="utf-8"), linked=True), encoding="utf-8")
