r"""Trains a SentencePiece vocabulary over many languages (Goyal et al. 2022, 5.2).

examples:
  256,000 pieces for all corpora that were built, as in the FLORES-101 paper:
    corpusmill subwords --corpora corpora --evaluate flores101 --output corpora
  With your own text, one sentence per line, and a small vocabulary:
    corpusmill subwords --corpora corpora/wiki40b 'sw=texts/sw-*.txt.gz' --size 32000 \
      --sentences 10000000 --output corpora

Of N sampled sentences, at most as many as all languages have, a language with n of all sentences gets a share
proportional to (n / all)^(1 / temperature). If the language has fewer sentences, each is used equally often,
and those with the smallest fingerprints once more; if it has more, those with the smallest fingerprints are
used. Sentences are the lines of files, and the sentences in the split train of Wiki-40B, One Billion Word,
PG-19 and SimpleBooks, from the newest build of each edition. Several corpora of one language are combined.
One worker trains, from words and their counts; no worker holds the whole text. To find its first candidates,
the trainer writes each word out as often as it occurs, 500 MB at a time: for 100 million sentences that is
more than 10 GB of text, and tens of minutes (estimated, not measured).

Use FLORES only for --evaluate: a vocabulary learned from it cannot be evaluated on it.

what you get, in <output>/subwords/multilingual-<languages>-<size>/<newest dump date>-<version>/:
  sentencepiece.model   for `corpusmill score spbleu --model`, or sentencepiece.SentencePieceProcessor
  sentencepiece.vocab   the pieces and their scores, to be read
  stats.json            per language: sentences, sampled sentences, pieces and unknown pieces of held-out text
  rejected/ manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

from pipelines.commands.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "trains one SentencePiece vocabulary for many languages, with temperature sampling"
    parser = add_command(commands, "subwords", about, __doc__)
    corpora = Flags(parser)
    corpora.files(
        "--corpora",
        "finished builds or folders above some; with a language also files, one sentence per line",
        "[LANG=]PATH",
        required=True,
    )
    add_output(parser)
    corpora.files(
        "--evaluate",
        "data sets like FLORES (devtest/ukr.devtest) to measure unknown tokens on",
        "DIR",
    )
    corpora.dump_date("the date of the newest build")
    sample = Flags(parser, "what is learned from")
    sample.number(
        "--temperature", "1 keeps the sizes of languages, more evens them", "5", metavar="T"
    )
    sample.number(
        "--sentences", "of all languages, at most, and no more than there are", 100_000_000
    )
    sample.number("--seed", "of the choice of sentences", 0)
    sample.number(
        "--min-count", "leave out words that the sample has less often, where memory is short", 1
    )
    model = Flags(parser, "the model")
    model.number("--size", "pieces", 256_000)
    model.number(
        "--character-coverage",
        "of the text whose characters get pieces",
        0.9995,
        metavar="SHARE",
    )
    model.text(
        "--normalization",
        "RULE",
        "%(default)s (default), nfkc, nmt_nfkc_cf, nfkc_cf or identity",
        default="nmt_nfkc",
    )
    model.switch(
        "--byte-fallback",
        "spell characters without a piece in bytes: there is no unknown token then",
    )
    add_runner(parser)
