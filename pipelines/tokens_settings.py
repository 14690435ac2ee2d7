"""Settings of token files."""

import dataclasses
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Release
from corpusmill.transforms.files.builds.manifest_schema import check_name

CORPUS = "tokens"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
TEXTS = ("stored", "plain")


@dataclasses.dataclass(frozen=True)
class TokensConfig:
    """The settings of a build of token files. Invalid settings raise ValueError."""

    build: str  # folder of a finished build
    tokenizer: str = ""  # a SentencePiece model or tokenizer.json; "" is the model of the build
    name: str = ""  # the tokenizer's name in the edition's name; "" takes the name of its file
    column: str = ""  # column with the text; "" is the usual column of the corpus
    text: str = "stored"  # "stored" is unchanged, "plain" is without the markers of articles
    eos: str = ""  # the token after each document; "" is the usual token of the tokenizer

    def __post_init__(self) -> None:
        if self.text not in TEXTS:
            raise ValueError(f"`text` must be one of {', '.join(TEXTS)}, not {self.text!r}")
        check_name("`name`", self.name)

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish token files made with the same build and tokenizer."""
        return {"column": self.column, "text": self.text, "eos": self.eos}


ORIGINAL = {"column": "", "text": "stored", "eos": "", "tokenizer": ""}
