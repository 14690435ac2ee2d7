"""The libraries that only some corpora and commands need: setup.py makes an extra of each."""

import importlib.metadata
import re
from collections.abc import Iterable, Mapping, Sequence

_SENTENCES = "sentencex==1.0.32"  # another version may cut other sentences
_LANGUAGES = ("langcodes>=3.5,<4", "language-data>=1.4,<2")  # the second has names and scripts
_IDENTIFIER = "py3langid==0.4.*"  # its model decides what counts as another language

OF_THE_LAUNCHER: Mapping[str, Sequence[str]] = {"lm1b": (*_LANGUAGES, _IDENTIFIER)}
"""Corpus → libraries that look at its inputs before the workers start, which do without."""

EXTRAS: Mapping[str, Sequence[str]] = {
    "wiki40b": (),
    "entities": (),
    "multilingual": (),
    "lm1b": OF_THE_LAUNCHER["lm1b"],
    "pg19": (),
    "simplebooks": ("spacy>=3.8,<3.9",),  # its English tokenizer is that of SimpleBooks
    "flores101": (
        _SENTENCES,
        *_LANGUAGES,
        "ftfy>=6.3,<7",  # knows text that was decoded wrongly
        _IDENTIFIER,
        "regex>=2024.1",  # knows the scripts of characters
    ),
    "subwords": (_SENTENCES, *_LANGUAGES),
    "ngrams": (),
    "tokenize": (
        "tokenizers>=0.21,<1",  # reads tokenizer.json; the models of builds need no more than SentencePiece
    ),
    "refresh": (
        "prometheus-client>=0.21,<1",  # writes the metrics
        "requests>=2.32,<3",  # pages and downloads
        "urllib3>=2.3,<3",  # its HTTPResponse.shutdown ends a download from another thread
    ),
    "report": (
        "altair>=6.1,<7",  # writes the same bytes twice, and 0.9 MB a page; BSD
        "jinja2>=3.1,<4",  # escapes what documents hold; BSD
        "vl-convert-python>=1.9,<2",  # holds the JavaScript that draws; BSD, 84 MB
    ),
    "croissant": (
        "mlcroissant>=1.1,<2",  # writes Croissant and checks it; Apache-2.0, 220 MB with pandas and scipy
    ),
    "score": (
        "sacrebleu>=2.6,<2.7",  # its version is in signatures, and its counts of lines are no public API
    ),
}
"""Name of a corpus or command → requirements, as pip reads them."""


def check_extras(names: Iterable[str]) -> None:
    """Raises ValueError for extras that are not installed, with the command that installs them."""
    missing = {name: libraries for name in names if (libraries := _missing(name))}
    if missing:
        libraries = sorted(set().union(*missing.values()))
        raise ValueError(
            f"{', '.join(missing)}: libraries are not installed ({', '.join(libraries)}):"
            f" pip install 'corpusmill[{','.join(missing)}]'"
        )


def libraries_of_workers(corpus: str) -> list[str]:
    """Requirements of the workers of a corpus."""
    unneeded = OF_THE_LAUNCHER.get(corpus, ())
    return [one for one in EXTRAS.get(corpus, ()) if one not in unneeded]


def _missing(name: str) -> list[str]:
    """The libraries of an extra that are not installed."""
    missing = []
    for requirement in EXTRAS.get(name, ()):
        library = re.split("[<=>]", requirement)[0]
        try:
            importlib.metadata.distribution(library)
        except importlib.metadata.PackageNotFoundError:
            missing.append(library)
    return missing
