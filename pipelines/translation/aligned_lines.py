"""Reads files with a text in each line or row, such as those of FLORES, and finds out their languages."""

import functools
import pathlib
import re
from typing import NamedTuple

from corpusmill.transforms.duplicates.read_texts import TextFile, plan_parts, read_rows
from corpusmill.transforms.files.read_files import InputError, read_text
from corpusmill.transforms.files.text_kinds import kind_of_file

from .target_languages import find_language

_TEXTS = ("text", "sentence", "translation", "target")  # names of columns of texts
_NO_CODES = frozenset(
    "bz2 csv dev devtest gz json jsonl parquet ref src test train tsv txt xz zst".split()
)
_TABLE = re.compile(r"\.(csv|tsv|json|jsonl|parquet)(\.(bz2|gz|xz|zst))?$")
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z]{2,5})?")


class Line(NamedTuple):
    """A line of a file, or a row of a table."""

    id: str  # "" if the file has no ids
    text: str
    number: int  # in the file, from 1
    domain: str = ""
    topic: str = ""


def read_lines(path: str) -> dict[str, list[Line]]:
    """Returns the code of each language in a file → its lines, in order.

    The code is that of the columns `iso_639_3` and `iso_15924`, and `glottocode` if there are several; or of
    the column `language`, if it has a known code, or the file's name; "" if there is none.
    """
    if not _TABLE.search(path):
        texts = read_text(path).removesuffix("\n").split("\n")
        return {
            code_in_name(path): [Line("", text, number) for number, text in enumerate(texts, 1)]
        }
    found: dict[tuple[str, str], list[Line]] = {}
    file = TextFile(path, kind_of_file(path))
    rows = (row for part in plan_parts(file, 1) for _, some in read_rows(part) for row in some)
    for number, row in enumerate(rows, 1):
        column = next((name for name in _TEXTS if isinstance(row.get(name), str)), None)
        if column is None:
            there = f"the columns {', '.join(_TEXTS)}; it has {', '.join(row)}"
            raise InputError(path, f"row {number}: no text in {there}")
        code = "_".join(str(row[one]) for one in ("iso_639_3", "iso_15924") if row.get(one))
        code = code or _known(str(row.get("language") or "")) or code_in_name(path)
        about = (str(row.get(name) or "") for name in ("domain", "topic"))
        line = Line("" if row.get("id") is None else str(row["id"]), row[column], number, *about)
        found.setdefault((code, str(row.get("glottocode") or "")), []).append(line)
    if not found:
        raise InputError(path, "it has no rows")
    codes = [code for code, _ in found]
    return {
        code if codes.count(code) == 1 else "_".join(filter(None, (code, variety))): lines
        for (code, variety), lines in found.items()
    }


def code_in_name(path: str) -> str:
    """Returns the last part of a file's name that is the code of a language; "" if there is none."""
    parts = reversed(re.split(r"[.]|-(?=[a-z]{3}\.)", pathlib.Path(path).name))
    codes = (one for one in parts if one not in _NO_CODES and _CODE.fullmatch(one))
    return next((code for code in codes if _known(code)), "")


@functools.cache
def _known(code: str) -> str:
    """Returns a code of a language, or "" for another text."""
    try:
        return find_language(code).code
    except ValueError:
        return ""
