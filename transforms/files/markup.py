"""Writes and reads text with markup: dataset cards, HTML pages, TOML files and tab-separated tables.

Puts data into HTML pages. All pages that corpusmill writes use these functions, and no others.

Data is escaped when it is written. It is never put into a page by replacing a part of the page, because the
data could contain that part.

Escapes cells of tables, so that spreadsheets show them as text and never evaluate them.

A cell that a spreadsheet could interpret as a formula gets an apostrophe in front. This includes cells in
which quotation marks, spaces or apostrophes precede the formula. So a cell that already has an apostrophe
before a formula gets another one, and `unprotect`, which removes one apostrophe, always restores the original
cell.

Writes and reads tab-separated tables that people may edit. They have a header and one row per line.

An apostrophe is put before a text that a spreadsheet program would interpret as a formula (see `protect`),
except in tables that only corpusmill reads. Fields are not quoted. A tab, line feed, carriage return or
backslash in a field is written `\t`, `\n`, `\r` or `\\`, so that each row is one line. Quotation marks
that a spreadsheet program adds around or inside a field are read as text, and reported by the checks.
"""

import base64
import csv
import functools
import hashlib
import html
import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Annotated, Any, TypeVar

import msgspec

from .records import ReadError
from .text import SPLITS

_SYNONYMS = {name: name for name in SPLITS} | {"dev": "validation", "valid": "validation"}
_SHOWN_CHARACTERS = 100


def make_table(columns: Sequence[str], rows: Iterable[Iterable[str | int]]) -> list[str]:
    """Returns the lines of a Markdown table.

    The first column is left-aligned, the others are right-aligned. Integers have thousands separators.
    """
    lines = [f"| {' | '.join(columns)} |", f"|---{'|---:' * (len(columns) - 1)}|"]
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else cell for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def render(template: str, **facts: object) -> list[str]:
    """Returns the lines of a dataset card, or of a part of it, made from a template in builds/templates.

    In addition to the facts, the templates have these filters and functions:
      commas: an integer with thousands separators; texts are not changed.
      decimals(digits): a number with this number of decimals; "–" for None.
      percent: a share as a percentage with two decimals.
      share(part, whole): the same of two numbers; "–" if `whole` is 0.
      table(columns, rows): a Markdown table, see `make_table`.
      by_split(counts, splits, words=True): a table of the integers that each split has; see `table_by_split`.

    Args:
      template: name of the template, without its ending ".md.j2".
      **facts: the variables of the template.
    """
    text: str = _templates().get_template(f"{template}.md.j2").render(facts)
    return text.removesuffix("\n").split("\n")


def table_by_split(
    counts: Mapping[str, Mapping[str, Any]], splits: Iterable[str], words: bool = True
) -> str:
    """Returns a Markdown table with a row for each of the splits.

    Args:
      counts: split → name of a count → its value. Values that are not integers are left out.
      splits: the splits, in the order of the rows.
      words: True to replace the underscores in the names of the counts by spaces.
    """
    splits = list(splits)
    names = [name for name, value in counts[splits[-1]].items() if isinstance(value, int)]
    heads = [name.replace("_", " ") for name in names] if words else names
    rows = ([split, *(counts[split][name] for name in names)] for split in splits)
    return "\n".join(make_table(["split", *heads], rows))


