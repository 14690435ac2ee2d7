"""Expands templates for text in other languages.

Such a template may add the name of the language, a romanisation and a meaning.
"""

from corpusmill.transforms.wikitext.templates.patterns import Arguments, first_of, positional
from corpusmill.transforms.wikitext.templates.rendering import Page


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
    shifted = {"label": label, "1": text}
    shifted["2"] = first_of(arguments, ("3", "translit"))
    shifted["3"] = first_of(arguments, ("4", "lit", "translation"))
    return labelled(shifted, page)


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
    shifted = {"label": page.language.language_names.get("ru", "Russian")}
    shifted["1"] = arguments.get("1", "")
    shifted["2"] = first_of(arguments, ("2", "r"))
    shifted["3"] = first_of(arguments, ("3", "t"))
    shown, sounds = labelled(shifted, page), arguments.get("p", "")
    return f"{shown}, IPA: [{sounds}]" if shown and sounds else shown
