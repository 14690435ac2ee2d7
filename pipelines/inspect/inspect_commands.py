"""The commands for finished builds, with their flags and help pages, and the settings of a search."""

import argparse
import inspect
import json
import sys
from collections.abc import Sequence
from typing import NamedTuple

from corpusmill.transforms.wikitext.language import LISTS

from ..run.corpora import shapes
from ..run.flags import Commands, Flags, add_command, add_folders, add_json, add_runner, runner_of

NGRAM_WORDS = 8
PASSAGES = 3


class Search(NamedTuple):
    """The settings of a search for evaluation texts in training texts."""

    train: Sequence[str]  # command-line arguments, see text_sources.py
    eval: Sequence[str]
    ngram_words: int = NGRAM_WORDS
    passages: int = PASSAGES  # maximum number of passages per item in the report
    train_id: str = ""
    eval_id: str = ""
    whole_files: bool = False


def add_compare(commands: Commands) -> None:
    """Compares two editions of a corpus in the same language, document by document.

    examples:
      What has changed in a newer dump:
        corpusmill compare wiki40b/uk/20261001-1.3.0 wiki40b/uk/20261101-1.3.0 --report changes.tsv
      How much of the released text a build has:
        corpusmill compare pg19/en-released/2020-* pg19/en/20261101-* --report changes.tsv
      On a cluster:
        corpusmill compare gs://…/20261001-1.3.0 gs://…/20261101-1.3.0 --report gs://…/changes.tsv --runner …

    how documents are matched in each corpus:
    {identity}
      if several rows have the same id, each row is matched with the most similar row of the other edition
      packages of flores101 are compared by sentence and language; the first translations that changed are printed
      the fate of a document: added; removed; moved, if it is in another split; changed, if only its text differs

    --report has a line for each document that differs between the editions, sorted by id:
      id, title, fate, old_split, new_split, old_bytes, new_bytes; FILE.tsv.json has the counts

    if one of the builds is a released corpus (corpusmill adopt), or with --text, the texts are compared, too:
      how many paragraphs, and words in them, are equal, differ in line ends, white space, case and punctuation,
      numbers or other words, or are only in one text; with examples from a sample of the documents
      the lines of --report then have the numbers of paragraphs and words, and of those that are the same
      without common ids (sentences, paragraphs of SimpleBooks), paragraphs are compared instead of documents

    corpora in which a document may move to another split, and the reason:
    {moves}

    Exit status: 0 if no document has moved to another split, or if the corpus allows moves; 1 for a move that
    is not allowed, or for a missing build; 2 for wrong settings, or for builds of different corpora or
    languages.
    """  # noqa: E501
    about = (
        "compares two finished builds: documents added, removed, changed, or moved to another split"
    )
    parser = add_command(
        commands,
        "compare",
        about,
        _describe_corpora(inspect.cleandoc(add_compare.__doc__ or "")),
        _run_compare,
    )
    parser.add_argument("old", metavar="OLD", help="folder of the older finished build")
    parser.add_argument("new", metavar="NEW", help="folder of the newer finished build")
    Flags(parser).text(
        "--report",
        "FILE.tsv",
        "file for the list of all documents that differ; the counts are in FILE.tsv.json",
    )
    Flags(parser).switch("--text", "compare the texts of two own builds, too (see below)")
    add_runner(parser)


def _describe_corpora(text: str) -> str:
    known = shapes().items()
    identity = (
        f"  {name}: {shape.unit} "
        + (
            "by their text, whose fingerprint is the id"
            if not shape.id
            else f"{'within' if shape.repeats else 'by'} {shape.id}"
        )
        for name, shape in known
    )
    moves = (f"  {name}: {shape.why_moves}" for name, shape in known if shape.why_moves)
    return text.format(identity="\n".join(identity), moves="\n".join(moves))


