"""Guesses the text of a template that is in no table and has no definition.

A guess repeats what the source says: an argument, or the template's name beside an argument. It adds no
place, unit, sign or date. There is no guess for several numbers, because they may be a place, a score or a
date, and none for a short code such as "m" or "FRA" that has other arguments beside it.

The rules work for any language. They depend on the arguments of the template and on the text around it. If
the template has a space on both sides, and an argument is a word, this word is used as the text of the
template. If the template follows a word without a space, it is assumed to be a note. For notes, files and
addresses, no text is guessed.
"""

import re
import unicodedata

from ..conversion.units import find_unit
from ..marks import BREAK, GUARD, HOLE
from .patterns import Arguments, Page, positional
from .terms import labelled

_MAX_TEXT = 1_000  # characters of an argument that is shown in a sentence
_MAX_NAMED = 2
_MIN_QUOTATION = 20
# Parts of names of citations, notes and marks in many languages: "reference", "source", "note", …
_NOTE = re.compile(
    r"\bref|cite|sfn|harv|note|isbn|issn|\bdoi\b|fact\b|needed|source|quelle|beleg|anmerk|fonte|fuente"
    r"|\bbron|\bnoot|källa|kilde|lähde|viite|forrás|kaynak|izvor|zdroj|źród|šaltin|atsauc|viide|nguồn"
    r"|sumber|catatan|chú thích|\bnota\b|dipnot|исто[чќ]ник|джерел|крыніц|извор|прим[еі][чт]|сноск"
    r"|зноск|фуснот|\bфакт|πηγή|σημείωσ|փաստ|աղբյուր|ծանոթ|ծանցանկ|წყარო|შენიშვნ|מקור|הערה|مصدر|مرجع"
    r"|منبع|هامش|حاشی|स्रोत|संदर्भ|सन्दर्भ|टीप|তথ্যসূত্র|টীকা|சான்று|ఆధార|మూలా|แหล่ง|อ้างอิง|出典|出処"
    r"|脚注|注釈|来源|來源|注[释釋脚腳]|출처|각주|मृत दुवा|विस्तार"
)
# Parts of names of files, boxes, links to other projects, and of tables of data
_NO_TEXT = re.compile(
    r"icon|anchor|audio|stub|box|commons|wiki|portal|sort|clear|nav|map|file|image|gallery|legend"
    r"|prim|shortcut|subst|/|popula|template|якорь|вики|вікі|վիքի|ვიკი|ויקי|ويكي|ویکی|विकि|উইকি"
    r"|விக்கி|వికీ|วิกิ|ウィキ|维基|維基|위키"
    r"|imagen|\bbild|afbeelding|kép\b|obrázek|картинк|изображ|зображ|εικόν|תמונ|صورة|تصویر|चित्र|ছবি|ภาพ"
    r"|画像|图像|圖像|그림|hình"
)
# Parts of names of templates that look up a value in a table of data
_DATA = re.compile(
    r"metadat|einwohner|inwoner|населен|habitant|poblaci|befolkning|ludność|obyvatel|lakos|asukas|nüfus"
    r"|人口|인구|جمعیت|سكان|जनसंख्या|জনসংখ্যা|πληθυσμ|אוכלוסי"
)
# "quotation" in the languages of large Wikipedias
_QUOTATION = re.compile(
    r"quot|citat|citát|citaat|^cita|zitat|sitat|lainau|idézet|tsitaat|alıntı|iqtibos|kutip|petik"
    r"|trích|цит(?:ат|иран)|цытат|cytat|навод|navod|дәйек|παράθεσ|απόσπασμα|քաղվածք|მეციტ|ციტატა"
    r"|ציטוט|اقتباس|گفتاورد|نقل قول|उद्धरण|अवतरण|উক্তি|উদ্ধৃতি|மேற்கோள்|คำพูด|อ้างคำ|引用|引文|인용"
)
_LANGUAGE = re.compile(
    r"(?:lang|ling|idiom|dil|til|jez|jęz|яз|мов|тил|тіл|език|језик|taal|språk|sprog|keel)\w{0,4}"
)
# Units whose symbols are no words: {{km|5}} is "5 km", but {{m|5}} and {{am|5}} may be anything.
_UNITS = frozenset({"km", "km2", "km²", "m2", "m²", "m3", "m³", "km/h", "cm", "mm", "kg"})
_NOTE_NAMES = frozenset({
    "date", "url", "title", "author", "last", "first", "isbn", "page", "pages", "p", "pp", "loc",
    "ref", "group", "name", "reason", "file", "image", "accessdate", "access-date", "year",
})  # fmt: skip
# A text with a name is shown instead of the other arguments.
_OTHER_NAMES = _NOTE_NAMES.union("text texto texte testo tekst текст label lt nom nome".split())
_QUOTATION_NAMES = ("text", "quote", "1")
_FILE = re.compile(
    r"https?://|www\.|\.(?:og[gav]|wav|mp3|flac|opus|svg|png|jpe?g|gif|tiff?|webm|pdf)$", re.I
)
_NUMBER = re.compile(r"[-−+±~≈<>]?\s?\d[\d.,:/\s–-]*%?")
# "m", "FRA", "A4": a unit, a country, a size
_CODE = re.compile(r"[A-Za-z]|[A-Z][A-Z\d]{1,2}(?:-[A-Z\d]{1,3})?")
_KEY = re.compile(r"0\d{3,}|[PQ]\d+")  # of a municipality, of an item
_YEAR = re.compile(r"[12]\d{3}[a-z]?")
_DATED = re.compile(r"(\w+)[ ,]+(?:de )?[12]\d{3}")
_OPENERS = frozenset("([{（［「『【〈《“„«‹‘‚\"'/–—-−=…·・、，")
_CLOSERS = frozenset(".,;:!?)]»”’\"'։।。")
_AFTER_WORD = frozenset(".,;:!?)]»”’։।<")
_ENDS = frozenset("。！？」』）】〉》、，；：")
_STYLE = re.compile(
    r"#?[0-9a-f]{3}(?:[0-9a-f]{3})?|[\d.]+(?:%|em|px|pt)|"
    r"black|white|red|green|blue|yellow|gr[ae]y|silver|orange|purple|brown|pink|gold|navy|maroon"
)
_UNSPACED = tuple("CJK HIRAGANA KATAKANA THAI LAO KHMER MYANMAR TIBETAN BOPOMOFO".split())


