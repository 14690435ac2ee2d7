r"""Makes a build of a corpus in the form in which it was released. No text is changed.

examples:
  Wiki-40B in Ukrainian, from the folder of the Hugging Face hub, or from the files of TensorFlow Datasets:
    corpusmill adopt wiki40b wiki40b/uk --output corpora
    corpusmill adopt wiki40b tensorflow_datasets/wiki40b/uk --output corpora
  One Billion Word, which is then compared with the published MD5 sums of its shards:
    corpusmill adopt lm1b --output corpora \
      1-billion-word-language-modeling-benchmark-r13output.tar.gz
    corpusmill verify corpora/lm1b/en-released --md5 LIST
  PG-19, SimpleBooks and FLORES-101, FLORES-200 or FLORES+:
    corpusmill adopt pg19 deepmind-gutenberg --output corpora
    corpusmill adopt simplebooks simplebooks.zip --output corpora
    corpusmill adopt flores101 flores200_dataset.tar.gz --output corpora
  A part of a release, here of FLORES-101 without its split dev:
    corpusmill adopt flores101 flores101_dataset --partial --output corpora

SOURCE is a folder or an archive. Its layout is found by the names of the files (docs/adopt.md). Values that
were published as bytes in the notation of Python, as in Wiki-40B outside English, are decoded.

what is an error, which names the files:
  a split, shard, language or book that is missing, unless --partial is given; the card, the manifest and the
  name of the edition then say that the build is a part
  a file that is not part of the release, unless --ignore names it
  two layouts, several languages of Wiki-40B without --language, repeated files, books, sentences or rows
  an archive or a file that is damaged or truncated, or text that is not UTF-8

what you get, in <output>/<corpus>/<language>-released/<date>-<version>/:
  the rows of each split, in the order of the release, as Parquet and TFRecord (other formats: --formats)
  stats.json manifest.json README.md COMPLETED; of One Billion Word also the text files and their MD5 sums

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

import argparse
import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run import flags
from corpusmill.pipelines.run.settings import Config, Group, language_code, settings_of
from corpusmill.transforms.files.builds.ledger import EMPTY_TRAIN
from corpusmill.transforms.files.builds.manifest import Release

CORPORA = ("wiki40b", "lm1b", "pg19", "simplebooks", "flores101")
VERSION = "1.0.0"
RELEASED = Release("", VERSION, {"1.0.0": "First."})
SEVERAL = "mul"  # code of several languages in ISO 639-2
LITERALS = "bytes_notation"  # name of the count of values in the notation of bytes
INPUTS = Group("inputs")


@dataclasses.dataclass(frozen=True)
class AdoptConfig(Config):
    """The settings of a build that is made of a released corpus. Invalid settings raise ValueError."""

    corpus: str = INPUTS.setting(choices=CORPORA)
    source: str = INPUTS.setting()
    language: str = INPUTS.setting(
        "",
        "code of the language, if SOURCE has several languages of Wiki-40B, or names none",
        metavar="CODE",
        type=language_code,
    )
    partial: bool = INPUTS.setting(
        False, "adopt the files that are there, although others of the release are missing"
    )
    ignore: Sequence[str] = INPUTS.setting(
        (), "names or patterns of files in SOURCE that are not part of the release", metavar="NAME"
    )
    dump_date: str = INPUTS.dump_date("the year of the release")
    formats: str = Group().formats()


def add_adopt(commands: flags.Commands) -> None:
    """Adds the command to a parser."""
    about = "makes a build of a corpus in the form in which it was released"
    parser = flags.add_command(commands, "adopt", about, __doc__, _run)
    parser.add_argument("corpus", metavar="CORPUS", choices=CORPORA, help=", ".join(CORPORA))
    parser.add_argument("source", metavar="SOURCE", help="folder or archive of the release")
    flags.add_build(parser, AdoptConfig)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from .adopt_corpora import adopted

    corpus = adopted(AdoptConfig(**settings_of(AdoptConfig, settings)))
    if settings.partial:  # the split train may be missing
        settings.accept = (*settings.accept, EMPTY_TRAIN)
    flags.launch_build(corpus, settings, beam_flags)
