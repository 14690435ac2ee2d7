"""Expands templates for text in other languages.

Such a template may add the name of the language, a romanisation and a meaning.

Expands templates for the pronunciation of a word.

Words such as "UK:", "pronounced" and "locally" are phrases in the tables of the wiki's language. The English
phrases are those of Module:IPAc-en and Module:IPA. If the tables have no such phrases, the words are omitted.

Expands templates for the names of ships and of ship classes.

Expands templates for chemical formulas: `{{chem|SO|4|2-}}`, `{{chem2|SO4(2-)}}`.
"""

import re

from .patterns import Arguments, Page, Show, first_of, positional


def labelled(arguments: Arguments, page: Page) -> str:
    """Expands `{{lang-de|Haus}}` to the label of the language and the text: "нім. Haus" in Ukrainian."""
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


def language_of_code(arguments: Arguments, page: Page) -> str:
    """Expands `{{langx|de|Haus}}` to the label of the language and the text, like `{{lang-de|Haus}}`."""
    code, text = first_of(arguments, ("1", "code")), first_of(arguments, ("2", "text"))
    label = page.language.language_names.get(code.lower(), "")
    if not label:
        return text
    romanised = first_of(arguments, ("3", "translit"))
    meaning = first_of(arguments, ("4", "lit", "translation"))
    return labelled({"label": label, "1": text, "2": romanised, "3": meaning}, page)


def japanese(arguments: Arguments, page: Page) -> str:
    """Expands `{{nihongo|name|kanji|romaji|extra|extra2}}` to "name (kanji, romaji, extra) extra2"."""
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


def japanese_romaji_first(arguments: Arguments, page: Page) -> str:
    """Expands `{{nihongo3|name|kanji|romaji}}` to "romaji (kanji, name)"."""
    name, kanji, romaji = (*positional(arguments)[:3], "", "", "")[:3]
    aside = ", ".join(filter(None, (kanji, name if romaji else "")))
    return " ".join(filter(None, (romaji or name, f"({aside})" if aside else "")))


_CHINESE_FORMS = (
    ("c",), ("s",), ("t",), ("p",), ("tp",), ("w",), ("j",), ("cy", "y"), ("sl",), ("poj",),
    ("tl",), ("zhu",), ("hv", "v"), ("l",),
)  # fmt: skip
_TRADITIONAL_FIRST = (("c",), ("t",), ("s",), *_CHINESE_FORMS[3:])


def chinese(arguments: Arguments, page: Page) -> str:
    """Expands `{{zh|t=…|s=…|p=…}}` to the given forms of a Chinese word, such as "traditional Chinese: …;
    pinyin: …".
    """
    phrases = page.language.phrases
    is_labelled = arguments.get("labels") != "no"
    shown = []
    simplified_first = page.language.is_english and "t" not in arguments.get("first", "")
    for names in _CHINESE_FORMS if simplified_first else _TRADITIONAL_FIRST:
        value = first_of(arguments, names)
        label = phrases.get(f"chinese_{names[0]}", "") if is_labelled else ""
        if value and names[0] == "l" and not label and "literally" in phrases:
            shown.append(phrases["literally"].format(text=value))
        elif value:
            shown.append(f"{label}: {value}" if label else value)
    return "; ".join(shown) or arguments.get("1", "")


def language_name(arguments: Arguments, page: Page) -> str:
    """Expands `{{Vjazyce|de}}` to the label of a language: "německy", Czech for "in German".

    The German text follows the template on the page.
    """
    return page.language.language_names.get(arguments.get("1", "").lower(), "")


def literally(arguments: Arguments, page: Page) -> str:
    """Expands `{{lit|one|two}}` to "lit. 'one' or 'two'"."""
    meanings = " or ".join(f"&#39;{value}&#39;" for value in positional(arguments) if value)
    return f"lit. {meanings}" if meanings else ""


