"""Answers the seventh question of the HTML report: what the text of a build is about.

The answer names years, subjects or sources of the text.

Answers the ninth question of the HTML report: whether the vocabulary of a build fits its text.
"""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.filesize import decimal

from corpusmill.transforms.books.publication_dates import BOUND
from corpusmill.transforms.files.builds import paper_figures
from corpusmill.transforms.files.builds.finished_builds import path_below
from corpusmill.transforms.files.read_files import open_input
from corpusmill.transforms.files.records import TITLE_IN_TEXT
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.wikitext.article_markers import parse_article

from ...run.corpora import shape_of
from ..build_facts import Facts, sample_columns, share
from .answers import ABOUT, VOCABULARY, Answer, Table
from .drawings import ACCENT, PAPER, Bar, Bin, Figure, bars, histogram, points

SHOWN = 15
_GROUPS = 7  # number of colours in a chart, not counting the colour of "other"
_OTHERS = "other"
UNKNOWN = "–"


def what_it_is_about(facts: Facts) -> Answer | None:
    """Returns the answer about the years, subjects or sources of the documents of a build.

    Returns None if the build has no documents.
    """
    for find in (
        _of_translations,
        _of_books,
        _of_sentences,
        _of_genres,
        _of_articles,
        _of_items,
        _of_inputs,
    ):
        if answer := find(facts):
            return answer
    return None


def _of_translations(facts: Facts) -> Answer | None:
    """Describes a package of translations: its languages and their quality scores. Returns None for other
    builds.
    """
    if not (languages := facts.build.manifest.get("languages")):
        return None
    ranked = sorted(languages.items(), key=lambda one: (-float(one[1]["score"] or 0), one[0]))
    ranked = [one for one in ranked if one[1].get("rounds") != 0]  # 0 rounds: the source language
    drawn = [Bar(code, float(of["score"]), of["score"]) for code, of in ranked if of["score"]]
    names = {
        "score": "quality score",
        "rounds": "rounds of translation",
        "days": "days of translation",
    }
    rows_ = [
        (code, *(UNKNOWN if of.get(name) is None else str(of[name]) for name in names))
        for code, of in ranked
    ]
    figures = [Figure("Quality score by language, of 100", bars(drawn, 100))] if drawn else []
    if shape := shape_of(facts.build.manifest):
        sample = sample_columns(facts, shape, ("domain", "topic"))
        for name in sample.column_names:
            counted = Counter((one or UNKNOWN).lower() for one in sample[name].to_pylist())
            figures.append(_bars(f"Sentences by {name}", counted, whole=sample.num_rows))
    return Answer(
        ABOUT,
        f"Translations into {len(ranked):,} languages, {len(drawn):,} of them reviewed."
        + (" 100 is the score of a sample of sentences without errors." if drawn else ""),
        figures,
        [Table(("language", *names.values()), rows_)],
    )


