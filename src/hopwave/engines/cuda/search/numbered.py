"""Searches in one launch of a graph whose vertices are numbered by degree (numbering.py); answers are by id."""

import cupy
import numpy as np

from hopwave.engines.cuda.search.workspace import Workspace


class NumberedWorkspace(Workspace):
    """A Workspace whose sources and answers are ids, where rows and neighbours are numbers. loaded: has `numbering`."""

    def __init__(self, loaded, split=None, options=()):
        super().__init__(loaded, split, options)
        self.numbering = loaded.numbering
        self.found = cupy.empty(self.n, np.int32), cupy.empty(self.n, np.int32)  # distances and parents by number

    def launch(self, distance, parent, sources, question, plan, trace=None):
        """Put one search into the current stream. Vertices that share a number share an answer."""
        numbers = self.numbering.numbers
        if isinstance(sources, tuple) and len(sources) == 1:
            sources = numbers[sources[0] : sources[0] + 1]
        else:
            sources = numbers[cupy.asarray(sources)]
        distances, parents = self.found[0], None if parent is None else self.found[1]
        ending = super().launch(distances, parents, sources, question, plan, trace)
        self.numbering.spread(distances, distance)
        if parents is not None:
            self.numbering.spread(parents, parent, are_numbers=True)
        return ending

    @property
    def bytes(self):
        """Device memory held, without the rows."""
        return sum(array.nbytes for array in self.found) + super().bytes + self.numbering.bytes
