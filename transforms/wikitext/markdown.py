"""Converts the lists and tables of a page to Markdown.

Before the passes of the cleaner, each list item and each table row is turned into a paragraph that begins
with a mark. So the passes replace links and templates in it as in any other text. After the passes, the
marked paragraphs are converted to Markdown.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.wikitext.blocks import strip_html_blocks, strip_tables, sub_tables
from corpusmill.transforms.wikitext.marks import BREAK, CELL, ITEM, PROTECTED_BAR, ROW, restore
from corpusmill.transforms.wikitext.sections import Section

_ITEM_LINE = re.compile(r"\n([*#][*#:]*+)[ \t]*+([^\s*#:][^\n]*+)")
_ITEM = re.compile(rf"{ITEM}([*#:]++){ITEM} ?(.*)")
_ROW = re.compile(rf"{ROW}[^{ROW}]*+{ROW}")
_TABLE_HEAD = re.compile(r"\s*:*\s*\{\|([^\n]*)")
_DATA_TABLE = re.compile(r"\b(?:wikitable|prettytable|standard|sortable)\b")
_PARTS = re.compile(r"\[\[|\]\]|\{\{|\}\}|\|\||!!|\|")
_DEEPER = {"[[": 1, "{{": 1, "]]": -1, "}}": -1}
_BREAKS = re.compile(r"<\s*/?\s*(?i:br|p|div|center|blockquote|li)\b[^<>]*>")
_LIST_MARKS = " \t*#:;"
# Text that Markdown would read as a heading, a quotation, an item or a ruler.
_MARKUP = re.compile(r"\d{1,9}(?=[.)] )|(?=#{1,6} |[-+*>] |-{3,}$|={3,}$)")
_SPAN = re.compile(r"(col|row)span\s*=\s*[\"']?(\d+)", re.IGNORECASE)
_LARGEST_SPAN = 20
_FEWEST_COLUMNS = 2


def mark_lists(wikitext: str) -> str:
    """Turns each list item of a wikitext into a paragraph that begins with a mark."""
    return _ITEM_LINE.sub(_mark_item, f"\n{wikitext}")[1:]


def _mark_item(match: re.Match[str]) -> str:
    marks, text = match.groups()
    # If a template or link continues on the next line, this line is part of the item; else a paragraph.
    is_whole = all(text.count(start) == text.count(end) for start, end in ("{}", "[]"))
    return f"\n\n{ITEM}{marks}{ITEM}{text}" + "\n" * is_whole


def mark_tables(wikitext: str) -> str:
    """Turns each row of a data table in a wikitext into a paragraph that begins with a mark.

    Other tables, such as layout tables, are dropped.
    """
    return strip_html_blocks(sub_tables(wikitext, _mark_table))


def join_rows(text: str) -> str:
    """Puts each table row on one line again, because expanded templates may contain line breaks."""
    return _ROW.sub(lambda match: match[0].replace("\n", " ").replace(BREAK, " "), text)


def _mark_table(source: str) -> str:
    head = _TABLE_HEAD.match(source)
    if not head or not _DATA_TABLE.search(head[1]):
        return f"\n{BREAK}"
    lines = strip_tables(source[head.end() :]).rstrip().removesuffix("|}").split("\n")
    rows = [row for row in _lay_out(_rows(lines)) if any(row)]
    if max(map(len, rows), default=0) < _FEWEST_COLUMNS:
        return f"\n{BREAK}"
    # The first row has an additional mark, so that two tables in a row are kept apart.
    marked = (f"{ROW if n else ROW + ROW + ROW}{CELL.join(row)}{ROW}" for n, row in enumerate(rows))
    return "\n\n" + "\n\n".join(marked) + "\n\n"


class _Cell(NamedTuple):
    text: str  # wikitext in one line
    columns: int = 1
    rows: int = 1


def _lay_out(rows: Iterable[Sequence[_Cell]]) -> Iterator[list[str]]:
    """Yields the cell texts of each row. Empty cells are added where a cell spans several columns or rows."""
    below: dict[int, int] = {}  # column → number of rows still covered by a cell above
    for row in rows:
        line: list[str] = []
        for cell in row:
            _skip(line, below)
            for text in (cell.text, *[""] * (cell.columns - 1)):
                below[len(line)] = cell.rows - 1
                line.append(text)
        _skip(line, below)
        yield line


def _skip(line: list[str], below: dict[int, int]) -> None:
    while below.get(len(line)):
        below[len(line)] -= 1
        line.append("")


def _rows(lines: Iterable[str]) -> Iterator[list[_Cell]]:
    """Yields the cells of each row of a wikitext table."""
    row: list[_Cell] = []
    is_cell = False
    for text in _join_templates(lines):
        if text.startswith(("|-", "|+")):
            is_cell = False  # lines after a caption are part of the caption
            if not text.startswith("|+") and row:
                yield row
                row = []
        elif text.startswith(("|", "!")):
            row += _cells(text[1:], is_header=text[0] == "!")
            is_cell = True
        elif is_cell and text:
            more = _one_line(text.lstrip(_LIST_MARKS))
            row[-1] = row[-1]._replace(text=f"{row[-1].text} {more}".strip())
    if row:
        yield row


def _join_templates(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines of a table. Lines are joined if a template extends over several lines."""
    joined: list[str] = []
    depth = 0
    for line in lines:
        joined.append(line.strip())
        depth = max(0, depth + line.count("{{") - line.count("}}"))
        if not depth:
            yield " ".join(joined)
            joined = []
    if joined:
        yield " ".join(joined)


