"""A browser for the tests of pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.browsers import BROWSERS, find_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium of this machine."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = find_browser()
    if not program:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
