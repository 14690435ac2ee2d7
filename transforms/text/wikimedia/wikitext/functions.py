"""Templates whose text has to be worked out: numbers, dates, pronunciations.

A pattern of the form "=name" in the tables calls the function of that name.
"""

import datetime
import functools
import math
import re
import unicodedata
from collections.abc import Callable, Mapping

from transforms.text.wikimedia.language import Language
from transforms.text.wikimedia.wikitext.ages import AGE_FUNCTIONS
from transforms.text.wikimedia.wikitext.chemistry import CHEMISTRY_FUNCTIONS
from transforms.text.wikimedia.wikitext.convert import convert, convert_short
from transforms.text.wikimedia.wikitext.marks import protect
from transforms.text.wikimedia.wikitext.patterns import Arguments, first_of, positional
from transforms.text.wikimedia.wikitext.pronunciations import PRONUNCIATION_FUNCTIONS
from transforms.text.wikimedia.wikitext.rendering import (
    Page,
    format_number,
    subscript,
    superscript,
)
from transforms.text.wikimedia.wikitext.ships import SHIP_FUNCTIONS
from transforms.text.wikimedia.wikitext.written_numbers import NUMBER_FUNCTIONS

_MONTHS = frozenset(f"{month:02}" for month in range(1, 13))
_DAYS = frozenset(f"{day:02}" for day in range(1, 32))
_ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip


_JOINS = frozenset(("à", "et", "ou", "par", "-", "–", "/", "x", "×", "±"))
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_BARE_NUMBER = re.compile(r"[IVXLCDM]+|[0-9]+")
_LOOSE_EXPONENT = re.compile(r"(?<=m) (?=[23]$)")  # of "hab./km 2"


def formatters_of(language: Language) -> dict[str, Callable[[str], str]]:
    """Return the formatters that display patterns may name."""

    def month(text: str) -> str:
        is_number = text.zfill(2) in _MONTHS and language.months
        return language.months[int(text) - 1] if is_number else text

    return {
        "number": lambda text: format_number(text, language.numbers),
        "lower": str.lower,
        "upper": str.upper,
        "first_upper": lambda text: text[:1].upper() + text[1:],
        "superscript": superscript,
        "subscript": subscript,
        "month": month,
        "verbatim": protect,
        "no_aside": lambda text: text.partition(" (")[0],
        "hebrew_number": _hebrew_number,
    }


def _hebrew_number(text: str) -> str:
    """Mark Hebrew letters as a number: א → א', י"א → י"א, יא → י"א. Other text stays as it is."""
    if not text or not all("א" <= letter <= "ת" for letter in text):
        return text
    return f"{text}'" if len(text) == 1 else f'{text[:-1]}"{text[-1]}'


def _labelled(arguments: Arguments, page: Page) -> str:
    """A text in another language behind the name of that language: "нім. Haus"."""
    text = first_of(arguments, ("1", "text"))
    if not text:
        return ""
    text = page.language.phrases.get("foreign", "{text}").format(text=text)
    label = arguments.get("label", "")
    shown = page.language.language_label.format(label=label, text=text) if label else text
    romanised = first_of(arguments, ("2", "translit"))
    meaning = first_of(arguments, ("3", "lit", "translation"))
    phrases = page.language.phrases
    separator = phrases.get("separator", ", ")
    if romanised and "romanised" in phrases:
        shown += separator + phrases["romanised"].format(text=romanised)
    if meaning and "literally" in phrases:
        shown += separator + phrases["literally"].format(text=meaning)
    return shown


def _month_name(month: str, page: Page) -> str:
    """Return the name of a month in the form a date takes; what is no month as it is written."""
    months = page.language.months
    if months and month.lower() in _ENGLISH_MONTHS:  # in pages translated from English
        return months[_ENGLISH_MONTHS.index(month.lower())]
    return months[int(month) - 1] if months and month.zfill(2) in _MONTHS else month


