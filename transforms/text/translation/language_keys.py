"""One name for a language however corpora call it: "ukr", "ukr_Cyrl" and "uk" are the same."""

from transforms.text.translation.languages import find_language

# Wikipedia's Norwegian is Bokmål, which FLORES-101 calls by its own name; Nynorsk is "nn" in both.
_SAME = {"no": "nb"}


def language_key(code: str) -> str:
    """The ISO 639 code, with a script where it is not the usual one: "zh", "zh-Hant", "sr-Latn".

    Countries do not count: "pt-BR" is "pt", and "zh-TW", which is written so, "zh-Hant".
    Raises ValueError for what `find_language` does not know.
    """
    tag = find_language(code).tag

    import langcodes  # here, for the tables that it brings

    full = langcodes.Language.get(tag).maximize()
    language = full.language or tag
    usual = langcodes.Language.make(language=language).maximize().script
    plain = _SAME.get(language, language)
    return plain if full.script in (usual, None) else f"{plain}-{full.script}"