def labelled_russian(arguments: Arguments, page: Page) -> str:
    """Expands `{{lang-rus|Андрей|r=Andrey|p=ɐnˈdrʲej}}` to the label, text, romanisation and
    pronunciation.
    """
    label, text = page.language.language_names.get("ru", "Russian"), arguments.get("1", "")
    romanised, meaning = first_of(arguments, ("2", "r")), first_of(arguments, ("3", "t"))
    shifted = {"label": label, "1": text, "2": romanised, "3": meaning}
    shown, sounds = labelled(shifted, page), arguments.get("p", "")
    return f"{shown}, IPA: [{sounds}]" if shown and sounds else shown


# Possible arguments before the sounds; the phrase with this name is shown.
_LABELS = frozenset({
    "lang", "local", "ipa", "also", "uk", "us", "uklang", "uslang", "ukalso", "usalso", "alsouk",
    "alsous", "pron", "respelling", "icon", "audio", "see",
})  # fmt: skip
_NO_LABEL = frozenset({"", "-", "none", "no", "key", "icon"})
_SOUNDS = {
    "'": "ˈ", ",": "ˌ", "_": " ", ",_": ", ", ";_": "; ", "@": "ə", "g": "ɡ", "I": "ɪ", "E": "ɛ",
    "U": "ʊ", "V": "ʌ", "N": "ŋ", "S": "ʃ", "Z": "ʒ", "T": "θ", "D": "ð", "tS": "tʃ", "dZ": "dʒ",
    "eI": "eɪ", "aI": "aɪ", "OI": "ɔɪ", "aU": "aʊ", "oU": "oʊ", "A:": "ɑː", "O:": "ɔː", "3:": "ɜː",
}  # fmt: skip
_RECORDINGS = (".ogg", ".wav", ".oga", ".mp3", ".flac", ".opus")


def _label(name: str, page: Page) -> str:
    return page.language.phrases.get(f"ipa_{name.lower()}", "")


def _bracketed(sounds: str) -> str:
    return sounds if sounds.startswith(("[", "/", "⫽", "⟨")) else f"[{sounds}]"


def ipa_english(arguments: Arguments, page: Page) -> str:
    """Expands `{{IPAc-en|UK|ˈ|æ|l}}` to labels and sounds: "UK: /ˈæl/".

    The first arguments are labels such as "UK". Each further argument is one sound.
    """
    labels: list[str] = []
    sounds: list[str] = []
    for value in positional(arguments):
        if not sounds and value.lower() in _LABELS:
            labels.append(_label(value, page))
        elif not value.lower().endswith(_RECORDINGS):
            sounds.append(_SOUNDS.get(value, value.replace(":", "ː").replace("_", " ")))
    shown = f"/{''.join(sounds)}/" if sounds else ""
    return " ".join(filter(None, [*labels, shown]))


def ipa_of_language(arguments: Arguments, page: Page) -> str:
    """Expands `{{IPA-de|haʊs|lang}}` to a label and the sounds: "German: [haʊs]".

    The second argument selects the label: the name of the language, a phrase, or nothing. If the argument is
    missing, the label is that of `{{IPA-de|haʊs}}`: "German pronunciation:".
    """
    sounds = arguments.get("1", "")
    if not sounds:
        return ""
    wanted, name = arguments.get("2"), arguments.get("label", "")
    if wanted == "lang" or (wanted is None and name):
        of_language = page.language.phrases.get("ipa_of_language", "{label}:")
        label = f"{name}:" if wanted else of_language.format(label=name)
    else:
        label = "" if wanted in _NO_LABEL else _label(wanted or "", page)
    return f"{label} {_bracketed(sounds)}".strip()


def ipa(arguments: Arguments, page: Page) -> str:
    """Expands `{{IPA|/haʊs/}}` to the sounds, and `{{IPA|de|haʊs|lang}}` like `{{IPA-de|haʊs|lang}}`."""
    first, sounds = arguments.get("1", ""), arguments.get("2", "")
    name = page.language.language_names.get(first.lower(), "")
    if not sounds or not name:
        return first
    shifted = {"1": sounds, "label": name}
    if "3" in arguments:
        shifted["2"] = arguments["3"]
    label = arguments.get("label")
    if label is not None:
        return f"{'' if label == 'none' else label + ':'} {_bracketed(sounds)}".strip()
    return ipa_of_language(shifted, page)