@functools.cache
def _templates() -> Any:
    import jinja2  # slow to import

    environment = jinja2.Environment(  # cards are Markdown, so nothing is escaped
        loader=jinja2.PackageLoader(f"{__package__}.builds"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "commas": lambda value: f"{value:,}" if isinstance(value, int) else value,
        "decimals": lambda value, digits: "–" if value is None else f"{value:.{digits}f}",
        "percent": lambda share: f"{100 * share:.2f} %",
    }
    environment.globals |= {
        "by_split": table_by_split,
        "share": lambda part, whole: f"{100 * part / whole:.2f} %" if whole else "–",
        "table": lambda columns, rows: "\n".join(make_table(columns, rows)),
    }
    return environment


class DataFiles(msgspec.Struct):
    """The files of a split."""

    split: str
    path: str  # a pattern, relative to the folder of the card


class Config(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A configuration of a data set: the files that Hugging Face `datasets` loads by one name."""

    config_name: str = ""
    default: bool = False  # True if it is loaded when no name is given
    data_files: Annotated[list[DataFiles], msgspec.Meta(min_length=1)]


class CardHead(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The YAML head of a dataset card: the metadata by which the hub lists, finds and loads a data set."""

    license: str | list[str]
    language: str | list[str]
    pretty_name: str = ""
    tags: list[str] = []
    task_categories: list[str] = []
    size_categories: list[str] = []  # from `size_category`
    configs: list[Config] = []


def config_of(name: str, files: Mapping[str, str], is_default: bool = False) -> Config:
    """Returns a configuration. `files` is split → pattern of paths."""
    listed = [DataFiles(split, path) for split, path in files.items()]
    return Config(config_name=name, default=is_default, data_files=listed)


def size_category(rows: int) -> str:
    """Returns the hub's size category for a number of rows, such as "1K<n<10K"."""
    above = max((n for n in range(len(_POWERS)) if rows >= 10 ** (n + 3)), default=-1)
    if above < 0:
        return f"n<{_POWERS[0]}"
    if above + 1 == len(_POWERS):
        return f"n>{_POWERS[above]}"
    return f"{_POWERS[above]}<n<{_POWERS[above + 1]}"


_POWERS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")


def hub_head(
    license_id: str | list[str],
    edition: str,
    splits: Iterable[str],
    language: str = "",
    suffix: str = ".parquet",
    **about: Any,
) -> list[str]:
    """Returns the lines of the YAML head of a build's dataset card.

    `edition` is the name of the build, such as "uk". `suffix` is that of the files that Hugging Face
    `datasets` loads; "" if it can load none. If `language` is empty, the language is the part of
    `edition` before the first hyphen. `about` has further fields of CardHead.
    """
    tag = (language or edition).partition("-")[0]
    configs = [config_of(edition, {one: f"{one}-*{suffix}" for one in splits})] if suffix else []
    return yaml_head(CardHead(license=license_id, language=tag, configs=configs, **about))


def yaml_head(head: CardHead) -> list[str]:
    """Returns the lines of the YAML head of a dataset card.

    Texts that YAML would misread, such as 'no', are quoted.
    """
    import yaml  # not for help pages

    text = yaml.dump(msgspec.to_builtins(head), sort_keys=False, allow_unicode=True)
    return ["---", *text.removesuffix("\n").split("\n"), "---"]


_NONE = "'none'"
_IN_SCRIPTS = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def escape(value: object) -> str:
    """Returns a value as HTML, for the content of an element or for an attribute in quotes.

    Lone surrogates, which UTF-8 cannot represent, become question marks.
    """
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"))


def to_json(value: object) -> str:
    """Returns a value as JSON that cannot end the script element that contains it.

    The same value always gives the same text.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8").translate(_IN_SCRIPTS)


def make_head(title: object, scripts: Sequence[str] = (), language: str = "en") -> str:
    """Returns the beginning of a page, up to the start of its body, with the style of all pages.

    A browser runs only the given scripts in the page, and loads nothing from elsewhere.

    Args:
      title: The title of the page.
      scripts: The content of all script elements of the page that are programs.
      language: The language code of the page.
    """
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes or _NONE}"
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; img-src data:">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head>\n<body>\n"
    )


def html_table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Returns a table as HTML. Numbers have thousands separators and are right-aligned."""
    cells = "".join(f"<th>{escape(one)}</th>" for one in head)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"


def _html_cell(value: object) -> str:
    if isinstance(value, int | float):
        return f'<td class="number">{value:,}</td>'
    return f'<td dir="auto">{escape(value)}</td>'


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_FORMULA = re.compile(r"""['" ]*[=+\-@\t\r\n＝＋－＠]""")
_NUMBER = re.compile(r"-\d+(\.\d+)?")


def protect(cell: str) -> str:
    """Returns a cell in the form in which it is written to a table."""
    return f"'{cell}" if _could_be_formula(cell) else cell


def unprotect(cell: str) -> str:
    """Restores a cell that `protect` has changed. Other cells are returned unchanged."""
    return cell[1:] if cell.startswith("'") and _could_be_formula(cell[1:]) else cell


def _could_be_formula(cell: str) -> bool:
    return bool(_FORMULA.match(cell)) and not _NUMBER.fullmatch(cell)


def to_line(cells: Iterable[object]) -> str:
    """Returns a line of a table: protected cells separated by tabs, and a line feed.

    White space in a cell becomes one space.
    """
    return "\t".join(protect(" ".join(str(cell).split())) for cell in cells) + "\n"


Rules = TypeVar("Rules", bound=msgspec.Struct)


@functools.cache
def read_toml(package: str, name: str) -> Mapping[str, Any]:
    """Returns the content of the TOML file `name` in the Python package `package`.

    The table is cached, so callers must not change it.
    """
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


def read_rules(table: Mapping[str, Any], kind: type[Rules]) -> Rules:
    """Converts a TOML table to a struct of the type `kind`.

    Each field gets the value of the key with its name. Regular expressions are compiled. Keys without a field
    are ignored.
    """
    return msgspec.convert(table, kind, dec_hook=_compile)


def _compile(_: type, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_ESCAPED = re.compile(r"\\([\\tnr])")
_MEANING = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, for_people: bool = True
) -> str:
    """Returns the text of a table. Every line ends with a line feed.

    Args:
      columns: the header, of at least two columns: with one, an empty field would be an empty line.
      rows: the fields of each row.
      for_people: True to put an apostrophe before texts that a spreadsheet program would interpret as
        formulas. False for a table that only corpusmill reads.
    """
    shown = (map(protect, row) if for_people else row for row in (columns, *rows))
    return "".join("\t".join(map(escape_field, row)) + "\n" for row in shown)


def escape_field(text: str) -> str:
    """Returns a text without tabs and line ends: they, and backslashes, are written as escapes."""
    return _TO_ESCAPE.sub(lambda sign: _ESCAPES[sign[0]], text)


def read_table(
    text: str, needed: Sequence[str], *, for_people: bool = True
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields (line number, column → field) for each row. Columns may be in any order.

    Empty lines, a byte order mark and the carriage returns of CRLF are ignored.

    Args:
      text: the text of the table.
      needed: names of columns that the table must have.
      for_people: the value with which `write_table` was called. If it is True, the apostrophes before texts
        that look like formulas are removed.

    Raises ReadError if a needed column is missing, or a row has more or fewer fields than the header.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    columns = _fields(lines[0])
    if missing := [name for name in needed if name not in columns]:
        raise ReadError(1, f"missing columns: {', '.join(missing)}; found {', '.join(columns)}")
    for number, line in enumerate(lines[1:], 2):
        if not line.rstrip("\r"):
            continue
        fields = _fields(line)
        if len(fields) != len(columns):
            raise ReadError(
                number, f"expected {len(columns)} fields, as in the header; found {len(fields)}"
            )
        cells = map(unprotect, fields) if for_people else fields
        yield number, dict(zip(columns, cells, strict=True))


def _fields(line: str) -> list[str]:
    fields = line.removesuffix("\r").split("\t")
    return [_ESCAPED.sub(lambda sign: _MEANING[sign[1]], field) for field in fields]


class MalformedTableError(ValueError):
    """Raised if a line of a table cannot be read. The message names the line."""


def decode_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """Decodes lines. Raises MalformedTableError for a line that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedTableError(f"line {number}: not UTF-8: {error}") from None


def read_columns(lines: Iterable[bytes], *wanted: str) -> Iterator[tuple[int, list[str]]]:
    """Yields (line number, fields of the wanted columns) for each row of a TSV or CSV file with a header.

    Raises MalformedTableError for an invalid line. Empty lines and other columns are ignored, and white space
    around fields is removed.

    If the header has a tab, fields are separated by tabs, and quotation marks are removed only around whole
    fields. Otherwise the file is CSV (RFC 4180).
    """
    decoded = decode_lines(lines)
    header = next(decoded, "")
    rows = _rows(itertools.chain([header], decoded), "\t" in header)
    _, names = next((row for row in rows if row[1]), (1, []))
    if any(names.count(name) != 1 for name in wanted):
        shown = str(names)[:_SHOWN_CHARACTERS]
        problem = f"the header must have the columns {' and '.join(wanted)}, found {shown}"
        raise MalformedTableError(f"line 1: {problem}")
    places = [names.index(name) for name in wanted]
    for line, row in rows:
        if row and len(row) != len(names):
            problem = f"expected {len(names)} fields as in the header, found {len(row)}"
            raise MalformedTableError(f"line {line}: {problem}")
        if row:
            yield line, [row[place] for place in places]


def _rows(lines: Iterable[str], is_tsv: bool) -> Iterator[tuple[int, list[str]]]:
    if is_tsv:
        for number, line in enumerate(lines, start=1):
            fields = line.rstrip("\r\n").split("\t")
            yield number, [] if fields == [""] else [_unquoted(field.strip()) for field in fields]
        return
    reader = csv.reader(lines, strict=True)
    try:
        for row in reader:
            yield reader.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise MalformedTableError(f"line {reader.line_num}: {error}") from None


def _unquoted(field: str) -> str:
    is_quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1] if is_quoted else field


def check_split(split: str, place: str) -> str:
    """Returns "train", "validation" or "test" for the name of a split. "dev" and "valid" mean validation.

    Raises MalformedTableError, which names `place`, for another name.
    """
    if split not in _SYNONYMS:
        problem = f"split is {split[:_SHOWN_CHARACTERS]!r}; expected one of {', '.join(_SYNONYMS)}"
        raise MalformedTableError(f"{place}: {problem}")
    return _SYNONYMS[split]
