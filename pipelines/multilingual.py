r"""Trains multilingual SentencePiece vocabularies on finished builds of Wiki-40B.

examples:
  64k and 128k pieces over all languages that were built, as in the paper:
    corpusmill multilingual --corpora corpora --output corpora
  For three languages, from 20,000 articles of each:
    corpusmill multilingual --corpora corpora/wiki40b/uk corpora/wiki40b/pl corpora/wiki40b/cs \
      --sample-articles 20000 --vocabulary-sizes 48000 --output slavic

The newest finished build of each language is used. The vocabularies are learned from the first articles in
train, the same number for each language. One worker trains the vocabularies; the other workers count words.

what you get, in <output>/wiki40b/multilingual-<languages>/<newest dump date>-<version>/:
  sentencepiece/multilingual-64k.model   SentencePieceProcessor(model_file=…)
  sentencepiece/multilingual-64k.vocab   the pieces and their scores, as text
  stats.json                             pieces and characters: vocabulary → language → split
  manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command `corpusmill multilingual` to the parser."""
    about = "trains SentencePiece vocabularies over all languages of finished Wiki-40B builds"
    parser = add_command(commands, "multilingual", about, __doc__)
    flags = Flags(parser)
    flags.files("--corpora", "finished builds, or folders with builds below", "DIR", required=True)
    add_output(parser)
    flags.files(
        "--vocabulary-sizes",
        "number of pieces of each vocabulary (default 64000 128000)",
        "N",
        type=int,
        default=None,
    )
    flags.number("--sample-articles", "number of articles of each language to learn from", 10_000)
    add_runner(parser)
