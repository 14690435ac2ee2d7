"""Numbers from the Wiki-40B paper, for comparison with builds. Builds are not expected to match them exactly.

The numbers are from the tables in Guo et al., LREC 2020:

    Table 2         sizes
    Table 6         characters per piece; Table 3 is a part of it
    Tables 7 to 9   bits per character; Tables 4 and 5 are parts of them

The numbers of published articles are those that TensorFlow Datasets gives for wiki40b 1.3.0. They are smaller
than the numbers of pages in Table 2.

`paper_figures.tsv` has a line for each corpus, in the order of LANGUAGE_CODES. The paper's "dev" is called
validation here, and its tokens are called pieces.

In Table 2, the numbers of pages and of sections add up to the row Total. The numbers in millions were rounded
separately, so their sums differ from Total by up to 0.3. The exact counts in Table 7 add up to Total.
The sizes of the split train in Table 2 are estimates by the paper's authors.

Decides which figures of a paper stand beside a build (`Paper.beside`); nothing else decides this.

A score stands beside a build only if its settings are those of the paper, or if the build is the released
corpus itself; and if each split has as many documents as were published. If that number is not known, a score
stands beside the released corpus only. A size stands beside other builds of the same language, too, and what
differs stands in the same row. The settings are read from the signature of the build, such as
"lm1b|lang:en|dump:2007-2011|…|v:1.1.0", and from its manifest, which also has settings that the signature
leaves out.

The scores of language models were measured on the published corpora. A build from inputs of another date
contains other texts, so the same model has a different score on it.
"""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from .ledger import INPUTS, Ledger
from .manifest import Provenance, is_released, name_variant

ANY = None
"""For settings that do not matter: the paper leaves them open, or does not give them."""

_NO = ("no",)
_NO_SIZE = ("lang", "limit", "dates-only")  # other values: no sizes, either
_PHRASES = {
    "lang": "--language {}",
    "identity": "splits by {}",
    "wiki-templates": "--no-wiki-templates",
    "without": "without:{}",
}
_SHARED: Mapping[str, Sequence[str] | None] = {  # settings of all corpora
    "on-corrupt": ("fail",),
    "limit": _NO,
    "without": _NO,  # documents that were removed from a finished build
    **dict.fromkeys(("dump", "v", "formats", "shard-bytes"), ANY),
}
_OTHER_INPUTS = ("leave-out", "templates")  # roles of inputs that the papers do not have
_OTHER_NUMBERS = "other numbers of documents"
_UNKNOWN_NUMBERS = "the numbers of documents in the published corpus are not known"


class Beside(NamedTuple):
    """The figures of a paper that stand beside a build, and the reasons for leaving out others."""

    no_size: str = ""  # why no size of the paper does; "" if sizes do
    no_score: str = ""  # why no score of the paper does; "" if scores do
    differs: str = ""  # what differs from the corpus of the paper, for the row of a size
    is_released: bool = False  # the build is the released corpus, so its text is that of the paper


class PaperScore(NamedTuple):
    """The score of a language model, as printed in a paper."""

    metric: str  # "bpc" or "perplexity"
    model: str  # name of the model, with the paper and the table
    value: float
    decimals: int  # number of decimals printed in the paper

    @property
    def printed(self) -> str:
        return f"{self.value:.{self.decimals}f}"


