"""Answers the ninth question of the HTML report: whether the vocabulary of a build fits its text."""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from corpusmill.transforms.files.builds import paper_figures
from corpusmill.transforms.files.builds.finished_builds import path_below
from corpusmill.transforms.files.read_files import open_input
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.models import model_accounts

from .answers import VOCABULARY, Answer, Table
from .drawings import ACCENT, PAPER, Bar, Figure, bars, points
from .facts import Facts, share

_PAPER_UNKNOWN = 0.0028  # share of unknown words in the test set of Chelba et al. 2013

_STEP = 1.12  # factor between the ranks of neighbouring points of a curve
_SIGNS = {"<S>", "</S>", "<UNK>", "<unk>", "<eos>"}
_DRAWN = 40


def does_the_vocabulary_fit(facts: Facts) -> Answer | None:
    """Returns the answer to the question how well the vocabulary of a build fits its text.

    Depending on the corpus, the answer has the average number of characters in a SentencePiece piece, the
    share of unknown words, or a chart of word frequency by rank. Returns None if the build has no documents.
    """
    for find in (_of_news, _of_simple_books, _of_pieces, _of_languages, _of_subwords):
        if answer := find(facts):
            return answer
    return Answer(VOCABULARY, "This build has no vocabulary of its own.") if facts.kept else None


def _of_news(facts: Facts) -> Answer | None:
    stats = facts.stats
    if "heldout_shards" not in stats:
        return None
    drawn = {
        "paper_test (held-out shard 0)": stats["heldout_shard_0"],
        "all held-out shards": stats["heldout"],
    }
    rows = [
        _unknown(name, of["out_of_vocabulary"], of["predicted_words_with_end"])
        for name, of in drawn.items()
    ]
    beside = paper_figures.LM1B.beside(facts.build.manifest)
    if not beside.no_size:
        rows.append(Bar("paper_test of the paper", 100 * _PAPER_UNKNOWN, "0.28 %", colour=PAPER))
    of_all = stats["heldout"]
    words = stats["vocabulary_with_S_slashS_UNK"]
    return Answer(
        VOCABULARY,
        f"The vocabulary has {words:,} entries: three signs (<S>, </S>, <UNK>), and the words that are"
        " frequent enough in the"
        f" training part. {share(of_all['out_of_vocabulary'], of_all['predicted_words_with_end'])} of the"
        " held-out words are not in it.",
        [
            Figure(
                "Words out of the vocabulary",
                bars(rows),
                f"Ends of sentences are counted as words. {_what_differs(beside)}",
            ),
            *_rank_and_frequency(facts, "vocabulary.tsv"),
        ],
    )


def _of_simple_books(facts: Facts) -> Answer | None:
    stats = facts.stats.items()
    sizes = {name: of for name, of in stats if isinstance(of, dict) and "vocabulary_words" in of}
    if not sizes:
        return None
    rows = [
        _unknown(f"{split} of {name}", counts["out_of_vocabulary"], counts["tokens"])
        for name, of in sizes.items()
        for split, counts in of["splits"].items()
    ]
    words = " and ".join(f"{of['vocabulary_words']:,} ({name})" for name, of in sizes.items())
    least = next(iter(sizes.values()))["min_count"]
    figures = [Figure("Words out of the vocabulary", bars(rows))]
    for name in sizes:
        figures += _rank_and_frequency(facts, f"vocabulary-{name.rpartition('-')[2]}.tsv")
    return Answer(
        VOCABULARY,
        f"Words that occur at least {least} times in the training part: {words}.",
        figures,
    )


def _unknown(name: str, unknown: int, words: int) -> Bar:
    return Bar(name, 100 * unknown / words if words else 0, share(unknown, words), colour=ACCENT)


def _rank_and_frequency(facts: Facts, name: str) -> Iterator[Figure]:
    """Yields a chart of word frequency by rank, from the vocabulary file `name` of the build.

    Yields nothing if the build has no such file. To keep the chart small, fewer points are drawn for rare
    words than for frequent words.
    """
    if name not in facts.names_of(name, ""):
        return
    if ranks := list(_ranks(path_below(facts.build.folder, name))):
        note = (
            "Both scales are logarithmic. By Zipf's law, the frequency falls like 1 / rank: the points"
            " would be on a straight line that falls by a factor of ten from each power of ten to the next."
        )
        spec = points(ranks, "rank", "frequency", [*ranks[0]])
        yield Figure(f"Rank and frequency of words, {name}", spec, note)


