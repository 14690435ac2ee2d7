"""The report with pictures, opened in a browser where there is one."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.inspect.html_report.make_report import make_report
from corpusmill.transforms.files.read_files import InputError
from tests.makers.wiki_builds import run_cli
from tests.pipelines.inspect.conftest import OpenReport
from tests.tools.error_of import error_of
from tests.tools.golden_tree import GOLDEN


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert run_cli("report", GOLDEN, "--html", path) == 0
    return path


@pytest.mark.slow
def test_the_same_builds_give_the_same_bytes(page: Path) -> None:
    assert make_report([str(GOLDEN)]) == page.read_text("utf-8")


def test_copies_of_a_build_have_pages_of_their_own(tmp_path: Path) -> None:
    build = GOLDEN / "subwords" / "multilingual-3-8000"
    for name in ("one", "two"):
        shutil.copytree(build, tmp_path / name)
    anchors = re.findall('<article id="(.*?)"', make_report([str(tmp_path)]))
    assert len(set(anchors)) == len(anchors) == 3  # with that of all builds


@pytest.mark.parametrize(
    "stats",
    [7, [], {"total": 5}, {"total": {"words": "x"}}, {"train": 5}, {"train": None}, {"total": "x"}],
)
@pytest.mark.parametrize("corpus", ["wiki40b/uk", "lm1b", "pg19", "simplebooks"])
def test_wrong_types_of_counts_are_an_error_that_names_the_file(
    tmp_path: Path, corpus: str, stats: Any
) -> None:
    (golden,) = (path.parent for path in (GOLDEN / corpus).rglob("COMPLETED"))
    shutil.copytree(golden, tmp_path / "build")
    path = tmp_path / "build" / "stats.json"
    sound = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**sound, **stats} if isinstance(stats, dict) else stats), "utf-8")
    message = error_of(InputError, make_report, [str(tmp_path)])
    assert message.startswith(f"{path}: the build is damaged: ")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (900, "light"), (1600, "dark")])
def test_it_opens_in_a_browser_without_an_error(
    page: Path, browser: Any, open_report: OpenReport, width: int, scheme: str
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said, anchors = open_report(tab, page)
    for anchor in anchors:
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), anchor
    tab.close()
    assert said == [page.as_uri()]
