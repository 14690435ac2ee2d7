"""Finds the SentencePiece model that spBLEU uses, and its name in the signatures of scores."""

import contextlib
import pathlib
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

from corpusmill.pipelines.translation.translation_scores import (
    RELEASED,
    RELEASED_PIECES,
    Pieces,
    check_is_whole,
)
from corpusmill.transforms.files.open_input import InputError, open_raw

DEFAULT_MODEL = "flores101"


def read_file(path: str, opener: Callable[[str], BinaryIO]) -> bytes:
    """Returns the contents of a file, which the function `opener` opens for reading.

    Raises InputError if the file is missing or is a folder.
    """
    try:
        with opener(path) as stream:
            return stream.read()
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "a folder, not a file") from None


class Model(NamedTuple):
    """A SentencePiece model on disk."""

    path: str
    name: str  # name in signatures
    sha256: str
    data: bytes
    warnings: tuple[str, ...]


def read_model(given: str) -> Model:
    """Reads a SentencePiece model, and finds its name for the signatures of scores.

    If sacrebleu can download the model, the name is the one that sacrebleu uses, such as "flores101". Such a
    model is recognised by its hash, or by its path in sacrebleu's folder. Some of these models, such as
    flores101, have no published hash. So a model that has the file name of one of them, and at least
    RELEASED_PIECES pieces, is assumed to be that model.

    Args:
      given: The path of a model, or the name of a model that sacrebleu has downloaded; "" for flores101.

    Raises InputError with an address for the download if there is no such model.
    """
    known = _sacrebleu_models()
    is_name = given in known or not given
    path = str(known[given or DEFAULT_MODEL][1]) if is_name else given
    if is_name and not pathlib.Path(path).is_file():
        which = "--model is not given, and " if not given else ""
        urls = "; ".join(f"{name}: {url}" for name, (url, _) in known.items())
        raise InputError(
            path,
            f"no such file: {which}sacrebleu has not downloaded this model. Download a model and give"
            f" it with --model FILE ({urls})",
        )
    data = read_file(path, open_raw)
    try:
        pieces = Pieces(data)
        check_is_whole(data)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    name, *warnings = _name_of(path, pieces, known)
    return Model(path, name, pieces.sha256, data, tuple(warnings))


def _sacrebleu_models() -> dict[str, tuple[str, pathlib.Path]]:
    """Returns the models that the installed sacrebleu knows, as name of the model → (URL, path).

    The name is the one in signatures of scores. The path is where sacrebleu stores the model that it has
    downloaded.
    """
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    folder = pathlib.Path(SACREBLEU_DIR, "models")
    return {
        model["signature"]: (model["url"], folder / model["url"].rsplit("/", 1)[1])
        for model in SPM_MODELS.values()
    }


def _name_of(
    path: str, pieces: Pieces, known: dict[str, tuple[str, pathlib.Path]]
) -> tuple[str, ...]:
    """Returns a tuple: the name of a model in the signatures of scores, then any warnings.

    If the model is, or seems to be, one that sacrebleu can download, the name is sacrebleu's name for it.
    Otherwise the name is made from the hash of the model.

    Args:
      path: The path of the model.
      pieces: The pieces of the model.
      known: The return value of `_sacrebleu_models`.
    """
    for name, (_, place) in known.items() if pieces.sha256 not in RELEASED else ():
        is_there = False
        with contextlib.suppress(OSError):
            is_there = place.samefile(path)
        looks_alike = place.name == pathlib.Path(path).name and pieces.count >= RELEASED_PIECES
        if is_there and name in RELEASED.values():
            return (
                name,
                f"{path}: has the path of sacrebleu's model {name}, but is a different model",
            )
        if is_there or (looks_alike and name not in RELEASED.values()):
            return (
                name,
                f"{path}: assumed to be {name} because of its path or name; SHA-256 {pieces.sha256}",
            )
    return (pieces.name,)
