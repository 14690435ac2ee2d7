"""Templates whose text has to be worked out: numbers, dates, pronunciations.

A pattern of the form "=name" in the tables calls the function of that name.
"""

import math
from collections.abc import Callable, Mapping

from transforms.text.wikimedia.language import Language
from transforms.text.wikimedia.wikitext.convert import convert, convert_short
from transforms.text.wikimedia.wikitext.patterns import Arguments, first_of, positional
from transforms.text.wikimedia.wikitext.rendering import Page, format_number

_MONTHS = frozenset(f"{month:02}" for month in range(1, 13))
_DAYS = frozenset(f"{day:02}" for day in range(1, 32))
_SUPERSCRIPTS = str.maketrans("0123456789+-−()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾")
_SUBSCRIPTS = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")


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
        "superscript": lambda text: text.translate(_SUPERSCRIPTS),
        "subscript": lambda text: text.translate(_SUBSCRIPTS),
        "month": month,
    }


def _labelled(arguments: Arguments, page: Page) -> str:
    """A text in another language behind the name of that language: "нім. Haus"."""
    text = first_of(arguments, ("1", "text"))
    if not text:
        return ""
    shown = page.language.language_label.format(label=arguments["label"], text=text)
    romanised = first_of(arguments, ("2", "translit"))
    meaning = first_of(arguments, ("3", "lit", "translation"))
    phrases = page.language.phrases
    if romanised and "romanised" in phrases:
        shown += ", " + phrases["romanised"].format(text=romanised)
    if meaning and "literally" in phrases:
        shown += ", " + phrases["literally"].format(text=meaning)
    return shown


def _format_date(year: str, month: str, day: str, page: Page, *, month_first: bool) -> str:
    months = page.language.months
    if month.isdecimal():
        if month.zfill(2) not in _MONTHS or not months:
            return year
        month = months[int(month) - 1]
    if not month:
        return year
    if not day:
        return page.language.phrases["month_year"].format(month=month, year=year)
    day = day.lstrip("0") or day
    if month_first:
        return f"{month} {day}, {year}"
    return page.language.date.format(day=day, month=month, year=year)


def _date(arguments: Arguments, page: Page) -> str:
    """Year, month, day. The age that some of these templates add changes daily and is left out."""
    values = positional(arguments)[:3]
    if not values or not values[0].isdecimal():
        return values[0] if values else ""
    year, month, day = [*values, "", ""][:3]
    month_first = page.language.code == "en" and not arguments.get("df")
    return _format_date(year, month, day, page, month_first=month_first)


def _date_day_first(arguments: Arguments, page: Page) -> str:
    """Day, month, year."""
    values = positional(arguments)[:3]
    if len(values) < 3:
        return " ".join(values)
    day, month, year = values
    return _format_date(year, month, day, page, month_first=False)


def _as_of(arguments: Arguments, page: Page) -> str:
    year, month, day = (*positional(arguments)[:3], "", "", "")[:3]
    if arguments.get("alt"):
        return arguments["alt"]
    if not year:
        return ""
    date = _format_date(year, month, day, page, month_first=bool(arguments.get("df") == "US"))
    phrase = page.language.phrases["as_of"].format(date=date)
    since = page.language.phrases.get("since")
    if arguments.get("since") and since:
        phrase = since.format(date=date)
    if arguments.get("lc"):
        phrase = phrase[:1].lower() + phrase[1:]
    return phrase + arguments.get("post", "")


def _val(arguments: Arguments, page: Page) -> str:
    number, *errors = [*positional(arguments), ""]
    shown = arguments.get("p", "") + format_value(number, page)
    error = next(filter(None, errors), "")
    if error.startswith("("):
        shown += error
    elif len(errors) > 1 and errors[1]:
        shown += f"+{errors[0].lstrip('+')}−{errors[1].lstrip('-−')}"
    elif error:
        shown += f"±{error}"
    if arguments.get("e"):
        if error and not error.startswith("("):
            shown = f"({shown})"
        shown += "×10" + arguments["e"].translate(_SUPERSCRIPTS)
    shown += arguments.get("s", "")
    unit = first_of(arguments, ("ul", "u"))
    if unit:
        per = first_of(arguments, ("upl", "up"))
        shown += ("" if unit in ("%", "°") else " ") + unit + (f"/{per}" if per else "")
    return shown


