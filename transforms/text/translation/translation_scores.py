"""spBLEU, chrF++ and their like of translations against a reference, as sacrebleu computes them.

spBLEU is BLEU over the pieces of a SentencePiece model (Goyal et al. 2022, FLORES-101, section 5.2).
sacrebleu (Post 2018) computes it with the model that it downloads (`-tok flores101`). Here the model comes
as bytes: with that model, scores and signatures equal sacrebleu's own letter for letter; with another one
the signature names it by its hash.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sentencepiece
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

METRICS: Mapping[str, str] = {
    "spBLEU": "BLEU over SentencePiece pieces",
    "chrF++": "F-score of character 1- to 6-grams and word 1- and 2-grams",
    "chrF": "F-score of character 1- to 6-grams",
    "BLEU": "BLEU over the words of sacrebleu's tokenizer 13a, as WMT reports it",
}
ALWAYS = ("spBLEU", "chrF++")

# SHA-256 of released models → what sacrebleu's signature calls them. sacrebleu checks none, and of flores101
# none is published. That of flores200 is the hash that many publish of `sentencepiece.bpe.model` beside the
# NLLB-200 models, which those who compared the two found to be the same file.
RELEASED: Mapping[str, str] = {
    "14bb8dfb35c0ffdea7bc01e56cea38b9e3d5efcdcb9c251d6b40538e1aab555a": "flores200",
}
RELEASED_PIECES = 250_000
"""A model that has the name of a release and not so many pieces is not it: flores101 has 256,000."""


class Pieces:
    """A SentencePiece model, and what signatures call it."""

    def __init__(self, model: bytes, name: str = "") -> None:
        """`name` is for a model that is known to be a release; else its hash is named.

        Raises ValueError for bytes that are not a model.
        """
        if not model:
            raise ValueError("no SentencePiece model")  # sentencepiece would wait for one
        try:
            self._processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError:
            raise ValueError("no SentencePiece model") from None
        self.model = model
        self.sha256 = hashlib.sha256(model).hexdigest()
        self.count = int(self._processor.get_piece_size())
        self.name = name or RELEASED.get(self.sha256, f"spm-{self.sha256[:8]}")

    def cut(self, lines: Sequence[str]) -> list[str]:
        """The lines with spaces between their pieces."""
        stripped = [line.rstrip() for line in lines]  # as sacrebleu does before it cuts
        return [" ".join(pieces) for pieces in self._processor.encode(stripped, out_type=str)]


# In sentencepiece_model.proto, `trainer_spec` and `normalizer_spec`, which stand behind all pieces: number
# and wire type (2, length and bytes) of a field make its first byte.
_BEHIND_PIECES = {2 << 3 | 2, 3 << 3 | 2}


def check_is_whole(model: bytes) -> None:
    """Raises ValueError for a model that ends between two pieces: sentencepiece takes it for a small one."""
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
        raise ValueError("the end of the SentencePiece model is missing: a download was cut off?")


class Group(NamedTuple):
    """Lines that are scored together."""

    kind: str  # "corpus", "domain" or "topic"
    name: str  # "wikinews"; "" of the corpus
    lines: tuple[int, ...]  # from 0


class GroupScores(NamedTuple):
    """Scores of a group, from 0 to 100."""

    kind: str
    name: str
    sentences: int
    scores: Mapping[str, float]  # of METRICS


class SystemScores(NamedTuple):
    """Scores of a system in one direction."""

    groups: tuple[GroupScores, ...]  # the corpus, then those that were asked for
    citations: tuple[str, ...]  # of the corpus, a line a metric, as sacrebleu prints it


class Task(NamedTuple):
    """Translations that share a reference."""

    references: Sequence[str]
    systems: Sequence[Sequence[str]]  # lines of each
    groups: Sequence[Group]
    model: bytes
    model_name: str  # "" where the hash tells
    metrics: tuple[str, ...]
    code_version: str  # of corpusmill, for signatures of models that are no release


def group_lines(domains: Sequence[str], topics: Sequence[str]) -> list[Group]:
    """The groups of lines that have the same domain, and of those that have the same topic, by name.

    Case and spaces around a name do not count: released metadata has "Travel" and "travel".
    """
    return [
        Group(kind, name, tuple(lines))
        for kind, names in (("domain", domains), ("topic", topics))
        for name, lines in sorted(_places(names).items())
    ]


def _places(names: Iterable[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(" ".join(name.lower().split()), []).append(place)
    return places


def score_systems(task: Task) -> list[SystemScores]:
    """The scores of each system, in their order.

    Raises ValueError where a system has not as many lines as the reference, or there are none.
    """
    count = len(task.references)
    for system in task.systems:
        if len(system) != count or not count:
            raise ValueError(f"{len(system)} lines, and {count} of the reference")
    pieces = Pieces(task.model, task.model_name)
    scorers = [_Scorer(name, task.references, pieces, task.code_version) for name in task.metrics]
    groups = (Group("corpus", "", tuple(range(count))), *task.groups)
    return [_score_system(system, scorers, groups) for system in task.systems]


def signatures(task: Task) -> dict[str, str]:
    """Metric → signature, as sacrebleu writes it."""
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
    """A metric of sacrebleu that has the n-grams of its reference ready."""

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

    # sacrebleu's own significance tests go the same way: counts of lines can be added up, scores cannot.
    # So the lines are compared once, however many groups they belong to.

    def count(self, lines: Sequence[str]) -> Any:
        """Returns the statistics of sacrebleu for each line."""
        return self._metric._extract_corpus_statistics(self._text(lines), None)

    def score(self, statistics: Any, lines: Iterable[int]) -> Any:
        """The score of some lines."""
        return self._metric._aggregate_and_compute([statistics[line] for line in lines])


def _metric(name: str, references: Sequence[Sequence[str]]) -> Any:
    if name == "spBLEU":
        return BLEU(tokenize="none", force=True, references=references)
    if name == "BLEU":
        return BLEU(force=True, references=references)
    return CHRF(word_order=2 if name == "chrF++" else 0, references=references)