def _format_date(year: str, month: str, day: str, page: Page, *, month_first: bool) -> str:
    month = _month_name(month, page)
    if not month or month.isdecimal():
        return year
    if not day:
        return page.language.phrases["month_year"].format(month=month, year=year)
    day = day.lstrip("0") or day
    if month_first:
        return f"{month} {day}, {year}"
    return page.language.date.format(day=day, month=month, year=year)


def _date(arguments: Arguments, page: Page) -> str:
    """Year, month, day. The age that some of these templates add changes daily and is left out."""
    values = positional(arguments)[:3] or [
        arguments[name] for name in ("year", "month", "day") if name in arguments
    ]
    if not values or not values[0].isdecimal():
        return values[0] if values else ""
    year, month, day = [*values, "", ""][:3]
    day_first = arguments.get("df", "").lower() in ("y", "yes", "true", "1")
    month_first = page.language.code == "en" and not day_first
    return _format_date(year, month, day, page, month_first=month_first)


def _date_of_text(arguments: Arguments, page: Page) -> str:
    """`{{date|2006-08-04|MDY}}`: a date in the form asked for; one in words stays as it is."""
    text, form = arguments.get("1", ""), arguments.get("2", "").upper()
    match = _ISO_DATE.fullmatch(text)
    if not match:
        return _date(arguments, page) if text.isdecimal() and form else text
    if form == "ISO":
        return text
    year, month, day = match.groups()
    return _format_date(year, month, day, page, month_first=form in ("MDY", "US"))


def _date_day_first(arguments: Arguments, page: Page) -> str:
    """Day, month, year; the year may stand first."""
    values = positional(arguments)[:3]
    if len(values) < 3:
        return " ".join(values)
    day, month, year = values
    if len(day) > 2 and day.isdecimal():
        day, year = year, day
    return _format_date(year, month, day, page, month_first=False)


def _as_of(arguments: Arguments, page: Page) -> str:
    """`{{as of|2015|6|30|lc=y}}`: "as of 30 June 2015"; `alt` words it otherwise."""
    year, month, day = (*positional(arguments)[:3], "", "", "")[:3]
    after = arguments.get("post", "")
    if arguments.get("alt"):
        return arguments["alt"] + after
    if not year:
        return ""
    month_first = arguments.get("df", "").upper() in ("US", "MDY")
    date = _format_date(year, month, day, page, month_first=month_first)
    if arguments.get("pre"):
        date = f"{arguments['pre']} {date}"
    since = page.language.phrases.get("since")
    wanted = since if arguments.get("since") and since else page.language.phrases["as_of"]
    phrase = wanted.format(date=date)
    if arguments.get("lc") or arguments.get("bare"):
        phrase = date if arguments.get("bare") else phrase[:1].lower() + phrase[1:]
    return phrase + after


def _language_of_code(arguments: Arguments, page: Page) -> str:
    """`{{langx|de|Haus}}`: like `{{lang-de|Haus}}`."""
    code, text = first_of(arguments, ("1", "code")), first_of(arguments, ("2", "text"))
    label = page.language.language_names.get(code.lower(), "")
    if not label:
        return text
    shifted = {"label": label, "1": text}
    shifted["2"] = first_of(arguments, ("3", "translit"))
    shifted["3"] = first_of(arguments, ("4", "lit", "translation"))
    return _labelled(shifted, page)


def _japanese(arguments: Arguments, page: Page) -> str:
    """`{{nihongo|name|kanji|romaji|extra|extra2}}`: "name (kanji, romaji, extra) extra2"."""
    name, kanji, romaji, extra, extra2 = (*positional(arguments)[:5], "", "", "", "", "")[:5]
    name, kanji = name or arguments.get("english", ""), kanji or arguments.get("kanji", "")
    romaji = romaji or arguments.get("romaji", "")
    if kanji and arguments.get("hanviet"):  # Vietnamese: the reading of the characters
        kanji += f" ({arguments['hanviet']})"
    extra = extra or arguments.get("extra", "")
    extra2 = extra2 or arguments.get("extra2", "")
    if not name:
        name, romaji = romaji, ""
    phrases = page.language.phrases
    if arguments.get("lead") == "yes" and "kanji" in phrases:
        kanji = phrases["kanji"].format(text=kanji) if kanji else ""
        romaji = phrases["romaji"].format(text=romaji) if romaji else ""
    aside = ", ".join(filter(None, (kanji, romaji, extra)))
    return " ".join(filter(None, (name, f"({aside})" if aside else "", extra2)))


