r"""Makes an n-gram model of a finished build, and scores what was held out with it.

examples:
  5-grams of One Billion Word, as in its paper:
    corpusmill ngrams --corpus corpora/lm1b/en/2007-2011-1.1.0 --output corpora
  3-grams; those of three words must be there twice:
    corpusmill ngrams --corpus corpora/wiki40b/uk/20261101-1.5.0 --output corpora \
      --order 3 --prune 0 0 1

The model is the one that KenLM's lmplz makes of the same lines (interpolated modified Kneser-Ney smoothing,
Chen and Goodman 1998), and need not fit into memory: n-grams wait in files.

Sentences are those of One Billion Word; lines of SimpleBooks; lines of Wiki-40B with its markers, which are
words; paragraphs of PG-19. Words stand between blanks. A word that train has less often than --min-count is
<unk>; by default 3 times in One Billion Word, as in its paper, and once in others. --prune takes a count
for each order, as lmplz has it: n-grams that are not more frequent are left out; the last one holds for the
orders that follow. Where a text has too few n-grams, discounts are those of lmplz --discount_fallback.
--smoothing stupid-backoff takes relative frequencies, and 0.4 of those of the shorter n-gram where there is
none, over their sum for all words, as the One Billion Word paper does.

Documents of other splits are scored. Of One Billion Word and SimpleBooks, whose papers predict the ends of
sentences, each has a list, with a number for each word and each end; of others it has one number.

what you get, in <output>/ngrams/<corpus>-<edition>/<date>-<version>/:
  model.arpa                      for KenLM, SRILM and others
  log-likelihoods/test.parquet    for `corpusmill score perplexity --log-likelihood FILE`, or bpc
  stats.json                      n-grams, discounts, perplexity of each split
  manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

from pipelines.commands.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "a finished build → an n-gram model (ARPA), and log-likelihoods of what was held out"
    parser = add_command(commands, "ngrams", about, __doc__)
    flags = Flags(parser)
    flags.text("--corpus", "DIR", "a finished build", required=True, default=None)
    add_output(parser)
    flags.files("--splits", "splits to score (default: all but train)", "SPLIT")
    model = Flags(parser, "the model")
    model.number("--order", "words of the longest n-grams, 1 to 5", 5)
    model.choice(
        "--smoothing",
        ("kneser-ney", "stupid-backoff"),
        "modified and interpolated (default), or Stupid Backoff, normalised",
    )
    model.number(
        "--min-count", "of words of the vocabulary; 0: 3 of One Billion Word, 1 of others", 0
    )
    model.files(
        "--prune", "leave out n-grams with such a count, for each order: 0 0 1", "N", type=int
    )
    add_runner(parser)
