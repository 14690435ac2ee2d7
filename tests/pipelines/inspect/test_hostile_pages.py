"""Data of strangers in the HTML pages: it is shown as text, and nothing of it runs."""

import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.inspect.contamination import SplitCounts
from corpusmill.pipelines.inspect.contamination_page import make_page as contamination_page
from corpusmill.pipelines.inspect.explain import make_page as inspect_page
from corpusmill.pipelines.inspect.html_report.make_report import make_pages, render
from corpusmill.transforms.files.builds.finished_builds import Build, open_build
from corpusmill.transforms.wikitext.audit.audit_report import AuditReport
from corpusmill.transforms.wikitext.audit.holes import AuditedPage, Comparison, Hole
from corpusmill.transforms.wikitext.explain.explained_page import explain_page
from corpusmill.transforms.wikitext.language import load_language
from tests.pipelines.inspect.conftest import OpenReport
from tests.tools.golden_tree import GOLDEN

RUN = "window.ran=1"
HOSTILE = (
    "charts are put here {{ 7 * 7 }} {charts} ${0} %s @ink & &lt;b&gt; \\u003c"
    f"""</script><script>{RUN}</script> <!--<script>{RUN}//--> ]]> </style></title></textarea></select>"""
    f"""<img src=x onerror={RUN}> " onclick="{RUN}" ' onclick='{RUN}' x=` onclick={RUN} """
    f"""\u2028{RUN}\u2029 <svg/onload={RUN}> javascript:{RUN}"""
)
NAMES = {"name", "format", "split", "formula", "corpus", "language", "min_ratio"}
"""Values of a manifest that name files, columns or formulas: a build is not readable without them."""


def spoil(value: Any, key: str = "") -> Any:
    """The same value with hostile texts in it: every string, and the reasons of rejected records."""
    if isinstance(value, dict):
        added = {HOSTILE: 3} if key == "rejected" else {}
        return {name: spoil(one, name) for name, one in value.items()} | added
    if isinstance(value, list):
        return [spoil(one, key) for one in value]
    return value + HOSTILE if isinstance(value, str) and key not in NAMES else value


def spoil_files(folder: Path) -> None:
    """Puts hostile texts into the columns of Parquet files, the cells of tables and the card."""
    for path in folder.rglob("*.parquet"):
        table = pq.read_table(path)
        for number, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                cells = [cell and cell + HOSTILE for cell in table[field.name].to_pylist()]
                table = table.set_column(number, field, pa.array(cells, field.type))
        pq.write_table(table, path)
    for path in folder.glob("unrendered-templates.tsv"):
        head, *rows = path.read_text("utf-8").split("\n")
        rows = [row and row + HOSTILE for row in rows]
        path.write_text("\n".join([head, *rows]), "utf-8")
    for path in folder.glob("README.md"):
        path.write_text(path.read_text("utf-8") + HOSTILE, "utf-8")


def hostile_builds(folder: Path) -> list[Build]:
    """Copies of the golden builds in which all texts are hostile."""
    builds = []
    for corpus in ("wiki40b/uk", "wiki40b/en", "lm1b", "pg19", "simplebooks", "flores101"):
        (golden,) = (path.parent for path in (GOLDEN / corpus).rglob("COMPLETED"))
        copy = folder / corpus
        shutil.copytree(golden, copy)
        build = open_build(str(copy))
        spoil_files(copy)
        manifest = spoil(build.manifest)
        of_manifest = {name: spoil(getattr(build, name)) for name in ("edition", "dump_date")}
        build = build._replace(manifest=manifest, **of_manifest)
        builds.append(build)
    return builds


def report(folder: Path) -> str:
    return render(make_pages(hostile_builds(folder)))


def contamination(_: Path) -> str:
    counts = dict.fromkeys(SplitCounts._fields, 1)
    sizes = dict.fromkeys(("longest", "words", "words_found", "documents", "whole"), 1)
    rating = {"tier": "copied", "share": 1.0, "missing": 0, "documents": 1, "answer": "no"}
    names = {"set": HOSTILE, "split": HOSTILE}
    passage = {"file": HOSTILE, "document": HOSTILE, "text": HOSTILE, "matches": [(0, 9, 3, 12)]}
    passage |= rating
    row = {
        **names,
        **sizes,
        "tier": "copied",
        "id": HOSTILE,
        "text": HOSTILE,
        "passages": [passage],
    }
    return "".join(contamination_page({"train": {}, "sets": [{**names, **counts}]}, [row]))


def inspected(_: Path) -> str:
    text = HOSTILE.replace("<!--", "")
    source = f"{text}\n\n== {text} ==\n{{{{x|{text}}}}} [[x|{text}]] {text}\n" * 2
    page = explain_page(source, HOSTILE, load_language("uk"), {})
    assert len(page.sections) == 3
    return "".join(inspect_page(page, [(HOSTILE, HOSTILE)]))


def audited(_: Path) -> str:
    hole = Hole("unknown-value", HOSTILE, HOSTILE, HOSTILE)
    comparison = Comparison(100, 50, 40, (hole,), {})
    return AuditReport([AuditedPage(1, HOSTILE, "", comparison)]).html(HOSTILE)


PAGES: dict[str, Callable[[Path], str]] = {
    "report": report,
    "contamination": contamination,
    "inspect": inspected,
    "audit": audited,
}


class Reader(HTMLParser):
    """The elements, attributes, texts and scripts of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.in_script = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.texts += [value for _, value in attrs if value]
        self.in_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self.in_script = False

    def handle_data(self, data: str) -> None:
        (self.scripts if self.in_script else self.texts).append(data)


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about hostile data."""
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / f"{request.param}.html"
    path.write_text(PAGES[request.param](folder), "utf-8")
    return path


def test_hostile_data_is_text(page: Path) -> None:
    read = Reader(page.read_text("utf-8"))
    assert not read.elements & {"img", "svg", "iframe", "object"}
    assert not [name for name in read.attributes if name.startswith("on")]
    assert any(HOSTILE in text for text in read.texts)
    assert len(read.scripts) == (page.stem in ("report", "contamination"))


@pytest.mark.browser
@pytest.mark.parametrize("obeys_policy", [True, False])
def test_hostile_data_does_not_run(
    page: Path, browser: Any, open_report: OpenReport, obeys_policy: bool
) -> None:
    context = browser.new_context(bypass_csp=not obeys_policy)
    tab = context.new_page()
    said, anchors = open_report(tab, page)
    list(anchors)  # draws every build
    assert HOSTILE in tab.evaluate("document.body.textContent")
    for one in tab.query_selector_all("summary, h1, td, th, mark, span")[:200]:
        one.dispatch_event("click")
    assert tab.evaluate("window.ran") is None
    assert said == [page.as_uri()]
    context.close()


@pytest.mark.browser
def test_the_policy_stops_scripts_that_are_not_of_the_page(page: Path, browser: Any) -> None:
    if page.stem == "audit":
        pytest.skip(
            "the page is a file of a build, whose bytes its version names; it has no policy"
        )
    added = page.with_suffix(".added.html")
    run = f"<script>{RUN}</script><img src=x onerror={RUN}>"
    added.write_text(page.read_text("utf-8").replace("<h1>", f"{run}<h1>", 1), "utf-8")
    tab = browser.new_page()
    tab.goto(added.as_uri())
    assert tab.evaluate("window.ran") is None
    tab.close()
