"""Trains a language model on finished builds and scores it. A single file, meant to be read and changed.

    python train_lm.py --recipe recipes/wiki40b.toml --corpus corpora/wiki40b/el --output runs/el --score test
    torchrun --nproc-per-node 8 train_lm.py ...         # the same on eight GPUs of a machine

The model is Transformer-XL (Dai et al. 2019): a decoder that attends to the hidden states of earlier
segments, with relative positions. Attention never crosses the border of a document. The text is divided into
`batch` streams, which are shared out among the processes (read_streams.py). So the texts of the streams, and
with them the losses, do not depend on the number of processes. The same command resumes a stopped run.

Requires torch, sentencepiece, numpy and pyarrow (make_environment.sh), but not corpusmill.
"""

import argparse
import dataclasses
import datetime
import io
import itertools
import json
import math
import os
import pathlib
import shutil
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from read_corpus import columns_of, text_column, wait_for_edition
from read_streams import (
    NO_DOCUMENT,
    Reading,
    Segments,
    Streams,
    StreamState,
    batches,
    learn_pieces,
    model_of,
    read_pieces,
    read_size,
)
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (the usual name)
from torch.nn.parallel import DistributedDataParallel

IGNORED = -100  # value of `targets` at positions without a prediction
KEPT_CHECKPOINTS = 2
TIMEOUT = datetime.timedelta(hours=3)  # while one process learns pieces, the others wait