class Paper(NamedTuple):
    """The paper of a corpus: the settings of its corpus, and its figures."""

    # name of a setting in the signature → the values of the paper, or ANY; None for a corpus without a paper
    settings: Mapping[str, Sequence[str] | None] | None
    documents: Mapping[str, int] = {}  # split → number in the paper, or in the published corpus
    of_languages: Mapping[str, Mapping[str, int]] = {}  # language → its `documents`
    released: Mapping[str, int] | None = None
    """Split → number of rows of the released corpus; None if they are `documents`."""
    words: Mapping[str, int] = {}  # split → number by which the paper divides for perplexity
    # (language, split) → scores; a language "" is for all
    scores: Mapping[tuple[str, str], Sequence[PaperScore]] = {}
    tables: Mapping[str, Sequence[str]] = {}  # further figures, for the template of the card
    min_count: int = 1  # how often a word must occur in train to be in the vocabulary of the paper
    note: str = ""  # about how the words are counted
    dates: Sequence[str] = ()  # dates of its inputs, as in the signature; empty if unknown
    # settings that older builds have neither in the signature nor in the manifest → their values
    unsigned: Mapping[str, str] = {}
    needed: Mapping[str, str] = {}  # role of an input → what is said if a build has none

    def beside(self, manifest: Mapping[str, Any]) -> Beside:
        """Returns which figures of the paper stand beside a build, given its manifest.

        A build differs by the date of its input, which only the sizes name, by settings, and by the numbers
        of its documents. Sizes cannot stand beside a build of another language, with `--limit`, or with
        settings that are not known.
        """
        if self.settings is None:
            return Beside()
        signed, given = signed_settings(manifest["signature"]), manifest.get("settings", {})
        other_numbers = self._other_numbers(manifest)
        if is_released(given) and "without" not in signed:
            part = "a part of the released corpus" if given.get("partial") else ""
            language = signed.get("lang", "")
            has_sizes = self.published(manifest) or language in (self.wanted["lang"] or ())
            no_size = "" if has_sizes else f"the paper has no sizes of {language}"
            differs = part or (other_numbers and _OTHER_NUMBERS)
            return Beside(no_size, part or other_numbers, differs, is_released=True)
        others = self._others(manifest)
        differing = ", ".join((*others.values(), *self._other_inputs(manifest)))
        why_not = f"not the paper's settings: {differing}" if differing else ""
        has_no_size = any(name in _NO_SIZE or name not in self.wanted for name in others)
        no_size, no_score = why_not if has_no_size else "", why_not or other_numbers
        date = signed.get("dump", "undated")
        named = "an unknown date" if date == "undated" else date
        of_date = "" if date in self.dates else f"input of {named}"
        differs = ", ".join(filter(None, (of_date, differing)))
        return Beside(no_size, no_score, differs or (other_numbers and _OTHER_NUMBERS))

    def has_split(self, manifest: Mapping[str, Any], split: str) -> bool:
        """Returns True if a split was made as in the paper, and has as many documents as were published."""
        is_whole = "without" not in signed_settings(manifest["signature"])
        is_as_published = (is_released(manifest.get("settings", {})) and is_whole) or not (
            self._others(manifest) or self._other_inputs(manifest)
        )
        kept = manifest.get("counts", {}).get("kept", {})
        return is_as_published and kept.get(split) == self.published(manifest).get(split)

    def published(self, manifest: Mapping[str, Any]) -> Mapping[str, int]:
        """Returns split → number of published documents in the language of a build; empty if unknown.

        For released translations, it is the number of rows, of which each language has one for each sentence.
        """
        language = signed_settings(manifest["signature"]).get("lang", "")
        found = self.of_languages.get(language, self.documents)
        if not is_released(manifest.get("settings", {})):
            return found
        if not (rows := manifest.get("rows_by_language")):
            return found if self.released is None else self.released
        languages = Counter(split for of in rows.values() for split in of)
        return {split: found.get(split, 0) * number for split, number in languages.items()}

    def _other_numbers(self, manifest: Mapping[str, Any]) -> str:
        """Returns why the numbers of documents are not those that were published; "" if they are.

        The released corpus has none if they are not known.
        """
        kept, published = manifest.get("counts", {}).get("kept", {}), self.published(manifest)
        if not (published or is_released(manifest.get("settings", {}))):
            return _UNKNOWN_NUMBERS
        differing = ", ".join(
            f"{split} {kept.get(split, 0):,} of {number:,}"
            for split, number in published.items()
            if kept.get(split, 0) != number
        )
        return differing and f"not the published numbers of documents: {differing}"

    @property
    def wanted(self) -> Mapping[str, Sequence[str] | None]:
        return {**_SHARED, **(self.settings or {})}

    def _other_inputs(self, manifest: Mapping[str, Any]) -> list[str]:
        """Returns the flags of inputs that the paper does not have, and what is said if one is missing."""
        roles = [file["role"] for file in manifest.get("inputs", [])]
        found = [f"--{role}" for role in _OTHER_INPUTS if role in roles]
        return found + [none for role, none in self.needed.items() if roles and role not in roles]

    def _others(self, manifest: Mapping[str, Any]) -> dict[str, str]:
        """Returns name → flag of the settings that are not those of the paper.

        Unknown settings in the signature are not those of the paper. Unknown ones in the manifest do not
        change the text.
        """
        signed, given = signed_settings(manifest["signature"]), manifest.get("settings", {})
        pieces, wanted = given.get("sentencepiece"), self.wanted
        listed = name_variant({**given, **(pieces if isinstance(pieces, Mapping) else {})})
        found = {}
        for name, value in {"lang": "", **signed, **self.unsigned, **listed, **signed}.items():
            allowed = wanted.get(name, () if name in signed else ANY)
            if allowed is not ANY and value not in allowed:
                found[name] = _as_flag(name, value, is_known=name in wanted)
        return found

    def beside_new(self, provenance: Provenance, ledger: Ledger, kept: Mapping[str, int]) -> Beside:
        """Returns which figures of the paper stand beside a build whose card is being written.

        `kept` is split → number of its documents.
        """
        inputs = [file._asdict() for file in ledger.values(INPUTS)]
        known = {"settings": provenance.settings, "inputs": inputs, "counts": {"kept": kept}}
        return self.beside({"signature": provenance.signature, **known})

    def scores_of(self, signature: str, split: str) -> Sequence[PaperScore]:
        """Returns the scores that the paper reports for a split; empty if there are none.

        `signature` identifies the build with the split, as in "wiki40b|lang:uk|dump:20261101|v:1.3.0".
        """
        language = signed_settings(signature).get("lang", "")
        return self.scores.get((language, split), self.scores.get(("", split), ()))