def _of_books(facts: Facts) -> Answer | None:
    """Counts the books of PG-19 by decade of publication and by the source of the publication date.

    Books without a date are counted separately, and so are books of which only the latest possible year is
    known. Returns None for other builds.
    """
    if not (name := facts.name_of("dates-", ".tsv")):
        return None
    counts: Counter[tuple[int, str]] = Counter()
    undated = bounded = 0
    for row in facts.read_table(name):
        if row["confidence"] == BOUND:
            bounded += 1
        elif row["year"]:
            counts[int(row["year"]) // 10 * 10, row["source"]] += 1
        else:
            undated += 1
    without = f"{bounded:,} have only a latest possible year, {undated:,} are not dated."
    if not counts:
        return Answer(ABOUT, f"No book has a date: {without}")
    decades: Counter[int] = Counter()
    sources: Counter[str] = Counter()
    for (decade, source), number in counts.items():
        decades[decade] += number
        sources[source] += number
    groups = sorted(sources, key=lambda name: (-sources[name], name))
    bins = [
        Bin(decade, decade + 10, count, f"{decade}–{decade + 9}", source)
        for (decade, source), count in _grouped(counts, groups)
    ]
    limit = facts.build.manifest["settings"].get("before")
    note = (
        "Rejected books with a date are included. The dates are from the title page and the pages near it"
        " (imprint, copyright, year-line, preface and others), from the list of the released PG-19 (released)"
        " or from the header of the file (original-publication). Books of which only the latest possible year"
        " is known, from the death of the author or from a reprint, are not included."
    )
    if limit:
        note += f" Books to the right of the broken line, from {limit} and later, are rejected."
    most, of_most = max(decades.items(), key=lambda one: (one[1], -one[0]))
    return Answer(
        ABOUT,
        f"{decades.total():,} books have a date, {without} The most frequent decade is the"
        f" {most}s ({of_most:,}). The dates are from: {_listed(groups)}.",
        [
            Figure(
                "Books by decade and source of their date",
                histogram(bins, "year of publication", "books", rule=limit),
                note,
            )
        ],
    )


def _grouped(
    counts: Mapping[tuple[int, str], int], groups: Sequence[str]
) -> list[tuple[tuple[int, str], int]]:
    """Returns pairs ((decade, group), count), sorted by the order of `groups`, then by decade.

    If there are more than _GROUPS + 1 groups, all after the first _GROUPS are combined into one group.
    """
    shown = groups[:_GROUPS] if len(groups) > _GROUPS + 1 else groups
    order = [*shown, _OTHERS]
    joined: Counter[tuple[int, str]] = Counter()
    for (number, name), count in counts.items():
        joined[number, name if name in shown else _OTHERS] += count
    return sorted(joined.items(), key=lambda one: (order.index(one[0][1]), one[0][0]))


def _listed(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} other sources" if len(names) > most else shown


def _of_sentences(facts: Facts) -> Answer | None:
    """Counts the sentences of FLORES-101 by domain and topic. Returns None for other builds."""
    domains, topics = facts.stats.get("domains"), facts.stats.get("topics")
    if not domains or not topics:
        return None
    of_domains = {name: counts["sentences"] for name, counts in domains.items()}
    figures = [
        _bars("Sentences by domain", of_domains),
        _bars("Sentences by topic", topics),
        _bars(
            "Sentences with images and links",
            {
                "in an article with an image": facts.stats["total"]["with_image"],
                "with a hyperlink": facts.stats["total"]["with_hyperlink"],
            },
            whole=facts.total,
        ),
    ]
    most = max(topics, key=topics.get)
    return Answer(
        ABOUT,
        f"{facts.total:,} sentences from {len(of_domains)} domains and {sum(map(bool, topics.values()))}"
        f" topics. The most frequent topic is {most} ({topics[most]:,}).",
        figures,
    )


def _of_genres(facts: Facts) -> Answer | None:
    """Counts the books that SimpleBooks rejects, by genre or language.

    The genres of the other books are unknown.

    Returns None for other builds.
    """
    start = "screen-books/"
    genres = {
        name.removeprefix(start): count
        for name, count in facts.counts.get("rejected", {}).items()
        if name.startswith(start)
    }
    if not genres or facts.build.corpus != "simplebooks":
        return None
    return Answer(
        ABOUT,
        f"{facts.total:,} books of English prose. Their years and subjects are not recorded.",
        [_bars("Rejected books by genre or language", genres)],
    )


def _of_articles(facts: Facts) -> Answer | None:
    """Describes a sample of articles by headings, classes of Wikidata items and years of the last revision.

    Returns None for builds of other corpora.
    """
    shape = shape_of(facts.build.manifest)
    if not shape or shape.title != TITLE_IN_TEXT:
        return None
    wanted = (shape.texts[0], "wikidata_classes", "revision_date")
    sample = sample_columns(facts, shape, wanted)
    if not (articles := sample.num_rows):
        return None
    headings: Counter[str] = Counter()
    for text in sample[wanted[0]].to_pylist():
        headings.update({section.heading for section in parse_article(text)[1]} - {""})
    figures = [_bars("Headings, by articles that have them", headings, whole=articles)]
    sentence = f"Of {articles:,} articles" + (" in a sample" if articles < facts.total else "")
    if headings:
        first, count = headings.most_common(1)[0]
        sentence += f", {count:,} have a section {first}, the most frequent heading"
    if wanted[1] in sample.column_names:
        classes: Counter[str] = Counter()
        for names in sample[wanted[1]].to_pylist():
            classes.update((names or "").split())
        figures.append(_bars("Classes in Wikidata, by articles", classes, whole=articles))
        figures.append(_revised(sample[wanted[2]].to_pylist()))
    else:
        sentence += (
            ". This build has no Wikidata classes and dates of revisions; they are added if it is built with"
            " --columns full"
        )
    return Answer(ABOUT, f"{sentence}.", [one for one in figures if one.spec])


def _revised(dates: Iterable[str]) -> Figure:
    years = Counter(int(date[:4]) for date in dates if date)
    bins = [Bin(year, year + 1, count, str(year)) for year, count in sorted(years.items())]
    title = "Articles by the year of their last revision"
    return Figure(title, histogram(bins, "year", "articles") if bins else {})


def _of_items(facts: Facts) -> Answer | None:
    """Counts the Wikidata items in an entity table that have an article, separately for each Wikipedia.

    Returns None for builds other than entity tables.
    """
    if not (links := facts.stats.get("total", {}).get("sitelinks")):
        return None
    most = max(links, key=links.get)
    return Answer(
        ABOUT,
        f"Items with articles in {sum(map(bool, links.values()))} Wikipedias. {most} has most articles"
        f" ({links[most]:,}).",
        [_bars("Items by Wikipedia", links)],
    )


def _of_inputs(facts: Facts) -> Answer | None:
    """Lists the largest input files, for builds whose rows have no year, subject or source.

    Returns None if the build has no documents or no input files.
    """
    inputs = facts.build.manifest.get("inputs", [])
    if not inputs or not facts.kept:
        return None
    sizes = {one["name"]: one["bytes"] for one in inputs}
    total = sum(sizes.values())
    most = sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:SHOWN]
    shown = [Bar(name, size, f"{decimal(size)} · {share(size, total)}") for name, size in most]
    return Answer(
        ABOUT,
        f"{facts.unit.capitalize()} from {len(sizes):,} input files. Rows have no subject, source or date.",
        [Figure("Input files by size", bars(shown))],
    )


