"""Formats a page and the explanation of its cleaning for a terminal.

The wikitext and the cleaned text of a section are side by side. The rules that were applied are below them.

Formats a page, and the explanation of how it was cleaned, as one HTML file that needs no network.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from corpusmill.transforms.files.markup import escape, html_table, make_head
from corpusmill.transforms.files.terminal import draw_texts, escape_line
from corpusmill.transforms.wikitext.explain import explained_page

from .build_document import Origin

NARROW = 76
"""On a screen with fewer columns, the text is printed below the source instead of beside it."""

TEXT_SHOWN = 1_500
"""Maximum number of characters of a document's text that are displayed."""

_PIECE = 160  # maximum number of characters of a source that are shown
_NOTHING = "–"


def draw_origin(origin: Origin, width: int) -> str:
    """Returns the facts about a document and the beginning of its text, wrapped to `width` columns."""
    lines = [f"{origin.fate}", *(f"{name}: {escape_line(value)}" for name, value in origin.facts)]
    text = origin.text.strip()
    left = len(text) - TEXT_SHOWN
    shown = text[:TEXT_SHOWN] + (f" … ({left:,} more characters)" if left > 0 else "")
    return _wrapped(lines, width) + (f"\n{_wrapped([shown], width, '')}" if text else "") + "\n"


def draw_page(
    page: explained_page.ExplainedPage, facts: Sequence[tuple[str, str]], width: int
) -> str:
    """Returns a page, and the explanation of how it was cleaned, as text for a terminal.

    Args:
      facts: (name, value) pairs to display above the page, such as its source.
      width: The number of columns of the screen.
    """
    told = (f"{name}: {escape_line(value)}" for name, value in facts)
    sections = (part for section in page.sections for part in _section(section, width))
    return _wrapped(told, width) + "".join(sections)


def _wrapped(lines: Iterable[str], width: int, indent: str = "  ") -> str:
    """Returns the lines, wrapped to `width` columns.

    Args:
      indent: The indentation of continuation lines.
    """
    wrapped = (
        textwrap.wrap(one, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
        for line in lines
        for one in line.split("\n")
    )
    return "".join(f"{one}\n" for of_line in wrapped for one in of_line)


def _section(section: explained_page.ExplainedSection, width: int) -> Iterator[str]:
    title = f"{section.heading or 'lead'} · {section.fate} "
    yield f"\n{_wrapped([title + '=' * (width - cell_len(title))], width)}"
    if section.rule:
        yield _wrapped([section.rule.text, f"  {section.rule.place}".rstrip()], width)
    source = _folded(section).strip("\n")
    if section.fate not in (explained_page.KEPT, explained_page.EMPTY):
        if source:
            yield draw_texts(("source",), [(_shortened(source),)], (1,), width)
        return
    text = "\n\n".join((*filter(None, [section.text.heading]), *section.text.paragraphs))
    if not source:
        return
    if width < NARROW:
        yield draw_texts(("source",), [(source,)], (1,), width)
        yield draw_texts(("text",), [(text or _NOTHING,)], (1,), width)
    else:
        yield draw_texts(("source", "text"), [(source, text or _NOTHING)], (1, 1), width)
    yield from _pieces(section.pieces, width)


def _folded(section: explained_page.ExplainedSection) -> str:
    """Returns the wikitext of a section. Long parts that add nothing to the cleaned text are shortened."""
    parts, position = [], 0
    for piece in section.pieces:
        start = piece.start + _PIECE
        if not piece.shown and piece.start >= position and piece.end > start + _PIECE:
            parts += [section.source[position:start], f" … ({piece.end - start:,} characters) "]
            position = piece.end
    return "".join((*parts, section.source[position:]))


def _pieces(pieces: Iterable[explained_page.Piece], width: int) -> Iterator[str]:
    """Yields a table of the parts of a section that cleaning has changed, then lines with counts.

    The table leaves out links that are kept as text, and parts that are always removed, such as comments.
    These parts are counted by rule, in lines such as "3 × <rule>".
    """
    told: list[explained_page.Piece] = []
    counted: Counter[tuple[str, str]] = Counter()
    for piece in pieces:
        is_plain = piece.kind == explained_page.LINK and bool(piece.shown)
        if is_plain or piece.kind == explained_page.OUTSIDE:
            counted[piece.rule.text, piece.rule.place] += 1
        else:
            told.append(piece)
    if told:
        rows = [
            (
                _shortened(piece.source),
                _shortened(piece.shown) or _NOTHING,
                f"{piece.rule.text}\n{piece.rule.place}".strip(),
            )
            for piece in told
        ]
        yield draw_texts(("in the source", "in the text", "by"), rows, (5, 4, 6), width)
    for (what, place), count in counted.items():
        yield _wrapped([f"{count:,} × {what} ({place})"], width)


def _shortened(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _PIECE else f"{shown[:_PIECE]} …"


_LEGEND = (
    '<p class="legend"><span class="template">template</span> <span class="link">link</span>'
    ' <span class="cut">cut out</span> · point at one, or open the list below a section, to see its text</p>'
)
_SHOWN = 300  # maximum number of characters of a source that a table shows


def make_page(
    page: explained_page.ExplainedPage, facts: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yields the parts of the HTML file.

    Args:
      facts: (name, value) pairs to display above the page, such as its source.
    """
    yield make_head(page.title)
    yield f"<main class=wide>\n<h1>{escape(page.title)}</h1>\n<dl>"
    for name, value in facts:
        yield f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
    yield f"</dl>\n{_LEGEND}\n"
    for section in page.sections:
        yield from _html_section(section)
    yield "</main></body></html>\n"


def _html_section(section: explained_page.ExplainedSection) -> Iterator[str]:
    yield f"<section><h2>{escape(section.heading or 'lead')} <small>· {section.fate}</small></h2>\n"
    if section.rule:
        yield f"<p>{escape(section.rule.text)} <code>{escape(section.rule.place)}</code></p>\n"
    paragraphs = "".join(f"<p>{escape(one)}</p>" for one in section.text.paragraphs)
    yield '<div class="pair"><div class="source" dir="auto">'
    yield from _marked(section.source.strip("\n"), section)
    heading = f"<h3>{escape(section.text.heading)}</h3>" if section.text.heading else ""
    yield f'</div><div class="text" dir="auto">{heading}{paragraphs or "–"}</div></div>\n'
    if section.pieces:
        yield f"<details><summary>Templates, links and other parts: {len(section.pieces):,}</summary>"
        yield html_table(
            ("in the source", "in the text", "by", "where"), map(_cells, section.pieces)
        )
        yield "</details>"
    yield "</section>\n"


def _marked(source: str, section: explained_page.ExplainedSection) -> Iterator[str]:
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


def _cells(piece: explained_page.Piece) -> tuple[str, ...]:
    source, shown = (" ".join(one.split())[:_SHOWN] for one in (piece.source, piece.shown))
    return source, shown or "–", piece.rule.text, piece.rule.place
