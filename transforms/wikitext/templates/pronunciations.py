"""Expands templates for the pronunciation of a word.

Words such as "UK:", "pronounced" and "locally" are phrases in the tables of the wiki's language. The English
phrases are those of Module:IPAc-en and Module:IPA. If the tables have no such phrases, the words are omitted.
"""

from corpusmill.transforms.wikitext.templates.patterns import Arguments, positional
from corpusmill.transforms.wikitext.templates.rendering import Page

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
