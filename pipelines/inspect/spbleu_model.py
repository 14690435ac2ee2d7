"""The SentencePiece model that spBLEU is computed with: where it lies, and what signatures call it."""

import contextlib
import pathlib
from typing import NamedTuple

from transforms.files.open_input import InputError, open_raw
from transforms.text.translation.translation_scores import (
    RELEASED,
    RELEASED_PIECES,
    Pieces,
    check_is_whole,
)

DEFAULT_MODEL = "flores101"


class Model(NamedTuple):
    """A SentencePiece model on disk."""

    path: str
    name: str  # in signatures
    sha256: str
    data: bytes
    warnings: tuple[str, ...]


def read_model(given: str) -> Model:
    """The SentencePiece model of a path, or the one that sacrebleu has downloaded under a name.

    A model is taken for a release by its hash, by lying where sacrebleu has it, or, where the hash is not
    known, by the release's file name and size. Raises InputError where there is none, and tells where to
    get it.
    """
    known = _sacrebleu_models()
    is_name = given in known or not given
    path = str(known[given or DEFAULT_MODEL].path) if is_name else given
    if is_name and not pathlib.Path(path).is_file():
        which = "no --model is given, and " if not given else ""
        urls = "; ".join(f"{name}: {one.url}" for name, one in known.items())
        raise InputError(
            path,
            f"no such file: {which}sacrebleu has not downloaded its model. Get a model there, and give"
            f" it by --model FILE ({urls})",
        )
    try:
        with open_raw(path) as stream:
            data = stream.read()
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "a folder, no file") from None
    try:
        pieces = Pieces(data)
        check_is_whole(data)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    name, warnings = pieces.name, list[str]()
    if pieces.sha256 not in RELEASED:
        name, warnings = _released_name(path, pieces, known)
    return Model(path, name or pieces.name, pieces.sha256, data, tuple(warnings))


class _SacrebleuModel(NamedTuple):
    url: str
    path: pathlib.Path  # where sacrebleu looks for it


def _sacrebleu_models() -> dict[str, _SacrebleuModel]:
    """Name in signatures → model, as the installed sacrebleu has them."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    folder = pathlib.Path(SACREBLEU_DIR, "models")
    return {
        model["signature"]: _SacrebleuModel(model["url"], folder / model["url"].rsplit("/", 1)[1])
        for model in SPM_MODELS.values()
    }


def _released_name(
    path: str, pieces: Pieces, known: dict[str, _SacrebleuModel]
) -> tuple[str, list[str]]:
    """The name of a model whose hash is not known, "" for one of somebody's own; and warnings."""
    for name, model in known.items():
        is_there = False
        with contextlib.suppress(OSError):
            is_there = model.path.samefile(path)
        looks_alike = model.path.name == pathlib.Path(path).name and pieces.count >= RELEASED_PIECES
        if is_there and name in RELEASED.values():
            return name, [f"{path}: signed {name}, as sacrebleu would, and is not that release"]
        if is_there or (looks_alike and name not in RELEASED.values()):
            return name, [
                f"{path}: taken for {name} by its place and name, SHA-256 {pieces.sha256}"
            ]
    return "", []
