"""Expands templates whose text must be computed, such as numbers, dates and pronunciations.

Expands templates for the time between two dates. With only one date, such a template shows the time up to
today, which changes daily. In this case, the template is replaced by a hole (the mark for missing text).

In the language tables, a template with the display pattern "=name" is expanded by the public function `name`
of this module, or of dates, terms, quantities or convert.
"""

import datetime
import functools
import inspect
import re
import unicodedata
from collections.abc import Mapping

from ..conversion import convert
from ..marks import HOLE
from . import dates, quantities, terms
from .guesses import is_note
from .patterns import (
    ENGLISH_MONTHS,
    Arguments,
    Page,
    Show,
    first_of,
    format_number,
    positional,
)


def language_or_value(arguments: Arguments, page: Page) -> str:
    """Expands `{{val|de|Leipzig}}` like `{{langx|de|Leipzig}}`, and `{{val|2.5|u=t}}` to a value."""
    if arguments.get("1", "").isalpha():
        return terms.language_of_code(arguments, page)
    return quantities.val(arguments, page)


def sic(arguments: Arguments, page: Page) -> str:
    """Expands `{{sic|wr|ogn}}` to "wrogn [sic]". With the argument `hide`, "[sic]" is left out."""
    values = positional(arguments)
    mark = "[sic?]" if values[:1] == ["?"] else "[sic]"
    words = "".join(values[1:] if values[:1] == ["?"] else values)
    return words if arguments.get("hide") else f"{words} {mark}".strip()


def list_items(arguments: Arguments, page: Page) -> str:
    """Expands `{{ordered list|a|b}}` to a list with one line per argument."""
    items = [" ".join(item.split()) for item in positional(arguments)]
    return "".join(f"\n*{item}" for item in items if item) + "\n" if any(items) else ""


def author_and_year(arguments: Arguments, page: Page) -> str:
    """Expands `{{harvtxt|Smith|Jones|1999|p=2}}` to "Smith & Jones (1999, p. 2)"."""
    *authors, year = [value for value in positional(arguments) if value] or [""]
    if not authors:
        return year
    if len(authors) == 4:
        names = f"{authors[0]} et al."
    else:
        names = " & ".join(filter(None, (", ".join(authors[:-1]), authors[-1])))
    pages = [f"{mark} {value}" for mark, key in (("p.", "p"), ("pp.", "pp"), ("", "loc"))
             if (value := arguments.get(key))]  # fmt: skip
    return f"{names} ({', '.join((year, *pages))})"


def unknown(arguments: Arguments, page: Page) -> str:
    """Returns a hole (the mark for missing text). Used for templates whose text cannot be computed.

    An example is a template that converts an amount of money to its value today.
    """
    return HOLE


_LISTEN = frozenset({"listen", "pronunciation", "pron", "pronounced", "help", "info", "play"})


def recording(arguments: Arguments, page: Page) -> str:
    """Expands `{{audio|a.ogg|word}}` to its second argument if this is the recorded word, otherwise to "".

    Often the second argument is not the word, but "listen" or "pronunciation" in the language of the wiki. It
    is taken for the word if it occurs in the page's title, or is a phonetic transcription. In a wiki with
    another script than Latin, it is also taken for the word if it is in Latin letters.
    """
    word = arguments.get("2", "").strip("'")
    if not word or word.casefold().strip(" ()") in _LISTEN:
        return ""
    is_sound = word.startswith(("/", "["))
    is_foreign = _is_latin(word) and not _is_latin("".join(page.language.months))
    return word if is_sound or is_foreign or word.casefold() in page.title.casefold() else ""


def _is_latin(text: str) -> bool:
    names = (unicodedata.name(letter, "") for letter in text if letter.isalpha())
    return all(name.startswith("LATIN") for name in names)


