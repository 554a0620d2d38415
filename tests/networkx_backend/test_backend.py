"""The list of served functions, and their signatures. tests/fuzz/served.py compares all their answers."""

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
    """A function uses arguments of NetworkX's, and takes only the keywords in addition that get_info lists."""
    served = backend.functions[name]
    theirs = nx.utils.backends._registered_algorithms[name].__wrapped__
    assert set(served.own) <= set(theirs.__signature__.parameters)
    told = {keyword.partition(" ")[0] for keyword in info.FUNCTIONS[name][1]}
    assert set(served.keywords) == told


def test_an_argument_that_is_not_used_must_have_its_default() -> None:
    """NetworkX passes all its keywords, even those that hopwave's function does not use."""
    served = Served("harmonic_diameter", lambda G, sp: (G, sp))
    assert served(1, weight=None) == (1, None)
    assert served.reason(served.arguments((1,), {"weight": None})) is None
    assert "weight='km' is not supported" in str(served.reason(served.arguments((1,), {"weight": "km"})))
