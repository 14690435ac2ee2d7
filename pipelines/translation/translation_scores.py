"""Scores translations against a reference with sacrebleu: spBLEU, chrF++, chrF and BLEU.

spBLEU is BLEU over the pieces of a SentencePiece model (Goyal et al. 2022, FLORES-101, section 5.2).
sacrebleu (Post 2018) downloads the model (`-tok flores101`); here the model is passed as bytes. With the same
model, scores and signatures are identical to sacrebleu's. With another model, the signature contains the
model's hash.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sentencepiece
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from corpusmill.transforms.files.text import grouped

METRICS: Mapping[str, str] = {
    "spBLEU": "BLEU over SentencePiece pieces",
    "chrF++": "F-score of character 1- to 6-grams and word 1- and 2-grams",
    "chrF": "F-score of character 1- to 6-grams",
    "BLEU": "BLEU over the words of sacrebleu's tokenizer 13a, as WMT reports it",
}
ALWAYS = ("spBLEU", "chrF++")

# SHA-256 of released models → their names in sacrebleu's signatures. sacrebleu does not check hashes, and no
# hash of flores101 is published. The hash of flores200 is the published one of `sentencepiece.bpe.model` of
# the NLLB-200 models; others have compared the two files and found them equal.
RELEASED: Mapping[str, str] = {
    "14bb8dfb35c0ffdea7bc01e56cea38b9e3d5efcdcb9c251d6b40538e1aab555a": "flores200",
}
RELEASED_PIECES = 250_000
"""Minimum number of pieces of a model that is taken for a released model because of its file name.

flores101 has 256,000 pieces.
"""


class Pieces:
    """A SentencePiece model that splits lines into pieces, with its name for sacrebleu's signatures."""

    def __init__(self, model: bytes, name: str = "") -> None:
        """Loads a model.

        `name` is the name of a released model. If it is empty, the name is looked up in RELEASED by the hash
        of the model. A model that is not in RELEASED is named by its hash.

        Raises ValueError if the bytes are not a SentencePiece model.
        """
        if not model:
            # The library sentencepiece would never return.
            raise ValueError("not a SentencePiece model: the file is empty")
        try:
            self._processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError:
            raise ValueError("not a SentencePiece model, or damaged") from None
        self.model = model
        self.sha256 = hashlib.sha256(model).hexdigest()
        self.count = int(self._processor.get_piece_size())
        self.name = name or RELEASED.get(self.sha256, f"spm-{self.sha256[:8]}")

    def cut(self, lines: Sequence[str]) -> list[str]:
        """Splits lines into pieces. Returns the lines with a space between pieces."""
        # as sacrebleu does before it splits lines into pieces
        stripped = [line.rstrip() for line in lines]
        return [" ".join(pieces) for pieces in self._processor.encode(stripped, out_type=str)]


# The first bytes of the fields `trainer_spec` and `normalizer_spec` of sentencepiece_model.proto, which
# follow all pieces. The first byte of a field has its number and its wire type (2: length and bytes).
_BEHIND_PIECES = {2 << 3 | 2, 3 << 3 | 2}


def check_is_whole(model: bytes) -> None:
    """Raises ValueError if the file of a SentencePiece model was truncated between two pieces.

    The library sentencepiece would load such a file as a smaller model.
    """
    found = set()
    place = 0
    while place < len(model):
        found.add(model[place])
        length = shift = 0
        while True:
            place += 1
            length |= (model[place] & 0x7F) << shift
            shift += 7
            if model[place] < 0x80:
                break
        place += 1 + length
    if not found >= _BEHIND_PIECES:
        raise ValueError("the end of the SentencePiece model is missing: download it again")


class Group(NamedTuple):
    """A group of lines that are scored together."""

    kind: str  # "corpus", "domain" or "topic"
    name: str  # "wikinews"; "" for the corpus
    lines: tuple[int, ...]  # indexes of the lines, from 0


class GroupScores(NamedTuple):
    """A system's scores for a group of lines, each from 0 to 100."""

    kind: str
    name: str
    sentences: int
    scores: Mapping[str, float]  # metric (one of METRICS) → score


class SystemScores(NamedTuple):
    """The scores of one translation system."""

    groups: tuple[GroupScores, ...]  # the corpus, then the requested groups
    citations: tuple[str, ...]  # scores of the corpus as sacrebleu prints them, one line per metric


