"""The site in a real browser: pages open without errors, links and search work, nothing is wider than a phone."""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import browser
import pytest

import hopwave as hw

pytestmark = pytest.mark.slow

PAGES = (
    "index.html",
    "guide.html",
    "tutorials/streets.html",
    "graphs.html",
    "searching.html",
    "betweenness.html",
    "reference.html",
    "api/search.html",
    "howto/xbfs.html",
    "gallery/index.html",
    "gallery/terrain.html",
    "performance.html",
    "compared.html",
    "glossary.html",
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("size", [(1280, 900, False), (390, 844, True)], ids=["desktop", "phone-dark"])
def test_pages_open_without_errors(window: browser.Browser, address: str, size: tuple[int, int, bool]) -> None:
    window.resize(*size)
    for page in PAGES:
        window.open(address + page)
        assert window.run("document.querySelector('h1') !== null"), page
        assert window.run("document.documentElement.scrollWidth <= innerWidth"), f"{page} is wider than the window"
        assert window.run("[...document.images].every(i => i.complete && i.naturalWidth > 0)"), page
        fits = "[...document.querySelectorAll('article img')].every(i => i.getBoundingClientRect().right <= innerWidth)"
        assert window.run(fits), f"a picture of {page} is cut off"
    assert window.problems == []


def test_wide_tables_and_code_scroll_by_themselves(window: browser.Browser, address: str) -> None:
    window.resize(400, 844, False)
    for page, selector in (("compared.html", "table"), ("gallery/terrain.html", "div.highlight pre")):
        window.open(address + page)
        wide = f"[...document.querySelectorAll('main {selector}')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        assert window.run(f"{wide}.length > 0"), page
        assert window.run(f"{wide}.every(e => getComputedStyle(e).overflowX === 'auto')"), page
        assert window.run("document.documentElement.scrollWidth <= innerWidth"), page


def test_every_page_names_the_version_and_its_source(window: browser.Browser, address: str) -> None:
    window.resize(1280, 900, False)
    window.open(address + "graphs.html")
    assert hw.__version__ in window.run("document.querySelector('.navbar-brand').textContent")
    assert window.run("document.querySelector('.navbar-brand img').naturalWidth > 0")
    assert window.run("[...document.querySelectorAll('a')].some(a => a.href.includes('_sources/graphs.md'))")


def test_links_are_followed(window: browser.Browser, address: str) -> None:
    window.resize(1280, 900)
    window.open(address + "index.html")
    targets = window.run("[...document.querySelectorAll('nav a, main a')].map(a => a.href)")
    here = sorted(
        {target.partition("#")[0] for target in targets if target.startswith(address) and "_sources" not in target}
    )
    assert len(here) >= 8
    for target in here:
        window.open(target)
        assert window.run("document.querySelector('main h1') !== null"), target
    assert window.problems == []


@pytest.mark.parametrize("words", ["betweenness_centrality", "hopwave.betweenness_centrality"])
def test_the_search_finds_a_function_first(window: browser.Browser, address: str, words: str) -> None:
    window.open(address + f"search.html?q={words}")
    window.wait_for("document.querySelector('.search-summary')?.textContent.includes('found')")
    first = window.wait_for("document.querySelector('#search-results li a')?.href")
    assert first.endswith("api/centralities.html#hopwave.betweenness_centrality")
    assert window.problems == []


def test_a_failing_page_is_noticed(window: browser.Browser, address: str) -> None:
    window.open("data:text/html,<script>console.error('wrong')</script>")
    window.run("1")
    assert [problem for problem in window.problems if "wrong" in problem]
    window.problems.clear()
    window.open(address + "no-such-page.html")
    window.run("1")
    assert window.problems
    window.problems.clear()