def _japanese_romaji_first(arguments: Arguments, page: Page) -> str:
    """`{{nihongo3|name|kanji|romaji}}`: "romaji (kanji, name)"."""
    name, kanji, romaji = (*positional(arguments)[:3], "", "", "")[:3]
    aside = ", ".join(filter(None, (kanji, name if romaji else "")))
    return " ".join(filter(None, (romaji or name, f"({aside})" if aside else "")))


_CHINESE_FORMS = (
    ("c",), ("s",), ("t",), ("p",), ("tp",), ("w",), ("j",), ("cy", "y"), ("sl",), ("poj",),
    ("tl",), ("zhu",), ("hv", "v"), ("l",),
)  # fmt: skip
_TRADITIONAL_FIRST = (("c",), ("t",), ("s",), *_CHINESE_FORMS[3:])


def _chinese(arguments: Arguments, page: Page) -> str:
    """`{{zh|t=…|s=…|p=…}}`: every form behind its label, joined by semicolons."""
    phrases = page.language.phrases
    is_labelled = arguments.get("labels") != "no"
    shown = []
    simplified_first = page.language.code == "en" and "t" not in arguments.get("first", "")
    for names in _CHINESE_FORMS if simplified_first else _TRADITIONAL_FIRST:
        value = first_of(arguments, names)
        label = phrases.get(f"chinese_{names[0]}", "") if is_labelled else ""
        if value and names[0] == "l" and not label and "literally" in phrases:
            shown.append(phrases["literally"].format(text=value))
        elif value:
            shown.append(f"{label}: {value}" if label else value)
    return "; ".join(shown) or arguments.get("1", "")


def _sic(arguments: Arguments, page: Page) -> str:
    """`{{sic|wr|ogn}}`: "wrogn [sic]"; `hide` leaves the mark out."""
    values = positional(arguments)
    mark = "[sic?]" if values[:1] == ["?"] else "[sic]"
    words = "".join(values[1:] if values[:1] == ["?"] else values)
    return words if arguments.get("hide") else f"{words} {mark}".strip()


_MUSIC = {
    "sharp": "♯", "#": "♯", "flat": "♭", "b": "♭", "natural": "♮", "double sharp": "𝄪",
    "doublesharp": "𝄪", "double flat": "𝄫", "doubleflat": "𝄫", "n": "♮", "##": "𝄪", "bb": "𝄫",
    "x": "𝄪", "dim": "°", "dimdeg": "°", "half-dim": "ø", "aug": "+", "quarter": "♩", "eighth": "♪",
    "quarternote": "♩", "eighthnote": "♪", "half": "𝅗𝅥", "whole": "𝅝", "sixteenth": "𝅘𝅥𝅯",
    "bass clef": "𝄢", "bassclef": "𝄢", "treble clef": "𝄞", "trebleclef": "𝄞", "alto clef": "𝄡",
}  # fmt: skip


def _music(arguments: Arguments, page: Page) -> str:
    sign, *numbers = [*positional(arguments), ""]
    if sign in ("time", "meter", "time signature"):
        return "/".join(filter(None, numbers))
    if sign in ("scale", "scaledegree"):
        return "".join(numbers)
    return _MUSIC.get(sign.lower() if len(sign) > 2 else sign, sign)


def _date_old_style(arguments: Arguments, page: Page) -> str:
    """`{{ДН|26|5|1912|13}}`: the old-style day before the new one, "13 (26) травня 1912".

    The fifth and sixth value are the month and the year of the old style, where they differ.
    """
    day, month, year, old_day, old_month, old_year = (*positional(arguments)[:6], *[""] * 6)[:6]
    month, old_month = _month_name(month, page), _month_name(old_month, page)
    if not (day and month and old_day):
        return _format_date(year, month, day, page, month_first=False).strip()
    if not old_month and month in page.language.months and _is_later(old_day, day):
        old_month = page.language.months[page.language.months.index(month) - 1]
    day, old_day = day.lstrip("0"), old_day.lstrip("0")
    if old_month in ("", month):
        return _format_date(year, month, f"{old_day} ({day})", page, month_first=False).strip()
    if old_year not in ("", year) or old_month in page.language.months[-1:]:
        return f"{old_day} {old_month} {old_year}".strip() + f" ({day} {month} {year})"
    return f"{old_day} {old_month} ({day} {month}) {year}".strip()