def _cells(line: str, *, is_header: bool) -> Iterator[_Cell]:
    """Yields the table cells in a line of wikitext."""
    depth = start = 0
    spans: dict[str, int] = {}
    for part in _PARTS.finditer(line):
        depth = max(0, depth + _DEEPER.get(part[0], 0))
        if depth or part[0] in _DEEPER:
            continue
        if part[0] == "||" or (part[0] == "!!" and is_header):
            yield _cell(line[start : part.start()], spans)
            start, spans = part.end(), {}
        elif part[0] == "|" and "[[" not in line[start : part.start()]:
            found = _SPAN.findall(line, start, part.start())
            spans = {kind.lower(): min(int(n), _LARGEST_SPAN) for kind, n in found}
            start = part.end()
    yield _cell(line[start:], spans)


def _cell(text: str, spans: Mapping[str, int]) -> _Cell:
    return _Cell(_one_line(text), max(spans.get("col", 1), 1), max(spans.get("row", 1), 1))


def _one_line(cell: str) -> str:
    return " ".join((_BREAKS.sub(" ", cell) if "<" in cell else cell).split())


def render_markdown(title: str, sections: Sequence[tuple[int, Section]]) -> str:
    """Returns the article as Markdown.

    Args:
      title: the title of the page.
      sections: (level of the heading, section) for each section. Paragraphs may begin with the marks of
        `mark_lists` and `mark_tables`. The heading of a section without paragraphs is kept if one of its
        subsections has paragraphs.
    """
    blocks = [f"# {title}"]
    for (level, section), is_shown in zip(sections, _leading_to_text(sections), strict=True):
        if section.heading and is_shown:
            blocks.append(f"{'#' * max(level, 2)} {section.heading}")
        blocks += _render(section.paragraphs)
    return "\n\n".join(blocks)


def _leading_to_text(sections: Sequence[tuple[int, Section]]) -> list[bool]:
    """Returns one value per section: True if the section or one of its subsections has text."""
    shown: list[bool] = []
    text_level = 0  # of the next section that is shown
    for level, section in reversed(sections):
        is_shown = bool(section.paragraphs) or text_level > level
        text_level = level if is_shown else text_level
        shown.append(is_shown)
    return shown[::-1]


def _render(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yields the paragraphs, lists and tables of a section as blocks of Markdown."""
    items: list[tuple[str, str]] = []
    rows: list[list[str]] = []
    for paragraph in paragraphs:
        item = _ITEM.fullmatch(paragraph)
        is_row = paragraph.startswith(ROW)
        if items and not item:
            yield _list(items)
            items = []
        if rows and (not is_row or paragraph.startswith(ROW + ROW)):
            yield _table(rows)
            rows = []
        if item:
            items.append((item[1], restore(item[2])))
        elif is_row:
            cells = paragraph.strip(ROW).replace(PROTECTED_BAR, "|").replace("|", r"\|")
            rows.append([restore(cell).strip() for cell in cells.split(CELL)])
        else:
            yield _escape(restore(paragraph).strip())
    if items:
        yield _list(items)
    if rows:
        yield _table(rows)


def _escape(paragraph: str) -> str:
    markup = _MARKUP.match(paragraph)
    end = markup.end() if markup else 0
    return f"{paragraph[:end]}\\{paragraph[end:]}" if markup else paragraph


def _list(items: Sequence[tuple[str, str]]) -> str:
    lines = []
    counts: list[int] = []  # of the items at each depth
    before = ""
    for marks, text in items:
        alike = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(marks, before, strict=False)
        )
        counts = counts[: len(list(alike))]
        counts += [0] * (len(marks) - len(counts))
        counts[-1] += 1
        before = marks
        indent = sum(3 if mark == "#" else 2 for mark in marks[:-1])
        sign = f"{counts[-1]}." if marks[-1] == "#" else "-"
        lines.append(f"{' ' * indent}{sign} {text}")
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table. The first row is padded with empty cells to the length of the longest row."""
    width = max(map(len, rows))
    head = [*rows[0], *[""] * (width - len(rows[0]))]
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows[1:])]
    return "\n".join([lines[0], "|---" * width + "|", *lines[1:]])