_MUSIC = {
    "sharp": "♯", "#": "♯", "flat": "♭", "b": "♭", "natural": "♮", "double sharp": "𝄪",
    "doublesharp": "𝄪", "double flat": "𝄫", "doubleflat": "𝄫", "n": "♮", "##": "𝄪", "bb": "𝄫",
    "x": "𝄪", "dim": "°", "dimdeg": "°", "half-dim": "ø", "aug": "+", "quarter": "♩", "eighth": "♪",
    "quarternote": "♩", "eighthnote": "♪", "half": "𝅗𝅥", "whole": "𝅝", "sixteenth": "𝅘𝅥𝅯",
    "bass clef": "𝄢", "bassclef": "𝄢", "treble clef": "𝄞", "trebleclef": "𝄞", "alto clef": "𝄡",
}  # fmt: skip


def music(arguments: Arguments, page: Page) -> str:
    """Expands `{{music|sharp}}` to a musical sign or key: "♯"."""
    sign, *numbers = [*positional(arguments), ""]
    if sign in ("time", "meter", "time signature"):
        return "/".join(filter(None, numbers))
    if sign in ("scale", "scaledegree"):
        return "".join(numbers)
    return _MUSIC.get(sign.lower() if len(sign) > 2 else sign, sign)


def aside(arguments: Arguments, page: Page) -> str:
    """Expands `{{incise|text}}` to the text between two dashes. At the end of a sentence, the second dash is
    omitted.
    """
    text = arguments.get("1", "")
    closing = "" if arguments.get("2") in ("fin", "stop") else " –"
    return f"– {text}{closing}" if text else ""


def hard_space(arguments: Arguments, page: Page) -> str:
    """Expands `{{esd}}`, a no-break space, to a space, and `{{esd|45 km}}` to its argument."""
    return arguments.get("1") or " "


def interlanguage_link(arguments: Arguments, page: Page) -> str:
    """Expands `{{ill|title|de|Titel|lt=label}}` to the label or title.

    The older order of arguments, `{{ill|de|Titel|label}}`, is supported, too.
    """
    first, second = arguments.get("1", ""), arguments.get("2", "")
    if second and first in page.language.interlanguage_codes:
        # In English pages the third argument is the title in the other language.
        return first_of(arguments, ("lt", "4" if page.language.is_english else "3", "2"))
    return first_of(arguments, ("lt", "1"))


def country(arguments: Arguments, page: Page) -> str:
    """Expands `{{flag|FRA}}` to the name of the country. The argument may be a name or a code."""
    name = first_of(arguments, ("name", "1"))
    key = name.casefold()
    of_template = page.language.templates.get(key, "")  # {{ENG}} is not a country of ISO 3166
    if of_template.replace(" ", "").isalpha():
        return of_template
    return page.language.countries.get(key, name)


def quran_verse(arguments: Arguments, page: Page) -> str:
    """Expands `{{cite quran|2|255|e=257}}` to "Quran 2:255–257". With `style=ref`, it is a footnote."""
    chapter, verse = arguments.get("1", ""), arguments.get("2", "")
    if first_of(arguments, ("style", "s")) == "ref" or not chapter:
        return ""
    last = first_of(arguments, ("end", "e"))
    verses = f"{verse}–{last}" if verse and last else verse
    return f"Quran {chapter}:{verses}" if verses else f"Quran {chapter}"


def native_name(arguments: Arguments, page: Page) -> str:
    """Expands `{{native name|de|Köln}}` to "Köln (German)", and with `paren=omit` to "Köln"."""
    name = first_of(arguments, ("2", "name"))
    code = first_of(arguments, ("1", "tag"))
    language = page.language.language_names.get(code.lower(), "")
    is_bare = arguments.get("paren") in ("omit", "off", "no") or not language
    return name if is_bare or not name else f"{name} ({language})"