def option(default: Any, text: str, resumable: bool = False) -> Any:
    """Returns a dataclass field, for a setting in the class Settings.

    Args:
      default: the default of the setting.
      text: the help text of the setting's flag.
      resumable: True if the setting may be changed when a run is resumed.
    """
    return dataclasses.field(default=default, metadata={"help": text, "resumable": resumable})


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a training run. A recipe (a TOML file) or a flag can change each of them."""

    column: str = option("", "column with the text (default: text, in PG-19 book_text)")
    train_split: str = option("train", "split to train on")
    validation_split: str = option("validation", "split that chooses the best model")
    pieces: str = option(
        "",
        "SentencePiece model, or .tsv of words; a bare name is a file of the build (default: its model)",
    )
    learn_pieces: int = option(32_000, "number of pieces to learn if the build has no model")
    temperature: float = option(
        1.0, "1 samples several builds by size; higher values make their shares more equal"
    )
    layers: int = option(12, "number of layers")
    width: int = option(512, "size of hidden states and embeddings")
    heads: int = option(8, "number of attention heads")
    head_width: int = option(64, "size of a head")
    inner: int = option(2048, "size of the feed-forward layer")
    dropout: float = option(0.1, "dropout")
    attention_dropout: float = option(0.1, "dropout of attention weights")
    tied: bool = option(True, "use the embeddings as the output weights")
    pre_norm: bool = option(True, "normalise before a layer, not after it")
    segment: int = option(512, "number of pieces of a stream in a step")
    memory: int = option(512, "number of earlier pieces whose hidden states are kept")
    score_memory: int = option(512, "the same as memory, for scoring", resumable=True)
    batch: int = option(64, "number of streams in all processes together")
    score_batch: int = option(16, "number of streams in each process, for scoring", resumable=True)
    slices: int = option(1, "number of parts of a step, to save memory", resumable=True)
    steps: int = option(20_000, "number of training steps")
    rate: float = option(2.5e-4, "highest learning rate, which falls by a cosine to rate_end")
    rate_end: float = option(0.0, "learning rate at the end")
    warmup: int = option(0, "number of steps until the highest learning rate")
    clip: float = option(0.25, "maximum norm of the gradient")
    seed: int = option(1, "seed of weights, dropout and the order of documents")
    validate_every: int = option(1000, "steps between validations; 0: never", resumable=True)
    validation_documents: int = option(
        0, "approximate number of documents for a validation; 0: all", resumable=True
    )
    patience: int = option(
        0, "stop after this many validations without progress; 0: never", resumable=True
    )
    progress: float = option(
        0.0,
        "a validation is progress if the perplexity per piece of a build falls by more than this",
        resumable=True,
    )
    save_every: int = option(1000, "steps between checkpoints", resumable=True)
    log_every: int = option(100, "steps between lines of log.jsonl", resumable=True)
    bfloat16: bool = option(True, "use bfloat16 for matrix products on a GPU", resumable=True)
    compile: str = option(
        "", "mode of torch.compile: default, or reduce-overhead for small models", resumable=True
    )
    loaders: int = option(0, "number of loading processes for each process", resumable=True)


# The model.


class Memory(NamedTuple):
    """The hidden states of earlier segments, which a decoder keeps."""

    hidden: Tensor  # [layers, streams, memory, width]: what each layer read
    documents: Tensor  # [streams, memory]: number within the stream, NO_DOCUMENT if empty


class Layer(nn.Module):
    """A layer of the model: attention with relative positions, and a feed-forward network."""

    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        width, inside = settings.width, settings.heads * settings.head_width
        self.query = nn.Linear(width, inside, bias=False)
        self.key_value = nn.Linear(width, 2 * inside, bias=False)
        self.position = nn.Linear(width, inside, bias=False)
        self.output = nn.Linear(inside, width, bias=False)
        self.attention_norm, self.inner_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop = nn.Dropout(settings.dropout)
        self.inner = nn.Sequential(
            nn.Linear(width, settings.inner),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.inner, width),
        )

    def forward(
        self, x: Tensor, earlier: Tensor, places: Tensor, mask: Tensor, biases: Tensor
    ) -> Tensor:
        """Transforms the hidden states of a segment. Returns a tensor of the same shape.

        Args:
          x: hidden states of the segment, [streams, segment, width].
          earlier: hidden states of earlier pieces, [streams, memory, width].
          places: encodings of the possible distances between two pieces, [memory + segment, width].
          mask: True where a piece of the segment may attend to an earlier piece or itself.
          biases: biases for content and for position, [2, heads, 1, head width].
        """
        pre, both = self.settings.pre_norm, torch.cat([earlier, x], 1)
        both = self.attention_norm(both) if pre else both
        x = x + self.drop(self.attend(both, x.size(1), places, mask, biases))
        x = x if pre else self.attention_norm(x)
        x = x + self.drop(self.inner(self.inner_norm(x) if pre else x))
        return x if pre else self.inner_norm(x)

    def attend(
        self, both: Tensor, length: int, places: Tensor, mask: Tensor, biases: Tensor
    ) -> Tensor:
        """Returns the result of attention for the last `length` pieces (Dai et al. 2019, section 3.3).

        Args:
          both: hidden states of earlier pieces and of the segment, [streams, memory + segment, width].
          length: number of pieces in the segment.
          places, mask, biases: as in `forward`.
        """

        def split(x: Tensor) -> Tensor:  # [..., pieces, width] to [..., heads, pieces, head]
            return x.unflatten(-1, (self.settings.heads, -1)).transpose(-3, -2)

        query = split(self.query(both[:, -length:]))
        key, value = map(split, self.key_value(both).chunk(2, -1))
        content, position = biases.to(query.dtype)
        far = (query + position) @ split(self.position(places)).transpose(-2, -1)
        # Shifts each row, so that the column of a distance becomes the column of the key at this distance.
        streams, heads, _, keys = far.shape
        far = F.pad(far, (1, 0)).view(streams, heads, keys + 1, length)[:, :, 1:].reshape_as(far)
        far = (far * query.size(-1) ** -0.5).masked_fill(~mask, -math.inf)
        dropout = self.settings.attention_dropout if self.training else 0.0
        read = F.scaled_dot_product_attention(query + content, key, value, far, dropout)
        return self.output(read.transpose(1, 2).flatten(2))


class Decoder(nn.Module):
    """The language model, a Transformer-XL decoder.

    Args:
      settings: the settings of the run, for the sizes of the layers.
      size: size of the vocabulary.
      start: id of the first piece of every document.
    """

    def __init__(self, settings: Settings, size: int, start: int):
        super().__init__()
        self.settings, self.start = settings, start
        self.embedding = nn.Embedding(size, settings.width)
        self.layers = nn.ModuleList(Layer(settings) for _ in range(settings.layers))
        self.biases = nn.Parameter(torch.empty(2, settings.heads, 1, settings.head_width))
        self.norm = nn.LayerNorm(settings.width) if settings.pre_norm else nn.Identity()
        self.drop = nn.Dropout(settings.dropout)
        self.head = nn.Linear(settings.width, size)
        if settings.tied:
            self.head.weight = self.embedding.weight
        for name, parameter in self.named_parameters():
            if name.endswith(".bias") and "norm" not in name:
                nn.init.zeros_(parameter)
            elif "norm" not in name:
                nn.init.normal_(parameter, std=0.02)

    def empty_memory(self, streams: int, length: int) -> Memory:
        """Returns an empty memory, for the first segment.

        Args:
          streams: number of streams.
          length: number of pieces in the memory.
        """
        shape = (len(self.layers), streams, length, self.settings.width)
        device = self.embedding.weight.device
        documents = torch.full((streams, length), NO_DOCUMENT, device=device)
        return Memory(torch.zeros(shape, device=device), documents)

    def forward(
        self, pieces: Tensor, targets: Tensor, hidden: Tensor, documents: Tensor, reach: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Computes the loss of each target, and the memory for the next segment.

        Args:
          pieces: ids of the pieces of a segment, [streams, segment].
          targets: ids of the next pieces, [streams, segment]; IGNORED for positions without a prediction.
          hidden, documents: the two parts of the memory before the segment (see `Memory`).
          reach: maximum distance of attention, in pieces.

        Returns the losses in nats, [streams, segment], and the two parts of the new memory.
        """
        length, kept = pieces.size(1), documents.size(1)
        # Without empty keys up to a multiple of 8, torch.compile gives NaN on GPUs (torch 2.11).
        empty = -(kept + length) % 8
        hidden = F.pad(hidden, (0, 0, empty, 0))
        documents = F.pad(documents, (empty, 0), value=NO_DOCUMENT)
        now = documents[:, -1:] + (pieces == self.start).cumsum(1)
        documents = torch.cat([documents, now], 1)
        key = torch.arange(documents.size(1), device=pieces.device)
        distance = key[-length:, None] - key
        mask = (distance >= 0) & (distance <= reach) & (now[:, :, None] == documents[:, None])
        places = self.drop(self.sinusoids(key.flip(0)))
        x = self.drop(self.embedding(pieces) * self.settings.width**0.5)
        after = []
        for layer, earlier in zip(self.layers, hidden, strict=True):
            after.append(torch.cat([earlier, x.detach().to(earlier.dtype)], 1)[:, -kept:])
            x = layer(x, earlier, places, mask[:, None], self.biases)
        logits = self.head(self.drop(self.norm(x))).float()
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        return loss.view_as(targets), torch.stack(after), documents[:, -kept:]

    def sinusoids(self, distances: Tensor) -> Tensor:
        """Returns the sinusoidal encodings of distances, [number of distances, width]."""
        half = torch.arange(0, self.settings.width, 2, device=distances.device)
        angles = distances[:, None] * 10_000.0 ** (-half / self.settings.width)
        return torch.cat([angles.sin(), angles.cos()], 1)

    def flops(self) -> float:
        """Returns the number of floating-point operations for training on one piece."""
        size = self.settings
        matrices = sum(p.numel() for p in self.parameters() if p.dim() > 1)
        if not size.tied:
            matrices -= self.embedding.weight.numel()
        context = size.memory + size.segment
        return 6.0 * matrices + 18.0 * size.layers * size.heads * size.head_width * context


