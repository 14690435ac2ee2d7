"""Writes the answers about builds as one self-contained HTML file."""

import re
import textwrap
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import jinja2
import vl_convert
from altair import VEGALITE_VERSION
from markupsafe import Markup

from corpusmill.pipelines.inspect.html_report.answers import MEANINGS, QUESTIONS, Answer
from corpusmill.pipelines.inspect.html_report.choices import Document
from corpusmill.transforms.files.html_page import escape, make_head, to_json
from corpusmill.transforms.files.records import Rejected

_LICENCE = (
    "/* vega, vega-lite, vega-embed: University of Washington Interactive Data Lab, BSD-3-Clause */"
)
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
SHOWN = 3_000  # characters of a document that are shown
BEGINNING = 72  # characters shown as the title of an untitled document
DETAIL_SHOWN = 300
_NUMBER = re.compile(r"[-+]?\d{1,3}(,\d{3})*(\.\d+)?([ \u00a0][%×]| [kMGT]?B| bytes)?|–")


class Page(NamedTuple):
    """A section of the report: the answers about one build, or about all builds."""

    anchor: str
    title: str
    answers: Sequence[Answer]
    documents: Sequence[Document] = ()
    rejected: Sequence[Rejected] = ()


def render(pages: Sequence[Page]) -> str:
    """Returns the HTML report that consists of the given sections.

    The same sections always give the same bytes.
    """
    charts: list[Any] = []

    def place_of(spec: Any) -> int:
        charts.append(spec)
        return len(charts) - 1

    environment = jinja2.Environment(
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else Markup(escape(value)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "place_of": place_of,
        "shown": lambda text: shorten(text.strip(), SHOWN),
        "shortened": lambda text: shorten(text, DETAIL_SHOWN),
        "beginning": lambda text: textwrap.shorten(text, BEGINNING, placeholder=" …"),
        "is_number": lambda cell: isinstance(cell, str) and bool(_NUMBER.fullmatch(cell)),
    }
    scripts = [f"{_LICENCE}\n{library()}", _read("page.js")]
    return environment.from_string(_read("page.html.j2")).render(
        head=Markup(make_head("corpusmill report", _read("page.css"), scripts)),
        pages=pages,
        questions=QUESTIONS,
        meanings=MEANINGS,
        # The template calls this at its end, when all charts have a place.
        charts=lambda: Markup(to_json(charts)),
        scripts=[Markup(script) for script in scripts],
    )


def library() -> str:
    """Returns the source code of the JavaScript libraries that draw charts: vega, vega-lite and
    vega-embed.
    """
    major, minor, *_ = VEGALITE_VERSION.split(".")
    bundle: str = vl_convert.javascript_bundle(_SNIPPET, f"{major}.{minor}")
    return bundle.replace("</script", "<\\/script")


def shorten(text: str, most: int) -> str:
    """Returns the text, truncated to `most` characters. A note at the end says how many characters were left
    out.
    """
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters)"


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")
