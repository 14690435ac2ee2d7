"""Maps the language codes of different corpora to one key: "ukr", "ukr_Cyrl" and "uk" become "uk"."""

from corpusmill.pipelines.translation.languages import find_language

# "no" in Wikipedia is Bokmål, which has a code of its own in FLORES-101. Nynorsk is "nn" in both.
_SAME = {"no": "nb"}


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
    plain = _SAME.get(language, language)
    return plain if full.script in (usual, None) else f"{plain}-{full.script}"
