"""Lists the libraries that only some corpora and commands need. setup.py defines a pip extra for each."""

import importlib.metadata
import re
from collections.abc import Iterable, Mapping, Sequence

_SENTENCES = "sentencex==1.0.32"  # another version may split sentences differently
_LANGUAGES = ("langcodes>=3.5,<4", "language-data>=1.4,<2")  # language-data has names and scripts
_WORKBOOKS = "openpyxl>=3.1,<4"  # reads the .xlsx of translators; MIT, 0.3 MB
_IDENTIFIER = "py3langid==0.4.*"  # its model detects the language of a text

OF_THE_LAUNCHER: Mapping[str, Sequence[str]] = {
    "lm1b": (*_LANGUAGES, _IDENTIFIER),
    "flores101": (_WORKBOOKS,),
}
"""Corpus → libraries that only the launcher needs, to check the inputs before the workers start."""

EXTRAS: Mapping[str, Sequence[str]] = {
    "wiki40b": (),
    "entities": (),
    "lm1b": OF_THE_LAUNCHER["lm1b"],
    "pg19": (),
    "simplebooks": ("spacy>=3.8,<3.9",),  # its English tokenizer is that of SimpleBooks
    "flores101": (
        _SENTENCES,
        *_LANGUAGES,
        *OF_THE_LAUNCHER["flores101"],
        "ftfy>=6.3,<7",  # detects wrongly decoded text
        _IDENTIFIER,
        "regex>=2024.1",  # matches characters by script
    ),
    "subwords": (_SENTENCES, *_LANGUAGES),
    "ngrams": (),
    # It reads tokenizer.json; the models of builds need only SentencePiece.
    "tokenize": ("tokenizers>=0.21,<1",),
    "refresh": (
        "prometheus-client>=0.21,<1",  # writes the metrics
        "requests>=2.32,<3",  # pages and downloads
        "urllib3>=2.3,<3",  # HTTPResponse.shutdown stops a download from another thread
    ),
    # Its version is in signatures; its line counts are not a public API. Tables of FLORES+ name languages.
    "score": ("sacrebleu>=2.6,<2.7", *_LANGUAGES),
}
"""Name of a corpus or command → requirements in the format of pip."""


DATASKETCH = ("datasketch>=2,<3",)  # needs scipy, 140 MB
"""Requirements of the extra "datasketch", which only `corpusmill.signature` needs."""

CHINESE = ("zhconv-rs>=0.4.2,<0.5",)
"""Requirements of the extra "zh". The licence of zhconv-rs is GPL-2.0-or-later, because the package contains
the conversion tables of MediaWiki. So the extra is not in EXTRAS, and the extra "all" does not contain it.
"""
_OF_CHINESE = ("zh-cn", "zh-tw")
_NOT_IN_ALL = "the extra all does not contain it, because zhconv-rs is under the GPL"


def check_extras(names: Iterable[str], languages: Iterable[str] = ()) -> None:
    """Raises ValueError if libraries of the given extras are not installed. The message contains the pip
    command to run.

    Args:
      names: The names of corpora and commands.
      languages: The codes of the Wikipedias that will be cleaned. Some need libraries of their own.
    """
    missing = {name: libraries for name in names if (libraries := _missing(name))}
    why = ""
    chinese = [code for code in languages if code in _OF_CHINESE]
    if chinese and not _is_importable("zhconv_rs"):
        missing["zh"] = ["zhconv-rs"]
        why = f"; it is needed for {' and '.join(dict.fromkeys(chinese))}, and {_NOT_IN_ALL}"
    if missing:
        libraries = sorted(set().union(*missing.values()))
        raise ValueError(
            f"{', '.join(missing)}: libraries are not installed ({', '.join(libraries)});"
            f" run pip install 'corpusmill[{','.join(missing)}]'{why}"
        )


def _is_importable(module: str) -> bool:
    """Returns False also for a library that was built for another Python."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def libraries_of_workers(corpus: str) -> list[str]:
    """Returns the requirements that workers need to build a corpus."""
    return [one for one in EXTRAS.get(corpus, ()) if one not in OF_THE_LAUNCHER.get(corpus, ())]


def _missing(name: str) -> list[str]:
    """Returns the libraries of an extra that are not installed."""
    missing = []
    for requirement in EXTRAS.get(name, ()):
        library = re.split("[<=>]", requirement)[0]
        try:
            importlib.metadata.distribution(library)
        except importlib.metadata.PackageNotFoundError:
            missing.append(library)
    return missing
