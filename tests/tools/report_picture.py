"""Draws the picture of the report that the documents show: python -m tests.tools.report_picture DEMO

DEMO is what `corpusmill demo` has built. It needs the libraries of the extras "report" and "browser", and a
Chromium of the machine.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from corpusmill.pipelines.inspect.html_report.make_report import make_report
from tests.tools.browsers import find_browser

PICTURE = Path(__file__).parents[2] / "pipelines" / "docs" / "report.png"
MAX_BYTES = 300_000
BUILD = "simplebooks"
WIDTH, HEIGHT = 1200, 1360


def draw(demo: str, picture: Path = PICTURE) -> int:
    """Writes the picture of one build, and returns its bytes. Raises ValueError where it is too large."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "report.html")
        page.write_text(make_report([demo]), "utf-8")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        anchor = tab.get_attribute(f".page[id^={BUILD}]", "id")
        tab.goto(f"{page.as_uri()}#{anchor}")
        tab.wait_for_selector(f"[id='{anchor}'][data-drawn]")
        shot = tab.screenshot()
        browser.close()
    if len(shot) > MAX_BYTES:
        raise ValueError(f"{len(shot):,} bytes; the picture may have {MAX_BYTES:,}")
    picture.write_bytes(shot)
    return len(shot)


if __name__ == "__main__":
    print(f"{PICTURE}: {draw(sys.argv[1]):,} bytes")