def junction(arguments: Arguments, page: Page) -> str:
    """Expands `{{jct|state=NY|I|90|dir1=east|NY|5}}` to "I-90 east / NY 5"."""
    values = positional(arguments)
    shown = []
    for i, (kind, number) in enumerate(zip(values[::2], values[1::2], strict=False), start=1):
        name = arguments.get(f"name{i}", "")
        to = "To " if arguments.get(f"to{i}") else ""
        road = f"{kind}{'-' if kind == 'I' else ' '}{number}" if number else name or kind
        shown.append(" ".join(filter(None, (to + road, arguments.get(f"dir{i}", "")))))
        if name and number:
            shown[-1] += f" ({name})"
    places = [arguments[name] for name in ("city1", "city2", "city3") if arguments.get(name)]
    roads = " / ".join(shown)
    return f"{roads} – {', '.join(places)}" if places else roads


def bible_verse(arguments: Arguments, page: Page) -> str:
    """Expands `{{bibleverse|1|Corinthians|13:4|KJV}}` or `{{bibleverse|Mark|3:25|9}}` to the name of the book
    and the verse.
    """
    first, second, third, *rest = [*positional(arguments), "", "", ""]
    is_numbered = first in ("", "I", "II", "III") or first.isdecimal()
    if is_numbered and third:
        return " ".join(filter(None, (first, second, third)))
    # The next argument is the code of an edition, or the text of the link.
    words = next((value for value in (third, *rest) if " " in value), "")
    return words or " ".join(filter(None, (first, second)))


def section_link(arguments: Arguments, page: Page) -> str:
    """Expands `{{section link|page|one|two}}` to "page §§ one, two"."""
    target, *sections = [*positional(arguments), ""]
    names = [section for section in sections if section]
    if not target and len(names) == 1 and not positional(arguments)[1:]:
        return ""
    marks = f"{'§§' if len(names) > 1 else '§'} {', '.join(names)}" if names else ""
    return first_of(arguments, ("nopage", "display")) or f"{target} {marks}".strip()


def unicode_character(arguments: Arguments, page: Page) -> str:
    """Expands `{{unichar|2014|EM DASH}}` to "U+2014 — EM DASH"."""
    code = arguments.get("1", "")
    if not re.fullmatch(r"(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}", code):
        return f"U+{code}" if code else ""
    character = chr(int(code, 16))
    name = arguments.get("2", "").upper() or unicodedata.name(character, "")
    shown = character if character.isprintable() and not character.isspace() else ""
    return " ".join(filter(None, (f"U+{code.upper().zfill(4)}", shown, name)))


# Names of the argument with the doubtful words
_TEXT_NAMES = ("1", "text", "tekst", "texto", "testo", "texte", "текст", "κείμενο", "نص", "متن")
_DATE = re.compile(
    r"(?:20\d\d|\d{1,2})[-./](?:20\d\d|\d{1,2})(?:[-./](?:20\d\d|\d{1,2}))?"
    r"|20\d\d|20\d{4}|20\d{6}|20\d\d年.{0,40}"
)
_MONTH_AND_YEAR = re.compile(
    r"(?:\d{1,2}\.? )?(?:de |d['’])?(\w{3,})\.?,?(?: de| del)? 20\d\d\b.{0,20}"
)
_MONTH = 3  # letters that tell months apart, whatever their endings


def doubted(arguments: Arguments, page: Page) -> str:
    """Expands `{{cita requerida|El puente es romano}}` to the doubtful words.

    A date, as in `{{нет АИ|23|01|2017}}`, is not shown.
    """
    text = first_of(arguments, _TEXT_NAMES)
    values = [value for value in positional(arguments) if value]
    is_dated = len(values) > 1 and (
        all(map(str.isdecimal, values)) or _is_date(" ".join(values), page)
    )
    return "" if is_dated or _is_date(text, page) else text


def doubted_or_reason(arguments: Arguments, page: Page) -> str:
    """Expands a mark of doubt whose argument may be the doubtful words or a reason.

    A question, or a text with a word such as "source", is assumed to be a reason, and is not shown.
    """
    text = doubted(arguments, page)
    is_reason = text.endswith(("?", "？", "؟", "!")) or is_note(text.casefold())
    return "" if is_reason else text


@functools.cache
def _months(months: tuple[str, ...]) -> frozenset[str]:
    names = (*ENGLISH_MONTHS, *months)
    return frozenset(name.split()[-1].rpartition("'")[2].casefold()[:_MONTH] for name in names)


