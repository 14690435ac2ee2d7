"""Writes transforms/wikitext/languages/mediawiki.toml: what MediaWiki knows of every Wikipedia.

python -m tests.tools.mediawiki_tables --mediawiki DIR --configuration DIR --settings DIR [--output FILE]

  --mediawiki      a checkout of MediaWiki, or its Debian package unpacked (usr/share/mediawiki)
  --configuration  a checkout of operations-mediawiki-config: which wikis there are, and their settings
  --settings       core/src/main/settings of DBpedia's extraction framework: the answers of the wikis on
                   their pages MediaWiki:Disambiguationspage
  --versions       a line for the head of the file that says which versions of the three were read

Of each Wikipedia only facts are taken: its name, names of four namespaces, words for redirects and their
fallback languages, how numbers are written, names of months, templates of disambiguation pages; and of all
languages together the words between double underscores.
"""

import argparse
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from corpusmill.transforms.wikitext.wikis import code_of

OUTPUT = "transforms/wikitext/languages/mediawiki.toml"
NAMESPACES = {
    "NS_MEDIA": "media",
    "NS_FILE": "file",
    "NS_TEMPLATE": "template",
    "NS_CATEGORY": "category",
}
_ENGLISH = {"media", "file", "image", "template", "category"}
_MONTHS = "january february march april may june july august september october november december"
_SWITCHES = (
    "forcetoc", "hiddencat", "index", "newsectionlink", "nocontentconvert", "noeditsection", "nogallery",
    "noindex", "nonewsectionlink", "notitleconvert", "notoc", "staticredirect", "toc",
    "expectunusedcategory",
)  # fmt: skip
# Of extensions of Wikimedia's wikis.
_MORE_SWITCHES = (
    "__ARCHIVEDTALK__", "__DISAMBIG__", "__EXPECTED_UNCONNECTED_PAGE__", "__EXPECTUNUSEDTEMPLATE__",
    "__NOGLOBAL__", "__NOTALK__",
)  # fmt: skip
_GENITIVE = "{}-gen"  # the form that a date takes
_DIGITS = "0123456789"
STRING = r"(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")"
_COMMENT = re.compile(r"/\*.*?\*/|(?:#|//)[^\n]*")
_ESCAPE = re.compile(r"\\u\{([0-9A-Fa-f]+)\}|\\(.)")


class Messages(NamedTuple):
    """The content of one file of MediaWiki, languages/messages/MessagesXx.php."""

    fallbacks: Sequence[str] = ()
    names: Mapping[str, Sequence[str]] = {}  # of namespaces, with their aliases
    redirects: Sequence[str] = ()
    digits: str = ""  # "" where the file has none
    separators: Mapping[str, str] | None = None
    min_grouping: int = 0
    grouping: str = ""


def text_of(match: re.Match[str], first: int = 1) -> str:
    single, double = match[first], match[first + 1]
    text = single if single is not None else double
    return _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else one[2], text)


def without_comments(source: str) -> str:
    """Source code without comments; quoted texts stay as they are."""
    pattern = re.compile(f"({STRING})|({_COMMENT.pattern})", re.DOTALL)
    return pattern.sub(lambda match: match[1] or "", source)


def _array(source: str, name: str) -> str:
    found = re.search(rf"\${name}\s*=\s*\[(.*?)\]\s*;", source, re.DOTALL)
    return found[1] if found else ""


def _scalar(source: str, name: str) -> str:
    found = re.search(rf"\${name}\s*=\s*(?:{STRING}|(\d+))\s*;", source)
    return (found[3] or text_of(found)) if found else ""


def _namespaces(source: str) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for match in re.finditer(rf"(NS_\w+)\s*=>\s*{STRING}", _array(source, "namespaceNames")):
        names.setdefault(match[1], []).append(text_of(match, 2))
    for name, number in _aliases(_array(source, "namespaceAliases")):
        names.setdefault(number, []).append(name)
    return names


