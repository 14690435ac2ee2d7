"""Answers the seventh question of the HTML report: what the text of a build is about.

The answer names years, subjects or sources of the text.

Answers the ninth question of the HTML report: whether the vocabulary of a build fits its text.
"""

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from corpusmill.transforms.books.publication_dates import BOUND
from corpusmill.transforms.files.builds import paper_figures
from corpusmill.transforms.files.builds.finished_builds import path_below
from corpusmill.transforms.files.read_files import open_input
from corpusmill.transforms.files.records import TITLE_IN_TEXT
from corpusmill.transforms.files.terminal import name_some
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.wikitext.article_markers import parse_article

from ..build_facts import Facts, sample_columns, share
from .answers import ABOUT, VOCABULARY, Answer, Figure, Table, rank, scale

UNKNOWN = "–"


def what_it_is_about(facts: Facts) -> Answer | None:
    """Returns the answer about the years, subjects or sources of the documents of a build.

    Returns None if the build does not have them.
    """
    for find in (_of_translations, _of_books, _of_sentences, _of_articles, _of_items):
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
    reviewed = sum(bool(of["score"]) for _, of in ranked)
    rows = [
        (code, *(str(of.get(name) or UNKNOWN) for name in ("score", "rounds", "days")))
        for code, of in ranked
    ]
    figures = []
    sample = sample_columns(facts, ("domain", "topic"))
    for name in sample.column_names:
        counted = Counter((one or UNKNOWN).lower() for one in sample[name].to_pylist())
        figures.append(rank(f"Sentences by {name}", counted, whole=sample.num_rows))
    sentence = f"Translations into {len(ranked):,} languages, {reviewed:,} of them reviewed."
    sentence += " 100 is the score of a sample of sentences without errors." if reviewed else ""
    head = ("language", "quality score", "rounds of translation", "days of translation")
    return Answer(ABOUT, sentence, figures, [Table(head, rows)])


