"""The CUDA engine: runs every search plan on the GPU, through CuPy, with hopwave's own kernels (kernels/*.cuh)."""

import importlib.util
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.arrays import Deferred, Structure, on_host
from hopwave.engines import NoOperations, by_levels
from hopwave.engines.cuda.errors import LESS_MEMORY, OTHERS_LESS, explained
from hopwave.engines.host_memory import check_memory
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.planning import jobs
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.many_sources import Poll, Sweep, Swept
from hopwave.planning.plan import Plan
from hopwave.planning.trace import Level
from hopwave.system.optional import install

LEAST_CAPABILITY = 70  # Volta (7.0): threads of a warp may diverge, and warp operations name the participating threads
NO_CUTTING = (
    "does not prune searches for top=: all searches of a batch run to their end", ", or omit top="
)  # fmt: skip
# Operation → why the GPU does not support it, and what to do instead.
WITHOUT: dict[str, tuple[str, str]] = {
    "local_efficiencies": ("does not support local efficiency: one vertex's graph is too little work for a GPU", ""),
    "path_sums": ("does not support sums over paths (stress, load, groups): their recurrences have no kernels",
                  ", or betweenness_centrality, which runs on a GPU"),
    "hyperball": ("does not support HyperBall: no kernel merges its counters",
                  ", or closeness_centrality(k=...), which runs on a GPU"),
    "cut_sweep": NO_CUTTING, "reach_bounds": NO_CUTTING,
    "weighted_path_sampling": ("draws paths by hops only: along weights, a search that ends at one vertex is too "
                               "little work for a GPU", ", or method='sources'"),
}  # fmt: skip