def signed_settings(signature: str) -> dict[str, str]:
    """Returns name → value of the settings in the signature of a build, with its date and version."""
    pairs = (part.partition(":") for part in signature.split("|")[1:])
    return {name: value for name, _, value in pairs}


def _as_flag(name: str, value: str, *, is_known: bool) -> str:
    if name in _PHRASES or not is_known:
        return _PHRASES.get(name, f"{name}:{{}}").format(value)
    return f"--{name}" if value == "yes" else f"--{name} {0 if value == 'no' else value}"


VOCABULARIES = ("32k", "64k", "128k")  # 32k: one language each; the others are multilingual


class PaperBits(NamedTuple):
    """The paper's numbers for one split and one vocabulary."""

    pieces: int
    characters: int
    bits_per_character: float


class PaperFigures(NamedTuple):
    """The paper's numbers for one corpus, or for all corpora together."""

    language: str  # "Ukrainian"
    articles: int
    sections: int
    published: Mapping[str, int]  # split → number of articles in the published corpus
    pieces_millions: Mapping[str, float]  # by split, with the 32k vocabulary; train is estimated
    characters_millions: Mapping[str, float]  # by split; a marker is 1; train is estimated
    characters_per_piece: Mapping[str, float]  # by vocabulary, on validation and test together
    scores: Mapping[tuple[str, str], PaperBits]  # by (vocabulary, split), without train


def _figures_of(row: Mapping[str, str]) -> PaperFigures:
    splits = ("train", "validation", "test")
    return PaperFigures(
        language=row["language"],
        articles=int(row["articles"]),
        sections=int(row["sections"]),
        published={split: int(row[f"published_{split}"]) for split in splits},
        pieces_millions={split: float(row[f"{split}_pieces_millions"]) for split in splits},
        characters_millions={split: float(row[f"{split}_characters_millions"]) for split in splits},
        characters_per_piece={
            size: float(row[f"characters_per_piece_{size}"]) for size in VOCABULARIES
        },
        scores={
            (size, split): PaperBits(
                pieces=int(row[f"{split}_pieces_{size}"]),
                characters=int(row[f"{split}_characters"]),
                bits_per_character=float(row[f"{split}_bpc_{size}"]),
            )
            for size in VOCABULARIES
            for split in splits[1:]
        },
    )


