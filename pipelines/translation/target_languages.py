"""Finds the target languages of translations, with their names, tags and scripts.

For the codes of FLORES-101, names come from Table 1 of Goyal et al. 2022 (languages.toml). Tags, scripts
and the names of all other languages come from Unicode CLDR, through the package langcodes.

Maps the language codes of different corpora to one key: "ukr", "ukr_Cyrl" and "uk" become "uk". Finds the
codes of FLORES+, which also have the glottocode of a variety.
"""

import difflib
import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from corpusmill.transforms.files.markup import read_toml

_PLUS = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}_[a-z0-9]{4}[0-9]{4}")
_CODE_AND_SCRIPT = re.compile(r"([a-z]{3})_([A-Z][a-z]{3})")  # a code of FLORES-200
# Right-to-left scripts of living languages.
_RIGHT_TO_LEFT = frozenset("Adlm Arab Hebr Mand Mend Nkoo Rohg Samr Syrc Thaa Yezi".split())
_MAX_NEAR_NAMES = 5


class TargetLanguage(NamedTuple):
    """A target language with its names and scripts."""

    code: str  # as given by the user; also used in file names: "zho_simpl"
    name: str  # in English
    tag: str  # the shortest BCP 47 tag: "zh-Hans"
    scripts: tuple[str, ...]  # ISO 15924 codes of its letters: ("Hani",), ("Hani", "Hira", "Kana")
    is_right_to_left: bool


def _table(name: str) -> Mapping[str, str]:
    table: Mapping[str, str] = read_toml(__package__, "languages.toml")[name]
    return table


FLORES101_CODES: tuple[str, ...] = tuple(_table("names"))  # 102, sorted, including eng


@functools.cache
def find_language(code: str) -> TargetLanguage:
    """Finds a language by its FLORES-101 code ("zho_simpl"), FLORES-200 code ("zho_Hans") or BCP 47 tag.

    Raises ValueError if the code is unknown; the message suggests similar codes.
    """
    name = _table("names").get(code)
    if (tag := _tag(code)) is None:
        raise ValueError(f'no language "{code}"{_near_names(code)}')

    import langcodes  # imported here, because it loads large tables

    language = langcodes.Language.get(tag)
    script = language.maximize().script or "Latn"
    return TargetLanguage(
        code=code,
        name=name or language.display_name(),
        tag=tag,
        scripts=tuple(_table("scripts").get(script, script).split()),
        is_right_to_left=script in _RIGHT_TO_LEFT or script == "Aran",
    )


def _tag(code: str) -> str | None:
    """Returns the BCP 47 tag of a language, or None for an unknown language.

    It is the same for all codes of a language: "ne" for "npi_Deva", "zh-Hant" for "zh-TW", "fr" for "fr-FR".
    """
    import langcodes

    tag = _table("tags").get(code, code)
    if match := _CODE_AND_SCRIPT.fullmatch(tag):
        tag = "-".join(match.groups())
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", tag):
        return None
    try:
        language = langcodes.Language.get(langcodes.standardize_tag(tag, macro=True))
    except langcodes.tag_parser.LanguageTagError:
        return None
    if not language.is_valid():
        return None
    make, full = langcodes.Language.make, language.maximize()
    if language.variants or language.extensions or language.private or not full.language:
        return language.to_tag()
    usual_script = make(language=full.language).maximize().script
    usual_country = make(language=full.language, script=full.script).maximize().territory
    short = make(
        language=full.language,
        script=None if full.script == usual_script else full.script,
        territory=None if full.territory == usual_country else language.territory,
    ).to_tag()
    variety = _table("varieties").get(short, short)
    country = langcodes.Language.get(variety).territory
    if country and language.territory and language.territory != country:
        return f"{short}-{full.territory}" if short in _table("varieties") else short
    return variety


def _near_names(code: str) -> str:
    """Returns the end of an error message with suggestions for an unknown code.

    It lists codes that resemble `code`, or whose language names contain it.
    """
    names = _table("names")
    called = [known for known, name in names.items() if code.casefold() in name.casefold() and code]
    near = difflib.get_close_matches(code, FLORES101_CODES, _MAX_NEAR_NAMES)
    if not (found := list(dict.fromkeys([*called, *near]))[:_MAX_NEAR_NAMES]):
        return '; codes are like "fra", "zho_simpl", "npi_Deva", or a tag like "pt-BR"'
    return "; similar languages are " + ", ".join(f'"{known}" ({names[known]})' for known in found)


def language_key(code: str) -> str:
    """Returns the ISO 639 code, and the script if it is not the usual one: "zh", "zh-Hant", "sr-Latn".

    Countries are ignored, unless they imply another script: "pt-BR" becomes "pt", but "zh-TW" becomes
    "zh-Hant". Raises ValueError if `find_language` does not know the code.
    """
    tag = find_language(code).tag

    import langcodes  # imported here, because it loads large tables

    full = langcodes.Language.get(tag).maximize()
    language = full.language or tag
    usual = langcodes.Language.make(language=language).maximize().script
    return language if full.script in (usual, None) else f"{language}-{full.script}"


def flores_plus_code(code: str, given: str = "") -> str:
    """Returns the code of a language in FLORES+: "cmn_Hans_beij1234" for "zho_simpl".

    `given` is the code that the user has named; "" for a language of the table `flores_plus`. Raises
    ValueError if the table does not have the language, and if `given` is malformed, unknown or of a
    macrolanguage.
    """
    from langcodes import Language, data_dicts

    found = given or _plus_of_table(code)
    if not _PLUS.fullmatch(found):
        wrong = f"{found!r} is no code" if found else "no code is known"
        form = "(ISO 639-3, ISO 15924 and Glottolog)"
        raise ValueError(
            f"{code}: {wrong} of FLORES+: give --variety {code}=xxx_Xxxx_xxxx1234 {form}"
        )
    tags = {*data_dicts.MACROLANGUAGES.values()} - {"sc"}  # FLORES+ has srd_Latn_sard1257
    if found[:3] in {Language.get(one, normalize=False).to_alpha3() for one in tags}:
        raise ValueError(f"{code}: {found[:3]} is a macrolanguage, which FLORES+ does not allow")
    find_language(found.rpartition("_")[0])
    return found


def _plus_of_table(code: str) -> str:
    tag, is_tag = find_language(code).tag, len(code.partition("-")[0]) == 2
    known = (
        plus
        for name, plus in _table("flores_plus").items()
        if name == code
        or plus.startswith(f"{code}_")
        or (is_tag and find_language(name).tag == tag)
    )
    return next(known, "")


def find_variety(code: str, plus: str) -> TargetLanguage:
    """Finds a language with its code in FLORES+, or "".

    Another code than that of the table `flores_plus` is one of another variety: the name and tag are those of
    its language and script, "Portuguese" and "pt" for "por_Latn_port1283".
    """
    if not plus or _plus_of_table(code) in (plus, ""):
        return find_language(code)

    from langcodes import Language

    found = find_language(plus.rpartition("_")[0])
    tag = Language.get(found.tag)
    if tag.territory and not Language.get(found.code).territory:
        tag = Language.make(tag.language, script=tag.script)
    return found._replace(name=tag.display_name(), tag=tag.to_tag())