def format_value(number: str, page: Page) -> str:
    """Return a value as `val` writes it: with the wiki's decimal mark, signs as minus signs."""
    if number.startswith("-"):
        number = "−" + number[1:]
    decimal = page.language.numbers.decimal
    return number.replace(".", decimal) if decimal != "." and "," not in number else number


def _fraction(arguments: Arguments, page: Page) -> str:
    values = [value for value in positional(arguments) if value]
    if len(values) >= 3:
        return f"{values[0]} {values[1]}⁄{values[2]}"
    if len(values) == 2:
        return f"{values[0]}⁄{values[1]}"
    return f"1⁄{values[0]}" if values else ""


def _ship(arguments: Arguments, page: Page) -> str:
    prefix, name, number, form = (*positional(arguments)[:4], "", "", "", "")[:4]
    return _ship_name(prefix, name, number, form)


def _ship_name(prefix: str, name: str, number: str, form: str) -> str:
    parts = {"1": (number,), "2": (prefix, name), "3": (name, number), "5": (name,), "6": (name,)}
    shown = [part for part in parts.get(form, (prefix, name, number)) if part]
    if number and form not in ("1", "2", "5", "6"):
        shown[-1] = f"({number})"
    return " ".join(shown)


def _ship_of(prefix: str) -> Callable[[Arguments, Page], str]:
    def show(arguments: Arguments, page: Page) -> str:
        name, number, form = (*positional(arguments)[:3], "", "", "")[:3]
        return _ship_name(prefix, name, number, form)

    return show


_PRONUNCIATION_LABELS = {
    "lang": "English:",
    "local": "locally",
    "ipa": "IPA:",
    "also": "also",
    "uk": "UK:",
    "us": "US:",
    "uklang": "British English:",
    "uslang": "American English:",
    "ukalso": "UK also",
    "usalso": "US also",
    "alsouk": "also UK:",
    "alsous": "also US:",
    "pron": "pronounced",
    "respelling": "",
    "icon": "",
    "audio": "",
    "see": "",
}
_PRONUNCIATION_SIGNS = {"'": "ˈ", ",": "ˌ", "_": " ", "-": "-", "@": "ə"}


def _ipa_english(arguments: Arguments, page: Page) -> str:
    """`{{IPAc-en|UK|ˈ|æ|l}}`: sounds one by one, after words that say whose they are."""
    labels: list[str] = []
    sounds: list[str] = []
    for value in positional(arguments):
        label = _PRONUNCIATION_LABELS.get(value.lower())
        if label is not None and not sounds:
            labels.append(label)
        elif not value.lower().endswith((".ogg", ".wav", ".oga", ".mp3")):
            sounds.append(_PRONUNCIATION_SIGNS.get(value, value))
    shown = f"/{''.join(sounds)}/" if sounds else ""
    return " ".join(filter(None, [*labels, shown]))


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
    extra = extra or arguments.get("extra", "")
    extra2 = extra2 or arguments.get("extra2", "")
    if not name:
        name, romaji = romaji, ""
    aside = ", ".join(filter(None, (kanji, romaji, extra)))
    return " ".join(filter(None, (name, f"({aside})" if aside else "", extra2)))


def _japanese_romaji_first(arguments: Arguments, page: Page) -> str:
    """`{{nihongo3|name|kanji|romaji}}`: "romaji (kanji, name)"."""
    name, kanji, romaji = (*positional(arguments)[:3], "", "", "")[:3]
    aside = ", ".join(filter(None, (kanji, name if romaji else "")))
    return " ".join(filter(None, (romaji or name, f"({aside})" if aside else "")))