class Task(NamedTuple):
    """Translations of the same source by several systems, and the reference to score them against."""

    references: Sequence[str]
    systems: Sequence[Sequence[str]]  # the lines of each system
    groups: Sequence[Group]
    model: bytes
    model_name: str  # "" to name the model by its hash
    metrics: tuple[str, ...]
    # version of corpusmill; part of the signature if the model is not a released one
    code_version: str


def group_lines(domains: Sequence[str], topics: Sequence[str]) -> list[Group]:
    """Groups lines by domain and by topic. Returns a group for each domain, then one for each topic.

    Domains and topics are sorted by name. Names that differ only in case or spacing count as equal: the
    released metadata has both "Travel" and "travel".

    Args:
      domains: the domain of each line.
      topics: the topic of each line.
    """
    return [
        Group(kind, name, tuple(lines))
        for kind, names in (("domain", domains), ("topic", topics))
        for name, lines in sorted(_places(names).items())
    ]


def _places(names: Iterable[str]) -> dict[str, list[int]]:
    return grouped((" ".join(name.lower().split()), place) for place, name in enumerate(names))


def score_systems(task: Task) -> list[SystemScores]:
    """Returns the scores of each system, in the order of `task.systems`.

    Raises ValueError if a system does not have as many lines as the reference, or if the reference is empty.
    """
    pieces = Pieces(task.model, task.model_name)
    scorers = [_Scorer(name, task.references, pieces, task.code_version) for name in task.metrics]
    groups = (Group("corpus", "", tuple(range(len(task.references)))), *task.groups)
    return [_score_system(system, scorers, groups) for system in task.systems]


def signatures(task: Task) -> dict[str, str]:
    """Returns name of a metric → its signature in sacrebleu's format."""
    pieces = Pieces(task.model, task.model_name)
    return {
        name: _Scorer(name, task.references[:1], pieces, task.code_version).signature
        for name in task.metrics
    }


def _score_system(
    lines: Sequence[str], scorers: Sequence["_Scorer"], groups: Sequence[Group]
) -> SystemScores:
    statistics = [(scorer, scorer.count(lines)) for scorer in scorers]
    scored = [
        [(scorer, scorer.score(counts, group.lines)) for scorer, counts in statistics]
        for group in groups
    ]
    return SystemScores(
        groups=tuple(
            GroupScores(
                *(group.kind, group.name, len(group.lines)),
                scores={scorer.name: score.score for scorer, score in scores},
            )
            for group, scores in zip(groups, scored, strict=True)
        ),
        citations=tuple(
            score.format(width=2, signature=scorer.signature) for scorer, score in scored[0]
        ),
    )


class _Scorer:
    """A sacrebleu metric for one reference, whose n-grams are counted only once."""

    def __init__(
        self, name: str, references: Sequence[str], pieces: Pieces, code_version: str
    ) -> None:
        self.name = name
        self._pieces = pieces if name == "spBLEU" else None
        self._metric = _metric(name, [self._text(references)])
        signature = self._metric.get_signature()
        if self._pieces:
            signature.update("tok", pieces.name)
            if pieces.name.startswith("spm-"):
                signature.update("corpusmill", code_version)
        self.signature = str(signature)

    def _text(self, lines: Sequence[str]) -> Sequence[str]:
        return self._pieces.cut(lines) if self._pieces else [line.rstrip() for line in lines]

    # The counts of lines can be added up, their scores cannot. So each line is compared with the reference
    # once, even if it is in several groups. The significance tests of sacrebleu do the same.

    def count(self, lines: Sequence[str]) -> Any:
        """Returns sacrebleu's statistics, such as n-gram matches, for each line."""
        return self._metric._extract_corpus_statistics(self._text(lines), None)

    def score(self, statistics: Any, lines: Iterable[int]) -> Any:
        """Returns the score of a group of lines.

        Args:
          statistics: the result of `count` for all lines.
          lines: the indexes of the lines of the group.
        """
        return self._metric._aggregate_and_compute([statistics[line] for line in lines])


def _metric(name: str, references: Sequence[Sequence[str]]) -> Any:
    if name == "spBLEU":
        return BLEU(tokenize="none", force=True, references=references)
    if name == "BLEU":
        return BLEU(force=True, references=references)
    return CHRF(word_order=2 if name == "chrF++" else 0, references=references)