class Engine(NoOperations):
    """See hopwave.engines.Engine."""

    name = "cuda"

    def missing(self) -> str | None:
        from hopwave.system.devices import lacks_gpu

        reason = self._unusable()
        none = "device='cuda' needs an NVIDIA GPU, but this machine has none; use device='cpu'"
        return none if reason is not None and lacks_gpu() else reason

    @staticmethod
    def _unusable() -> str | None:
        """Why CuPy or the driver cannot be used; None if they can."""
        from hopwave.system.devices import cuda_extra, start_cuda

        command = install(cuda_extra())
        if importlib.util.find_spec("cupy") is None:
            return f"device='cuda' needs CuPy, which is not installed; run: {command}, or use device='cpu'"
        start_cuda()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # CuPy warns if the driver is missing; the message below repeats that
                import cupy
            if not cupy.cuda.runtime.getDeviceCount():
                return "device='cuda' found no GPU here; check nvidia-smi, or use device='cpu'"
            capability = int(cupy.cuda.Device().compute_capability)
        except Exception as error:  # a missing, old or stuck driver raises one of many errors
            said = " ".join(str(error).split()) or type(error).__name__
            return (
                f"device='cuda' found no GPU that CuPy can use ({said}); check the driver with nvidia-smi, install "
                f"a matching CuPy ({command}), or use device='cpu'"
            )
        if capability < LEAST_CAPABILITY:
            return f"this GPU has compute capability {capability / 10}; hopwave needs at least 7.0; use device='cpu'"
        return None

    def load(self, graph: Graph, plan: Plan) -> Any:
        with explained("uploading the graph", graph):
            from hopwave.engines.cuda.graph import Loaded

            loaded = Loaded(graph, plan, self._on_device(graph))
            loaded.ready()
            return loaded

    @staticmethod
    def _on_device(graph: Graph) -> Any:
        from hopwave.engines.cuda.compressed import uploaded

        return uploaded(graph)

    def why_not(self, plan: Plan, job: jobs.SearchJob | jobs.BetweennessJob) -> str | None:
        if not isinstance(job, jobs.SearchJob):
            return _betweenness(plan).why_not(plan, job)
        from hopwave.engines.cuda.search import steps

        return plan.why_not(job) or steps.why_not(plan)

    def without(self, plan: Plan) -> tuple[str, ...]:
        return ("direction rule",) if plan.task == "betweenness" and plan.regime != "source" else ()

    def direct_search(
        self, graph: Graph, question: jobs.SearchJob, plan: Plan, named: bool, threads: int | None = None
    ) -> engines.DirectSearch | None:
        from hopwave.engines.cuda.search import one_launch
        from hopwave.engines.cuda.search.workspace import NoCooperativeLaunch

        if threads is not None or question.path_counts or not one_launch.runs(plan):
            return None
        with explained("compiling", graph):
            one_launch.begin(self._on_device(graph).offset, graph.n, question)
        loaded = self.load(graph, plan)
        if not loaded.device.cooperative or not graph.n:
            return None
        with explained(f"preparing plan {plan.name!r}", graph), loaded.lock:
            try:
                return one_launch.DirectSearch(loaded, plan, question)
            except NoCooperativeLaunch:
                return None

    def start(self, loaded: Any, sources: tuple[int, ...], question: jobs.SearchJob, threads: int | None = None) -> Any:
        _refuse_threads(threads)
        with explained("starting a search", loaded.graph):
            from hopwave.engines.cuda.search.state import Search

            return Search(loaded, sources, question)

    def run(self, search: Any, plan: Plan, trace: bool) -> list[Level]:
        """One launch if the plan's loop is on the device and the GPU supports it, otherwise level by level."""
        from hopwave.engines.cuda.search import ahead, by_level, one_launch, steps

        if one_launch.runs(plan) and search.loaded.device.cooperative:
            with explained(f"running plan {plan.name!r}", search.loaded.graph), search.loaded.lock:
                found: list[Level] | None = one_launch.run(search, plan, trace)
            search.ran_whole = found is not None
            if found is not None:
                return found
        with explained("computing levels", search.loaded.graph):
            if ahead.possible(plan):
                return list(ahead.run(search, plan, trace))
            search.timed = trace
            levels = by_levels(steps, search, search.loaded.n, search.loaded.m, plan, trace)
            return list(by_level.recounted(search, levels)) if search.duplicates else levels

    def fetch(self, search: Any) -> jobs.FoundBySearch:
        with explained("fetching the result", search.loaded.graph):
            if search.ran_whole:
                depth, counts = search.depth, search.counts
            else:
                search.begin()  # with a limit of 0, no step has started the search
                depth = search.depth - (not search.nf and search.depth > 0)
                counts = search.path_counts() if search.question.path_counts else None
            found: jobs.FoundBySearch = {
                "distances": self._placed(search, search.distance),
                "predecessors": self._placed(search, search.parent),
                "path_counts": self._placed(search, counts),
                "depth": depth,
                "reached": search.reached,
            }
            if search.work is not None:
                search.on_device.workspaces.append(search.work)
                search.work = None
            return found

    @staticmethod
    def _placed(search: Any, array: Any) -> Any:
        """Return the array on the device if the graph came from there, otherwise in host memory."""
        import cupy

        on_device = isinstance(array, cupy.ndarray)
        if search.on_device.follows and array is not None and hasattr(array, "dtype"):
            return array if on_device else cupy.asarray(array)
        if not on_device:
            return array
        from hopwave.engines.cuda.buffers import to_host

        return Deferred(lambda: to_host(array))  # copied when it is first read

    def why_not_operation(self, operation: engines.Operation, graph: Graph) -> str | None:
        if operation in WITHOUT:
            what, instead = WITHOUT[operation]
            return f"device='cuda' {what}; use device='cpu' or 'auto'{instead}"
        if operation == "strong_components" and graph.directed and not self._cooperative():
            return "this GPU cannot launch cooperatively, which strong components need; use device='cpu'"
        if operation == "sweep" and not self._cooperative():
            return "this GPU cannot launch cooperatively, which searches from many sources need; use device='cpu'"
        return None

    @staticmethod
    def _cooperative() -> bool:
        from hopwave.engines.cuda.launch import kernels

        return bool(kernels().attributes["CooperativeLaunch"])

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        _refuse_threads(threads)
        with explained("searching from many sources", graph):
            on_device = self._on_device(graph)
            if job.keep == "rows" and not on_device.follows:
                rows, columns = len(job.sources), graph.n
                if job.weighted and job.targets is not None:
                    columns = len(job.targets)
                check_memory(
                    (8 if job.weighted else 4) * rows * columns, f"a table of {rows:,} × {columns:,} distances"
                )
            if job.weighted:
                on_device.refuse_compressed()
                from hopwave.engines.cuda import many_weighted, policy

                if job.keep == "values" or job.targets is not None:
                    return many_weighted.sweep_chosen(self.load(graph, CATALOGUE["brandes-dijkstra"]), job, poll)
                if job.keep == "rows" and policy.one_by_one(graph.n, graph.m):
                    return many_weighted.one_by_one(graph, on_device.follows, job, poll)
                return many_weighted.sweep(self.load(graph, CATALOGUE["brandes-dijkstra"]), job, poll)
            numbering = on_device.numbering
            if numbering is None:
                return job.chosen(self._swept(graph, job, poll))
            return job.chosen(numbering.swept(self._swept(graph, numbering.job(job), poll), job))

    def _swept(self, graph: Graph, job: Sweep, poll: Poll) -> Swept:
        """Run a job along hops; with packed rows, numbers replace ids in its sources and its results by vertex."""
        from hopwave.engines.cuda import many

        plan = CATALOGUE["hopwave-dense"]
        if job.components is not None or many.one_block_each(graph, job):
            return many.sweep_each(self.load(graph, plan), job, poll)
        on_device = self._on_device(graph)
        many.begin(on_device.offset, len(job.sources))
        labels = None if graph.directed else self._labels(graph, False)
        if labels is not None and on_device.numbering is not None:
            labels = labels[on_device.numbering.ids.get()]
        return many.sweep(self.load(graph, plan), job, labels, poll)

    def components(self, graph: Graph, strong: bool) -> npt.NDArray[np.int32]:
        if strong and (reason := self.why_not_operation("strong_components", graph)):
            raise EngineError(reason)
        return self._labels(graph, strong).copy()

    def _labels(self, graph: Graph, strong: bool) -> npt.NDArray[np.int32]:
        strong = strong and graph.directed  # in an undirected graph, strong components equal weak components
        kept = graph._prepared.record(Structure).components
        if strong not in kept:
            from hopwave.engines.cuda.components import components, strong_components

            with explained("finding components", graph):
                on_device = self._on_device(graph) if strong else self.load(graph, CATALOGUE["hopwave-dense"]).on_device
                find: Any = strong_components if strong else components
                kept[strong] = find(on_device)
        return kept[strong]

    def blocks(
        self, graph: Graph, parent: jobs.Integers, depth: npt.NDArray[np.int32], threads: int | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        _refuse_threads(threads)
        with explained("finding biconnected components", graph):
            from hopwave.engines.cuda.components import blocks

            return blocks(self._on_device(graph), parent, depth)

    def shortest_path(self, graph: Graph, source: int, target: int) -> list[int] | None:
        """Search, then walk back from the target, each step to the lowest id one level nearer."""
        plan = CATALOGUE["hopwave-dense"]
        search = self.start(self.load(graph, plan), (source,), jobs.SearchJob(predecessors=False))
        self.run(search, plan, False)
        distances = self.fetch(search)["distances"]
        distances = on_host(distances.fetch() if isinstance(distances, Deferred) else distances)
        return None if distances[target] < 0 else path_back(graph, distances, target)

    def path_sampling(self, graph: Graph, job: jobs.SampleJob, threads: int | None = None) -> jobs.PathSampling:
        _refuse_threads(threads)
        if job.weighted:
            raise EngineError(self.why_not_operation("weighted_path_sampling", graph))
        with explained("preparing a sample of paths", graph, LESS_MEMORY):
            from hopwave.engines.cuda.betweenness import sampled_paths

            return sampled_paths.PathSampling(graph, self._on_device(graph), job)

    def regime(self, graph: Graph, job: jobs.BetweennessJob, plan: Plan) -> tuple[str, str] | None:
        loaded = self.load(graph, plan)
        with explained("choosing a regime", graph, LESS_MEMORY):
            return _betweenness(plan).choose(loaded, job)

    def accumulation(
        self, graph: Graph, job: jobs.BetweennessJob, plan: Plan, threads: int | None = None
    ) -> jobs.Accumulation:
        _refuse_threads(threads)
        loaded = self.load(graph, plan)
        remedy = OTHERS_LESS if plan.regime == "source" else LESS_MEMORY
        with explained("preparing betweenness", graph, remedy):
            return _betweenness(plan).Accumulation(loaded, job, plan)


def _refuse_threads(threads: int | None) -> None:
    if threads is not None:
        raise EngineError(f"threads={threads!r} is for device='cpu'; omit threads= on a GPU")


def path_back(graph: Graph, distances: npt.NDArray[np.int32], target: int) -> list[int]:
    path = [target]
    while distances[path[-1]]:
        v = path[-1]
        neighbours = graph.in_indices[graph.in_indptr[v] : graph.in_indptr[v + 1]]
        path.append(int(neighbours[distances[neighbours] == distances[v] - 1].min()))
    return path[::-1]


def _betweenness(plan: Plan) -> Any:
    """The module that runs a betweenness plan: TurboBC's pipeline, or hopwave's regimes."""
    if plan.regime == "source":
        from hopwave.engines.cuda.betweenness import turbobc

        return turbobc
    from hopwave.engines.cuda.betweenness import run

    return run


if TYPE_CHECKING:
    _: engines.Engine = Engine()  # mypy checks the protocol
