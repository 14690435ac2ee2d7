"""Formats a page, and the explanation of how it was cleaned, as one HTML file that needs no network."""

from collections.abc import Iterator, Sequence

from corpusmill.transforms.files.html_page import escape, make_head
from corpusmill.transforms.wikitext.explain.explained_page import (
    ExplainedPage,
    ExplainedSection,
    Piece,
)

_STYLE = """
:root { --line: #8886; --template: #fd66; --link: #6af3; --cut: #f665; }
body { font: 16px/1.5 system-ui, "Noto Sans", sans-serif; }
body { margin: 0 auto; max-width: 100rem; padding: 0 1rem 4rem; }
h1, h2 { overflow-wrap: anywhere; }
h2 { border-top: 2px solid var(--line); padding-top: .6rem; font-size: 1.2rem; }
h2 small { font-weight: normal; opacity: .7; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5rem; }
.pair > * { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; max-height: 40rem; overflow-y: auto; }
.source { font: .85rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.text p { margin: 0 0 .8rem; }
.template { background: var(--template); } .link { background: var(--link); }
.cut { background: var(--cut); text-decoration: line-through; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; margin-top: .5rem; table-layout: fixed; }
td, th { text-align: start; vertical-align: top; padding: .2rem .6rem .2rem 0; }
tr { border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; white-space: pre-wrap; }
td:first-child { font-family: ui-monospace, monospace; }
summary { cursor: pointer; } .legend span { padding: 0 .4rem; }
@media (max-width: 45rem) { .pair { grid-template-columns: minmax(0, 1fr); } }
"""
_LEGEND = (
    '<p class="legend"><span class="template">template</span> <span class="link">link</span>'
    ' <span class="cut">cut out</span> · point at one, or open the list below a section, to see its text</p>'
)
_SHOWN = 300  # maximum number of characters of a source that a table shows


def make_page(page: ExplainedPage, facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yields the parts of the HTML file.

    Args:
      facts: (name, value) pairs to display above the page, such as its source.
    """
    yield make_head(page.title, _STYLE)
    yield f"<h1>{escape(page.title)}</h1>\n<dl>"
    for name, value in facts:
        yield f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
    yield f"</dl>\n{_LEGEND}\n"
    for section in page.sections:
        yield from _section(section)
    yield "</body></html>\n"


def _section(section: ExplainedSection) -> Iterator[str]:
    name = escape(section.heading or "lead")
    yield f"<section><h2>{name} <small>· {section.fate}</small></h2>\n"
    if section.rule:
        yield f"<p>{escape(section.rule.text)} <code>{escape(section.rule.place)}</code></p>\n"
    paragraphs = "".join(f"<p>{escape(one)}</p>" for one in section.text.paragraphs)
    yield '<div class="pair"><div class="source" dir="auto">'
    yield from _marked(section.source.strip("\n"), section)
    heading = f"<h3>{escape(section.text.heading)}</h3>" if section.text.heading else ""
    yield f'</div><div class="text" dir="auto">{heading}{paragraphs or "–"}</div></div>\n'
    if section.pieces:
        yield f"<details><summary>Templates, links and other parts: {len(section.pieces):,}</summary>"
        yield "<table><thead><tr><th>in the source<th>in the text<th>by<th>where</tr></thead><tbody>\n"
        yield from map(_row, section.pieces)
        yield "</tbody></table></details>"
    yield "</section>\n"


def _marked(source: str, section: ExplainedSection) -> Iterator[str]:
    """Yields the wikitext of a section as HTML, and highlights the parts that have an explanation.

    A part inside a highlighted part is not highlighted separately.

    Args:
      source: The wikitext of the section, without line feeds at its ends.
      section: The section and its parts.
    """
    shift = len(section.source) - len(section.source.lstrip("\n"))
    position = 0
    for piece in section.pieces:
        start, end = piece.start - shift, min(piece.end - shift, len(source))
        if piece.start < 0 or start < position:
            continue
        yield escape(source[position:start])
        told = escape(f"→ {piece.shown or '–'}\n{piece.rule.text}\n{piece.rule.place}")
        yield f'<span class="{piece.kind}" title="{told}">{escape(source[start:end])}</span>'
        position = end
    yield escape(source[position:])


def _row(piece: Piece) -> str:
    source, shown = (" ".join(one.split())[:_SHOWN] for one in (piece.source, piece.shown))
    cells = source, shown or "–", piece.rule.text, piece.rule.place
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n"
