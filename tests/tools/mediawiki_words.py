"""Writes two tables of transforms/wikitext/languages: what MediaWiki's functions are named and show.

python -m tests.tools.mediawiki_words --mediawiki DIR --cldr DIR --extensions FILE … --versions TEXT

  --mediawiki   a checkout of MediaWiki, or its Debian package unpacked (usr/share/mediawiki)
  --cldr        Unicode's CLDR, or the Debian package unicode-cldr-core unpacked (usr/share/unicode/cldr)
  --extensions  files in which extensions of MediaWiki name their magic words, such as
                ParserFunctions.i18n.magic.php
  --versions    a line for the heads of the files that says which versions were read

magic_words.toml has the names of variables and parser functions in all languages, rules for plurals that CLDR
lacks, the languages in which {{GRAMMAR:}} changes words, and quotation marks. calendar.toml has the names of
months and weekdays for {{#time:}}.
"""

import argparse
import functools
import json
import re
import tomllib
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from corpusmill.transforms.wikitext.templates.parser_functions import MAGIC_WORDS
from tests.tools.mediawiki_tables import (
    STRING,
    array_of_words,
    read_messages,
    text_of,
    to_toml,
    without_comments,
)

FOLDER = Path("transforms/wikitext/languages")
_WORDS = re.compile(rf"{STRING}\s*=>\s*\[\s*'?([01])'?\s*,([^\]]*)\]")
_HASHED = {"tag", "formatdate", "special", "speciale"}
_NOT_HASHED = {"default", "shortdesc", "noexternallanglinks"}
_QUOTES = ("quotationStart", "quotationEnd", "alternateQuotationStart", "alternateQuotationEnd")
_MONTHS = "january february march april may june july august september october november december"
_DAYS = "sunday monday tuesday wednesday thursday friday saturday"
# Name of a list → keys of MediaWiki's messages
_LISTS = {
    "months": [month.replace("may", "may_long") for month in _MONTHS.split()],
    "months_genitive": [f"{month}-gen" for month in _MONTHS.split()],
    "months_short": [month[:3] for month in _MONTHS.split()],
    "weekdays": _DAYS.split(),
    "weekdays_short": [day[:3] for day in _DAYS.split()],
    "months_iranian": [f"iranian-calendar-m{month}" for month in range(1, 13)],
    "months_hijri": [f"hijri-calendar-m{month}" for month in range(1, 13)],
}


def _code_of(path: Path) -> str:
    """The language of a file such as MessagesZh_hans.php: "zh-hans"."""
    return path.stem.removeprefix("Messages").replace("_", "-").lower()


def _magic_words(source: str, *, hashed: bool) -> Iterator[tuple[str, list[str]]]:
    """(identifier, names) of each magic word that a source lists, the names as they are called."""
    for found in _WORDS.finditer(source):
        identifier = text_of(found)
        is_hashed = identifier not in _NOT_HASHED if hashed else identifier in _HASHED
        names = [text_of(one).removesuffix(":") for one in re.finditer(STRING, found[4])]
        plain = [unicodedata.normalize("NFC", name) for name in names]
        yield identifier, [name if not is_hashed else f"#{name.lstrip('#')}" for name in plain]


def read_words(mediawiki: Path, extensions: Iterable[Path]) -> dict[str, dict[str, list[str]]]:
    """Language → identifier of a magic word → its names."""
    words: dict[str, dict[str, list[str]]] = {}
    for path in sorted((mediawiki / "languages" / "messages").glob("Messages*.php")):
        source = array_of_words(without_comments(path.read_text("utf-8")))
        source = source.partition("\n];")[0]
        words.setdefault(_code_of(path), {}).update(_magic_words(source, hashed=False))
    for path in extensions:
        source = without_comments(path.read_text("utf-8"))
        for block in source.split("$magicWords[")[1:]:
            language = re.match(STRING, block)
            if language:
                found = _magic_words(block.partition("=")[2], hashed=True)
                words.setdefault(text_of(language), {}).update(found)
    return words