def _is_date(text: str, page: Page) -> bool:
    if _DATE.fullmatch(text):
        return True
    match = _MONTH_AND_YEAR.fullmatch(text)
    month = match[1].casefold()[:_MONTH] if match else ""
    return month in _months(page.language.months)


def _dates(arguments: Arguments) -> tuple[datetime.date, datetime.date] | None:
    """Parses two dates from six arguments: year, month, day of each. Returns None if they are not dates."""
    try:
        numbers = [int(value) for value in positional(arguments)[:6]]
        if len(numbers) < 6:
            return None
        return datetime.date(*numbers[:3]), datetime.date(*numbers[3:])
    except (ValueError, OverflowError):
        return None


def age(arguments: Arguments, page: Page) -> str:
    """Expands `{{age|1989|7|23|2003|7|14}}` to the number of full years: "13"."""
    dates = _dates(arguments)
    if not dates:
        return HOLE
    start, end = dates
    return str(end.year - start.year - ((end.month, end.day) < (start.month, start.day)))


def age_at_death(arguments: Arguments, page: Page) -> str:
    """Expands `{{没年齢|1935|9|14|2008|8|2}}` to the age at death in the wiki's own words: "（72歳没）"."""
    years = age(arguments, page)
    phrase = page.language.phrases.get("age_at_death", "{age}")
    return HOLE if years == HOLE else phrase.format(age=years)


def age_in_days(arguments: Arguments, page: Page) -> str:
    """Expands `{{age in days|1989|7|23|2003|7|14}}` to the number of days between two dates."""
    dates = _dates(arguments)
    if not dates:
        return HOLE
    return format_number(str(abs((dates[1] - dates[0]).days)), page.language.numbers)


def _parts(start: datetime.date, end: datetime.date) -> tuple[int, int, int, int]:
    """Splits the time between two dates into years, months and days.

    Returns the full years, the full months after them, the days after these months, and the days after the
    full years.
    """
    months = 12 * (end.year - start.year) + end.month - start.month - (end.day < start.day)
    years, rest = divmod(months, 12)
    return years, rest, (end - _moved(start, months)).days, (end - _moved(start, 12 * years)).days


def _moved(date: datetime.date, months: int) -> datetime.date:
    year, month = divmod(date.month - 1 + months, 12)
    first = datetime.date(date.year + year, month + 1, 1)
    following = (first + datetime.timedelta(days=32)).replace(day=1)
    return first.replace(day=min(date.day, (following - first).days))


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _age_in_words(units: str) -> Show:
    """Returns a function that writes an age in English words, such as "14 years, 1 day".

    `units` are the initials of the units that are written: "ymd" (years, months, days), "yd" or "ym".
    """

    def show(arguments: Arguments, page: Page) -> str:
        dates = _dates(arguments)
        if not dates or dates[1] < dates[0] or dates[1].year > 9000:
            return HOLE
        years, months, days, days_of_year = _parts(*dates)
        values = {"y": (years, "year"), "m": (months, "month"), "d": (days, "day")}
        if "m" not in units:
            values["d"] = (days_of_year, "day")
        shown = [_counted(*values[unit]) for unit in units if values[unit][0]]
        if units == "yd" and len(shown) == 1 and years:
            shown.append(_counted(0, "day"))
        if units == "ymd" and len(shown) > 1:
            return f"{', '.join(shown[:-1])} and {shown[-1]}"
        return ", ".join(shown) or _counted(0, values[units[-1]][1])

    return show


age_in_years_and_days = _age_in_words("yd")
age_in_years_and_months = _age_in_words("ym")
age_in_years_months_and_days = _age_in_words("ymd")


FUNCTIONS: Mapping[str, Show] = {
    name: function
    for members in (*map(vars, (dates, terms, quantities, convert)), globals())
    for name, function in members.items()
    if inspect.isfunction(function) and function.__module__ == members["__name__"]
    if not name.startswith("_")
} | terms.BY_PREFIX
