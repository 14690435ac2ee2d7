r"""Trains a SentencePiece vocabulary over many languages (Goyal et al. 2022, 5.2).

examples:
  256,000 pieces over all corpora that were built, as in the FLORES-101 paper:
    corpusmill subwords --corpora corpora --evaluate flores101 --output corpora
  With text of our own, a sentence a line, and a small vocabulary:
    corpusmill subwords --corpora corpora/wiki40b 'sw=texts/sw-*.txt.gz' --size 32000 \
      --sentences 10000000 --output corpora

Of N sentences, but no more than all languages have, a language that has n of all gives a share proportional
to (n / all)^(1 / temperature). Where it has fewer than that, each is taken equally often, and those with
the smallest fingerprints once more; where more, those with the smallest fingerprints. Sentences are lines
of files, and those of train of builds of Wiki-40B, One Billion Word, PG-19 and SimpleBooks, of each edition
the newest. Several corpora of one language are one. One worker trains, from words and their counts; no one
holds the text. To find its first candidates, the trainer writes each word out as often as it counts, 500 MB
at a time: of 100 million sentences that is more than 10 GB of text, and tens of minutes (estimated, not
measured).

FLORES is for --evaluate: a vocabulary that has seen it measures nothing.

what you get, in <output>/subwords/multilingual-<languages>-<size>/<newest dump date>-<version>/:
  sentencepiece.model   for `corpusmill score spbleu --model`, or sentencepiece.SentencePieceProcessor
  sentencepiece.vocab   the pieces and their scores, to be read
  stats.json            per language: sentences, sampled ones, pieces and unknown ones of what was held out
  rejected/ manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

from pipelines.commands.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "corpora of many languages → one SentencePiece vocabulary, by temperature sampling"
    parser = add_command(commands, "subwords", about, __doc__)
    corpora = Flags(parser)
    corpora.files(
        "--corpora",
        "finished builds or folders above some; with a language also files, a sentence a line",
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
