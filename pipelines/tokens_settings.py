"""Settings of token files."""

import argparse
import dataclasses
import functools
from collections.abc import Sequence

from corpusmill.pipelines.run import flags
from corpusmill.pipelines.run.settings import EDITION, Config, Group, settings_of
from corpusmill.transforms.files.builds.manifest import Release, check_name

CORPUS = "tokens"
VERSION = "1.0.0"
RELEASE = Release(CORPUS, VERSION, {"1.0.0": "First build."})


SETTINGS = Group()


@dataclasses.dataclass(frozen=True)
class TokensConfig(Config):
    """The settings of a build of token files. Invalid settings raise ValueError."""

    doubts = ()

    build: str = SETTINGS.setting()  # folder of a finished build
    tokenizer: str = SETTINGS.setting(
        "",
        "a SentencePiece model, or tokenizer.json of Hugging Face (default: the model in the build)",
        metavar="FILE",
    )
    name: str = SETTINGS.setting(
        "",
        "name of the tokenizer, as part of the name of the output folder (default: that of its file)",
        check=check_name,
    )
    column: str = SETTINGS.setting(
        "", "column with the text (default: that of the corpus)", part_of=EDITION, metavar="NAME"
    )
    text: str = SETTINGS.setting(
        "stored",
        "stored: the text as it is in the build (default); plain: articles without markers",
        part_of=EDITION,
        choices=("stored", "plain"),
    )
    eos: str = SETTINGS.setting(
        "",
        "token after each document (default: </s>, <|endoftext|> or a similar token of the tokenizer)",
        metavar="TOKEN",
    )


def add(parser: argparse.ArgumentParser) -> None:
    r"""Makes token files from finished builds, in the format of Megatron-LM.

    examples:
      With the SentencePiece model of the build:
        corpusmill tokenize corpora/wiki40b/uk --output corpora
      With a Hugging Face tokenizer, and articles without markers:
        corpusmill tokenize corpora/wiki40b/en --tokenizer gpt2/tokenizer.json \
          --text plain --output corpora
      All languages, with one vocabulary over all of them:
        corpusmill tokenize corpora/wiki40b --output corpora \
          --tokenizer corpora/subwords/*/*/sentencepiece.model --name multilingual

    For each edition at or below DIR, the current build is used; without a current build, the newest one. Each
    document ends with the token --eos. Special tokens in the text are not recognised: "</s>" in an article is
    text. Documents are in the order of the build's files; Megatron-LM shuffles them.

    what you get for each build, in <output>/tokens/<corpus>-<edition>/<dump date>-<version>/:
      train.bin train.idx       for --data-path <this folder>/train; the same for other splits
      train-rows.parquet        for each document: first_token, end_token, and file, row and id in the build
      tokenizer.model or .json  the tokenizer
      stats.json                documents, tokens, bytes of text, unknown tokens
      manifest.json README.md COMPLETED

    Exit status: 0 done, 1 bad input, 2 wrong settings.
    """
    flags.describe(parser, add.__doc__, _run)
    flags.add_folders(parser, "finished builds, or folders with builds below")
    flags.add_build(parser, TokensConfig)
    parser.set_defaults(extras=[])


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.run.corpora import shapes
    from corpusmill.pipelines.run.editions import choose_builds
    from corpusmill.transforms.files.errors import end_if_failed

    from . import batch
    from .tokens import Tokens

    chosen = choose_builds(
        settings.folders,
        lambda one: one.corpus in shapes() and bool(one.format) and any(one.files.values()),
        "documents in train, validation or test, the splits that are tokenised,",
        limited=True,
    )
    configs = [TokensConfig(one.folder, **settings_of(TokensConfig, settings)) for one in chosen]

    def launch(corpus: Tokens) -> object:
        return flags.launch_build(corpus, settings, beam_flags)

    if len(configs) == 1:
        launch(Tokens(configs[0]))
        return
    named = []
    for config in configs:
        make = functools.partial(Tokens, config)
        target = FileSystems.join(settings.output, *make().path)  # wrong settings are errors here
        named.append(batch.NamedBuild(config.build, target, make, launch))
    if settings.dry_run:
        batch.look_ahead(named, (), missing_is_failure=True)
        return
    outcomes = batch.run_batch(named, replace=settings.replace)
    if not settings.json:
        print(batch.describe_outcomes(outcomes), end="")
    failed = [one.label for one in outcomes if one.status == batch.FAILED]
    end_if_failed(failed, len(outcomes), "builds failed")