def _aliases(array: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(rf"{STRING}\s*=>\s*(NS_\w+)", array):
        yield text_of(match), match[3]


def _pairs(array: str) -> dict[str, str]:
    found = re.finditer(rf"(?:{STRING}|(\d))\s*=>\s*{STRING}", array)
    return {one[3] or text_of(one): text_of(one, 4) for one in found}


def read_messages(path: Path) -> Messages:
    """Return what a file of messages says; nothing where there is no such file."""
    if not path.is_file():
        return Messages()
    source = without_comments(path.read_text("utf-8"))
    redirect = re.search(r"'redirect'\s*=>\s*\[(.*?)\]", array_of_words(source), re.DOTALL)
    words = [text_of(one) for one in re.finditer(STRING, redirect[1])] if redirect else []
    digits = _pairs(_array(source, "digitTransformTable"))
    separators = _pairs(_array(source, "separatorTransformTable"))
    return Messages(
        [code.strip() for code in _scalar(source, "fallback").split(",") if code.strip()],
        _namespaces(source),
        [word for word in words if word.startswith("#")],
        "".join(digits.get(digit, digit) for digit in _DIGITS) if digits else "",
        separators or None,
        int(_scalar(source, "minimumGroupingDigits") or 0),
        _scalar(source, "digitGroupingPattern"),
    )


def array_of_words(source: str) -> str:
    return source.partition("$magicWords")[2]


def _blocks(source: str, name: str) -> dict[str, str]:
    """Wiki → the source of its setting, of a setting of the configuration."""
    section = source.partition(f"'{name}' => [")[2].partition("\n],")[0]
    arrays = re.findall(r"^\t'\+?(\w+)' => \[(.*?)^\t\],", section, re.DOTALL | re.MULTILINE)
    scalars = re.findall(r"^\t'\+?(\w+)' => ([^\[\n]*),", section, re.MULTILINE)
    return {**dict(arrays), **dict(scalars)}


class Sources:
    """The three checkouts."""

    def __init__(self, mediawiki: Path, configuration: Path, settings: Path) -> None:
        self._mediawiki, self._settings = mediawiki, settings
        lists = configuration / "dblists"
        self.wikipedias, self.closed, self._others = (
            {
                line
                for line in (lists / name).read_text("utf-8").split("\n")
                if line.endswith("wiki")
            }
            for name in ("wikipedia.dblist", "closed.dblist", "all.dblist")
        )
        folder = configuration / "wmf-config"
        main = without_comments((folder / "InitialiseSettings.php").read_text("utf-8"))
        names = without_comments((folder / "core-Namespaces.php").read_text("utf-8"))
        self._languages = _blocks(main, "wgLanguageCode")
        self._numerals = _blocks(main, "wgTranslateNumerals")
        self._names = _blocks(main, "wgSitename")
        self._aliases = _blocks(names, "wgNamespaceAliases")

    def not_wikipedias(self) -> list[str]:
        """Database names that end in "wiki" and are of no Wikipedia: of tests, boards, Wikidata."""
        tests = {dbname for dbname in self.wikipedias if dbname.startswith("test")}
        return sorted((self._others - self.wikipedias) | tests)

    def language_of(self, dbname: str) -> str:
        """Return the code of the language that a wiki is written in, as MediaWiki names it."""
        return self._languages.get(dbname, "").strip("'") or code_of(dbname)

    def messages(self, language: str) -> Messages:
        name = f"Messages{language.capitalize().replace('-', '_')}.php"
        return read_messages(self._mediawiki / "languages" / "messages" / name)

    def switches(self) -> list[str]:
        """Return the words between double underscores, in all languages."""
        found = set(_MORE_SWITCHES)
        for path in (self._mediawiki / "languages" / "messages").glob("Messages*.php"):
            array = array_of_words(without_comments(path.read_text("utf-8")))
            for words in re.finditer(r"'(\w+)'\s*=>\s*\[([^\]]*)\]", array):
                if words[1] in _SWITCHES:
                    shown = (text_of(word) for word in re.finditer(STRING, words[2]))
                    found.update(word for word in shown if word.startswith(("__", "＿＿")))
        return sorted(found)

    def months(self, language: str) -> list[str]:
        """Return the months in the form a date takes; [] where they are not translated."""
        path = self._mediawiki / "languages" / "i18n" / f"{language}.json"
        texts = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        months = [
            texts.get(_GENITIVE.format(m), texts.get(m.replace("may", "may_long"), ""))
            for m in _MONTHS.split()
        ]
        return months if all(months) else []

    def table(self, dbname: str) -> dict[str, object]:
        """Return the entries of one wiki."""
        language = self.language_of(dbname)
        own = self.messages(language)
        chain = [own, *map(self.messages, own.fallbacks)]
        names: dict[str, list[str]] = {key: [] for key in NAMESPACES.values()}
        local = _aliases(self._aliases.get(dbname, ""))
        found = [item for one in chain for item in _flat(one.names)]
        for name, number in (*found, *local):
            if number in NAMESPACES:
                names[NAMESPACES[number]].append(name.replace("_", " "))
        months = (self.months(code) for code in (language, *own.fallbacks) if _same(code, language))
        return {
            "language": language,
            "sitename": self._sitename(dbname),
            "fallbacks": list(own.fallbacks),
            **{key: _new(values, _ENGLISH) for key, values in names.items()},
            "redirect_words": _new((w for one in chain for w in one.redirects), {"#redirect"}),
            "disambiguation_templates": self._disambiguation(dbname),
            "months": next(filter(None, months), []),
            "numbers": self._numbers(dbname, chain),
        }

    def _numbers(self, dbname: str, chain: Sequence[Messages]) -> dict[str, object]:
        """Return how a wiki writes numbers, as far as that is not as CLDR has it."""
        digits = next((one.digits for one in chain if one.digits), "")
        grouping = next((one.grouping for one in chain if one.grouping), "")
        separators: Mapping[str, str] = next((o.separators for o in chain if o.separators), {})
        numbers: dict[str, object] = {}
        if separators:
            numbers = {"group": separators.get(",", ","), "decimal": separators.get(".", ".")}
        if least := next((one.min_grouping for one in chain if one.min_grouping), 0):
            numbers["min_grouped_digits"] = 3 + least
        if digits and self._numerals.get(dbname) != "false":
            numbers["digits"] = digits
        if grouping:
            numbers["group_size"] = 2 if grouping.startswith("#,##,") else 3
        return numbers

    def _sitename(self, dbname: str) -> str:
        """Return the name of a wiki; "" where it is "Wikipedia"."""
        name = re.fullmatch(STRING, self._names.get(dbname, ""))
        return text_of(name) if name else ""

    def _disambiguation(self, dbname: str) -> list[str]:
        name = dbname.replace("_", "-")
        path = self._settings / f"{name}-disambiguation-templates.xml"
        if not path.is_file():
            return []
        links = ElementTree.parse(path).getroot().iter("pl")
        titles = [link.text or "" for link in links if link.get("ns") == "10"]
        return sorted(title.partition(":")[2] for title in titles)


def _same(code: str, language: str) -> bool:
    return code.partition("-")[0] == language.partition("-")[0]


def _flat(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for number, values in names.items():
        yield from ((value, number) for value in values)


def _new(words: Iterable[str], known: set[str]) -> list[str]:
    """Return words without those that differ from another, or from one known, in case alone."""
    found = {word.casefold(): word for word in reversed(list(words))}
    return [word for key, word in reversed(found.items()) if key not in known]


def to_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {to_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\u00a0", "\\u00a0")


def write(sources: Sources, versions: str) -> str:
    """Return the file."""
    lines = [
        "# What MediaWiki knows of every Wikipedia. Made by tests/tools/mediawiki_tables.py: do not edit.",
        "",
        f"versions = {to_toml(versions)}",
        f"not_wikipedias = {to_toml(sources.not_wikipedias())}",
        f"closed = {to_toml(sorted(sources.wikipedias & sources.closed))}",
        f"switches = {to_toml(sources.switches())}",
    ]
    for dbname in sorted(sources.wikipedias - set(sources.not_wikipedias())):
        lines += ["", f"[wikis.{code_of(dbname)}]"]
        table = sources.table(dbname)
        lines += [f"{key} = {to_toml(value)}" for key, value in table.items() if value]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("mediawiki", "configuration", "settings"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--versions", required=True)
    parser.add_argument("--output", type=Path, default=Path(OUTPUT))
    args = parser.parse_args()
    sources = Sources(args.mediawiki, args.configuration, args.settings)
    args.output.write_text(write(sources, args.versions), "utf-8")


if __name__ == "__main__":
    main()
