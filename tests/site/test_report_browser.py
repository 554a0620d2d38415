"""The report in a real browser: it draws what Python drew, and its filters work."""

from __future__ import annotations

import re
from pathlib import Path

import browser
import pytest
from benchmarks.pages import RESULTS
from benchmarks.report import __main__ as report
from benchmarks.report import charts

pytestmark = pytest.mark.slow

SHOWN = "[...document.querySelectorAll('.v > span')].filter(s => s.checkVisibility())"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    report.write(RESULTS, out)
    return out / "index.html"


@pytest.fixture
def opened(window: browser.Browser, written: Path) -> browser.Browser:
    window.resize(1280, 900)
    window.open("about:blank")
    window.open(written.as_uri())
    assert window.run("document.documentElement.dataset.ready") == "yes"
    return window


def check(window: browser.Browser, facet: str, name: str) -> None:
    window.run(f"document.querySelector('input[name={facet}][data-name=\"{name}\"]').click()")


def names(window: browser.Browser, facet: str) -> set[str]:
    """The plans, engines or devices of the numbers on display."""
    place = ("plan", "engine", "device").index(facet)
    of = f"document.querySelector(`input[name={facet}][value='${{n}}']`).dataset.name"
    return set(window.run(f"{SHOWN}.map(s => s.dataset.a.split(' ')[{place}]).filter(n => n).map(n => {of})"))


def test_the_script_draws_as_python_does(opened: browser.Browser, written: Path) -> None:
    few = next(chart for chart in charts.read(RESULTS) if chart.name == "cpu-search")
    assert len(few.rows) <= 24
    text = written.read_text(encoding="utf-8").partition(f'<section class="chart" id="{few.key}"')[2]
    text = text.partition("</section>")[0]
    places = f"[...document.querySelectorAll('#{few.key} .s use')].map(u => u.getAttribute('x'))"
    assert opened.run(places) == re.findall(r'<use [^>]*x="([\d.]+%)"', text)
    ticks = f"[...document.querySelectorAll('#{few.key} .grid text')].map(t => t.textContent)"
    assert opened.run(ticks) == re.findall(r"<text [^>]*>([^<]+)</text>", text)
    assert opened.problems == []


def test_filters_leave_what_they_say(opened: browser.Browser) -> None:
    whole = opened.run("document.querySelector('output').textContent")
    check(opened, "engine", "SciPy")
    assert names(opened, "engine") == {"SciPy"}
    check(opened, "engine", "igraph")
    assert names(opened, "engine") == {"SciPy", "igraph"}
    check(opened, "graph", "kron18")
    rows = "[...document.querySelectorAll('.row')].filter(r => r.checkVisibility())"
    labels = opened.run(f"{rows}.map(r => r.querySelector('.l').textContent)")
    assert labels and all("kron18" in label for label in labels)
    assert opened.run("location.hash") == "#graph=kron18&engine=igraph&engine=SciPy"
    opened.run("document.querySelector('button[type=reset]').click()")
    opened.wait_for(f"document.querySelector('output').textContent === '{whole}'")
    check(opened, "plan", "xbfs-warp")
    assert names(opened, "plan") == {"xbfs-warp"}
    check(opened, "device", "NVIDIA Titan Xp")
    assert opened.run("document.querySelector('output').textContent") == "Nothing matches; uncheck a filter"
    assert opened.problems == []


def test_marks_stay_on_the_axis_when_it_changes(opened: browser.Browser) -> None:
    check(opened, "graph", "kron21e44")
    check(opened, "measure", "rate")
    marks = "[...document.querySelectorAll('.s use')].filter(u => u.checkVisibility())"
    places = opened.run(f"{marks}.map(u => parseFloat(u.getAttribute('x')))")
    assert len(places) > 10 and 1.9 < min(places) < 2.1 and 97.9 < max(places) < 98.1
    papers = opened.run(f"{SHOWN}.filter(s => s.classList.contains('paper')).map(s => s.dataset.v)")
    assert "42.44" in papers, "push-pull's Table 2"


def test_an_address_keeps_its_filters(opened: browser.Browser, written: Path) -> None:
    opened.open("about:blank")
    opened.open(f"{written.as_uri()}#engine=NetworkX&measure=time")
    assert names(opened, "engine") == {"NetworkX"}
    assert opened.run("document.querySelector('#engine summary').textContent") == "engine (1)"


def test_long_charts_can_be_opened(opened: browser.Browser) -> None:
    chart = next(chart for chart in charts.read(RESULTS) if len(chart.rows) > 100)
    rows = f"[...document.querySelectorAll('#{chart.key} .row')].filter(r => r.checkVisibility()).length"
    assert opened.run(rows) == 24
    opened.run(f"document.querySelector('#{chart.key} button').click()")
    assert opened.run(rows) == len(chart.rows)


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_a_phone_in_both_themes(window: browser.Browser, written: Path, dark: bool) -> None:
    window.resize(390, 844, dark)
    window.open("about:blank")
    window.open(written.as_uri())
    assert window.run("document.documentElement.scrollWidth <= innerWidth")
    colour = "getComputedStyle(document.body).backgroundColor"
    first = window.run(colour)
    assert first == ("rgb(15, 21, 28)" if dark else "rgb(255, 255, 255)")
    window.run("document.querySelector('#theme').click()")
    assert window.run(colour) == ("rgb(255, 255, 255)" if dark else "rgb(15, 21, 28)")
    assert window.problems == []