def _ranks(path: str) -> Iterator[dict[str, Any]]:
    rank, wanted = 0, 1.0
    with io.TextIOWrapper(open_input(path), "utf-8", newline="\n") as lines:
        for line in lines:
            word, _, count = line.rstrip("\n").rpartition("\t")
            if word in _SIGNS:
                continue
            rank += 1
            if rank >= wanted:
                yield {"rank": rank, "frequency": int(count), "word": word}
                wanted = max(rank + 1, rank * _STEP)


def _of_pieces(facts: Facts) -> Answer | None:
    """Returns the answer for the vocabulary of one Wikipedia, with a comparison with the paper.

    Returns None if the build has no counts of SentencePiece pieces.
    """
    found = {split: facts.stats.get(split, {}) for split in SPLITS}
    counted = {split: of for split, of in found.items() if of.get("pieces")}
    if not counted or "unknown_characters" not in next(iter(counted.values())):
        return None
    rows = [_pieces(split, of) for split, of in counted.items()]
    note = ""
    beside = paper_figures.WIKI40B.beside(facts.build.manifest)
    if not beside.no_size:
        language = paper_figures.signed_settings(facts.build.signature)["lang"]
        number = paper_figures.PAPER[language].characters_per_piece["32k"]
        rows.append(Bar("the paper, validation and test", number, f"{number:.2f}", colour=PAPER))
        note = (
            "More characters in a piece are better. The paper's vocabulary is another one."
            f" {_what_differs(beside)}"
        )
    total = facts.stats["total"]
    characters = total["characters"]
    held_out = [counted[split] for split in counted if split != "train"] or [total]
    each = sum(of["characters"] for of in held_out) / sum(of["pieces"] for of in held_out)
    of_paper = f", {number:.2f} in the paper" if note else ""
    spelled = total["unknown_characters"] + total["byte_characters"]
    return Answer(
        VOCABULARY,
        f"A piece of validation and test has {each:.2f} characters on average{of_paper};"
        f" {share(characters - spelled, characters)} of the characters have a piece of their own,"
        f" {total['byte_characters']:,} are written as bytes, {total['unknown_characters']:,} are unknown.",
        [Figure("Characters per piece", bars(rows), note)],
    )


def _what_differs(beside: paper_figures.Beside) -> str:
    if beside.no_size or not beside.differs:
        return ""
    return f"What differs from the paper: {beside.differs}."


def _pieces(name: str, of: Mapping[str, int]) -> Bar:
    each = of["characters"] / of["pieces"] if of["pieces"] else 0
    return Bar(name, each, f"{each:.2f}")


def _of_languages(facts: Facts) -> Answer | None:
    """Returns the answer for vocabularies that several Wikipedias share, with figures for each Wikipedia.

    Returns None if the build does not consist of such vocabularies.
    """
    if facts.build.corpus != model_accounts.KIND:
        return None
    figures = [
        Figure(
            f"Characters per piece of test, {size}",
            bars([_pieces(one, of["test"]) for one, of in languages.items()][:_DRAWN]),
        )
        for size, languages in facts.stats.items()
    ]
    sizes = ", ".join(facts.stats)
    languages = next(iter(facts.stats.values()))
    return Answer(VOCABULARY, f"Pieces ({sizes}) over {len(languages)} languages.", figures)


def _of_subwords(facts: Facts) -> Answer | None:
    if not (languages := facts.stats.get("languages")):
        return None
    held_out = {name: of["held_out"] for name, of in languages.items() if of.get("held_out")}
    rows = [_pieces(name, of) for name, of in held_out.items()]
    table = Table(
        (
            "language",
            "sentences",
            "probability",
            "sampled",
            "held-out characters",
            "unknown",
            "in bytes",
        ),
        [
            (
                name,
                f"{of['sentences']:,}",
                share(of["probability"], 1),
                f"{of['sampled']:,}",
                *(f"{held_out[name][key]:,}" for key in ("characters", "unknown", "in_bytes")),
            )
            for name, of in languages.items()
            if name in held_out
        ],
    )
    return Answer(
        VOCABULARY,
        f"{facts.stats['total']['pieces']:,} pieces over {len(languages)} languages.",
        [Figure("Characters per piece of held-out lines", bars(rows[:_DRAWN]))] if rows else [],
        [table],
    )
