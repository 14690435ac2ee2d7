r"""Trains one SentencePiece vocabulary for many languages (Goyal et al. 2022, section 5.2).

examples:
  256,000 pieces for all corpora that were built, as in the FLORES-101 paper:
    corpusmill subwords --corpora corpora --evaluate flores101 --output corpora
  With your own text, one sentence per line, and a small vocabulary:
    corpusmill subwords --corpora corpora/wiki40b 'sw=texts/sw-*.txt.gz' --size 32000 \
      --sentences 10000000 --output corpora

how sentences are sampled: --sentences is the size of the sample (at most the number of all sentences). The
share of a language in it is proportional to (its sentences / all sentences)^(1 / temperature). If a language
has more sentences than its share, those with the smallest fingerprints (hashes) are used. If it has fewer,
its sentences are repeated: all of them equally often, except that those with the smallest fingerprints may be
used once more. Sentences are the lines of files, and the sentences in the split train of Wiki-40B, One
Billion Word, PG-19 and SimpleBooks, from the newest build of each edition. Several corpora of one language
are combined.

how the vocabulary is trained: by one worker, from words and their counts; no worker has the whole text in
memory. To find the first candidates for pieces, the trainer writes out each word as often as it occurs, 500
MB at a time. For 100 million sentences this is more than 10 GB of text, and takes tens of minutes (estimated,
not measured). Use FLORES only for --evaluate: a vocabulary learned from it cannot be evaluated on it.

what you get, in <output>/subwords/multilingual-<languages>-<size>/<newest dump date>-<version>/:
  sentencepiece.model   for `corpusmill score spbleu --model`, or sentencepiece.SentencePieceProcessor
  sentencepiece.vocab   the pieces and their scores, as text
  stats.json            per language: sentences, sampled sentences, pieces and unknown pieces of held-out text
  rejected/ manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command `corpusmill subwords` to the parser."""
    about = "trains one SentencePiece vocabulary for many languages, with temperature sampling"
    parser = add_command(commands, "subwords", about, __doc__)
    corpora = Flags(parser)
    corpora.files(
        "--corpora",
        "finished builds, or folders with builds below; or LANG=FILE for a file with one sentence per line",
        "[LANG=]PATH",
        required=True,
    )
    add_output(parser)
    corpora.files(
        "--evaluate",
        "data sets with the layout of FLORES (devtest/ukr.devtest), to count unknown tokens in",
        "DIR",
    )
    corpora.dump_date("the date of the newest build")
    sample = Flags(parser, "sample of sentences")
    sample.number(
        "--temperature",
        "1 keeps the proportions of the languages; higher values make their shares more equal",
        "5",
        metavar="T",
    )
    sample.number("--sentences", "maximum number of sentences of all languages", 100_000_000)
    sample.number("--seed", "seed of the choice of sentences", 0)
    sample.number(
        "--min-count", "to save memory, leave out words that occur less often in the sample", 1
    )
    model = Flags(parser, "vocabulary")
    model.number("--size", "number of pieces", 256_000)
    model.number(
        "--character-coverage",
        "share of the text whose characters must have a piece",
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
        "spell characters without a piece in bytes, so that there are no unknown tokens",
    )
    add_runner(parser)
