"""Finds the file and line of an entry in the TOML tables that the cleaner uses for a language."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import NamedTuple

from corpusmill.transforms.wikitext.language import (
    borrowed_tables,
    has_proven_tables,
    normalise_name,
)

FOLDER = "languages"
_HEAD = re.compile(r"\[([\w.-]+)\]\s*(?:#.*)?")
_KEY = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([\w-]+))\s*=\s*')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"|(#.*)')
_TEXT = re.compile(r"('''|\"\"\")")

Entries = Mapping[tuple[str, str], int]
"""(table or list, normalised entry) → line, counted from 1. The name of a list in a table is "table.list"."""


class Place(NamedTuple):
    """The file and the line of an entry in the TOML tables of the cleaner."""

    file: str  # "languages/uk.toml"
    line: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def find_place(code: str, names: tuple[str, ...], entry: str) -> Place | None:
    """Returns the place of the table entry that applies to a corpus, or None if no table has the entry.

    The corpus's own tables take precedence over those that all wikis share.

    Args:
      code: the code of the corpus.
      names: the tables and lists to search, in order, such as "templates" and "silent_templates".
      entry: a key of a table, or an item of a list, as written or normalised.
    """
    key = normalise_name(entry)
    for name in names:
        for file in files_of(code):
            line = _read_entries(file).get((name, key))
            if line:
                return Place(f"{FOLDER}/{file}", line)
    return None


def files_of(code: str) -> tuple[str, ...]:
    """Returns the names of the TOML files that contain the tables of a corpus, in order of precedence."""
    own = borrowed_tables(code) or code
    if not has_proven_tables(code):
        own = "unproven"
    shared = ("zh.toml",) if own.startswith("zh-") else ()
    return f"{own}.toml", *shared, "common.toml", "namespaces.toml"


@functools.cache
def _read_entries(file: str) -> Entries:
    path = resources.files("corpusmill.transforms.wikitext") / FOLDER / file
    return entries_of(path.read_text(encoding="utf-8"))


def entries_of(toml: str) -> Entries:
    """Returns (table or list, normalised entry) → line number, for all entries of a TOML file.

    If several entries have the same normalised name, the line number of the last one is returned. `toml` is
    the content of the file.
    """
    return {(table, normalise_name(entry)): line for table, entry, line in _entries(toml)}


def _entries(toml: str) -> Iterator[tuple[str, str, int]]:
    table = listed = ""
    depth = 0
    end_of_text = ""
    for number, line in enumerate(toml.split("\n"), start=1):
        if end_of_text:
            end_of_text = "" if end_of_text in line else end_of_text
            continue
        if not depth:
            if head := _HEAD.fullmatch(line.strip()):
                table = head[1]
                continue
            key = _KEY.match(line)
            if not key:
                continue
            name = key[2] or _unescape(key[1])
            yield table, name, number
            line = line[key.end() :]
            if opened := _TEXT.match(line):
                end_of_text = "" if line.count(opened[1]) > 1 else opened[1]
                continue
            listed = f"{table}.{name}" if table else name
        bare = _STRING.sub("", line)
        if depth or bare.startswith("["):
            for item in _STRING.finditer(line):
                if not item[2]:
                    yield listed, _unescape(item[1]), number
        depth += bare.count("[") - bare.count("]")


def _unescape(written: str) -> str:
    if "\\" not in written:
        return written
    try:
        return str(json.loads(f'"{written}"'))  # the escapes of TOML are those of JSON, and \U
    except ValueError:
        return written