def keyed_words(words: Mapping[str, Mapping[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    """Language → key → names, for the magic words that the cleaner expands.

    The key is the English name: in capitals if MediaWiki distinguishes case, otherwise in small letters. A
    name that is the key is left out.
    """
    keys = {}
    for identifier, names in words["en"].items():
        spelled = (one for name in names for one in (name, name.lower()))
        keys[identifier] = next((one for one in spelled if one in MAGIC_WORDS), "")
    keyed: dict[str, dict[str, list[str]]] = {"en": {}}
    for language in ("en", *sorted(used_languages() - {"en"})):
        for identifier, names in sorted(words.get(language, {}).items()):
            if key := keys.get(identifier):
                known = keyed["en"].get(key, []) if language != "en" else []
                new = [
                    name
                    for name in dict.fromkeys(names)
                    if name not in known and _differs(name, key)
                ]
                if new:
                    keyed.setdefault(language, {})[key] = new
    return keyed


def _differs(name: str, key: str) -> bool:
    return name != key if key.isupper() else name.casefold() != key


@functools.cache
def used_languages() -> set[str]:
    """The languages of all Wikipedias, their fallback languages, and English."""
    wikis = tomllib.loads((FOLDER / "mediawiki.toml").read_text("utf-8"))["wikis"].values()
    return {"en", *(code for one in wikis for code in (one["language"], *one.get("fallbacks", ())))}


def plurals(mediawiki: Path) -> dict[str, dict[str, str]]:
    """Language → rule of each form, of MediaWiki's own rules for plurals."""
    path = mediawiki / "languages" / "data" / "plurals-mediawiki.xml"
    rules: dict[str, dict[str, str]] = {}
    for group in ElementTree.parse(path).getroot().iter("pluralRules"):
        forms = {one.get("count", ""): (one.text or "").partition("@")[0].strip()
                 for one in group.iter("pluralRule")}  # fmt: skip
        for language in group.get("locales", "").split():
            rules[language] = {form: rule for form, rule in forms.items() if rule}
    return rules


def inflected(mediawiki: Path) -> list[str]:
    """The languages in which MediaWiki changes the words in {{GRAMMAR:}}."""
    data = mediawiki / "languages" / "data" / "grammarTransformations"
    classes = (mediawiki / "includes" / "languages").glob("Language*.php")
    named = (one for one in classes if "function convertGrammar" in one.read_text("utf-8"))
    codes = [path.stem.removeprefix("Language").replace("_", "-").lower() for path in named]
    return sorted({*codes, *(path.stem for path in data.glob("*.json"))})


def quotes(cldr: Path) -> dict[str, str]:
    """Language → its four quotation marks: outer opening, outer closing, inner opening, inner closing."""
    found = {}
    for path in sorted((cldr / "common" / "main").glob("*.xml")):
        marks = ElementTree.parse(path).getroot().find("delimiters")
        texts = [(marks.findtext(name) or "") if marks is not None else "" for name in _QUOTES]
        language = path.stem.replace("_", "-").lower()
        if all(len(text) == 1 for text in texts) and language in {"root", *used_languages()}:
            found[language] = "".join(texts)
    return found


def calendar(mediawiki: Path) -> dict[str, dict[str, list[str]]]:
    """Language → name of a list → names of months or weekdays, as far as they are translated."""
    folder = mediawiki / "languages"
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted((folder / "i18n").glob("*.json")):
        if path.stem not in used_languages():
            continue
        name = f"Messages{path.stem.capitalize().replace('-', '_')}.php"
        chain = [path.stem, *read_messages(folder / "messages" / name).fallbacks, "en"]
        texts = [_messages(folder / "i18n" / f"{code}.json") for code in chain]
        for key, messages in _LISTS.items():
            if any(message in texts[0] for message in messages):
                names = [next(one[m] for one in texts if m in one) for m in messages]
                found.setdefault(path.stem, {})[key] = names
    return found


def _messages(path: Path) -> dict[str, str]:
    texts: dict[str, str] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return texts


def _table(name: str, values: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for language, entries in values.items():
        yield f"\n[{name}.{language}]"
        yield from (f"{json.dumps(key)} = {to_toml(value)}" for key, value in entries.items())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("mediawiki", "cldr"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--extensions", type=Path, nargs="*", default=[])
    parser.add_argument("--versions", required=True)
    args = parser.parse_args()
    head = "# {}. Made by tests/tools/mediawiki_words.py: do not edit.\n\nversions = {}"
    words = keyed_words(read_words(args.mediawiki, args.extensions))
    lines = [
        head.format("Names of MediaWiki's variables and parser functions", to_toml(args.versions)),
        f"inflected = {to_toml(inflected(args.mediawiki))}",
        *_table("words", words),
        *_table("plurals", plurals(args.mediawiki)),
        "\n[quotes]",
        *(f"{key} = {to_toml(marks)}" for key, marks in quotes(args.cldr).items()),
    ]
    (FOLDER / "magic_words.toml").write_text("\n".join(lines) + "\n", "utf-8")
    lines = [
        head.format("Names of months and weekdays in {{#time:}}", to_toml(args.versions)),
        *_table("names", calendar(args.mediawiki)),
    ]
    (FOLDER / "calendar.toml").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
