"""The report in a real browser: it draws what Python drew, and its filters work."""

from pathlib import Path

import browser
import pytest
from benchmarks import report
from benchmarks.pages import RESULTS

pytestmark = pytest.mark.slow


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


def test_the_filter_shows_rows_with_all_its_words(opened: browser.Browser) -> None:
    rows = "[...document.querySelectorAll('.row')].filter(r => r.checkVisibility())"
    whole = opened.run(f"{rows}.length")
    ask = "input.value = {!r}; input.dispatchEvent(new Event('input'))"
    opened.run(ask.format("kron18 igraph"))
    texts = opened.run(
        f"{rows}.map(r => (r.closest('section').querySelector('h2').textContent + r.textContent).toLowerCase())"
    )
    assert 0 < len(texts) < whole and all("kron18" in text and "igraph" in text for text in texts)
    opened.run(ask.format("no such graph"))
    assert opened.run("document.querySelector('output').textContent") == "Nothing matches"
    opened.run(ask.format(""))
    assert opened.run(f"{rows}.length") == whole and opened.problems == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_a_phone_in_both_themes(window: browser.Browser, written: Path, dark: bool) -> None:
    window.resize(390, 844, dark)
    window.open("about:blank")
    window.open(written.as_uri())
    assert window.run("document.documentElement.scrollWidth <= innerWidth")
    assert window.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(15, 21, 28)" if dark else "rgb(255, 255, 255)"
    )
    assert window.problems == []
