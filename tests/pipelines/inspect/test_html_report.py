"""The report with pictures, opened in a browser where there is one."""

import shutil
from pathlib import Path

import pytest

from pipelines.inspect.html_report.make_report import make_report
from tests.makers.wiki_builds import run_cli
from tests.tools.golden_tree import GOLDEN

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert run_cli("report", GOLDEN, "--html", path) == 0
    return path


@pytest.mark.slow
def test_the_same_builds_give_the_same_bytes(page: Path) -> None:
    assert make_report([str(GOLDEN)]) == page.read_text("utf-8")


@pytest.mark.browser
def test_it_opens_in_a_browser_without_an_error(page: Path) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    said: list[str] = []
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = opened.new_page(viewport={"width": 480, "height": 900})
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: said.append(request.url))
        tab.goto(page.as_uri())
        for build in tab.query_selector_all(".page"):
            anchor = build.get_attribute("id")
            tab.select_option("#choose", anchor)
            tab.wait_for_selector(f"[id='{anchor}'][data-drawn]")
            charts = build.query_selector_all(".chart")
            assert all(chart.query_selector("svg .mark-group *") for chart in charts), anchor
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), anchor
        opened.close()
    assert said == [page.as_uri()]
