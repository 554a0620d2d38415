"""The list of served functions, and their signatures. tests/fuzz/test_fuzz_served.py compares all their answers."""

from __future__ import annotations

import networkx as nx
import pytest

import _hopwave_nx_info as info
from hopwave.networkx_backend import backend
from hopwave.networkx_backend.dispatch import SINCE_3_7, Served

LATER = set() if SINCE_3_7 else {"centroid"}  # functions that this NetworkX lacks or defines differently
LISTED = {name: about for name, about in info.FUNCTIONS.items() if name not in LATER}
INSTALLED = LISTED.keys() & nx.utils.backends._registered_algorithms.keys()


def test_the_list_for_networkx_is_the_list_served() -> None:
    assert set(LISTED) == set(backend.functions)
    assert len(backend.functions) >= 60


@pytest.mark.parametrize("name", sorted(INSTALLED))
def test_signatures_are_those_of_networkx(name: str) -> None:
    """Our parameters are NetworkX's, in its order, followed only by the keywords that get_info lists."""
    theirs = nx.utils.backends._registered_algorithms[name].__wrapped__
    newer = backend.functions[name].newer
    names = [one for one in theirs.__signature__.parameters if not one.startswith("backend") and one not in newer]
    mine = list(backend.functions[name].signature.parameters)
    assert [parameter for parameter in mine if parameter in names] == names
    told = {keyword.partition(" ")[0] for keyword in info.FUNCTIONS[name][1]}
    assert set(mine) - set(names) == told


def test_a_keyword_of_a_newer_networkx_may_say_its_default() -> None:
    """NetworkX passes all its keywords, even those that hopwave's function does not have."""
    older = Served("harmonic_diameter", lambda G, sp=None: (G, sp), "distance_measures")
    assert older.newer == {"weight": None}
    assert older(1, weight=None) == (1, None)
    assert older.arguments((1,), {"weight": None}) == {"G": 1, "sp": None}
    with pytest.raises(TypeError, match="weight"):
        older.arguments((1,), {"weight": "km"})