def _is_later(day: str, other: str) -> bool:
    day, other = day.zfill(2), other.zfill(2)
    return day in _DAYS and other in _DAYS and day > other


def _date_in_words(arguments: Arguments, page: Page) -> str:
    """`{{date|1|7|1867}}`, `{{date|1 juillet 1867|en histoire}}`: day, month, year, then a topic."""
    values = [*positional(arguments), ""]
    words = values[0].split()
    if len(words) < 2:
        words = values[: 4 if values[0].isalpha() and len(values) > 4 else 3]
    if match := _ISO_DATE.fullmatch(values[0]):
        words = list(reversed(match.groups()))
    position = next((i for i, word in enumerate(words) if word.isdecimal()), 0)
    if len(words) > position + 1:  # a day and a month
        day = words[position].lstrip("0")
        words[position] = page.language.phrases.get("first_day", day) if day == "1" else day
        words[position + 1] = _month_name(words[position + 1], page)
    if len(words) > 2 and words[-1].startswith("-") and "year_bc" in page.language.phrases:
        words[-1] = page.language.phrases["year_bc"].format(year=words[-1][1:])
    return " ".join(filter(None, words))


def _date_julian_and_gregorian(arguments: Arguments, page: Page) -> str:
    """`{{JULGREGDATUM|22|4|1870}}`: "10.jul. / 22. April 1870greg.", from the Gregorian date."""
    values = positional(arguments)[:3]
    months = page.language.months
    try:
        day, month, year = map(int, values)
        old_year, old_month, old_day = _julian(datetime.date(year, month, day))
        shown = f"{old_day}."
        if old_month != month:
            shown += f" {months[old_month - 1]}"
        if old_year != year:
            shown += f" {old_year}"
        return f"{shown}jul. / {day}. {months[month - 1]} {year}greg."
    except (ValueError, OverflowError, IndexError):
        return " ".join(values)


def _julian(date: datetime.date) -> tuple[int, int, int]:
    """Return year, month and day of a date in the Julian calendar.

    E. G. Richards, in the Explanatory Supplement to the Astronomical Almanac, 2013, section 15.11.
    """
    days = date.toordinal() + 1721425 + 32082  # since the first of March of the year -4800
    years = (4 * days + 3) // 1461
    day_of_year = days - 1461 * years // 4
    month = (5 * day_of_year + 2) // 153  # from March on
    day = day_of_year - (153 * month + 2) // 5 + 1
    return years - 4800 + month // 10, month + 3 - 12 * (month // 10), day


def _centuries(era: str = "", *, short: bool = False) -> Callable[[Arguments, Page], str]:
    """`{{s|XII|e}}`: "XIIe siècle"; `{{sp|XI|e|au|XII|e|s}}`: "XIe au XIIe siècles"."""

    def show(arguments: Arguments, page: Page) -> str:
        words = [value for value in positional(arguments) if value not in ("", "e", "er", "ème")]
        is_plural = "s" in words
        numbered = [_ordinal(word) for word in words if word != "s"]
        if len(numbered) == 2:
            numbered.insert(1, "et")
            is_plural = True
        if short or not numbered:
            return " ".join(numbered)
        return f"{' '.join(numbered)} {'siècles' if is_plural else 'siècle'}{era}"

    return show


def _ordinal(number: str) -> str:
    if not _BARE_NUMBER.fullmatch(number):
        return number
    return number + ("er" if number in ("1", "I") else "e")


def _aside(arguments: Arguments, page: Page) -> str:
    """`{{incise|text}}`: between dashes; at the end of a sentence only after one."""
    text = arguments.get("1", "")
    closing = "" if arguments.get("2") in ("fin", "stop") else " –"
    return f"– {text}{closing}" if text else ""