def _read_table() -> dict[str, PaperFigures]:
    table = resources.files(__package__).joinpath("paper_figures.tsv").read_text("utf-8")
    rows = csv.DictReader(table.splitlines(), delimiter="\t")
    return {row["code"]: _figures_of(row) for row in rows}


PAPER: Mapping[str, PaperFigures] = _read_table()
"""Code of the language → the paper's numbers."""


def figures_for_card(signature: str, beside: Beside) -> dict[str, str]:
    """Returns name → size from the paper of Wiki-40B, for the dataset card of a build."""
    if beside.no_size:
        return {}
    figures = PAPER[signed_settings(signature)["lang"]]
    rows = {"articles": f"{figures.articles:,}", "sections": f"{figures.sections:,}"}
    for split in ("validation", "test"):
        score = figures.scores["32k", split]
        rows[f"pieces (32k), characters of {split}"] = f"{score.pieces:,}, {score.characters:,}"
    for size in VOCABULARIES:
        rows[f"characters per piece ({size})"] = f"{figures.characters_per_piece[size]:.3f}"
    return rows


_MULTILINGUAL = {"size": (64_000, 128_000), "articles": (10_000,), "min_count": (1,)}


def multilingual_beside(
    manifest: Mapping[str, Any], vocabulary: Mapping[str, Any], languages: int
) -> tuple[str, str]:
    """Returns the characters per piece in the paper, and what differs from it, for a dataset card.

    Args:
      manifest: the manifest of a build of Wiki-40B.
      vocabulary: the settings of a vocabulary that is learned from it and others.
      languages: the number of languages of this vocabulary.
    """
    beside = WIKI40B.beside(manifest)
    others = [
        f"--{name.replace('_', '-')} {vocabulary[name]}"
        for name, allowed in _MULTILINGUAL.items()
        if vocabulary[name] not in allowed
    ]
    if beside.no_size or others:
        return "–", beside.no_size or f"not the paper's settings: {', '.join(others)}"
    figures = PAPER[signed_settings(manifest["signature"])["lang"]]
    value = figures.characters_per_piece[f"{vocabulary['size'] // 1000}k"]
    fewer = "" if languages == len(PAPER) else f"{languages} of {len(PAPER)} languages"
    return f"{value:.3f}", ", ".join(filter(None, (beside.differs, fewer))) or "–"


_KN5 = "Chelba et al. 2013, table 1, interpolated Kneser-Ney 5-gram"
_RNN = "Chelba et al. 2013, table 1, RNN-1024 + MaxEnt 9-gram"
_ALL = "Chelba et al. 2013, table 2, all models"
_XL = "Rae et al. 2020, Transformer-XL, 36 layers"
_COMPRESSIVE = "Rae et al. 2020, Compressive Transformer, 36 layers"


def _simplebooks(size: str, *scores: tuple[str, float]) -> tuple[PaperScore, ...]:
    return tuple(
        PaperScore("perplexity", f"Nguyen 2019, table 2, {model}, {size}", value, 2)
        for model, value in scores
    )


def _perplexities(*scores: tuple[str, float]) -> tuple[PaperScore, ...]:
    return tuple(PaperScore("perplexity", model, value, 1) for model, value in scores)


OTHER_TEXT = (
    "the scores of the paper were measured on the published corpus; scores on other text cannot be compared"
    " with them"
)

NO_SCORES = (
    "scores of the paper are shown only beside the released corpus and builds with all settings of the paper,"
    " and only if each split has as many documents as were published; sizes are shown beside other builds of"
    " the same language, too, with what differs"
)

NO_PAPER = Paper(None)

WIKI40B = Paper(
    {
        "lang": tuple(PAPER),
        "near-duplicates": _NO,
        "newer-than": _NO,
        "min-words": _NO,
        "lists": ("none",),
        "identity": ("wikidata item",),
        "wiki-templates": ("yes",),
        "learn-headings": ("auto",),
        "ignore-siteinfo": _NO,
        "vocabulary-size": ("32000",),
        "sample-articles": ("100000",),
        **dict.fromkeys(("columns", "text", "audit"), ANY),  # beside the text
    },
    of_languages={code: figures.published for code, figures in PAPER.items()},
    scores={
        (code, split): tuple(
            PaperScore(
                "bpc",
                f"Guo et al. 2020, table {table}, {size} pieces",
                figures.scores[size, split].bits_per_character,
                3,
            )
            for size, table in zip(VOCABULARIES, (7, 8, 9), strict=True)
        )
        for code, figures in PAPER.items()
        for split in ("validation", "test")
    },
    unsigned={"lists": "sentences"},
    needed={"entities": "no entity table"},
)