def _chinese(arguments: Arguments, page: Page) -> str:
    """`{{zh|t=…|s=…|p=…}}`: every form behind its label, joined by semicolons."""
    labels = page.language.phrases
    shown = []
    for names in (("c",), ("t",), ("s",), ("l",), ("p",), ("w",), ("j",), ("poj",), ("hv",)):
        value = first_of(arguments, names)
        if value:
            label = labels.get(f"chinese_{names[0]}", "")
            shown.append(f"{label}: {value}" if label else value)
    return "; ".join(shown) or arguments.get("1", "")


def _sic(arguments: Arguments, page: Page) -> str:
    words = "".join(positional(arguments))
    if arguments.get("hide"):
        return words
    return f"{words} [sic]".strip()


_MUSIC = {
    "sharp": "♯", "#": "♯", "flat": "♭", "b": "♭", "natural": "♮", "double sharp": "𝄪",
    "doublesharp": "𝄪", "double flat": "𝄫", "doubleflat": "𝄫",
}  # fmt: skip


def _music(arguments: Arguments, page: Page) -> str:
    sign = arguments.get("1", "")
    return _MUSIC.get(sign, sign)


def _date_old_style(arguments: Arguments, page: Page) -> str:
    """`{{ДН|26|5|1912|13}}`: the old-style day before the new one, "13 (26) травня 1912"."""
    day, month, year, old_day = (*positional(arguments)[:4], "", "", "", "")[:4]
    new = _format_date(year, month, day, page, month_first=False)
    months = page.language.months
    if not (old_day.zfill(2) in _DAYS and day.zfill(2) in _DAYS and month.zfill(2) in _MONTHS):
        return new
    if int(old_day) < int(day):
        return _format_date(year, month, f"{old_day} ({day})", page, month_first=False)
    return f"{old_day} {months[int(month) - 2]} ({new})"  # the month turned between the two


def _ipa_of_language(arguments: Arguments, page: Page) -> str:
    """`{{IPA-de|haʊs|lang}}`: the language, then the sounds; an empty second argument hides it."""
    sounds = first_of(arguments, ("1",))
    if not sounds:
        return ""
    sounds = sounds if sounds.startswith(("[", "/")) else f"[{sounds}]"
    label = arguments.get("label", "") if arguments.get("2", "lang") == "lang" else ""
    return f"{label}: {sounds}" if label else sounds


def _country(arguments: Arguments, page: Page) -> str:
    """`{{flag|FRA}}`: the name of a country given by its name or by a code."""
    name = first_of(arguments, ("name", "1"))
    return page.language.countries.get(name.casefold(), name)


def _percentage(arguments: Arguments, page: Page) -> str:
    """`{{percentage|27|100|1}}`: a part of a whole, with so many decimals."""
    try:
        part, whole = (float(first_of(arguments, (name,))) for name in ("1", "2"))
        decimals = int(arguments.get("3") or 0)
        share = 100 * part / whole
        shown = f"{share:.{min(decimals, 9)}f}"
    except (ValueError, ZeroDivisionError):
        return ""
    if not math.isfinite(share):
        return ""
    return f"{format_number(shown, page.language.numbers)}%"


FUNCTIONS: Mapping[str, Callable[[Arguments, Page], str]] = {
    "as_of": _as_of,
    "country": _country,
    "date": _date,
    "date_day_first": _date_day_first,
    "chinese": _chinese,
    "convert": convert,
    "convert_short": convert_short,
    "date_old_style": _date_old_style,
    "fraction": _fraction,
    "ipa_english": _ipa_english,
    "ipa_of_language": _ipa_of_language,
    "japanese": _japanese,
    "japanese_romaji_first": _japanese_romaji_first,
    "labelled": _labelled,
    "language_of_code": _language_of_code,
    "music": _music,
    "percentage": _percentage,
    "ship": _ship,
    "sic": _sic,
    "uss": _ship_of("USS"),
    "hms": _ship_of("HMS"),
    "val": _val,
}