def _coordinate(arguments: Arguments, page: Page) -> str:
    """`{{Coordinate|text=DMS|NS=52/30/10.4/N|EW=13/24/15/E}}`; without `text` it shows nothing."""
    if arguments.get("text") != "DMS":
        return ""
    return ", ".join(filter(None, (_angle(arguments.get(name, ""), page) for name in ("NS", "EW"))))


def _angle(written: str, page: Page) -> str:
    """Return "52/30/10.4/N" as "52° 30′ 10,4″ N"."""
    *numbers, side = written.split("/")
    shown = [
        number.replace(".", page.language.numbers.decimal) + sign
        for number, sign in zip(numbers, "°′″", strict=False)
        if number
    ]
    if not shown:
        return ""
    return " ".join([*shown, page.language.phrases.get("east", side) if side == "E" else side])


def _quantity(arguments: Arguments, page: Page) -> str:
    """`{{unité|9.81|m||s|-2}}`: "9,81 m⋅s-2": a number, then units, each with an exponent.

    Words between numbers join them: `{{unité|5|à|10|km}}`; `e` is a power of ten.
    """
    number, *rest = [*positional(arguments), ""]
    shown = format_number(_LOOSE_EXPONENT.sub("", number), page.language.numbers)
    while len(rest) > 1 and rest[0] in _JOINS:
        shown += f" {rest[0]} {format_number(rest[1], page.language.numbers)}"
        rest = rest[2:]
    if arguments.get("e"):
        shown += f" × 10{arguments['e']}"
    units = [
        unit + exponent
        for unit, exponent in zip(rest[0::2], [*rest[1::2], ""], strict=False)
        if unit
    ]
    return f"{shown} {'⋅'.join(units)}".strip()


def _height(arguments: Arguments, page: Page) -> str:
    """`{{Höhe|114|DE-NHN}}`: metres above a datum, "114 m ü. NHN"; the phrases name the datums."""
    number = format_number(arguments.get("1", ""), page.language.numbers)
    datum = page.language.phrases.get("height_" + arguments.get("2", "").lower(), "")
    return f"{number} m {datum}".strip() if number else ""


