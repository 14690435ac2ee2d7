"""Reads the text of finished builds as streams of tokens, for a training job that can be resumed.

The tokens are called pieces, as in SentencePiece. To read the streams:

    reading = Reading([edition], "train", "text", "el-32000.model", segment=512, streams=64)
    streams = Streams(reading, numbers=range(8))    # the streams of the first of eight processes
    for segments in batches(streams, loaders=2): ...

Requires torch, sentencepiece, numpy and pyarrow, but not corpusmill.
"""

import copy
import dataclasses
import io
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import sentencepiece
import torch
from pyarrow import fs
from read_corpus import open_folder, read_share
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

NO_DOCUMENT = -1
LEARNED_FROM = 200_000_000  # maximum number of characters from which pieces are learned


# Pieces of text.


class SubwordPieces:
    """Encodes a document with a SentencePiece model: as <s>, the pieces of the text, and </s>.

    A language model that is trained on the pieces never predicts <s>.
    """

    def __init__(self, model: bytes):
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.size, self.start = len(self.processor), self.processor.bos_id()
        if min(self.start, self.processor.eos_id()) < 0:
            raise ValueError("the SentencePiece model lacks <s> or </s>; use one that has both")

    def encode(self, text: str) -> np.ndarray:
        ids = self.processor.encode(text)
        return np.array([self.start, *ids, self.processor.eos_id()], np.int32)


class WordPieces:
    """Encodes a document as a start symbol and its words, with an end symbol after each line.

    Words are separated by white space. The symbols are <S> and </S> if the vocabulary contains </S>,
    otherwise <s> and <eos>.
    """

    def __init__(self, table: bytes):
        names = [line.split("\t")[0] for line in table.decode().split("\n") if line]
        special = ("<S>", "</S>", "<UNK>") if "</S>" in names else ("<s>", "<eos>", "<unk>")
        self.ids = {name: at for at, name in enumerate(dict.fromkeys([*names, *special]))}
        self.start, self.end, self.unknown = (self.ids[name] for name in special)
        self.size = len(self.ids)

    def encode(self, text: str) -> np.ndarray:
        ids = [self.start]
        for line in text.removesuffix("\n").split("\n"):
            ids += [self.ids.get(word, self.unknown) for word in line.split()]
            ids.append(self.end)
        return np.array(ids, np.int32)


Pieces = SubwordPieces | WordPieces
"""A vocabulary: `size`, `start` (the id of the first piece), and `encode(text)`, which returns
ids as int32.
"""


def read_pieces(path: str) -> Pieces:
    """Loads a vocabulary: a SentencePiece model, or a .tsv file with a word at the beginning of each line."""
    content = read_file(path)
    if path.endswith(".tsv"):
        return WordPieces(content)
    try:
        return SubwordPieces(content)
    except (RuntimeError, IndexError, ValueError) as error:
        raise ValueError(f"{path}: not a usable SentencePiece model: {error}") from None


def model_of(edition: str) -> str:
    """Returns the path of the SentencePiece model in a build; "" if there is none."""
    files, folder = open_folder(edition)
    selector = fs.FileSelector(f"{folder}/sentencepiece", allow_not_found=True)
    names = (info.base_name for info in files.get_file_info(selector) if info.extension == "model")
    return next((f"{edition}/sentencepiece/{name}" for name in names), "")


def learn_pieces(edition: str, split: str, column: str, size: int) -> bytes:
    """Trains a SentencePiece model on random documents of a build. Returns the content of the model file.

    The documents have at most LEARNED_FROM characters in total. The model is lossless: decoding the pieces
    gives the original text.

    Args:
      edition: folder of the build.
      split: name of the split with the documents.
      column: name of the column with the text.
      size: maximum size of the vocabulary.

    Raises ValueError if the model cannot be trained, such as for a size below the number of characters.
    """
    model, room = io.BytesIO(), LEARNED_FROM

    def lines() -> Iterator[str]:
        nonlocal room
        for row in read_share(edition, split, [column], rank=0, ranks=1):
            if (room := room - len(row[column])) < 0:
                return
            yield from filter(None, row[column].split("\n"))

    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=lines(),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            normalization_rule_name="identity",
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            byte_fallback=True,
            user_defined_symbols=["\n"],
            max_sentence_length=1 << 20,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise ValueError(f"{edition}: {size} pieces cannot be learned: {error}") from None
    return model.getvalue()


