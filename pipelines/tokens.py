"""Token files for training with Megatron-LM, made from finished builds.

The files have the format of indexed_dataset.py in Megatron-Core. The input is a finished build of any corpus
with text.
"""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpora import layout_of, shape_of
from corpusmill.pipelines.run.corpus_build import BuildOfBuild, Place, Stage
from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.manifest import check_name, name_edition
from corpusmill.transforms.files.read_files import InputError, file_bytes_of
from corpusmill.transforms.models import token_ids, write_tokens
from corpusmill.transforms.models.token_ids import DESCRIPTION, account_for_tokens, type_of_ids
from corpusmill.transforms.models.train_pieces import MODEL_KIND

from .tokens_settings import RELEASE, TokensConfig

ROLES = {"sentencepiece": MODEL_KIND, "huggingface": "huggingface-tokenizer"}
COPIES = {"sentencepiece": "tokenizer.model", "huggingface": "tokenizer.json"}


class Tokenized(NamedTuple):
    """The results of the stage "tokenize". The tokens themselves are in files."""

    pieces: beam.PCollection  # of TokenPiece
    ledger: beam.PCollection  # of Entry


class Tokens(BuildOfBuild):
    """A build of token files from a finished build."""

    config: TokensConfig
    release = RELEASE
    description = DESCRIPTION

    def __init__(self, config: TokensConfig):
        """Finds and checks the inputs.

        Raises InputError if the build or the tokenizer is missing or damaged. Raises ValueError for settings
        that are not possible with this build or tokenizer.
        """
        self.config = config
        self.build = finished_builds.open_build(config.build)
        layout, shape = layout_of(self.build.manifest), shape_of(self.build.manifest)
        if not (self.build.format and any(self.build.files.values())) or not shape:
            raise InputError(
                config.build, f"builds of {self.build.corpus} have no documents to tokenise"
            )
        if config.text == "plain" and not (layout and layout.paragraphs == "article"):
            raise ValueError(
                f"--text plain cannot be used: texts of {self.build.corpus} have no markers to remove"
            )
        self.tokenizer_path = config.tokenizer or _own_model(self.build)
        tokenizer = write_tokens.open_tokenizer(self.tokenizer_path)
        self.tokenizer_kind, self.size = tokenizer.kind, tokenizer.size
        self.end = token_ids.find_end(tokenizer, config.eos)
        self.libraries = ("tokenizers",) if self.tokenizer_kind == "huggingface" else ()
        self.has_markers = bool(
            layout and layout.paragraphs == "article" and config.text != "plain"
        )
        column = config.column or (layout.column if layout else shape.texts[0])
        paths = [file.path for file in finished_builds.files_of(self.build)]
        if column not in (names := finished_builds.schema_of_files(paths).names):
            raise InputError(
                paths[0], f"there is no column {column}; the file has {', '.join(names)}"
            )
        self.source = write_tokens.TokenSource(
            tokenizer=self.tokenizer_path,
            eos=self.end.token,
            column=column,
            id=shape.id,
            is_plain=config.text == "plain",
        )

    @property
    def edition(self) -> str:
        """The name of the edition: the name of the input build, such as "wiki40b-uk", and the settings that
        are not defaults.
        """
        variant = {"tokenizer": self._tokenizer_name(), **self.config.variant()}
        name = f"{self.build.corpus}-{self.build.edition}"
        return name_edition(name, variant, {"tokenizer": "", **self.config.original()})

    def _tokenizer_name(self) -> str:
        if not self.config.tokenizer:
            return ""
        path = pathlib.PurePath(self.config.tokenizer)
        # Every Hugging Face tokenizer has the same file name, so the name of its folder is used.
        name = self.config.name or (path.stem if path.stem != "tokenizer" else path.parent.name)
        check_name("the name of the tokenizer (--name)", name)
        return name

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the total size of the input's Parquet files in bytes.

        It does not depend on `stripes`, the number of workers.
        """
        return sum(file_bytes_of(file.path) for file in finished_builds.files_of(self.build))

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: first tokenise row groups, then join the tokens into files."""
        return Stage("tokenize", self.tokenize), Stage("write", self.write)

    def tokenize(self, root: beam.Pipeline, place: Place) -> Tokenized:
        """Tokenises all documents of the input build."""
        pieces = root | "TokenizeRows" >> write_tokens.TokenizeRows(
            finished_builds.files_of(self.build), self.source, place.scratch
        )
        return Tokenized(pieces, self.open_ledger(root))

    def write(self, root: beam.Pipeline, place: Place, tokenized: Tokenized) -> None:
        """Writes the tokens to one file per split, in the order of the documents in the input build."""
        folder, pieces = place.folder, tokenized.pieces
        copy = COPIES[self.tokenizer_kind]
        role, size = ROLES[self.tokenizer_kind], self.size
        rows = {file.split: 0 for file in finished_builds.files_of(self.build)}
        for file in self.build.manifest["outputs"]:
            if file["format"] == self.build.format and file["split"] in rows:
                rows[file["split"]] += file["records"]
        self.close_ledger(
            folder,
            tokenized.ledger,
            account_for_tokens,
            outputs=[
                pieces | "WriteTokens" >> write_tokens.WriteTokens(folder, type_of_ids(self.size)),
                root
                | "Tokenizer" >> beam.Create([self.tokenizer_path])
                | "CopyTokenizer"
                >> beam.Map(write_tokens.copy_tokenizer, folder, copy, role, size),
            ],
            counted=pieces
            | "CountsOfPieces" >> beam.Map(lambda piece: (piece.file.split, piece.counts))
            | "AddUp" >> beam.CombinePerKey(write_tokens.add_counts)
            | "Named" >> beam.MapTuple(lambda split, counts: (split, counts._asdict())),
            expected=root | "Expected" >> beam.Create(sorted(rows.items())),
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns role → paths of the inputs: the tokenizer, and the manifest of the build.

        The other files of the build are not listed, because the manifest contains their hashes.
        """
        return {**super().inputs(), ROLES[self.tokenizer_kind]: [self.tokenizer_path]}

    def caveats(self) -> tuple[str, ...]:
        """Returns a caveat if the text has markers, such as `_START_ARTICLE_`, but the tokenizer has no
        special tokens for them.
        """
        if not self.has_markers or not self.config.tokenizer:
            return ()
        return (
            "The markers of articles (_START_ARTICLE_ and others) are in the text, and this tokenizer has no"
            " tokens of their own for them; `--text plain` takes them out.",
        )

    def settings(self) -> Mapping[str, Any]:
        return {
            **super().settings(),
            "column": self.source.column,
            "text": self.config.text,
            "tokenizer": {
                "kind": self.tokenizer_kind,
                "file": COPIES[self.tokenizer_kind],
                "size": self.size,
            },
            "eos": self.end.token,
            "eos_id": self.end.id,
            "token_type": type_of_ids(self.size),
        }

    def signature_settings(self) -> Mapping[str, str]:
        return {
            **super().signature_settings(),
            "tokenizer": self._tokenizer_name() or "own",
            **({"text": self.config.text} if self.config.text != "stored" else {}),
        }


def _own_model(build: finished_builds.Build) -> str:
    """Returns the path of the SentencePiece model of a build. Raises InputError if it has none."""
    for file in build.manifest["outputs"]:
        if file["format"] == MODEL_KIND:
            return finished_builds.path_below(build.folder, file["name"])
    raise InputError(
        build.folder,
        "the build has no SentencePiece model: give a model, such as one of corpusmill subwords, or a"
        " tokenizer.json with --tokenizer FILE",
    )