LM1B = Paper(
    {
        "lang": ("en",),
        "perl": ANY,  # the published corpus is of 5.14, which differs in few characters
        "deduplicate": ("raw",),
        "near-duplicates": _NO,
        "lower-case": _NO,
        "min-count": ("3",),
        "map-unknown": ANY,  # the models of the paper see <UNK>
        "shards": ("100",),
        "heldout-shards": ("50",),
        "members": ANY,  # the names of files in archives
        "checkpoints": ANY,  # beside the text
    },
    dates=("2007-2011",),
    # README of the benchmark; the sentences of TensorFlow Datasets, which are all of it
    documents={"train": 30_301_028, "test": 306_688},
    words={"paper_test": 159_658},  # Chelba et al. 2013, section 3, with the ends of sentences
    scores={("", "paper_test"): _perplexities((_KN5, 67.6), (_RNN, 51.3), (_ALL, 43.8))},
    min_count=3,
    note="Words include the ends of sentences, as in the paper; the tables of lengths are without them.",
)

PG19 = Paper(
    {
        "lang": ("en",),
        "members": ("released",),
        "split-ids": _NO,
        "before": ("1919",),
        "min-words": ("200",),
        "near-duplicates": _NO,
        "mask-words": ANY,  # the list of the paper was never released
        "dates-only": _NO,
    },
    # Rae et al. 2020, table 2
    documents={"train": 28_602, "validation": 50, "test": 100},
    words={"train": 1_973_136_207, "validation": 3_007_061, "test": 6_966_499},
    scores={
        ("", "validation"): _perplexities((_XL, 45.5), (_COMPRESSIVE, 43.4)),
        ("", "test"): _perplexities((_XL, 36.3), (_COMPRESSIVE, 33.6)),
    },
)

SIMPLEBOOKS = Paper(
    {
        "lang": ("en",),
        "formula": ANY,  # the one that the paper prints accepts every book
        "min-ratio": ("auto", "0.35", "0.0012"),  # those of the formulas
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
    },
    documents={"train": 1_563, "validation": 5, "test": 5},  # Nguyen 2019, section 2
    released={},  # its rows are paragraphs, whose numbers were not published
    tables={  # table 1: tokens, vocabulary, share of tokens outside the vocabulary, FREQ
        "simplebooks-92": ("91.5M", "98,304", "0.11 %", "931.40"),
        "simplebooks-2": ("2.2M", "11,492", "0.47 %", "195.43"),
    },
    scores={
        ("", "validation"): (
            *_simplebooks(
                "trained on SimpleBooks-2", ("AWD-LSTM", 17.16), ("Transformer-XL", 17.27)
            ),
            *_simplebooks(
                "trained on SimpleBooks-92", ("AWD-LSTM", 21.45), ("Transformer-XL", 9.3)
            ),
        ),
        ("", "test"): (
            *_simplebooks(
                "trained on SimpleBooks-2", ("AWD-LSTM", 16.78), ("Transformer-XL", 16.41)
            ),
            *_simplebooks(
                "trained on SimpleBooks-92", ("AWD-LSTM", 20.64), ("Transformer-XL", 8.92)
            ),
        ),
    },
)

FLORES101 = Paper(
    {
        "lang": ("en",),
        "domains": ("wikinews-wikibooks-wikivoyage",),
        "all-wikibooks": ANY,  # the released data has other books, and the paper names Wikijunior
        "sentences": ("3001",),
        "articles": ("842",),
        "seed": ANY,
        "topics": ANY,
        "newer-than": _NO,
    },
    documents={"dev": 997, "devtest": 1_012, "test": 992},  # Goyal et al. 2022, table 3
    released={},  # as many of each language, see `published`
)