def read_file(path: str) -> bytes:
    """Reads a file on a disk or in an object store."""
    folder, _, name = path.rpartition("/")
    files, at = open_folder(folder or ".")
    with files.open_input_file(f"{at}/{name}") as stream:
        return bytes(stream.read())


# Reading.


class Size(NamedTuple):
    """The size of a split of a build, in documents and in bytes of text."""

    documents: int
    text_bytes: int


def read_size(edition: str, split: str) -> Size:
    """Reads the size of a split from stats.json. Raises ValueError if it is missing."""
    counts = json.loads(read_file(f"{edition}/stats.json")).get(split, {})
    unit = next(
        (unit for unit in ("sentences", "books", "articles", "paragraphs") if unit in counts), ""
    )
    if not unit or "text_bytes" not in counts:
        raise ValueError(f"{edition}/stats.json does not have the size of the split {split!r}")
    return Size(counts[unit], counts["text_bytes"])


class Reading(NamedTuple):
    """The settings of the token streams of a training job. They are the same in all its processes."""

    editions: Sequence[str]  # builds to mix
    split: str
    column: str  # column with the text
    pieces: str  # path of the model or vocabulary
    segment: int  # pieces of a stream that are read at a time
    streams: int  # number of streams of all processes together
    seed: int = 0  # seed of the order of the documents
    temperature: float = 1.0  # 1 samples builds by size; higher values make their shares more equal
    once: bool = False  # read one epoch only, for scoring
    limit: int = 0  # approximate number of documents in one epoch; 0: all


@dataclasses.dataclass
class StreamState:
    """The position of a token stream, from which reading can be resumed."""

    epochs: list[int]  # current epoch of each build
    documents: list[int]  # number of documents read in this epoch of each build
    piece: int = 0  # index of the next piece in the next document


class Segments(NamedTuple):
    """One segment (consecutive pieces) of each of several streams.

    The last piece of a stream's segment is repeated as the first piece of its next segment.
    """

    pieces: Tensor  # [streams, segment + 1]
    documents: Tensor  # [streams, segment + 1]: index of the document, NO_DOCUMENT after the end
    states: list[StreamState]  # after the segment