def guess(name: str, arguments: Arguments, page: Page, before: str, after: str) -> str:
    """Returns the guessed text of a template in a sentence, or "" if there is no evidence for a text.

    Args:
        name: the normalised name of the template.
        arguments: the arguments, in which nested templates have been replaced.
        before: the character before the template; "\\n" at the beginning of a line.
        after: the two characters after the template.
    """
    values = positional(arguments)
    while values and not values[-1].strip(HOLE + " "):
        values.pop()
    named = [key for key, value in arguments.items() if value and not key.isdecimal()]
    if not values or len(named) > _MAX_NAMED or _OTHER_NAMES.intersection(named):
        return ""
    if _NO_TEXT.search(name) or _NOTE.search(name) or not _is_word_place(before, after, values[0]):
        return ""
    if any(HOLE in value or BREAK in value or "\n" in value for value in values):
        return ""
    if any(len(value) > _MAX_TEXT or _FILE.search(value) for value in values):
        return ""
    is_number = bool(_NUMBER.fullmatch(values[0]))
    if any(map(_KEY.fullmatch, values)) or (
        _DATA.search(name) and not (is_number and len(values) == 1)
    ):
        return ""
    if is_number:
        return _quantity(name, values, page)
    label = "" if page.language.is_complete else _labelled(name, values, page)
    return label or _text(values, page)


def leaves_a_gap(name: str, before: str, after: str) -> bool:
    """Returns True if a template without text leaves a gap in its sentence.

    There is no gap if the template is a note. A note is recognised by its name, or because it follows a word
    without a space. The arguments are those of `guess`.
    """
    if _NOTE.search(name):
        return False
    is_glued = before.isalpha() or before in _CLOSERS
    is_end = not after or after[0].isspace() or after[0] in _AFTER_WORD
    return not (is_glued and is_end) or _is_unspaced(before)


def is_note(text: str) -> bool:
    """Returns True if a normalised name or a text has a word for a reference, source, note or the like."""
    return bool(_NOTE.search(text))


def is_in_place_of_words(before: str) -> bool:
    """Returns True if a template may stand for words of a sentence, and is no mark behind a word.

    `before` is the character before the template; "\\n" at the beginning of a line.
    """
    return before in ("", "\n", GUARD) or before.isspace() or before in _OPENERS


