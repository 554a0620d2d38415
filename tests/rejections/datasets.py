"""Rejections by hopwave.datasets."""

from hopwave import GraphError, datasets
from rejections import Row, each

URLS = ["", "x", "file:///etc/passwd", "http://", "http://[::1", "http://a b/", "http://\n", 5]

ROWS: list[Row] = [
    *each(lambda get: get("no such"), [datasets.download, datasets.fetch], GraphError, "Group/name"),
    (lambda: datasets.load("no such"), GraphError, "use one of karate"),
    (lambda: datasets.load("carate"), GraphError, "did you mean 'karate'"),
    (lambda: datasets.load("email-Enron"), GraphError, "datasets.fetch('SNAP/email-Enron')"),
    (lambda: datasets.fetch("karate"), GraphError, "datasets.load('karate')"),
    (lambda: datasets.fetch("luxemb-osm"), GraphError, "'DIMACS10/luxembourg_osm'"),
    (lambda: datasets.fetch("Trackers"), GraphError, "KONECT"),
    *each(datasets.fetch, ["../../etc/passwd", "SNAP/.."], GraphError, "is not of the form Group/name"),
    *each(lambda url, tmp: datasets.fetch("Group/x", url=url, cache=tmp), URLS, GraphError, "is not a URL"),
]