class Streams(IterableDataset[Segments]):
    """A dataset of the segments (consecutive pieces) of all streams of one process.

    Each stream reads a fixed share of the documents. A process reads one or more whole streams, so the text
    of a stream does not depend on the number of processes.

    Args:
      reading: the settings of the streams, the same for all processes.
      numbers: the numbers of this process's streams, from 0 to `reading.streams` - 1.
      states: the positions to resume from, one for each stream of all processes, in the order of their
        numbers. By default, the streams start at the beginning.
    """

    def __init__(
        self, reading: Reading, numbers: Sequence[int], states: Sequence[StreamState] = ()
    ):
        self.reading, self.numbers = reading, numbers
        self.sizes = [read_size(edition, reading.split) for edition in reading.editions]
        first = StreamState([0] * len(self.sizes), [0] * len(self.sizes))
        self.states = list(states) or [first] * reading.streams
        if not reading.once and not all(size.documents for size in self.sizes):
            raise ValueError(
                f"at least one of the builds has no documents in the split '{reading.split}'; use another"
                f" split, or leave that build out: {reading.editions}"
            )
        # The temperature defines shares of bytes, but documents are sampled: divide by their mean size.
        power = 1 / reading.temperature - 1
        self.chances = [size.documents * size.text_bytes**power for size in self.sizes]

    def __iter__(self) -> Iterator[Segments]:
        encode, numbers = read_pieces(self.reading.pieces), list(self.numbers)
        if worker := get_worker_info():
            numbers = np.array_split(numbers, worker.num_workers)[worker.id].tolist()
        streams = [self._segments(number, encode) for number in numbers]
        length = self.reading.segment + 1
        ended = np.full(length, encode.start), np.full(length, NO_DOCUMENT), self.states[0]
        for row in itertools.zip_longest(*streams, fillvalue=ended):
            *parts, states = zip(*row, strict=True)
            pieces, documents = (torch.from_numpy(np.stack(part)).long() for part in parts)
            yield Segments(pieces, documents, list(states))

    def _segments(self, number: int, encode: Pieces) -> Iterator[tuple[Any, Any, StreamState]]:
        """Yields the segments of one stream.

        Each segment is a tuple: the ids of its pieces, the document index of each piece, and the state of the
        stream after the segment. If `reading.once` is set, the stream ends after one epoch. Its last segment
        is then padded with the start symbol.

        Args:
          number: the number of the stream.
          encode: the vocabulary.
        """
        length = self.reading.segment
        pieces, places = np.empty(0, np.int64), np.empty(0, np.int64)
        held: list[tuple[StreamState, int]] = []  # (state, pieces) of documents with pieces left
        had = skipped = self.states[number].piece  # pieces of the first document read before
        for state, place, ids in self._documents(number, encode):
            held.append((state, len(ids)))
            pieces = np.concatenate([pieces, ids[skipped:]])
            places = np.concatenate([places, np.full(len(ids) - skipped, place)])
            skipped = 0
            while len(pieces) > length:
                had += length
                while had >= held[0][1]:
                    had -= held.pop(0)[1]
                after = dataclasses.replace(held[0][0], piece=had)
                yield pieces[: length + 1], places[: length + 1], after
                pieces, places = pieces[length:], places[length:]
        if len(pieces) > 1:
            more = (0, length + 1 - len(pieces))
            pieces = np.pad(pieces, more, constant_values=encode.start)
            yield pieces, np.pad(places, more, constant_values=NO_DOCUMENT), self.states[number]

    def _documents(self, number: int, encode: Pieces) -> Iterator[tuple[StreamState, int, Any]]:
        """Yields a tuple for each document of one stream.

        The tuple contains the state of the stream before the document, the index of the document in the
        split, and the ids of the pieces of the document.

        Args:
          number: the number of the stream.
          encode: the vocabulary.
        """
        state = copy.deepcopy(self.states[number])
        state.piece = 0
        shares: dict[int, Iterator[dict[str, Any]]] = {}
        while True:
            # The choice depends only on the documents read before, so a resumed stream is identical.
            chance = random.Random(f"{self.reading.seed}/{number}/{state.epochs}/{state.documents}")
            which = (
                chance.choices(range(len(self.chances)), self.chances)[0]
                if len(self.chances) > 1
                else 0
            )
            if which not in shares:
                shares[which] = self._share(number, which, state)
            row = next(shares[which], None)
            if row is not None:
                yield copy.deepcopy(state), row["document"], encode.encode(row[self.reading.column])
                state.documents[which] += 1
            elif self.reading.once:
                return
            else:
                state.epochs[which] += 1
                state.documents[which] = 0
                del shares[which]

    def _share(self, number: int, which: int, state: StreamState) -> Iterator[dict[str, Any]]:
        reading, documents = self.reading, self.sizes[which].documents
        if reading.once:
            few = reading.limit and documents > reading.limit
            ranks = -(-reading.streams * documents // reading.limit) if few else reading.streams
            turn = 0
        else:  # more streams than documents: several streams read the same ones, in different orders
            ranks = min(reading.streams, documents)
            turn, number = divmod(number, ranks)
        return read_share(
            reading.editions[which],
            reading.split,
            ["document", reading.column],
            rank=number,
            ranks=ranks,
            seed=reading.seed + turn,
            epoch=state.epochs[which],
            start=state.documents[which],
        )


def batches(streams: Streams, loaders: int = 0) -> Iterator[Segments]:
    """Yields the segments of all streams of this process, without end.

    Each element contains one segment of each stream.

    Args:
      streams: the dataset of this process's streams, which must have no end (`Reading.once` is False).
      loaders: number of loading processes, which read segments in advance; 0 for none.
    """
    loaders = min(loaders, len(streams.numbers))
    how = "spawn" if loaders else None
    parts = iter(
        DataLoader(streams, batch_size=None, num_workers=loaders, multiprocessing_context=how)
    )
    while True:
        pieces, documents, states = zip(*(next(parts) for _ in range(max(loaders, 1))), strict=True)
        yield Segments(torch.cat(pieces), torch.cat(documents), [*itertools.chain(*states)])