def respelled(arguments: Arguments, page: Page) -> str:
    """Expands `{{respell|AZ|ər|JAHN|'}}` to syllables joined by hyphens: "AZ-ər-JAHN'"."""
    shown = ""
    joins = False
    for part in filter(None, positional(arguments)):
        if part in ("_", ",_", ";_", "-"):
            shown += {"_": " ", "-": "-"}.get(part, f"{part[0]} ")
            joins = False
            continue
        shown += f"-{part}" if joins and part != "'" else part
        joins = True
    return shown.replace("_", " ")


# Prefixes that are names of templates: {{HMS|Ajax|22}}. ARM is the flag of Armenia, so not here.
_PREFIXES = (
    "USS", "HMS", "HMAS", "HMCS", "HMNZS", "HNLMS", "HNoMS", "HSwMS", "HDMS", "HMSAS", "HMT",
    "HMHS", "HMIS", "HMY", "SMS", "SMU", "SS", "RMS", "MV", "MS", "MT", "MY", "GTS", "TSS", "PS",
    "RV", "SV", "SY", "HSC", "RFA", "RFAux", "INS", "USNS", "USCGC", "USAT", "USRC", "USAV", "CSS",
    "JDS", "JS", "ROKS", "ROCS", "ORP", "KRI", "BRP", "RPS", "TCG", "HTMS", "PNS", "BNS", "SLNS",
    "NRP", "BAP", "ARA", "ARC", "BAE", "LÉ", "FGS", "RSS", "SAS", "NMS", "CCGS", "NOAAS",
)  # fmt: skip
# Bits of the argument for the format.
_NUMBER, _NAME, _PREFIX = 1, 2, 4


def _shown_name(prefix: str, name: str, number: str, form: str) -> str:
    bits = int(form) if len(form) == 1 and form in "1234567" else _PREFIX | _NAME | _NUMBER
    shown = [prefix] if bits & _PREFIX else []
    shown += [name] if bits & _NAME else []
    if bits & _NUMBER and number:
        shown.append(number if bits == _NUMBER else f"({number})")
    return " ".join(filter(None, shown))


def ship(arguments: Arguments, page: Page) -> str:
    """Expands `{{ship|HMS|Ajax|22|6}}` to "HMS Ajax", and `{{ship|HMS|Ajax|22}}` to "HMS Ajax (22)".

    The arguments are prefix, name, number and format. The format is the sum of the parts that are shown: 4
    for the prefix, 2 for the name, 1 for the number.
    """
    prefix, name, number, form = (*positional(arguments)[:4], "", "", "", "")[:4]
    return _shown_name(prefix, name, number, form)


def _ship_of(prefix: str) -> Show:
    def show(arguments: Arguments, page: Page) -> str:
        name, number, form = (*positional(arguments)[:3], "", "", "")[:3]
        return _shown_name(prefix, name, number, form) if name else ""

    return show


def ship_class(arguments: Arguments, page: Page) -> str:
    """Expands `{{sclass|Iowa|battleship}}` to "Iowa-class battleship".

    The third argument is the format: "0" gives "Iowa-class", "4" gives "Iowa class", and "5" gives "Iowa".
    """
    name, kind, form = (*positional(arguments)[:3], "", "", "")[:3]
    if not name or form == "5":
        return name
    if form in ("0", "4"):
        return f"{name}-class" if form == "0" else f"{name} class"
    return f"{name}-class {kind}".strip()


BY_PREFIX = {f"ship_{prefix.lower()}": _ship_of(prefix) for prefix in _PREFIXES}
"""The functions that show templates such as {{HMS|Ajax|22}}, by their names in the tables."""