def is_quotation(name: str) -> bool:
    """Returns True if a template with this name is for quotations."""
    return bool(_QUOTATION.search(name) and not _NO_TEXT.search(name) and not _NOTE.search(name))


def guess_quotation(arguments: Arguments) -> str:
    """Returns the text of a block quotation, or "" if the arguments contain none."""
    if _NOTE_NAMES.intersection(arguments) - {"date", "author"}:
        return ""
    text = next((arguments[key] for key in _QUOTATION_NAMES if arguments.get(key)), "")
    return text if len(text) >= _MIN_QUOTATION and not _FILE.search(text) else ""


def _is_word_place(before: str, after: str, text: str) -> bool:
    """Returns True if `text` may be a word of the sentence.

    The decision depends on the characters before and after the template (see `guess`).
    """
    if before in ("", "\n", GUARD):  # possibly a hatnote before a new sentence
        following = after.lstrip()[:1]
        return (after[:1] == " " and following.islower()) or not following.isalpha()
    if before.isspace() or before in _OPENERS:
        return True
    return _is_unspaced(before) and before not in _ENDS and not text.isdecimal()


def _is_unspaced(letter: str) -> bool:
    """Returns True if a letter belongs to a script that is written without spaces between words."""
    return unicodedata.name(letter, "").startswith(_UNSPACED) if letter else False


def _labelled(name: str, values: list[str], page: Page) -> str:
    """Expands templates whose name names a language, such as `{{ইংরেজি|Haus}}` and `{{dil-de|Haus}}`.

    This is for wikis without tables of their own, which would list such names.
    Returns the name of the language and the text, or "" for other templates.
    """
    names = page.language.language_names
    family, hyphen, code = name.rpartition("-")
    label = names.get(code, "") if hyphen and _LANGUAGE.fullmatch(family) else ""
    if not label and len(values) == 1:
        label = next((one for one in names.values() if one.casefold() == name), "")
    return labelled({"1": values[0], "label": label}, page) if label else ""


def _quantity(name: str, values: list[str], page: Page) -> str:
    """Returns a number as it is written, with its unit if the source has one, or "" if it is not clear.

    `name` is the normalised name of the template, which may be a unit: `{{km|5}}`. `values` are its
    positional arguments. The first is a number.
    """
    number, *rest = values
    own_units = (own for key, own in page.language.phrases.items() if key.startswith("unit "))
    if name in _UNITS or (len(name) > 1 and name in own_units):
        return "" if rest else f"{number} {name}"
    if find_unit(name):
        return ""  # the number alone would be wrong
    # {{x|5|km}}, {{x|5|km|mi}}, {{x|5|km|mi|1}}, but not {{x|5|m|s}}
    has_decimals = len(rest) == 3 and rest[2].isdecimal()
    units = [find_unit(value) for value in (rest[:2] if has_decimals else rest)]
    if units and all(unit and units[0] and unit.is_convertible_to(units[0]) for unit in units):
        is_clear = len(units) > 1 or not _YEAR.fullmatch(number)
        return f"{number} {rest[0]}" if is_clear else ""
    return "" if rest else number  # a number that is a part of something would be wrong


def _text(values: list[str], page: Page) -> str:
    """Returns the argument that is text, or "" if there is none.

    The name of a language, a colour and the year of a citation are not text.
    """
    language = page.language
    codes = language.interlanguage_codes
    if values[0] in codes:
        # {{lang2|mo|ro|Republica}}; a code alone marks the language of other text
        texts = [value for value in values if value not in codes]
        is_clear = (
            len(texts) == 1 and not _NUMBER.fullmatch(texts[0]) and not _CODE.fullmatch(texts[0])
        )
        return texts[0] if is_clear else ""
    first, second = values[0], values[1] if values[1:] else ""
    if not second:
        dated = _DATED.fullmatch(first)  # perhaps the date of a maintenance mark
        months = [month.casefold()[:4] for month in language.months] if dated else []
        return "" if dated and dated[1].casefold()[:4] in months else first
    if second.lower() in codes:
        return first
    if len(values) > 3 or _CODE.fullmatch(first):
        return ""
    if first.lower() in language.language_names or _STYLE.fullmatch(first.lower()):
        return second
    if _YEAR.fullmatch(values[-1]):
        return ""  # an author and a year
    if len(values) == 2 and second.casefold()[:4] == first.casefold()[:4]:
        return second  # a page and the word in the sentence
    return first