# Processes, checkpoints, training.


class World(NamedTuple):
    """All processes of a training job, as started by torchrun."""

    rank: int
    ranks: int
    device: torch.device

    def streams(self, batch: int) -> list[int]:
        """Returns the indices of the streams that this process reads.

        Args:
          batch: number of streams of all processes together.
        """
        if batch % self.ranks:
            raise ValueError(
                f"--batch must be a multiple of the number of processes, {self.ranks}, got {batch}"
            )
        each = batch // self.ranks
        return list(range(self.rank * each, (self.rank + 1) * each))

    def from_first(self, make: Callable[[], Any]) -> Any:
        """Calls `make` in the first process only, and returns its result in all processes."""
        made = [make() if self.rank == 0 else None]
        if self.ranks > 1:
            dist.broadcast_object_list(made, device=self.device)
        return made[0]

    def add(self, *values: float) -> list[float]:
        """Returns the sum of each value over all processes."""
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        if self.ranks > 1:
            dist.all_reduce(total)
        return total.tolist()

    def wait(self) -> None:
        """Waits until all processes have called this method."""
        self.add(0.0)


def join_world() -> World:
    """Connects this process with the other processes of the job, and returns a World that describes them.

    The processes are known from the environment variables that torchrun sets.
    """
    local, ranks = int(os.environ.get("LOCAL_RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if ranks > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=TIMEOUT)
    return World(int(os.environ.get("RANK", 0)), ranks, device)


class Run(NamedTuple):
    """The builds and the vocabulary of a run. They are stored in run.json, and kept when the
    run is resumed.
    """

    editions: list[str]
    pieces: str


def find_pieces(editions: Sequence[str], settings: Settings, folder: pathlib.Path) -> str:
    """Returns the path of the vocabulary for a run: the file named by `settings.pieces`, if it is set.

    Otherwise, the vocabulary is the SentencePiece model of the build. If the build has no model, this
    function trains one and stores it in `folder`.

    Args:
      editions: folders of the builds.
      settings: the settings of the run.
      folder: folder of the run.

    Raises ValueError if there are several builds and `settings.pieces` is not set.
    """
    if settings.pieces:
        is_of_build = "/" not in settings.pieces and not pathlib.Path(settings.pieces).exists()
        return f"{editions[0]}/{settings.pieces}" if is_of_build else settings.pieces
    if len(editions) > 1:
        raise ValueError("several builds need a common vocabulary: give its path with --pieces")
    path = folder / "pieces.model"
    if not (model := model_of(editions[0])) and not path.exists():
        print(f"learning {settings.learn_pieces} pieces: {editions[0]} has no model", flush=True)
        split, size = settings.train_split, settings.learn_pieces
        column = settings.column or text_column(editions[0], split)
        write_whole(path, learn_pieces(editions[0], split, column, size))
    return model or str(path)


def open_run(folder: pathlib.Path, corpora: Sequence[str], settings: Settings) -> Run:
    """Opens the stopped run in `folder`, or creates a new run there.

    A stopped run keeps its builds, even if a corpus has a newer build by now.

    Args:
      folder: folder of the run.
      corpora: folders of the corpora or of single builds.
      settings: the present settings.

    Raises ValueError if a setting that must not change, or a corpus, differs from that of the stopped run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, now = folder / "run.json", dataclasses.asdict(settings)
    if not path.exists():
        editions = [wait_for_edition(corpus) for corpus in corpora]
        wanted = [("--train-split", settings.train_split)]
        if settings.validate_every:
            wanted.append(("--validation-split", settings.validation_split))
        check_splits(editions, wanted, settings.column)
        run = Run(editions, find_pieces(editions, settings, folder))
        write_whole(path, json.dumps({"settings": now, **run._asdict()}, indent=2).encode())
        return run
    before = json.loads(path.read_text("utf-8"))
    for field in dataclasses.fields(Settings):
        old, new = before["settings"].get(field.name, field.default), now[field.name]
        if old != new and not field.metadata["resumable"]:
            raise ValueError(
                f"{path}: {field.name} must be {old!r}, as in the stopped run, got {new!r}; keep the"
                " old value, or use a new --output"
            )
    for corpus, edition in itertools.zip_longest(corpora, before["editions"], fillvalue=""):
        if not f"{edition}/".startswith(f"{corpus.rstrip('/')}/"):
            raise ValueError(
                f"{path}: the stopped run reads {edition!r}, which is not in {corpus!r}; use a new --output"
            )
    return Run(before["editions"], before["pieces"])


def check_splits(editions: Sequence[str], wanted: Sequence[tuple[str, str]], column: str) -> None:
    """Raises ValueError if a build lacks a split or the column, before hours of training are lost.

    Args:
      editions: folders of the builds.
      wanted: (flag, name of the split).
      column: name of the column with the text; "" for the usual one.
    """
    for edition, (flag, split) in itertools.product(editions, wanted):
        try:
            columns_of(edition, split)
        except ValueError as error:
            instead = " or use --validate-every 0" if flag == "--validation-split" else ""
            raise ValueError(f"{error}; choose one with {flag}{instead}") from None
        try:
            text_column(edition, split, column)
        except ValueError as error:
            raise ValueError(f"{error}; choose one with --column") from None


def write_whole(path: pathlib.Path, content: bytes) -> None:
    """Writes a file atomically: it is complete or missing."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(content)
    part.replace(path)


class Trainer:
    """A training run: the model, the states of its streams, and the folder of the run."""

    def __init__(self, folder: pathlib.Path, run: Run, settings: Settings, world: World):
        self.folder, self.run, self.settings, self.world = folder, run, settings, world
        self.numbers = world.streams(settings.batch)
        self.reading = Reading(
            editions=run.editions,
            split=settings.train_split,
            column=settings.column or text_column(run.editions[0], settings.train_split),
            pieces=run.pieces,
            segment=settings.segment,
            streams=settings.batch,
            seed=settings.seed,
            temperature=settings.temperature,
        )
        if len(self.numbers) % settings.slices:
            raise ValueError(
                f"--slices must divide the number of streams per process, {len(self.numbers)}, got"
                f" {settings.slices}"
            )
        if min(settings.memory, settings.score_memory) < 1:
            raise ValueError("--memory and --score-memory must be at least 1")
        encode = read_pieces(run.pieces)
        self.start = encode.start
        torch.manual_seed(settings.seed)
        self.model = Decoder(settings, encode.size, encode.start).to(world.device)
        fused = world.device.type == "cuda"  # one kernel updates all weights
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.rate, fused=fused)
        self.step, self.best = 0, math.inf
        self.lowest: list[float] = []  # perplexity per piece of each build
        self.stale = 0  # number of the last validations without progress
        self.states: list[StreamState] = []
        self.memory = self.model.empty_memory(len(self.numbers), settings.memory)
        self.load()

    def load(self) -> None:
        """Loads the newest checkpoint, if there is one. The number of processes may have changed since it was
        written.
        """
        folders = sorted((self.folder / "checkpoints").glob("[0-9]*[0-9]"))
        if not folders:
            return
        kept = torch.load(folders[-1] / "model.pt", map_location=self.world.device)
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.step, self.best = kept["step"], kept["best"]
        self.lowest, self.stale = kept["lowest"], kept["stale"]
        paths = sorted(folders[-1].glob("streams-*.pt"))
        parts = [torch.load(path, map_location="cpu", mmap=True) for path in paths]
        self.states = [StreamState(**state) for part in parts for state in part["states"]]
        own = slice(self.numbers[0], self.numbers[-1] + 1)
        hidden = torch.cat([part["hidden"] for part in parts], 1)[:, own]
        documents = torch.cat([part["documents"] for part in parts])[own]
        self.memory = Memory(*(one.to(self.world.device) for one in (hidden, documents)))

    def save(self) -> None:
        """Writes a checkpoint. It gets its final name when it is complete."""
        folder = self.folder / "checkpoints" / f"{self.step:08}"
        part = folder.with_name(f"{folder.name}.part")
        if self.world.rank == 0:
            shutil.rmtree(part, ignore_errors=True)  # left by a stopped process
            part.mkdir(parents=True)
        self.world.wait()
        own = [dataclasses.asdict(self.states[number]) for number in self.numbers]
        kept = {"states": own, **self.memory._asdict()}
        torch.save(kept, part / f"streams-{self.world.rank:05}-of-{self.world.ranks:05}.pt")
        if self.world.rank == 0:
            model = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
            reached = {name: vars(self)[name] for name in ("step", "best", "lowest", "stale")}
            torch.save(model | reached, part / "model.pt")
        self.world.wait()
        if self.world.rank == 0:
            part.rename(folder)
            for old in sorted(folder.parent.glob("[0-9]*[0-9]"))[:-KEPT_CHECKPOINTS]:
                shutil.rmtree(old)

    def train(self) -> None:
        """Trains until the last step, with validations and checkpoints at regular intervals.

        Ends earlier if as many validations as `settings.patience` gave no progress.
        """
        settings = self.settings
        if self.step >= settings.steps or self.is_stale:
            return
        model: nn.Module = self.model
        if self.world.ranks > 1:
            model = DistributedDataParallel(model)
        if settings.compile:
            model = torch.compile(model, mode=settings.compile)
        if self.world.rank == 0:
            size = sum(parameter.numel() for parameter in self.model.parameters())
            where = f"{self.world.ranks} processes on {self.world.device.type}"
            print(f"{size / 1e6:.1f} M parameters, {where}, from step {self.step}", flush=True)
        streams = Streams(self.reading, self.numbers, self.states)
        self.states, segments = streams.states, batches(streams, settings.loaders)
        total, pieces, since = 0.0, 0.0, time.monotonic()
        while self.step < settings.steps and not self.is_stale:
            loss, count = self.take_step(model, next(segments))
            total, pieces = total + loss, pieces + count
            self.step += 1
            if self.step % settings.log_every == 0:
                total, pieces = self.world.add(float(total), float(pieces))
                speed = pieces / (time.monotonic() - since)
                self.log(
                    loss=total / pieces,
                    rate=self.optimizer.param_groups[0]["lr"],
                    pieces_per_second=round(speed),
                    tflops=speed * self.model.flops() / 1e12,
                )
                total, pieces, since = 0.0, 0.0, time.monotonic()
            paused, is_last = time.monotonic(), self.step == settings.steps
            if settings.validate_every and (is_last or self.step % settings.validate_every == 0):
                self.validate()
            if is_last or self.is_stale or self.step % settings.save_every == 0:
                self.save()
            since += time.monotonic() - paused

    @property
    def is_stale(self) -> bool:
        """True if the last validations gave no progress, so that the training ends."""
        return 0 < self.settings.patience <= self.stale

    def rate(self) -> float:
        """Returns the learning rate of the present step."""
        settings = self.settings
        if self.step < settings.warmup:
            return settings.rate * (self.step + 1) / settings.warmup
        done = (self.step - settings.warmup) / max(settings.steps - settings.warmup, 1)
        cosine = (1 + math.cos(math.pi * min(done, 1.0))) / 2
        return settings.rate_end + (settings.rate - settings.rate_end) * cosine

    def take_step(self, model: nn.Module, segments: Segments) -> tuple[Tensor, Tensor]:
        """Updates the weights of the model once, with the losses on `segments`.

        Args:
          model: the model, as wrapped by DistributedDataParallel or torch.compile if they are used.
          segments: the segments of this process's streams.

        Returns the sum of the losses in nats, and the number of predicted pieces, both for this process only.
        """
        settings, world = self.settings, self.world
        model.train()
        # The seed of dropout depends on the step only, so a resumed run gives the same results.
        torch.manual_seed((settings.seed * settings.steps + self.step) * world.ranks + world.rank)
        pieces, targets = self.on_device(segments)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        total, memories = torch.zeros((), device=world.device), []
        parts = zip(
            pieces.chunk(settings.slices),
            targets.chunk(settings.slices),
            self.memory.hidden.chunk(settings.slices, 1),
            self.memory.documents.chunk(settings.slices),
            strict=True,
        )
        for at, part in enumerate(parts, 1):
            is_last = at == settings.slices
            with model.no_sync() if world.ranks > 1 and not is_last else nullcontext():
                with self.precision():
                    losses, *memory = model(*part, settings.memory + settings.segment)
                # The divisor is the same in every process, so the number of processes does not matter.
                (losses.sum() / targets.numel()).backward()
            total += losses.detach().sum()
            memories.append(memory)
        hidden, documents = zip(*memories, strict=True)
        self.memory = Memory(torch.cat(hidden, 1), torch.cat(documents))
        nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        for number, state in zip(self.numbers, segments.states, strict=True):
            self.states[number] = state
        return total, (targets != IGNORED).sum()

    def on_device(self, segments: Segments) -> tuple[Tensor, Tensor]:
        """Returns the pieces of segments and their targets, on the device of this process.

        The target of a piece is the next piece. It is IGNORED if the next piece is the start symbol of a
        document.
        """
        pieces = segments.pieces.to(self.world.device)
        targets = pieces[:, 1:]
        return pieces[:, :-1], targets.masked_fill(targets == self.start, IGNORED)

    def precision(self) -> Any:
        """Returns the autocast context of the model: bfloat16 on a GPU, if the settings say so."""
        on = self.settings.bfloat16 and self.world.device.type == "cuda"
        return torch.autocast(self.world.device.type, torch.bfloat16, enabled=on)

    def log(self, **values: float) -> None:
        """Prints a line with the values, and appends them to log.jsonl."""
        if self.world.rank == 0:
            shown = "  ".join(f"{name} {value:.6g}" for name, value in values.items())
            print(f"step {self.step}  {shown}", flush=True)
            with (self.folder / "log.jsonl").open("a") as file:
                file.write(json.dumps({"step": self.step, **values}) + "\n")

    # Scoring.

    def validate(self) -> None:
        """Computes and logs the loss per piece on the validation split, and the perplexity per piece: of
        several builds, the average of their perplexities. If it is the lowest, stores the model as best.pt.
        """
        split, limit = self.settings.validation_split, self.settings.validation_documents
        nats, pieces, perplexities = 0.0, 0.0, []
        for edition in self.run.editions:
            losses, count = self.measure(edition, split, limit)
            of_build, number = self.world.add(math.fsum(losses.values()), float(count))
            nats, pieces = nats + of_build, pieces + number
            if number:
                perplexities.append(math.exp(of_build / number))
        if not pieces:
            raise ValueError(
                f"no build has documents in the split {split}: use --validate-every 0, or another split"
            )
        average = math.fsum(perplexities) / len(perplexities)
        self.log(validation_loss=nats / pieces, validation_perplexity=average)
        lowest = self.lowest or [math.inf] * len(perplexities)
        falls = [old - new for old, new in zip(lowest, perplexities, strict=True)]
        self.stale = 0 if max(falls) > self.settings.progress else self.stale + 1
        self.lowest = [min(pair) for pair in zip(lowest, perplexities, strict=True)]
        if average < self.best:
            self.best = average
            if self.world.rank == 0:
                content = io.BytesIO()
                torch.save({"model": self.model.state_dict(), "step": self.step}, content)
                write_whole(self.folder / "best.pt", content.getvalue())

    @torch.no_grad()
    def measure(self, edition: str, split: str, limit: int = 0) -> tuple[dict[int, float], int]:
        """Computes the loss of each document that this process reads.

        A piece attends to the `score_memory` earlier pieces of its document, across segments. So the loss of
        a document depends only on the document.

        Args:
          edition: folder of the build.
          split: name of the split.
          limit: approximate number of documents that all processes read together; 0 for all documents.

        Returns index of the document → loss in nats, and the number of predicted pieces.
        """
        self.model.eval()
        losses: dict[int, float] = defaultdict(float)
        settings, count = self.settings, 0
        memory = self.model.empty_memory(settings.score_batch, settings.score_memory)
        all_streams = settings.score_batch * self.world.ranks
        reading = self.reading._replace(
            editions=[edition], split=split, streams=all_streams, once=True, limit=limit
        )
        streams = Streams(reading, self.world.streams(all_streams))
        for segments in streams:
            pieces, targets = self.on_device(segments)
            with self.precision():
                nats, *after = self.model(pieces, targets, *memory, settings.score_memory)
            memory = Memory(*after)
            wanted = (targets != IGNORED).cpu()
            places = segments.documents[:, :-1][wanted]
            documents, where = places.unique(return_inverse=True)
            sums = torch.zeros(len(documents), dtype=torch.float64)
            sums.index_add_(0, where, nats.cpu()[wanted].double())
            for document, loss in zip(documents.tolist(), sums.tolist(), strict=True):
                losses[document] += loss
            count += len(places)
        return losses, count

    def score(self, split: str) -> None:
        """Scores the documents of a split with the best model, and writes their log-likelihoods for
        `corpusmill score`.
        """
        best = self.folder / "best.pt"
        if best.exists():
            kept = torch.load(best, map_location=self.world.device)
            self.model.load_state_dict(kept["model"])
            self.step = kept["step"]
        for at, edition in enumerate(self.run.editions):
            losses, count = self.measure(edition, split)
            folder = self.folder / "scores" / f"{at}-{split}"
            if self.world.rank == 0:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
            self.world.wait()
            rows = (
                json.dumps({"document": document, "log_likelihood": -loss}) + "\n"
                for document, loss in sorted(losses.items())
            )
            (folder / f"{self.world.rank:05}.jsonl").write_text("".join(rows), "utf-8")
            nats, pieces = self.world.add(math.fsum(losses.values()), count)
            if self.world.rank == 0:
                size = read_size(edition, split)
                print(
                    f"{edition} {split}, model of step {self.step}: {size.documents} documents,"
                    f" {pieces:.0f} pieces, {nats / math.log(2) / size.text_bytes:.4f} bits per byte"
                    f"\ncorpusmill score bpb --corpus {edition} --split {split}"
                    f" --log-likelihood '{folder}/*.jsonl'"
                )


def read_settings(arguments: argparse.Namespace) -> Settings:
    """Returns the settings: flags override the recipe, and the recipe overrides the defaults."""
    recipe = {}
    if arguments.recipe:
        recipe = tomllib.loads(pathlib.Path(arguments.recipe).read_text("utf-8"))
    names = [field.name for field in dataclasses.fields(Settings)]
    if unknown := set(recipe) - set(names):
        raise ValueError(f"{arguments.recipe}: unknown settings: {', '.join(sorted(unknown))}")
    flags = {
        name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None
    }
    return Settings(**(recipe | flags))


def make_parser() -> argparse.ArgumentParser:
    """Returns a parser with a flag for each setting."""
    parser = argparse.ArgumentParser(
        description="Trains a Transformer-XL on finished builds, resumes it, and scores it.",
        epilog="On several GPUs: torchrun --nproc-per-node N train_lm.py with the same flags.",
    )
    parser.add_argument(
        "--corpus",
        nargs="+",
        required=True,
        help="folders of builds; or of editions, of which the current or only build is used",
    )
    parser.add_argument("--output", required=True, type=pathlib.Path, help="folder of the run")
    parser.add_argument("--recipe", help="settings as TOML; flags override them")
    parser.add_argument("--score", nargs="+", default=[], help="splits to score after training")
    group = parser.add_argument_group("settings, with their defaults")
    for field in dataclasses.fields(Settings):
        kind = type(field.default)
        text = f"{field.metadata['help']} ({field.default})".replace("%", "%%")
        how: dict[str, Any] = {"action": argparse.BooleanOptionalAction} if kind is bool else {}
        how = how or {"type": kind, "metavar": {int: "N", float: "X"}.get(kind, "NAME")}
        group.add_argument(f"--{field.name.replace('_', '-')}", help=text, **how)
    return parser


def main() -> None:
    """Trains or resumes a run, and then scores it."""
    arguments = make_parser().parse_args()
    world = join_world()
    try:
        settings = read_settings(arguments)
        run = world.from_first(lambda: open_run(arguments.output, arguments.corpus, settings))
        scored = [("--score", split) for split in arguments.score]
        check_splits(run.editions, scored, settings.column)
        trainer = Trainer(arguments.output, run, settings, world)
        trainer.train()
        for split in arguments.score:
            trainer.score(split)
    except (ValueError, OSError) as error:
        sys.exit(f"train_lm.py: {error}")
    finally:
        if world.ranks > 1:
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
