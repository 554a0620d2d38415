"""Fuzzing of graphs × questions: hopwave's answers against NetworkX, igraph, SciPy and exact fractions.

Every question that fits a graph is asked about it, with arguments drawn at random.

    cases                graphs, and how answers are compared
    hop_questions        about hops and components
    score_questions      about betweenness, closeness and distances
    weight_questions     along weights, and ranks
    road_questions       tables, facilities, isochrones and ranked paths
    structure_questions  clusters, cores, communities, order and groups
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import hop_questions
import road_questions
import score_questions
import structure_questions
import weight_questions
from cases import Case
from difference import Attempt, Difference

import hopwave as hw

QUESTIONS: tuple[Callable[[Case], int], ...] = (
    hop_questions.search,
    hop_questions.path_counts,
    hop_questions.many,
    hop_questions.histogram,
    hop_questions.neighbourhood,
    hop_questions.one_path,
    hop_questions.all_paths,
    hop_questions.pairs_near,
    hop_questions.components,
    hop_questions.sides,
    hop_questions.triangles,
    score_questions.betweenness,
    score_questions.betweenness_of_igraph,
    score_questions.edge_betweenness,
    score_questions.weighted_betweenness,
    score_questions.sample,
    score_questions.closeness,
    score_questions.highest,
    score_questions.of_connected,
    score_questions.efficiency,
    weight_questions.shortest,
    weight_questions.many_shortest,
    weight_questions.near,
    weight_questions.pagerank,
    weight_questions.katz,
)
ROADS = (
    road_questions.table,
    road_questions.within_reach,
    road_questions.nearest_facilities,
    road_questions.isochrone,
    road_questions.ranked_paths,
    road_questions.percolation,
)
OF_IGRAPH = (hop_questions.components, score_questions.betweenness_of_igraph)


def ask(question: Callable[[Case], int], case: Case) -> int:
    """Ask one kind of question about one graph. Returns how many of hopwave's answers were compared."""
    try:
        return question(case)
    except hw.HopwaveError as error:
        if case.device == "cuda" and "device='cpu'" in str(error):
            return 0  # a GPU does not offer it, and says so
        raise Difference(f"{question.__name__} of {case}: {error}") from error
    except Exception as error:  # hopwave's or another program's: both deserve a look
        name = type(error).__name__
        raise Difference(f"{question.__name__} of {case}: {name}: {error}") from error


def inputs(draw: random.Random, folder: Path, of: Iterable[Any] = QUESTIONS, device: str = "cpu") -> Iterator[Attempt]:
    """One question after another about one graph after another."""
    while True:
        case = Case.drawn(draw, device)
        for question in of:
            yield lambda question=question, case=case: ask(question, case)


def roads(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """Questions about roads."""
    return inputs(draw, folder, ROADS)


def structure(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """Questions about clusters, cores, communities, order and groups."""
    return inputs(draw, folder, structure_questions.QUESTIONS)


def on_cuda(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """All questions on a GPU, but those that need igraph."""
    every = (*QUESTIONS, *ROADS, *structure_questions.QUESTIONS)
    return inputs(draw, folder, [one for one in every if one not in OF_IGRAPH], "cuda")