def _julian_date(arguments: Arguments, page: Page) -> str:
    """`{{СС3|8.4.1765}}`: a date of the Julian calendar; the Gregorian one is put behind it."""
    written = arguments.get("1", "")
    try:
        day, month, year = map(int, written.split("."))
        old = datetime.date(year, month, day)
        last_year = year - (month <= 2)  # leap days fall behind the second month
        new = old + datetime.timedelta(days=last_year // 100 - last_year // 400 - 2)
    except (ValueError, OverflowError):  # words, or a 29 February that only this calendar had
        return written
    values = (new.day, new.month, new.year, day, month, year)
    dates = {str(i): str(value) for i, value in enumerate(values, start=1)}
    return _date_old_style(dates, page)


def _language_name(arguments: Arguments, page: Page) -> str:
    """`{{Vjazyce|de}}`: the label of a language alone, "německy"; the text follows by itself."""
    return page.language.language_names.get(arguments.get("1", "").lower(), "")


def _century(arguments: Arguments, page: Page) -> str:
    """`{{siglo|V|a|s}}`: "siglo V a. C."; "s" or "S" asks for the word, "a" or "d" for the era."""
    number, era, style = (arguments.get(name, "") for name in ("1", "2", "3"))
    phrases = page.language.phrases
    word = phrases.get("century", "") if style in ("s", "S") else ""
    word = word.capitalize() if style == "S" else word
    suffix = phrases.get({"a": "before_christ", "d": "after_christ"}.get(era.lower(), ""), "")
    return " ".join(filter(None, [word, number, suffix])) if number else ""


def _hard_space(arguments: Arguments, page: Page) -> str:
    """`45{{esd}}km`: a blank; `{{esd|45 km}}`: a text that is not broken into lines."""
    return arguments.get("1") or " "


def _interlanguage_link(arguments: Arguments, page: Page) -> str:
    """`{{ill|title|de|Titel|lt=label}}`, or in the older order `{{ill|de|Titel|label}}`."""
    first, second = arguments.get("1", ""), arguments.get("2", "")
    if second and first in page.language.interlanguage_codes:
        # In English pages the third is the title in the other language.
        names = ("lt", "4", "2") if page.language.code == "en" else ("lt", "3", "2")
        return first_of(arguments, names)
    return first_of(arguments, ("lt", "1"))


@functools.cache
def _symbol_pattern(symbols: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(symbols, key=len, reverse=True)
    return re.compile(rf" ({'|'.join(map(re.escape, longest_first))})(?![^\s();,–×±/])")


def _convert_to_names(arguments: Arguments, page: Page) -> str:
    """`{{convert|3776|m|ft}}` where the wiki names units: "3,776米（12,388英尺）"."""
    names = {
        phrase.removeprefix("unit "): name
        for phrase, name in page.language.phrases.items()
        if phrase.startswith("unit ")
    }
    shown = convert_short(arguments, page)
    if not names:
        return shown
    shown = _symbol_pattern(tuple(names)).sub(lambda match: names[match[1]], shown)
    return re.sub(r" ?\(", "（", shown).replace(")", "）")


def _density(arguments: Arguments, page: Page) -> str:
    """`{{pop density|3645257|640082|km2|sqmi|prec=1}}`: "5.7/km2 (14.7/sq mi)"."""
    try:
        people, area = (float(arguments.get(name, "").replace(",", "")) for name in ("1", "2"))
        decimals = min(int(arguments.get("prec") or 0), 9)
        density = people / area
    except (ValueError, ZeroDivisionError):
        return ""
    if not math.isfinite(density):
        return ""
    unit, other = arguments.get("3", "km2"), arguments.get("4", "sqmi")
    exact = {
        "1": f"{density:.9f}",
        "2": f"/{unit}",
        "3": f"/{other}",
        "4": str(decimals),
        "abbr": "on",
    }
    rounded = {**exact, "1": f"{density:.{decimals}f}"}
    return (
        f"{convert(rounded, page).partition(' (')[0]} ({convert({**exact, 'disp': 'out'}, page)})"
    )


def _country(arguments: Arguments, page: Page) -> str:
    """`{{flag|FRA}}`: the name of a country given by its name or by a code."""
    name = first_of(arguments, ("name", "1"))
    key = name.casefold()
    of_template = page.language.templates.get(key, "")  # {{ENG}} is no country of ISO 3166
    if of_template.replace(" ", "").isalpha():
        return of_template
    return page.language.countries.get(key, name)


def _quran_verse(arguments: Arguments, page: Page) -> str:
    """`{{cite quran|2|255|style=nosup}}`: a verse in the text; otherwise it is a footnote mark."""
    chapter, verse = arguments.get("1", ""), arguments.get("2", "")
    if arguments.get("style") not in ("nosup", "ns", "inline") or not chapter:
        return ""
    return f"Quran {chapter}:{verse}" if verse else f"Quran {chapter}"


def _literally(arguments: Arguments, page: Page) -> str:
    """`{{lit|one|two}}`: "lit. 'one' or 'two'"."""
    meanings = " or ".join(f"&#39;{value}&#39;" for value in positional(arguments) if value)
    return f"lit. {meanings}" if meanings else ""


def _labelled_russian(arguments: Arguments, page: Page) -> str:
    """`{{lang-rus|Андрей|r=Andrey|p=ɐnˈdrʲej}}`: with romanisation and sounds."""
    shifted = {"label": page.language.language_names.get("ru", "Russian")}
    shifted["1"] = arguments.get("1", "")
    shifted["2"] = first_of(arguments, ("2", "r"))
    shifted["3"] = first_of(arguments, ("3", "t"))
    shown, sounds = _labelled(shifted, page), arguments.get("p", "")
    return f"{shown}, IPA: [{sounds}]" if shown and sounds else shown


def _junction(arguments: Arguments, page: Page) -> str:
    """`{{jct|state=NY|I|90|dir1=east|NY|5}}`: "I-90 east / NY 5"."""
    values = positional(arguments)
    shown = []
    for i, (kind, number) in enumerate(zip(values[::2], values[1::2], strict=False), start=1):
        name = arguments.get(f"name{i}", "")
        to = "To " if arguments.get(f"to{i}") else ""
        road = f"{kind}{'-' if kind == 'I' else ' '}{number}" if number else name or kind
        direction = arguments.get(f"dir{i}", "")
        shown.append(" ".join(filter(None, (to + road, direction))))
        if name and number:
            shown[-1] += f" ({name})"
    places = [arguments[name] for name in ("city1", "city2", "city3") if arguments.get(name)]
    roads = " / ".join(shown)
    return f"{roads} – {', '.join(places)}" if places else roads


def _bible_verse(arguments: Arguments, page: Page) -> str:
    """`{{bibleverse|1|Corinthians|13:4|KJV}}`, `{{bibleverse|Mark|3:25|9}}`: book and verse."""
    first, second, third, *rest = [*positional(arguments), "", "", ""]
    is_numbered = first in ("", "I", "II", "III") or first.isdecimal()
    if is_numbered and third:
        return " ".join(filter(None, (first, second, third)))
    # What follows names an edition by its code, or words the link.
    words = next((value for value in (third, *rest) if " " in value), "")
    return words or " ".join(filter(None, (first, second)))


def _section_link(arguments: Arguments, page: Page) -> str:
    """`{{section link|page|one|two}}`: "page §§ one, two"."""
    target, *sections = [*positional(arguments), ""]
    names = [section for section in sections if section]
    if not target and len(names) == 1 and not positional(arguments)[1:]:
        return ""
    marks = f"{'§§' if len(names) > 1 else '§'} {', '.join(names)}" if names else ""
    return first_of(arguments, ("nopage", "display")) or f"{target} {marks}".strip()


def _unicode_character(arguments: Arguments, page: Page) -> str:
    """`{{unichar|2014|EM DASH}}`: "U+2014 — EM DASH"."""
    code = arguments.get("1", "")
    if not re.fullmatch(r"(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}", code):
        return f"U+{code}" if code else ""
    character = chr(int(code, 16))
    name = arguments.get("2", "").upper() or unicodedata.name(character, "")
    shown = character if character.isprintable() and not character.isspace() else ""
    return " ".join(filter(None, (f"U+{code.upper().zfill(4)}", shown, name)))


FUNCTIONS: Mapping[str, Callable[[Arguments, Page], str]] = {
    **AGE_FUNCTIONS,
    **CHEMISTRY_FUNCTIONS,
    **NUMBER_FUNCTIONS,
    **PRONUNCIATION_FUNCTIONS,
    **SHIP_FUNCTIONS,
    "as_of": _as_of,
    "aside": _aside,
    "bible_verse": _bible_verse,
    "century": _century,
    "centuries": _centuries(),
    "centuries_bc": _centuries(" av. J.-C."),
    "centuries_ad": _centuries(" apr. J.-C."),
    "centuries_short": _centuries(short=True),
    "country": _country,
    "date": _date,
    "date_day_first": _date_day_first,
    "date_of_text": _date_of_text,
    "chinese": _chinese,
    "convert": convert,
    "coordinate": _coordinate,
    "convert_short": convert_short,
    "convert_to_names": _convert_to_names,
    "date_in_words": _date_in_words,
    "date_julian_and_gregorian": _date_julian_and_gregorian,
    "date_old_style": _date_old_style,
    "density": _density,
    "hard_space": _hard_space,
    "height": _height,
    "interlanguage_link": _interlanguage_link,
    "japanese": _japanese,
    "japanese_romaji_first": _japanese_romaji_first,
    "julian_date": _julian_date,
    "junction": _junction,
    "labelled": _labelled,
    "labelled_russian": _labelled_russian,
    "language_name": _language_name,
    "language_of_code": _language_of_code,
    "literally": _literally,
    "music": _music,
    "quran_verse": _quran_verse,
    "quantity": _quantity,
    "section_link": _section_link,
    "sic": _sic,
    "unicode_character": _unicode_character,
}
