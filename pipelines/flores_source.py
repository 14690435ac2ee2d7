r"""Draws sentences for a translation benchmark from dumps of English Wikimedia sites.

examples:
  The paper's size, 3,001 sentences from 842 articles, a third from each site:
    corpusmill flores101 source --wikinews enwikinews-20261101-pages-articles.xml.bz2 \
      --wikibooks enwikibooks-20261101-pages-articles.xml.bz2 \
      --wikivoyage enwikivoyage-20261101-pages-articles.xml.bz2 --seed 2026 --output corpora
  Another domain, and fewer sentences:
    corpusmill flores101 source --wikipedia 'enwiki-20261101-pages-articles*.xml.bz2' \
      --sentences 600 --output corpora
  Text that no model of 2025 has seen: your own news, and pages that are not in a dump of that year:
    corpusmill flores101 source --documents news=news-2026.jsonl.gz --newer-than news=2025-12-31 \
      --wikivoyage enwikivoyage-20261101-pages-articles.xml.bz2 \
      --newer-than wikivoyage=enwikivoyage-20251201-pages-articles.xml.bz2 \
      --sentences 900 --output corpora

what you get, in <output>/flores101/<edition>/<date>-<version>/:
  source.tsv      the sentences: id, split, article, domain, topic, has_image, has_hyperlink, url, text
  dev-*.parquet devtest-*.parquet test-*.parquet    the same sentences, by split
  rejected/       pages without a sentence, with the reason
  stats.json manifest.json README.md COMPLETED

how sentences are chosen: articles are ordered by a hash of seed, site and page id, so the result does not
depend on the order of the dump or the number of workers. From each article, 3 to 5 complete sentences in a
row are taken. They are in one paragraph, which is at the beginning, in the middle or at the end of the
article. None is short or malformed. All sentences of an article are in the same split. If the dumps have too
few articles, all suitable articles are used, and the build says how many are missing.

documents: each NAME in --documents NAME=FILE is a domain, like a site. Each domain has the same share of the
  sentences. With documents, the tables have a column licence, and README.md lists the licences. A malformed
  line or a repeated id is an error that names file and line; with --on-corrupt keep-good it is listed in
  rejected/.

topics: guessed from categories and titles. To correct them, edit a copy of source.tsv and build again with
--topics COPY; only the columns url and topic are read.

Then: corpusmill flores101 packets --help
"""

import functools

from corpusmill.pipelines.run.flags import (
    Commands,
    Flags,
    add_command,
    add_output,
    add_runner,
    build_corpus,
)
from corpusmill.pipelines.translation import flores101


def add(commands: Commands) -> None:
    """Adds the command `corpusmill flores101` to the parser."""
    flores101.add(commands, _add_source)


def _add_source(actions: Commands) -> None:
    """Adds the action `source` to `corpusmill flores101`."""
    about = "draw the sentences to translate from dumps, with metadata and splits"
    build = functools.partial(build_corpus, "flores101")
    parser = add_command(actions, "source", about, __doc__, build)
    dumps = Flags(
        parser,
        "inputs",
        "pages-articles files or patterns, on any file system of Beam's; at least one site",
    )
    dumps.files("--wikinews", "English Wikinews: published articles")
    dumps.files("--wikibooks", "English Wikibooks: pages of Wikijunior")
    dumps.files("--wikivoyage", "English Wikivoyage")
    dumps.files("--wikipedia", "English Wikipedia, which the paper does not use")
    dumps.files(
        "--documents",
        "your own documents, as another domain: JSON Lines with a document per line, with id, url,"
        " title, date"
        " (2026-05-04), licence and text; blank lines separate paragraphs; may be given more than once",
        "NAME=FILE",
        action="extend",
    )
    dumps.files(
        "--newer-than",
        "use only new text. For a site: pages that are not in an older dump (given by its"
        " pages-articles files"
        " or its page.sql.gz), or pages above a page id. For documents: those after a day. May be given more"
        " than once",
        "NAME=OLD",
        action="extend",
    )
    dumps.files("--topics", "tables with the columns url and topic, which override the guesses")
    dumps.dump_date('the newest date in the names of the dumps; "undated" if there is none')
    dumps.on_corrupt()
    choice = Flags(parser, "choice of sentences", "all are part of the signature of the build")
    choice.switch(
        "--all-wikibooks",
        "use all books of Wikibooks, as the released data does; the paper mentions only Wikijunior",
    )
    choice.number("--seed", "seed of the choice: another seed draws other sentences", 0)
    choice.number("--sentences", "number of sentences in all splits together", 3001)
    choice.number(
        "--articles",
        "number of articles that the sentences are taken from; default: in proportion to the paper's 842"
        " articles for 3,001 sentences",
    )
    add_output(parser)
    add_runner(parser)
