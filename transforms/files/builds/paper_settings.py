"""Tells whether a build has the settings of the corpus in its paper.

The figures of a paper (sizes, scores) are shown only beside builds that have its settings. Their texts may be
of another date.

The settings are read from the signature of the build, such as "lm1b|lang:de|dump:2007-2011|…|v:1.1.0", and
from its manifest, which has settings that are not in the signature.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

PAPER_BOOKS = {"train": 28_602, "validation": 50, "test": 100}  # Rae et al. 2020, table 2
PAPER_WORDS = {"train": 1_973_136_207, "validation": 3_007_061, "test": 6_966_499}

ANY = None
"""For settings that do not matter: the paper leaves them open, or does not give them."""

_NO_SETTINGS = ("dump", "v")
_NO = ("no",)
_PAPER_SETTINGS: Mapping[str, Mapping[str, Sequence[str] | None]] = {
    "wiki40b": {
        "lang": ANY,  # there are no figures for languages that the paper does not have
        "near-duplicates": _NO,
        "newer-than": _NO,
        "min-words": _NO,
        "columns": ANY,  # more columns beside the text
        "text": ANY,
        "limit": _NO,
    },
    "lm1b": {
        "lang": ("en",),
        "perl": ANY,  # the published corpus is of 5.14, which differs in few characters
        "deduplicate": ("raw",),
        "near-duplicates": _NO,
        "lower-case": _NO,
        "min-count": ("3",),
        "map-unknown": ANY,  # the models of the paper see <UNK>
        "shards": ("100",),
        "heldout-shards": ("50",),
        "limit": _NO,
    },
    "pg19": {
        "lang": ("en",),
        "members": ("released",),
        "split-ids": _NO,
        "before": ("1919",),
        "min-words": ("200",),
        "near-duplicates": _NO,
        "mask-words": ANY,  # the list of the paper was never released
        "limit": _NO,
    },
    "simplebooks": {
        "lang": ("en",),
        "formula": ANY,  # the one that the paper prints accepts every book
        "min-ratio": ("0.24", "0.0012"),  # the defaults of the formulas
        "target-tokens": ("92000000",),
        "max-vocabulary": ("100000",),
        "overlap": ("0.5",),
        "overlap-words": ANY,
        "ngram-words": ("8",),
        "estimate": ("1",),
        "min-words": _NO,
        "number-style": ANY,
        "heldout-books": ("5",),
        "small-tokens": ("2000000",),
        "min-count": ("3",),
        "map-unknown": ANY,  # the models of the paper see <unk>
        "limit": _NO,
    },
    "flores101": {
        "lang": ("en",),
        "domains": ("wikinews-wikibooks-wikivoyage",),
        "all-wikibooks": ANY,  # the released data has other books, and the paper names Wikijunior
        "sentences": ("3001",),
        "articles": ("842",),
        "seed": ANY,
        "topics": ANY,
        "newer-than": _NO,
    },
}
_PAPER_PIECES = {"vocabulary_size": 32_000, "sample_articles": 100_000}  # of Wiki-40B
_OTHER_INPUTS = ("leave-out",)  # roles of inputs that the papers do not have


def why_not_paper_of(manifest: Mapping[str, Any]) -> str:
    """Returns why the figures of its paper cannot stand beside a build (see `why_not_paper`), given its
    manifest.
    """
    roles = [file["role"] for file in manifest.get("inputs", [])]
    return why_not_paper(manifest["signature"], manifest.get("settings", {}), roles)


def why_not_paper(
    signature: str, settings: Mapping[str, Any] | None = None, roles: Collection[str] = ()
) -> str:
    """Returns why the figures of its paper cannot stand beside a build.

    An example is "not the paper's settings: --language de, --shards 10". Returns "" if the settings are those
    of the paper, or if the corpus has no paper.

    Args:
      signature: the signature of the build.
      settings: the settings in the manifest of the build.
      roles: the roles of the inputs of the build.
    """
    corpus, signed = parse_signature(signature)
    wanted = _PAPER_SETTINGS.get(corpus)
    if wanted is None:
        return ""
    others = [
        _as_flag(name, value) if name in wanted else f"{name}:{value}"
        for name, value in signed.items()
        if not _is_of_paper(wanted, name, value)
    ]
    others += _other_pieces((settings or {}).get("sentencepiece"))
    others += [f"--{role}" for role in _OTHER_INPUTS if role in roles]
    return f"not the paper's settings: {', '.join(others)}" if others else ""


def say_why_not(why_not: str) -> list[str]:
    """Returns the lines of a card that say why its table has no figures of the paper; [] if it has them.

    `why_not` is the result of `why_not_paper`.
    """
    return ["", f"No figures of the paper: {why_not}."] if why_not else []


def parse_signature(signature: str) -> tuple[str, dict[str, str]]:
    """Returns the corpus of a signature, and its settings by name."""
    corpus, *parts = signature.split("|")
    pairs = (part.partition(":") for part in parts)
    return corpus, {name: value for name, _, value in pairs}


def _is_of_paper(wanted: Mapping[str, Sequence[str] | None], name: str, value: str) -> bool:
    if name not in wanted:
        return name in _NO_SETTINGS
    allowed = wanted[name]
    return allowed is ANY or value in allowed


def _other_pieces(sentencepiece: Any) -> list[str]:
    """Returns the flags of a vocabulary that is not made as in the paper; [] if there is no vocabulary."""
    if not isinstance(sentencepiece, Mapping):
        return []
    return [
        f"--{name.replace('_', '-')} {sentencepiece[name]}"
        for name, of_paper in _PAPER_PIECES.items()
        if sentencepiece.get(name, of_paper) != of_paper
    ]


def _as_flag(name: str, value: str) -> str:
    flag = "--language" if name == "lang" else f"--{name}"
    return flag if value == "yes" else f"{flag} {value}"
