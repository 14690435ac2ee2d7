"""A browser for the tests of pages."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OpenReport: TypeAlias = Callable[[Any, Path], tuple[list[str], Iterator[str]]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium of this machine."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not program:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def open_report() -> OpenReport:
    """A function that opens a page in a tab. It returns a list to which the tab adds its messages, errors and
    requests, and the anchors of the builds in the page, each of which is shown first.
    """

    def open_in(tab: Any, page: Path) -> tuple[list[str], Iterator[str]]:
        said: list[str] = []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: said.append(request.url))
        tab.goto(page.as_uri())
        return said, _show(tab)

    return open_in


def _show(tab: Any) -> Iterator[str]:
    for build in tab.query_selector_all(".page"):
        anchor = build.get_attribute("id")
        tab.select_option("#choose", anchor)
        tab.wait_for_selector(f"[id='{anchor}']:not([hidden])")
        assert all(bar.bounding_box()["width"] for bar in build.query_selector_all(".bar i")), (
            anchor
        )
        yield anchor
