"""The CUDA engine: every search plan on the GPU, through CuPy, with kernels of our own (kernels/*.cuh).

Plans whose loop is on the host go level by level (search/steps.py); a plan whose loop is on the device is one launch
(search/one_launch.py), where the GPU can launch cooperatively. CuPy is imported when the first graph is loaded.
"""

from __future__ import annotations

import importlib.util
import warnings

from hopwave.arrays import DeferredArray, on_host
from hopwave.catalogue import CATALOGUE
from hopwave.engines.cuda.errors import LESS_MEMORY, OTHERS_LESS, explained
from hopwave.errors import EngineError
from hopwave.jobs import Question

LEAST_CAPABILITY = 70  # Volta: threads of a warp may diverge, and say with whom they act together


class Engine:
    """See hopwave.engines.Engine."""

    name = "cuda"

    def missing(self):
        from hopwave.devices import cuda_extra

        install = f"pip install 'hopwave[{cuda_extra()}]'"
        if importlib.util.find_spec("cupy") is None:
            return f"device='cuda' needs CuPy, which is not installed; run: {install}, or use device='cpu'"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # CuPy warns where there is no driver; the sentence below says it
                import cupy
            if not cupy.cuda.runtime.getDeviceCount():
                return "device='cuda' found no GPU here; check nvidia-smi, or use device='cpu'"
            capability = int(cupy.cuda.Device().compute_capability)
        except Exception as error:  # a driver that is missing, too old or wedged says so in many ways
            said = " ".join(str(error).split()) or type(error).__name__
            return (
                f"device='cuda' found no GPU that CuPy can use ({said}); check the driver with nvidia-smi, install "
                f"the CuPy that suits it ({install}), or use device='cpu'"
            )
        if capability < LEAST_CAPABILITY:
            return f"this GPU has compute capability {capability / 10}, hopwave needs 7.0; use device='cpu'"
        return None

    def load(self, graph, plan):
        with explained("uploading the graph", graph):
            from hopwave.engines.cuda.graph import CudaGraph, Loaded

            if "cuda" not in graph._prepared:
                graph._prepared.setdefault("cuda", CudaGraph(graph))
            loaded = Loaded(graph, plan, graph._prepared["cuda"])
            loaded.ready()
            return loaded

    def supports(self, plan, question):
        from hopwave.engines.cuda.search.steps import lacks

        return plan.refuses(question) or lacks(plan)

    def without(self, plan):
        return ("direction rule",) if plan.task == "betweenness" and plan.regime != "source" else ()

    def start(self, loaded, sources, question, threads=None):
        if threads is not None:
            raise EngineError(f"threads={threads!r} is for device='cpu'; a GPU uses all of its own")
        with explained("starting a search", loaded.graph):
            from hopwave.engines.cuda.search.state import Search

            return Search(loaded, sources, question)

    def advance(self, search, step, choice):
        from hopwave.engines.cuda.search.steps import advance

        with explained("computing a level", search.loaded.graph):
            return advance(search, step, choice)

    def run(self, search, plan, trace):
        """A device loop in one launch; None leaves the loop to the caller."""
        if plan.loop != "device" or not search.loaded.device.cooperative:
            return None
        from hopwave.engines.cuda.search import one_launch

        if one_launch.supports(plan, search.question):
            return None
        with explained(f"running plan {plan.name!r}", search.loaded.graph), search.loaded.lock:
            levels = one_launch.run(search, plan, trace)
        search.ran_whole = levels is not None
        return levels

    def fetch(self, search):
        with explained("fetching the answer", search.loaded.graph):
            if search.ran_whole:
                depth, counts = search.depth, search.counts
            else:
                search.begin()  # a limit of 0 allows no step, but the sources are there
                depth = search.depth - (not search.nf and search.depth > 0)
                counts = search.path_counts() if search.question.path_counts else None
            answer = {
                "distances": self._as_asked(search, search.distance),
                "predecessors": self._as_asked(search, search.parent),
                "path_counts": self._as_asked(search, counts),
                "depth": depth,
                "reached": search.reached,
            }
            if search.work is not None:
                search.on_device.workspaces.append(search.work)
                search.work = None
            return answer

    @staticmethod
    def _as_asked(search, array):
        """On the device where the graph came from there, else in the host's memory."""
        import cupy

        on_device = isinstance(array, cupy.ndarray)
        if search.on_device.follows and array is not None and hasattr(array, "dtype"):
            return array if on_device else cupy.asarray(array)
        return DeferredArray(array.get) if on_device else array  # copied when first looked at

    def declines(self, verb, graph):
        if verb == "local_efficiencies":
            return (
                "device='cuda' has no local efficiency: a small graph around each vertex keeps no GPU at work; "
                "use device='cpu' or 'auto'"
            )
        if verb == "strong_components" and graph.directed:
            return (
                "device='cuda' finds weak components alone: strong ones are found depth first, one step after another; "
                "use device='cpu' or 'auto' (is_strongly_connected runs here too)"
            )
        if verb == "sweep" and not self._cooperative():
            return "this GPU cannot launch cooperatively, which searches from many sources need; use device='cpu'"
        return None

    @staticmethod
    def _cooperative():
        import cupy

        return bool(cupy.cuda.Device().attributes["CooperativeLaunch"])

    def sweep(self, graph, job, poll, threads=None):
        """Searches from many sources: see hopwave.algorithms.many_sources."""
        if threads is not None:
            raise EngineError(f"threads={threads!r} is for device='cpu'; a GPU uses all of its own")
        with explained("searching from many sources", graph):
            from hopwave.engines.cuda.many import sweep

            labels = None if graph.directed else self.components(graph, False)
            return sweep(self.load(graph, CATALOGUE["hopwave-gpu"]), job, labels, poll)

    def components(self, graph, strong):
        """The number of every vertex's component, by lowest vertex; kept with the graph."""
        if strong and (reason := self.declines("strong_components", graph)):
            raise EngineError(reason)
        if "components" not in graph._prepared:
            with explained("looking for components", graph):
                from hopwave.engines.cuda.components import components

                loaded = self.load(graph, CATALOGUE["hopwave-gpu"])
                graph._prepared["components"] = components(loaded.on_device)
        return graph._prepared["components"]

    def shortest_path(self, graph, source, target):
        """The ids of one shortest path, or None: one search, then back from the target by way of the lowest ids."""
        from hopwave.algorithms.bfs import search
        from hopwave.algorithms.paths import all_paths

        question, plan = Question(predecessors=False), CATALOGUE["hopwave-gpu"]
        distances = on_host(search(self, graph, (source,), question, plan, "", False, None).distances)
        return None if distances[target] < 0 else next(all_paths(graph, distances, target))

    def refuses(self, plan, job):
        return _betweenness(plan).refuses(plan, job)

    def regime(self, graph, job, plan):
        """Which of our betweenness regimes suits the job, and why; the plan says how the graph is loaded."""
        loaded = self.load(graph, plan)
        with explained("choosing a regime", graph, LESS_MEMORY):
            return _betweenness(plan).choose(loaded, job)

    def accumulation(self, graph, job, plan, threads=None):
        """Sums of dependencies: see hopwave.algorithms.brandes."""
        if threads is not None:
            raise EngineError(f"threads={threads!r} is for device='cpu'; a GPU uses all of its own")
        loaded = self.load(graph, plan)
        remedy = OTHERS_LESS if plan.regime == "source" else LESS_MEMORY
        with explained("preparing betweenness", graph, remedy):
            return _betweenness(plan).Accumulation(loaded, job, plan)


def _betweenness(plan):
    """The module that runs a betweenness plan: TurboBC's pipeline, or our own regimes."""
    if plan.regime == "source":
        from hopwave.engines.cuda.betweenness import turbobc

        return turbobc
    from hopwave.engines.cuda.betweenness import run

    return run