def _bars(title: str, counts: Mapping[str, int], whole: int = 0) -> Figure:
    """Returns a bar chart of the names with the highest counts. Each bar has a count and a percentage.

    Args:
      counts: Name → count.
      whole: The number that is 100 %; if 0, it is the sum of `counts`.
    """
    ranked = sorted((one for one in counts.items() if one[1]), key=lambda one: (-one[1], one[0]))
    total = whole or sum(counts.values())
    drawn = [
        Bar(name, count, f"{count:,} · {share(count, total)}") for name, count in ranked[:SHOWN]
    ]
    left = len(ranked) - SHOWN
    note = f"{left:,} others are not shown." if left > 0 else ""
    return Figure(title, bars(drawn) if drawn else {}, note)


_PAPER_UNKNOWN = 0.0028  # share of unknown words in the test set of Chelba et al. 2013

_STEP = 1.12  # factor between the ranks of neighbouring points of a curve
_SIGNS = {"<S>", "</S>", "<UNK>", "<unk>", "<eos>"}
_DRAWN = 40


def does_the_vocabulary_fit(facts: Facts) -> Answer | None:
    """Returns the answer to the question how well the vocabulary of a build fits its text.

    Depending on the corpus, the answer has the average number of characters in a SentencePiece piece, the
    share of unknown words, or a chart of word frequency by rank. Returns None if the build has no documents.
    """
    for find in (_of_news, _of_simple_books, _of_pieces, _of_subwords):
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


def _of_subwords(facts: Facts) -> Answer | None:
    if not (languages := facts.stats.get("languages")):
        return None
    held_out = {name: of["held_out"] for name, of in languages.items() if of.get("held_out")}
    rows = [_pieces(name, of) for name, of in held_out.items()]
    unit = "articles" if "articles" in facts.stats["total"] else "sentences"
    # of sentences: unknown, in_bytes; of articles: unknown_characters, byte_characters
    keys = [*next(iter(held_out.values()), {})][-2:]
    table = Table(
        (
            "language",
            unit,
            "probability",
            "sampled",
            "held-out characters",
            *(key.replace("_", " ") for key in keys),
        ),
        [
            (
                name,
                f"{of[unit]:,}",
                share(of["probability"], 1),
                f"{of['sampled']:,}",
                *(f"{held_out[name][key]:,}" for key in ("characters", *keys)),
            )
            for name, of in languages.items()
            if name in held_out
        ],
    )
    return Answer(
        VOCABULARY,
        f"{facts.stats['total']['pieces']:,} pieces over {len(languages)} languages.",
        [Figure("Characters per piece of held-out text", bars(rows[:_DRAWN]))] if rows else [],
        [table],
    )