_CHARGE = re.compile(r"(\d*)-")
_CHARGE_IN_BRACKETS = re.compile(r"\((\d{0,2}[+−-])\)|(?<=[\])}\w])-(?=$|[\s\])])")
_MARKED = re.compile(r"[\^_]\{([^{}]*)\}")
_MAX_FORMULA = 1_000  # characters
_ARROWS = {"<->": "↔", "<=>": "⇌", "<-->": "⇄", "->": "→", "<-": "←", "*": "·", "\\s": "–"}
_ARROW = re.compile("|".join(map(re.escape, sorted(_ARROWS, key=len, reverse=True))))
_ELEMENTS = (
    "H hydrogen He helium Li lithium Be beryllium B boron C carbon N nitrogen O oxygen F fluorine "
    "Ne neon Na sodium Mg magnesium Al aluminium Si silicon P phosphorus S sulfur Cl chlorine "
    "Ar argon K potassium Ca calcium Sc scandium Ti titanium V vanadium Cr chromium Mn manganese "
    "Fe iron Co cobalt Ni nickel Cu copper Zn zinc Ga gallium Ge germanium As arsenic Se selenium "
    "Br bromine Kr krypton Rb rubidium Sr strontium Y yttrium Zr zirconium Nb niobium "
    "Mo molybdenum Tc technetium Ru ruthenium Rh rhodium Pd palladium Ag silver Cd cadmium "
    "In indium Sn tin Sb antimony Te tellurium I iodine Xe xenon Cs caesium Ba barium "
    "La lanthanum Ce cerium Pr praseodymium Nd neodymium Pm promethium Sm samarium Eu europium "
    "Gd gadolinium Tb terbium Dy dysprosium Ho holmium Er erbium Tm thulium Yb ytterbium "
    "Lu lutetium Hf hafnium Ta tantalum W tungsten Re rhenium Os osmium Ir iridium Pt platinum "
    "Au gold Hg mercury Tl thallium Pb lead Bi bismuth Po polonium At astatine Rn radon "
    "Fr francium Ra radium Ac actinium Th thorium Pa protactinium U uranium Np neptunium "
    "Pu plutonium Am americium Cm curium Bk berkelium Cf californium Es einsteinium Fm fermium "
    "Md mendelevium No nobelium Lr lawrencium Rf rutherfordium Db dubnium Sg seaborgium "
    "Bh bohrium Hs hassium Mt meitnerium Ds darmstadtium Rg roentgenium Cn copernicium "
    "Nh nihonium Fl flerovium Mc moscovium Lv livermorium Ts tennessine Og oganesson"
).split()
_SYMBOLS = dict(zip(_ELEMENTS[1::2], _ELEMENTS[::2], strict=True))


def formula(arguments: Arguments, page: Page) -> str:
    """Expands `{{chem|SO|4|2-}}`, a formula in several arguments.

    The hyphen of a negative charge becomes a minus sign.
    """
    return "".join(_CHARGE.sub(r"\1−", part) if _CHARGE.fullmatch(part) else part
                   for part in positional(arguments))  # fmt: skip


def formula_as_text(arguments: Arguments, page: Page) -> str:
    """Expands `{{chem2|SO4(2-) + 2 H2O -> x}}`, a formula in one argument with charges in brackets."""
    if len(arguments.get("1", "")) > _MAX_FORMULA:
        return arguments["1"]
    text = _ARROW.sub(lambda match: _ARROWS[match[0]], arguments.get("1", ""))
    text = _MARKED.sub(r"\1", text)
    return _CHARGE_IN_BRACKETS.sub(lambda match: (match[1] or "-").replace("-", "−"), text)


def formula_or_era(arguments: Arguments, page: Page) -> str:
    """Expands `{{ce|H2O}}` to a formula, and `{{CE}}` (Common Era) to "CE".

    One function handles both, because template names are not case-sensitive in the language tables.
    """
    return formula_as_text(arguments, page) or "CE"


def nuclide(arguments: Arguments, page: Page) -> str:
    """Expands `{{nuclide|Carbon|14}}` to the mass number and the symbol: "14C"."""
    name, mass = arguments.get("1", ""), arguments.get("2", "")
    return mass + _SYMBOLS.get(name.lower(), name) if name else ""