def _of_books(facts: Facts) -> Answer | None:
    """Counts the books of PG-19 by decade of publication and by the source of the publication date.

    Books without a date are counted separately, and so are books of which only the latest possible year is
    known. Returns None for other builds.
    """
    if not (name := facts.name_of("dates-", ".tsv")):
        return None
    decades: dict[int, Counter[str]] = defaultdict(Counter)
    undated = bounded = 0
    for row in facts.read_table(name):
        is_bound = row["confidence"] == BOUND
        bounded += is_bound
        undated += not (is_bound or row["year"])
        if row["year"] and not is_bound:
            decades[int(row["year"]) // 10 * 10][row["source"]] += 1
    without = f"{bounded:,} have only a latest possible year, {undated:,} are not dated."
    if not decades:
        return Answer(ABOUT, f"No book has a date: {without}")
    sources = sum(decades.values(), Counter())
    rows = [
        (f"{decade}s", of.total(), f"{of.total():,} ({name_some(_counts(of), 3)})")
        for decade, of in sorted(decades.items())
    ]
    limit = facts.build.manifest["settings"].get("before")
    note = (
        "Rejected books with a date are included. The dates are from the title page and the pages near it"
        " (imprint, copyright, year-line, preface and others), from the list of the released PG-19 (released)"
        " or from the header of the file (original-publication). Books of which only the latest possible year"
        " is known, from the death of the author or from a reprint, are not included."
    )
    note += f" Books of {limit} and later are rejected." if limit else ""
    return Answer(
        ABOUT,
        f"{sources.total():,} books have a date, {without} The dates are from:"
        f" {name_some(_counts(sources), 3)}.",
        [Figure("Books by decade and source of their date", scale(rows), note)],
    )


def _counts(counts: Counter[str]) -> list[str]:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [f"{name} {count:,}" for name, count in ranked]


def _of_sentences(facts: Facts) -> Answer | None:
    """Counts the sentences of FLORES-101 by domain and topic. Returns None for other builds."""
    domains, topics = facts.stats.get("domains"), facts.stats.get("topics")
    if not domains or not topics:
        return None
    of_domains = {name: counts["sentences"] for name, counts in domains.items()}
    total = facts.stats["total"]
    return Answer(
        ABOUT,
        f"{facts.total:,} sentences from {len(of_domains)} domains and {sum(map(bool, topics.values()))}"
        f" topics. {total['with_image']:,} are in an article with an image, {total['with_hyperlink']:,} have"
        " a hyperlink.",
        [rank("Sentences by domain", of_domains), rank("Sentences by topic", topics)],
    )


def _of_articles(facts: Facts) -> Answer | None:
    """Describes a sample of articles by headings, classes of Wikidata items and years of the last revision.

    Returns None for builds of other corpora.
    """
    shape = facts.shape
    if not shape or shape.title != TITLE_IN_TEXT:
        return None
    wanted = (shape.texts[0], "wikidata_classes", "revision_date")
    sample = sample_columns(facts, wanted)
    if not (articles := sample.num_rows):
        return None

    def counted(title: str, names: Iterable[Iterable[str]]) -> Figure:
        return rank(title, Counter(one for of in names for one in {*of} - {""}), whole=articles)

    headings = (
        (section.heading for section in parse_article(text)[1])
        for text in sample[wanted[0]].to_pylist()
    )
    figures = [counted("Headings, by articles that have them", headings)]
    sentence = f"From {articles:,} articles" + " in a sample" * (articles < facts.total)
    if wanted[1] in sample.column_names:
        classes = ((names or "").split() for names in sample[wanted[1]].to_pylist())
        figures.append(counted("Classes in Wikidata, by articles", classes))
        years = Counter(date[:4] for date in sample[wanted[2]].to_pylist() if date)
        bars = scale((year, count, f"{count:,}") for year, count in sorted(years.items()))
        figures.append(Figure("Articles by the year of their last revision", bars))
    else:
        sentence += (
            ". This build has no Wikidata classes and dates of revisions; they are added if it is built with"
            " --columns full"
        )
    return Answer(ABOUT, f"{sentence}.", figures)


def _of_items(facts: Facts) -> Answer | None:
    """Counts the Wikidata items in an entity table that have an article, separately for each Wikipedia.

    Returns None for builds other than entity tables.
    """
    if not (links := facts.stats.get("total", {}).get("sitelinks")):
        return None
    sentence = f"Items with articles in {sum(map(bool, links.values()))} Wikipedias."
    return Answer(ABOUT, sentence, [rank("Items by Wikipedia", links, whole=facts.total)])


_PAPER_UNKNOWN = "0.28\u00a0%"  # share of unknown words in the test set of Chelba et al. 2013
_SIGNS = {"<S>", "</S>", "<UNK>", "<unk>", "<eos>"}


def does_the_vocabulary_fit(facts: Facts) -> Answer | None:
    """Returns the answer to the question how well the vocabulary of a build fits its text.

    Depending on the corpus, the answer has the average number of characters in a SentencePiece piece, the
    share of unknown words, or the frequency of words by rank. Returns None if the build has no documents.
    """
    for find in (_of_news, _of_simple_books, _of_pieces, _of_subwords):
        if answer := find(facts):
            return answer
    return Answer(VOCABULARY, "This build has no vocabulary of its own.") if facts.kept else None


def _of_news(facts: Facts) -> Answer | None:
    stats = facts.stats
    if "heldout_shards" not in stats:
        return None
    rows = [
        _unknown(name, of["out_of_vocabulary"], of["predicted_words_with_end"])
        for name, of in (
            ("paper_test (held-out shard 0)", stats["heldout_shard_0"]),
            ("all held-out shards", stats["heldout"]),
        )
    ]
    beside = paper_figures.LM1B.beside(facts.build.manifest)
    if not beside.no_size:
        rows.append(("paper_test of the paper", UNKNOWN, UNKNOWN, _PAPER_UNKNOWN))
    sentence = (
        f"The vocabulary has {stats['vocabulary_with_S_slashS_UNK']:,} entries: three signs (<S>, </S>,"
        " <UNK>), and the words that are frequent enough in the training part. Ends of sentences are counted"
        f" as words. {_what_differs(beside)}"
    )
    return Answer(VOCABULARY, sentence.strip(), tables=_of_words(facts, rows, ["vocabulary.tsv"]))


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
    sentence = f"Words that occur at least {least} times in the training part: {words}."
    names = [f"vocabulary-{name.rpartition('-')[2]}.tsv" for name in sizes]
    return Answer(VOCABULARY, sentence, tables=_of_words(facts, rows, names))


def _unknown(name: str, unknown: int, words: int) -> tuple[str, ...]:
    return name, f"{words:,}", f"{unknown:,}", share(unknown, words)


def _of_words(
    facts: Facts, rows: list[tuple[str, ...]], vocabularies: Iterable[str]
) -> list[Table]:
    """Returns the table of words out of the vocabulary, and a table of words by rank for each file with a
    vocabulary.
    """
    head = ("", "words", "out of the vocabulary", "share")
    return [Table(head, rows), *(_ranks(facts, name) for name in vocabularies)]


def _ranks(facts: Facts, name: str) -> Table:
    """Returns a table of the words with the ranks 1, 10, 100 and so on in a vocabulary file of the build."""
    words: list[tuple[str, str]] = []
    if name in facts.names_of(name, ""):
        path = path_below(facts.build.folder, name)
        with io.TextIOWrapper(open_input(path), "utf-8", newline="\n") as lines:
            cells = (line.rstrip("\n").rpartition("\t") for line in lines)
            words = [(word, count) for word, _, count in cells if word not in _SIGNS]
    powers = (10**power for power in range(len(str(len(words)))))
    ranks = [(f"{n:,}", words[n - 1][0], f"{int(words[n - 1][1]):,}") for n in powers if words]
    return Table(("rank", "word", "frequency"), ranks, f"Rank and frequency of words, {name}")


_OF_PIECES = ("characters", "pieces", "characters per piece")


def _of_pieces(facts: Facts) -> Answer | None:
    """Returns the answer for the vocabulary of one Wikipedia, with a comparison with the paper.

    Returns None if the build has no counts of SentencePiece pieces.
    """
    found = {split: facts.stats.get(split, {}) for split in SPLITS}
    counted = {split: of for split, of in found.items() if of.get("pieces")}
    if not counted or "unknown_characters" not in next(iter(counted.values())):
        return None
    rows = [_pieces(split, of) for split, of in counted.items()]
    beside = paper_figures.WIKI40B.beside(facts.build.manifest)
    if not beside.no_size:
        language = paper_figures.signed_settings(facts.build.signature)["lang"]
        number = paper_figures.PAPER[language].characters_per_piece["32k"]
        name = "the paper, validation and test, with another vocabulary"
        rows.append((name, UNKNOWN, UNKNOWN, f"{number:.2f}"))
    total = facts.stats["total"]
    spelled = total["unknown_characters"] + total["byte_characters"]
    sentence = (
        f"{share(total['characters'] - spelled, total['characters'])} of the characters have a piece of"
        f" their own, {total['byte_characters']:,} are written as bytes, {total['unknown_characters']:,} are"
        f" unknown. More characters in a piece are better. {_what_differs(beside)}"
    )
    return Answer(VOCABULARY, sentence.strip(), tables=[Table(("split", *_OF_PIECES), rows)])


def _what_differs(beside: paper_figures.Beside) -> str:
    if beside.no_size or not beside.differs:
        return ""
    return f"What differs from the paper: {beside.differs}."


def _pieces(name: str, of: Mapping[str, int]) -> tuple[str, ...]:
    each = of["characters"] / of["pieces"] if of["pieces"] else 0
    return name, f"{of['characters']:,}", f"{of['pieces']:,}", f"{each:.2f}"


def _of_subwords(facts: Facts) -> Answer | None:
    if not (languages := facts.stats.get("languages")):
        return None
    held_out = {name: of["held_out"] for name, of in languages.items() if of.get("held_out")}
    unit = "articles" if "articles" in facts.stats["total"] else "sentences"
    # of sentences: unknown, in_bytes; of articles: unknown_characters, byte_characters
    keys = [*next(iter(held_out.values()), {})][-2:]
    rows = [
        (
            *_pieces(name, of),
            *(f"{of[key]:,}" for key in keys),
            f"{languages[name][unit]:,}",
            share(languages[name]["probability"], 1),
            f"{languages[name]['sampled']:,}",
        )
        for name, of in held_out.items()
    ]
    names = (key.replace("_", " ") for key in keys)
    head = ("held-out text of", *_OF_PIECES, *names, unit, "probability", "sampled")
    sentence = f"{facts.stats['total']['pieces']:,} pieces over {len(languages)} languages."
    return Answer(VOCABULARY, sentence, tables=[Table(head, rows)])