def _run_compare(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from .compare import compare_builds, print_changes

    how = runner_of(settings, beam_flags)
    changes = compare_builds(
        settings.old, settings.new, settings.text, **how, report=settings.report
    )
    print_changes(changes, settings.report)
    return 0 if changes.is_sound else 1


WIKI = "wiki"


def add_inspect(commands: Commands) -> None:
    """Shows how a page of a wiki is converted to text, or where a document of a build came from.

    examples:
      The source and the text of an article side by side:
        corpusmill inspect wiki --language uk --title Київ --dump 'ukwiki-20261101-*-multistream.xml.bz2'
      The same as a page for a browser, with every template and link:
        corpusmill inspect wiki --language uk --title Київ --dump ukwiki-….xml.bz2 --html kyiv.html
      Wikitext of your own, "-" for standard input:
        corpusmill inspect wiki --language uk --wikitext draft.txt
      The source of a document of a finished build, and what was removed from it:
        corpusmill inspect corpora/wiki40b/uk Q1899
        corpusmill inspect corpora/pg19/en/20261101-* 1342

    inspect wiki shows, section by section:
      the source beside the text, below it on a screen of less than 76 columns
      the text of each template, and its rule: file and line of its table below transforms/wikitext
      links that leave no text; other links, comments, tables and references are only counted, or listed by --html
      dropped sections, and the line of the table that lists their heading
    With the index of a multistream dump beside it (…-multistream-index.txt.bz2), only the parts of the dump
    with the page and its templates are read; without the index, the whole dump is read.

    inspect BUILD ID shows the row, the address of the source, the inputs, the lines about the document in the
    build's own tables, and findings of an audit. For a rejected document, it shows the stage and the reason.
    ID is a value of the id column, or a title; in a corpus without ids, it is the text. With --dump, the
    source of an article is also shown.
    """  # noqa: E501
    about = "shows how a page was converted to text, or where a document came from"
    parser = add_command(commands, "inspect", about, add_inspect.__doc__, _run_inspect)
    parser.add_argument(
        "what", metavar="wiki | BUILD", help='"wiki", or a folder with a finished build'
    )
    parser.add_argument(
        "id", metavar="ID", nargs="?", default="", help="with BUILD: the id of a document"
    )
    flags = Flags(parser)
    flags.text("--language", "CODE", "code of the Wikipedia, as in its address")
    flags.files("--dump", "files of a dump (pages-articles)")
    flags.text("--title", "TITLE", "title of the page in the dump")
    flags.text("--wikitext", "FILE", "read wikitext from a file instead of a dump")
    flags.files("--templates", "your own TOML tables of templates, as for wiki40b")
    flags.choice("--lists", LISTS, "which lists are kept, as for wiki40b")
    flags.switch(
        "--no-wiki-templates",
        "do not read the template pages of the dump",
        dest="wiki_templates",
        action="store_false",
    )
    flags.text("--html", "FILE", "write a page for a browser, which needs no network")


def _run_inspect(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    if settings.what == WIKI:
        _check(settings)
        _show_page(settings)
        return
    if not settings.id:
        raise ValueError("the id of a document is missing: inspect BUILD ID")
    _show_document(settings)


def _check(settings: argparse.Namespace) -> None:
    if settings.id:
        raise ValueError(f"inspect {WIKI} has no argument ID: name the page with --title")
    if not settings.language:
        raise ValueError("--language is missing: give the code in the address of the Wikipedia")
    if bool(settings.dump) == bool(settings.wikitext):
        raise ValueError("give either --dump and --title, or --wikitext")
    if settings.dump and not settings.title:
        raise ValueError("--title is missing: the title of a page in the dump")


def _show_page(settings: argparse.Namespace) -> None:
    from .explain import explain_dump, explain_text

    page, facts = (explain_text if settings.wikitext else explain_dump)(settings)
    if settings.html:
        from corpusmill.transforms.files.write_files import write_whole

        from .explain import make_page

        write_whole(settings.html, "".join(make_page(page, facts)).encode("utf-8"))
        print(f"written: {settings.html}")
        return

    from corpusmill.transforms.files.terminal import screen_columns

    from .explain import draw_page

    print(draw_page(page, facts, screen_columns() or 80), end="")


def _show_document(settings: argparse.Namespace) -> None:
    from corpusmill.transforms.files.terminal import screen_columns

    from .build_facts import find_document
    from .explain import draw_origin, title_and_language

    if settings.html and not settings.dump:
        raise ValueError("--html needs --dump, which contains the source of the article")
    for origin in find_document(settings.what, settings.id):
        print(draw_origin(origin, screen_columns() or 80), end="")
        if settings.dump:
            settings.title, settings.language = title_and_language(settings.what, origin)
            _show_page(settings)


FORMATS = ("text", "markdown", "tsv", "json")


def add_report(commands: Commands) -> None:
    """Shows the sizes of finished builds, with those of the papers.

    examples:
      All languages below a folder, with the figures of the paper:
        corpusmill report corpora
      An HTML page with charts, in one file that needs no network:
        corpusmill report corpora --html report.html
      Some builds, for a paper, and for a program:
        corpusmill report corpora/wiki40b/uk/* corpora/wiki40b/el/* --format markdown
        corpusmill report corpora --format tsv

    the table of Wiki-40B, with a row per build and the columns of Table 2 of the paper (Guo et al., LREC
    2020):
      articles and sections; SentencePiece pieces and characters of each split; characters per piece;
      coverage, the share of characters with a piece of their own; the paper's articles, characters per piece and
      bits per character
      the last row is the total over the newest build of each language; – means that a build has no vocabulary
    the table of all other corpora: documents and words of each split, in the build and in the paper, and the
    best score in the paper. Unfinished builds are only listed.
    the last column of both tables says what differs from the corpus of the paper, such as the date of the input
    or fewer shards. Sizes of the paper are left out for another language and with --limit, which a note says;
    scores are left out for any other settings than those of the paper, and for other numbers of documents. With --format tsv, there is one table: that of Wiki-40B if there is a build of it.
    --html answers ten questions about every build: what was rejected and why, whether it is as large as the
    paper's, how long the documents are, what changed since the previous edition, and others. It has charts,
    20 documents, and a searchable list of rejected documents.
    """  # noqa: E501
    about = "prints the sizes of finished builds, with those of the papers"
    parser = add_command(commands, "report", about, add_report.__doc__, _run_report)
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).choice("--format", FORMATS, "output format (default %(default)s)")
    Flags(parser).text("--html", "FILE", "write an HTML page with charts, which needs no network")


def _run_report(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    if settings.html:
        _write_page(settings.folders, settings.html)
        return

    from .build_sizes import find_sizes
    from .report import RENDERERS

    sys.stdout.write(RENDERERS[settings.format](find_sizes(settings.folders)))


def _write_page(folders: Sequence[str], path: str) -> None:
    from rich.filesize import decimal

    from corpusmill.transforms.files.write_files import write_whole

    from .html_report.make_report import make_report

    page = make_report(folders).encode("utf-8")
    write_whole(path, page)
    print(f"written: {path} ({decimal(len(page))})")


def add_verify(commands: Commands) -> None:
    """Checks that finished builds are complete and that no entity is in two splits.

    examples:
      Everything below a folder, all languages together:
        corpusmill verify corpora
      Two builds, which may have different dates: each entity must be in the same split in both
        corpusmill verify corpora/wiki40b/{en,uk}/20261101-1.3.0 --report found.tsv
      On a cluster:
        corpusmill verify gs://corpora --report gs://corpora/verified.tsv --runner DataflowRunner …
      One Billion Word, against the published MD5 sums:
        corpusmill verify corpora/lm1b/en-perl-5.14 --md5 README.corpus_generation_checkpoints
      The same, with a folder of the original files, to show the first differing line of each file:
        corpusmill verify corpora/lm1b/en-perl-5.14 --md5 LIST --reference r13output

    what is checked:
      COMPLETED matches manifest.json, whose values can be those of a build; there are no links
      each file has the size, SHA-256 and number of rows in the manifest; there are no other files
      CURRENT in the folder above builds names one of them, and README.md in that folder matches them
      the files of each split contain as many documents as the manifest says
      no entity is in two splits, in all languages and dates
      with --md5: each listed shard exists, and each file of the build has the listed MD5 sum

    Exit status: 0 no fault, 1 a fault or no build, 2 wrong settings.
    """
    about = "checks that finished builds are complete, and that no entity is in two splits"
    parser = add_command(commands, "verify", about, add_verify.__doc__, _run_verify)
    add_folders(parser, "finished builds, or folders with builds below")
    sums = Flags(parser, "One Billion Word")
    sums.text(
        "--md5",
        "LIST",
        "list of MD5 sums of the original scripts' output, as published or as printed by md5sum; DIR must"
        " contain one build of lm1b",
    )
    sums.text(
        "--reference",
        "FOLDER",
        "the original scripts' output, or the unpacked release, to show the first differing lines",
    )
    Flags(parser).text(
        "--report",
        "FILE.tsv",
        "file for all checks and findings; only the first 20 findings are printed",
    )
    add_json(parser)
    add_runner(parser)


def _run_verify(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from . import verify

    how = {**runner_of(settings, beam_flags), "report": settings.report}
    if settings.reference and not settings.md5:
        raise ValueError("--reference needs --md5 LIST")
    sums = {"md5_list": settings.md5, "reference": settings.reference}
    verdict = verify.verify(settings.folders, **sums, **how)
    if settings.json:
        print(verify.to_json_line(verdict))
    else:
        verify.print_verdict(verdict, settings.report)
    return 0 if verdict.is_sound else 1


def add_contamination(commands: Commands) -> None:
    """Finds the items of evaluation sets that occur in training data, with the passages.

    examples:
      FLORES sentences in a build of Wiki-40B:
        corpusmill contamination --train corpora/wiki40b/uk --eval flores101_dataset#ukr
      Held-out sentences of One Billion Word in its training shards:
        corpusmill contamination --train corpora/lm1b/en --eval corpora/lm1b/en
      Questions and contexts in web text, both from files of other tools:
        corpusmill contamination --train 'web/*.jsonl.gz' --eval 'squad/*.parquet#question,context'

      A new edition of a build, without the passages that share 13 words in a row with a sentence:
        corpusmill contamination --train corpora/wiki40b/uk --eval flores101_dataset#ukr \\
          --output found --remove passages --editions corpora
      Copies of Parquet files, with the same columns, without the documents that have an item:
        corpusmill contamination --train 'web/*.parquet' --eval squad.json \\
          --output found --remove documents --editions clean

    training data and evaluation sets may be:
      a finished build, or a folder with builds below   --train reads the split train, --eval all other splits
      a folder with the layout of FLORES   devtest/ukr.devtest; DIR#ukr,vie selects languages
      a common evaluation set   MMLU, SQuAD, ARC …, known by its fields (docs/contamination.md); or its folder
      Parquet, Arrow, CSV, JSON   FILE#COLUMN,COLUMN names the columns with texts (default: text)
      text files   each line is a text; with --whole-files, each file of the training data is a text
      NAME=PATH gives a set a name; FILE may be a pattern; files may be .gz, .bz2, .xz or .zst

    how texts are compared:
      word by word, in lower case, without punctuation, in NFKC; “Don’t” is the two words don and t
      an item is found by 8 equal words in a row (--ngram-words), or half of its words; a few may differ
      in scripts without spaces, two Han characters or four other letters count as a word
      items with fewer than 8 words of two letters cannot be searched: they are counted as too short

    tiers of items and passages:
      copied   70 % of the words of the item that are not common text, with no gap of more than 3 words
      partly   13 of these words in a row, or half of them
      common   less, or words that more than 5 documents have, such as a famous quotation or a template

    what you get, with --output, in <output>/:
      found.jsonl      each item that was found, with passages of documents (docs/contamination.md)
      found.html       the same as a page: items and passages side by side
      hits-*.parquet   passages with 13 words in a row or half of an item, in all documents, with their tier
      stats.json       the counts
      manifest.json README.md COMPLETED
    and with --remove, in <editions>/, new builds, or a folder files-without-… with the copies in data/;
    both have removed-*.parquet, the list of removed texts

    Exit status: 0 if no item was copied; 1 if one was, or if no text can be read from an input; 2 wrong
    settings.
    """
    about = "finds items of evaluation sets in training data"
    parser = add_command(
        commands, "contamination", about, add_contamination.__doc__, _run_contamination
    )
    flags = Flags(parser)
    flags.files("--train", "training data (see below)", "DATA", required=True)
    flags.files("--eval", "evaluation sets (see below)", "SET", required=True)
    flags.text("--output", "DIR", "new folder for the findings, on a disk that all workers share")
    flags.number("--ngram-words", "number of words in a row that are a match", NGRAM_WORDS)
    flags.number("--passages", "maximum number of passages per item in the report", PASSAGES)
    flags.text(
        "--train-id",
        "COLUMN",
        "column with the ids of training documents in Parquet and JSON lines (default: id)",
    )
    flags.text(
        "--eval-id", "COLUMN", "column with the ids of items in evaluation sets (default: id)"
    )
    flags.choice(
        "--remove",
        ("", "documents", "passages"),
        "write --train again without the documents or passages in hits-*.parquet: new editions of builds,"
        " copies of Parquet files and JSON lines",
        metavar="{documents,passages}",
    )
    flags.choice(
        "--remove-tier",
        ("copied", "partly", "common"),
        "with --remove, remove hits of this tier and of the tiers before it: copied, partly, common",
    )
    flags.text("--editions", "DIR", "parent folder of what --remove writes")
    flags.switch("--whole-files", "read each text file of the training data as one document")
    add_json(parser)
    add_runner(parser)


def _run_contamination(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from .cleaned_build import find_removable, write_editions
    from .contamination import find_contamination, print_contamination, summarise

    if bool(settings.remove) != bool(settings.editions) or (
        settings.remove and not settings.output
    ):
        raise ValueError("--remove needs --editions and --output, and --editions needs --remove")
    passages = settings.remove == "passages"
    reading = settings.train_id, settings.whole_files
    removable = settings.train if settings.remove else ()
    sources = find_removable(removable, *reading, passages=passages)
    search = Search(**{name: vars(settings)[name] for name in Search._fields})
    how = runner_of(settings, beam_flags)
    found = find_contamination(search, settings.output, **how)
    if settings.json:
        print(json.dumps(summarise(found), ensure_ascii=False))
    else:
        print_contamination(found, settings.output)
    how |= {"as_json": settings.json, "passages": passages, "tier": settings.remove_tier}
    write_editions(sources, settings.output, settings.editions, **how)
    return 1 if found.total.copied else 0


def add_overlap(commands: Commands) -> None:
    r"""Finds near-duplicate documents in or between data sets.

    examples:
      Near-duplicates among the articles of a build:
        corpusmill overlap corpora/wiki40b/uk --output found
      Articles of a build that are also in web text:
        corpusmill overlap corpora/wiki40b/uk --with 'web/*.jsonl.gz' --similarity 0.5 --output found
      A new edition of PG-19 without near-duplicates of books in SimpleBooks:
        corpusmill overlap corpora/pg19 --with corpora/simplebooks --output found \
          --drop-from first --editions corpora

    data sets may be:
      a finished build of documents, or a folder with builds below; all splits are read
      Parquet, Arrow, CSV, JSON   FILE#COLUMN names the column with texts (default: text)
      NAME=PATH gives a data set a name

    Pairs of documents whose MinHash signatures have an equal band are candidates. For each candidate, the
    similarity is computed from all 8-grams of words, in lower case and without punctuation. About 2 % of the
    pairs with a similarity of exactly --similarity may be missed.

    what you get, in <output>/:
      pairs-*.parquet pairs-*.jsonl   data set, id and split of both documents, similarity, cluster
      stats.json                      number of documents with a near-duplicate, by data set and split
      manifest.json README.md COMPLETED
    and with --drop-from, in <editions>/, new builds, or a folder files-without-… with the copies in data/;
    both have removed-*.parquet, the list of dropped documents

    Exit status: 0 done, 1 an input cannot be read, 2 wrong settings.
    """
    about = "finds pairs of near-duplicate documents"
    parser = add_command(commands, "overlap", about, add_overlap.__doc__, _run_overlap)
    parser.add_argument("data_sets", nargs="+", metavar="DATA", help="data sets (see below)")
    flags = Flags(parser)
    flags.files(
        "--with",
        "compare DATA only with these data sets, not with each other",
        "DATA",
        dest="others",
    )
    flags.text("--output", "DIR", "new folder, on a disk that all workers share", required=True)
    flags.text(
        "--similarity", "S", "least similarity of near-duplicates (default 0.8)", default="0.8"
    )
    flags.text("--id-column", "COLUMN", "column with the ids of documents (default: id)")
    flags.text("--with-id", "COLUMN", "the same for --with (default: as --id-column)")
    flags.choice(
        "--drop-from",
        ("", "first", "second"),
        "write DATA (first) or --with (second) again, without near-duplicates: new editions of builds, copies"
        " of Parquet files and JSON lines. Without --with, one document of each cluster is kept",
        metavar="{first,second}",
    )
    flags.text("--editions", "DIR", "parent folder of what --drop-from writes")
    add_runner(parser)


def _run_overlap(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from .cleaned_build import find_removable, write_editions
    from .overlap import Comparison, find_overlap, print_overlap

    comparison = Comparison(**{name: vars(settings)[name] for name in Comparison._fields})
    side, how = settings.drop_from, runner_of(settings, beam_flags)
    if side == "second" and not settings.others:
        raise ValueError("--drop-from second needs --with")
    if bool(side) != bool(settings.editions):
        raise ValueError("--drop-from needs --editions, and --editions needs --drop-from")
    changed = {"": (), "first": settings.data_sets, "second": settings.others}[side]
    sources = find_removable(changed, settings.id_column, passages=False)
    find_overlap(comparison, settings.output, **how)
    print_overlap(settings.output, settings.similarity)
    kept = side if settings.others else ""
    write_editions(sources, settings.output, settings.editions, side=kept, **how)


def add_harness(commands: Commands) -> None:
    r"""Writes task files for lm-evaluation-harness, which evaluate a model on finished builds.

    examples:
      Tasks of all languages, and a run of one task:
        corpusmill harness corpora/wiki40b --output tasks
        lm_eval --include_path tasks --tasks corpusmill_wiki40b_uk_test \
          --model hf --model_args pretrained=gpt2
      Tasks that others can run, for a data set on the Hugging Face hub:
        corpusmill harness corpora/wiki40b --output tasks --repo me/wiki40b
      Translation tasks from and into English, of `flores101 package --layout flores+` or `adopt flores101`:
        corpusmill harness corpora/flores101 --output tasks --split devtest --model spm.model

    For each edition at or below DIR, the current build is used; without a current build, the newest one. The
    task measures word perplexity, byte perplexity and bits per byte of a whole split. It uses the build's own
    counts of words and bytes, so the results equal those of `corpusmill score`. With --limit of the harness,
    the results are only estimates. The tag corpusmill_wiki40b selects the tasks of all languages.

    Translations are scored with spBLEU and chrF++, as by `corpusmill score spbleu`. Examples for the prompt
    (--num_fewshot) are from the split dev.
    """
    about = "writes task files for lm-evaluation-harness from finished builds"
    parser = add_command(commands, "harness", about, add_harness.__doc__, _run_harness)
    add_folders(parser, "builds, or folders with builds below")
    flags = Flags(parser)
    flags.text("--output", "DIR", "folder for the task files", required=True)
    flags.text("--split", "SPLIT", "split of the builds (default %(default)s)", default="test")
    flags.text("--repo", "REPO", "data set on the hub that contains the builds: owner/name")
    model = "SentencePiece model of spBLEU (default: that of sacrebleu's tokenizer flores101)"
    flags.text("--model", "FILE", model)


def _run_harness(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from .share_builds import write_tasks

    given = settings.split, settings.repo, settings.model
    for name in write_tasks(settings.folders, settings.output, *given):
        print(name)


def add_publish(commands: Commands) -> None:
    """Uploads finished builds to a data set on the Hugging Face hub, one commit per edition.

    examples:
      A list of the files to upload:
        corpusmill publish hub me/wiki40b corpora/wiki40b --dry-run
      All languages, or one language:
        export HF_TOKEN=hf_...
        corpusmill publish hub me/wiki40b corpora/wiki40b
        corpusmill publish hub me/wiki40b corpora/wiki40b/el

    For each edition at or below DIR, the current build is uploaded; without a current build, the newest one.
    Builds made with --limit are left out, unless DIR is the folder of the build itself. The command uploads
    all files of the build, and a README.md. The README.md lets `datasets` load each edition
    by name:
      datasets.load_dataset("me/wiki40b", "uk")

    Each file is first compared with the manifest: a damaged build is not uploaded, nor one with other files
    in its folder, hidden files, or links. After an interruption, run the same command again; files that the
    hub already has are not uploaded again. Builds uploaded before are kept, and so is a README.md that
    corpusmill did not write. The data set must exist; HF_TOKEN must have write access to it.

    Exit status: 0 done, 1 damaged build or an error of the hub, 2 wrong settings or no token.
    """
    about = "uploads finished builds to a data set on the Hugging Face hub"
    parser = add_command(commands, "publish", about, add_publish.__doc__, _run_publish)
    parser.add_argument("where", choices=["hub"], help="the Hugging Face hub")
    parser.add_argument("repo", metavar="REPO", help="name of the data set: owner/name")
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).switch(
        "--dry-run", "only list the files and their sizes, without connecting to the hub"
    )


def _run_publish(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from rich.filesize import decimal

    from corpusmill.transforms.files.terminal import count_of, draw

    from .share_builds import plan, publish

    editions = plan(settings.folders)
    if settings.dry_run:
        files = [file for edition in editions for file in edition.files]
        rows = [(file.place, f"{file.bytes:,}") for file in files]
        total = count_of(len(files), "file"), f"{sum(file.bytes for file in files):,}"
        print(draw(("file", "bytes"), rows, numbers=1, total=total), end="")
        return
    for one in publish(settings.repo, editions):
        done = f"{one.files:,} files, {decimal(one.bytes)}: {one.commit}"
        print(f"{one.edition.folder}: {done if one.commit else 'already uploaded'}", flush=True)
