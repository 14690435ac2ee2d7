"""Lines of tables: each entry that counts is where it is said to be."""

import functools
import tomllib
from importlib import resources

import pytest

from corpusmill.transforms.wikitext.explain.cleaning_rules import entries_of, find_place
from corpusmill.transforms.wikitext.language import load_language, normalise_name
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES

TABLES = resources.files("corpusmill.transforms.wikitext")


@functools.cache
def lines_of(file: str) -> list[str]:
    return TABLES.joinpath(file).read_text("utf-8").split("\n")


def line_of(place: str) -> str:
    file, _, line = place.partition(":")
    return lines_of(file)[int(line) - 1]


@pytest.mark.parametrize("code", [*LANGUAGE_CODES, "be", "simple"])
def test_each_template_is_in_its_line(code: str) -> None:
    for name, pattern in load_language(code).templates.items():
        names = ("templates", "doubt_templates", "silent_templates")
        tables = names if pattern else names[::-1]
        place = find_place(code, tables, name)
        assert place, name
        line = line_of(place)
        is_listed = not pattern or pattern == "?=doubted_or_reason"
        if (" = " in line and not line.lstrip().startswith('"')) or is_listed:
            assert name in normalise_name(line)
        else:
            ((key, value),) = tomllib.loads(line).items()
            assert (normalise_name(key), value) == (name, pattern)


@pytest.mark.parametrize("code", LANGUAGE_CODES)
def test_each_heading_is_in_its_line(code: str) -> None:
    language = load_language(code)
    for heading in language.dropped_headings | language.dropped_top_headings:
        place = find_place(code, ("dropped_headings", "dropped_top_headings"), heading)
        assert place, heading
        assert heading in normalise_name(line_of(place))


ENTRIES = """\
a = "x"  # "no entry"
b = [
    "One", "t_wo",  # "not this"
    "thr\\"ee", "a [bracket]",
]
c = ["Four"]
text = '''
d = "in a text"
'''

[table]
"Key #1" = "[value]"
plain = ["five"]
"""


def test_entries_are_found_by_table_and_list() -> None:
    assert entries_of(ENTRIES) == {
        ("", "a"): 1,
        ("", "b"): 2,
        ("b", "one"): 3,
        ("b", "t wo"): 3,
        ("b", 'thr"ee'): 4,
        ("b", "a [bracket]"): 4,
        ("", "c"): 6,
        ("c", "four"): 6,
        ("", "text"): 7,
        ("table", "key #1"): 12,
        ("table", "plain"): 13,
        ("table.plain", "five"): 13,
    }
