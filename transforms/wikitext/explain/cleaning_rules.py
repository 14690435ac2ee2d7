"""Finds the file and line of an entry in the TOML tables that the cleaner uses for a language.

Finds the rule that the cleaner applied to a template, link or heading, with its file and line.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import NamedTuple

from ...files.terminal import shorten
from .. import language as tables
from ..language import Language, normalise_name
from ..marks import HOLE
from ..templates.definitions import WikiTemplates
from ..templates.lookup import Template

FOLDER = "languages"
_HEAD = re.compile(r"\[([\w.-]+)\]\s*(?:#.*)?")
_KEY = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([\w-]+))\s*=\s*')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"|(#.*)')
_TEXT = re.compile(r"('''|\"\"\")")

Entries = Mapping[tuple[str, str], int]
"""(table or list, normalised entry) → line, counted from 1. The name of a list in a table is "table.list"."""


def find_place(code: str, names: tuple[str, ...], entry: str) -> str:
    """Returns the file and line of the table entry that applies to a corpus, such as "languages/uk.toml:83".

    Returns "" if no table has the entry. The corpus's own tables take precedence over those that all wikis
    share.

    Args:
      code: the code of the corpus.
      names: the tables and lists to search, in order, such as "templates" and "silent_templates".
      entry: a key of a table, or an item of a list, as written or normalised.
    """
    key = normalise_name(entry)
    for name in names:
        for file in files_of(code):
            if line := _read_entries(file).get((name, key)):
                return f"{FOLDER}/{file}:{line}"
    return ""


def files_of(code: str) -> tuple[str, ...]:
    """Returns the names of the TOML files that contain the tables of a corpus, in order of precedence."""
    generated = () if tables.load_language(code).is_complete else ("unproven",)
    names = (*tables.hand_written(code), *generated, "common", "namespaces")
    return tuple(f"{name}.toml" for name in names)


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


_NAME = re.compile(r"[|}\n]")
_MAX_ALIASES = 3
_SHOWN = 60  # characters of a pattern or definition


class Rule(NamedTuple):
    """A rule that the cleaner applied, and the file and line in which it is defined."""

    text: str  # 'table: "{1} m"'
    place: str = ""  # file and line, "languages/uk.toml:83"; a module of the cleaner; or ""


class RuleBook:
    """Finds the rules that the cleaner applies to the pages of one wiki."""

    def __init__(self, language: Language, of_wiki: WikiTemplates) -> None:
        self._language = language
        self._of_wiki = of_wiki

    def of_template(self, template: Template, source: str, shown: str) -> Rule:
        """Returns the rule that determined the text of a template.

        Args:
          template: the cleaner's record of the template.
          source: the wikitext of the template, including its braces.
          shown: the text that replaced the template; HOLE if there was none.
        """
        rule = self._of_found(template, shown)
        written = normalise_name(_NAME.split(source.removeprefix("{{"), maxsplit=1)[0])
        is_other = written in self._of_wiki.aliases and written != template.name
        return Rule(f"redirect to {template.name}; {rule.text}", rule.place) if is_other else rule

    def _of_found(self, template: Template, shown: str) -> Rule:
        if template.definition:
            definition = " ".join(template.definition.split())
            return Rule(f"its definition in the wiki: {_short(definition)}", "the dump")
        if template.is_function:
            name = f"{'' if template.known else 'unknown '}parser function {template.name}"
            return Rule(name, "templates/parser_functions.py")
        if template.known:
            return self._of_known(template.name)
        if shown == HOLE:
            return Rule("in no table, and no text could be guessed", "templates/guesses.py")
        return Rule("in no table: guessed from its arguments", "templates/guesses.py")

    def _of_known(self, name: str) -> Rule:
        for _ in range(_MAX_ALIASES + 1):
            if rule := self._in_tables(name):
                return rule
            if name in self._of_wiki.definitions:
                return Rule("its definition in the wiki is a note: nothing is shown", "the dump")
            if name not in self._of_wiki.aliases:
                break
            name = self._of_wiki.aliases[name]
        if self._language.self_named and re.fullmatch(self._language.self_named, name):
            return Rule("table: the template shows its own name", self._find(("",), "self_named"))
        return Rule("a variable of MediaWiki", "templates/parser_functions.py")

    def _in_tables(self, name: str) -> Rule | None:
        language = self._language
        pattern = language.templates.get(name)
        if pattern is not None:
            where = ("templates", "doubt_templates", "silent_templates")
            place = self._find(where if pattern else where[::-1], name)
            text = f"table: {_short(pattern)}" if pattern else "table: shows no prose"
            return Rule(text, place or "--templates, or CLDR")
        family, hyphen, code = name.partition("-")
        if hyphen and family in ("lang", "ipa", "ref"):
            plain = code.removesuffix("-short").removesuffix("2")
            label = language.language_names.get(plain, "")
            if label or family != "ref":
                place = self._find(("language_names", "language_aliases"), plain)
                found = f", {label!r}" if label else " without a name in the tables"
                return Rule(f"family {family}-: the language {plain}{found}", place or "CLDR")
        if name in language.countries:
            place = self._find(("country_codes", "countries"), name)
            return Rule(f"the country {language.countries[name]}", place)
        for key, prefixes, text in (
            ("data_prefixes", language.data_prefixes, "hold data, which the dump does not have"),
            ("silent_prefixes", language.silent_prefixes, "show no prose"),
        ):
            for prefix in filter(name.startswith, prefixes):
                rule = f"table: names that begin with {prefix!r} {text}"
                return Rule(rule, self._find((key,), prefix))
        return None

    def of_heading(self, name: str, level: int) -> Rule:
        """Returns the rule that drops the section under a heading.

        Args:
          name: the normalised name of the heading.
          level: its level, which is 2 for "== Heading ==".
        """
        lists = ("dropped_headings", "dropped_top_headings")
        place = self._find(lists if level <= 2 else lists[:1], name)
        if not place and name in self._of_wiki.headings:
            return Rule("learned: sections under this heading hold no prose", "the dump")
        return Rule("table: sections under this heading hold no prose", place)

    def of_link(self, target: str, shown: str) -> Rule:
        """Returns the rule that determined the text of a link `[[target|label]]`.

        `shown` is the text that replaced the link.
        """
        prefix, colon, _ = target.strip().partition(":")
        name = normalise_name(prefix)
        links = "links.py"
        if colon and prefix and not target.startswith(":"):
            if name in self._language.namespaces[tables.FILE_NAMESPACE]:
                place = self._find((f"file.{self._language.code}",), name)
                return Rule("a file: no text", place or links)
            if name in self._language.namespaces[tables.CATEGORY_NAMESPACE]:
                place = self._find((f"category.{self._language.code}",), name)
                return Rule("a category: no text", place or links)
            if name in self._language.interlanguage_codes and not shown:
                place = self._find(("interlanguage_codes",), name)
                return Rule("a link to another language: no text", place or links)
        return Rule("a link: its label, or else its target", links)

    def _find(self, names: tuple[str, ...], entry: str) -> str:
        return find_place(self._language.code, names, entry)


def _short(text: str) -> str:
    return shorten(text.replace("\n", "\\n"), _SHOWN)
