"""The training job: it resumes, and neither processes nor segments change what it learns and scores.

It needs torch, which deploy/training/make_environment.sh installs.
"""

import dataclasses
import importlib
import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from corpusmill.pipelines.inspect.score import score
from corpusmill.transforms.files.builds.finished_builds import open_build
from tests.deploy.schedulers import DEPLOY

torch = pytest.importorskip(
    "torch", reason="torch is not installed: deploy/training/make_environment.sh"
)

TRAINING = DEPLOY / "training"
GOLDEN = DEPLOY.parent / "tests" / "golden"
UK, EN, BOOKS = (
    str(next(GOLDEN.glob(f"{name}/2*"))) for name in ("wiki40b/uk", "wiki40b/en", "simplebooks/en*")
)
RECIPES = sorted((TRAINING / "recipes").glob("*.toml"))
SMALL = (
    "--layers=2 --width=16 --heads=2 --head-width=8 --inner=32 --segment=16 --memory=16"
    " --score-memory=16 --batch=4 --steps=6 --save-every=3 --validate-every=6 --log-every=1 --rate=0.01"
).split()
NO_DROPOUT = ["--dropout=0", "--attention-dropout=0"]


@pytest.fixture(scope="module")
def program() -> ModuleType:
    torch.set_num_threads(1)  # threads wait for each other where other tests run beside
    sys.path.insert(0, str(TRAINING))
    return importlib.import_module("train_lm")


def settings_of(program: ModuleType, *flags: str) -> Any:
    arguments = program.make_parser().parse_args(
        ["--corpus", UK, "--output", "none", *SMALL, *NO_DROPOUT, *flags]
    )
    return program.read_settings(arguments)


def run(program: ModuleType, folder: Path, *flags: str, corpus: str = UK) -> Path:
    """Runs the program in this process."""
    command = ["train_lm.py", "--corpus", corpus, "--output", str(folder), *SMALL, *flags]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        program.main()
    return folder


def logged(folder: Path, name: str = "loss") -> dict[int, float]:
    """Values by step."""
    rows = map(json.loads, (folder / "log.jsonl").read_text("utf-8").splitlines())
    return {row["step"]: row[name] for row in rows if name in row}


def log_likelihoods(folder: Path, scores: str = "0-test") -> dict[int, float]:
    """Of all documents, whichever process wrote them."""
    rows = [
        json.loads(line)
        for path in (folder / "scores" / scores).iterdir()
        for line in path.read_text("utf-8").splitlines()
    ]
    assert len({row["document"] for row in rows}) == len(rows)
    return {row["document"]: row["log_likelihood"] for row in rows}


@pytest.fixture(scope="module")
def finished(program: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was not stopped."""
    folder = tmp_path_factory.mktemp("run")
    return run(program, folder, *NO_DROPOUT, "--score", "train", "test")


# The model.


def test_attention_is_that_of_the_paper(program: ModuleType) -> None:
    """Dai et al. 2019, section 3.3: A = (q + u) k + (q + v) r, with r of the distance, in plain loops."""
    torch.manual_seed(1)
    settings = settings_of(program)
    layer = program.Layer(settings).eval()
    heads, size, length, earlier = 2, 8, 3, 2
    both = torch.randn(1, earlier + length, 16)
    far = torch.randn(earlier + length, 16)  # row d: of distance d
    u, v = torch.randn(2, heads, 1, size)
    keys = torch.arange(earlier + length)
    mask = keys[earlier:, None] >= keys
    found = layer.attend(both, length, far.flip(0), mask, torch.stack([u, v]))
    q, r = layer.query(both)[0], layer.position(far)
    k, value = layer.key_value(both)[0].chunk(2, -1)
    rows = []
    for i in range(earlier, earlier + length):
        row = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            energies = torch.stack(
                [
                    (q[i, part] + u[head, 0]) @ k[j, part]
                    + (q[i, part] + v[head, 0]) @ r[i - j, part]
                    for j in range(i + 1)
                ]
            )
            row.append((energies / math.sqrt(size)).softmax(0) @ value[: i + 1, part])
        rows.append(torch.cat(row))
    torch.testing.assert_close(found[0], layer.output(torch.stack(rows)))


@pytest.mark.parametrize("norm", ["--pre-norm", "--no-pre-norm"])
def test_no_piece_sees_what_follows_or_another_document(program: ModuleType, norm: str) -> None:
    torch.manual_seed(1)
    model = program.Decoder(settings_of(program, norm), 50, 1).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 5  # attention matters
    pieces = torch.randint(2, 50, (1, 24))
    pieces[0, [0, 10]] = 1  # two documents
    targets = torch.roll(pieces, -1, 1)

    def measure(pieces: Any) -> Any:
        return model(pieces, targets, *model.empty_memory(1, 16), 40)[0][0]

    before, changed = measure(pieces), pieces.clone()
    changed[0, 20] = 2 if pieces[0, 20] != 2 else 3
    after = measure(changed)
    torch.testing.assert_close(after[:20], before[:20])
    assert not torch.allclose(after[21:], before[21:])
    changed[0, 5] = 2 if pieces[0, 5] != 2 else 3
    torch.testing.assert_close(measure(changed)[10:], after[10:])


@pytest.mark.parametrize(
    "flags",
    [["--segment=64", "--score-batch=1"], ["--segment=5", "--score-batch=3"]],
    ids=["long", "short"],
)
def test_scores_do_not_depend_on_segments_and_streams(
    program: ModuleType, finished: Path, flags: list[str]
) -> None:
    """Hidden states reach over the borders of segments, and padding and other documents do not count."""
    settings = settings_of(program, *flags)
    world = program.World(0, 1, torch.device("cpu"))
    opened = program.Run(
        **{
            name: json.loads((finished / "run.json").read_text("utf-8"))[name]
            for name in ("editions", "pieces")
        }
    )
    trainer = program.Trainer(finished.parent / "none", opened, settings, world)
    trainer.model.load_state_dict(torch.load(finished / "best.pt")["model"])
    found, _ = trainer.measure(UK, "train")
    assert {document: -loss for document, loss in found.items()} == pytest.approx(
        log_likelihoods(finished, "0-train"), rel=1e-5
    )


# Runs.


def test_a_stopped_run_goes_on(program: ModuleType, finished: Path, tmp_path: Path) -> None:
    flags = ["--dropout=0.1", "--attention-dropout=0.1"]
    whole = run(program, tmp_path / "whole", *flags)
    folder = run(program, tmp_path / "stopped", *flags)
    (folder / "log.jsonl").unlink()
    newest = folder / "checkpoints" / "00000006"
    newest.rename(newest.with_name("00000006.part"))  # stopped while it wrote
    run(program, folder, *flags)
    assert logged(folder) == {step: loss for step, loss in logged(whole).items() if step > 3}


def test_bfloat16_is_near(
    program: ModuleType, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU, in all kinds of arrays."""
    low = torch.autocast("cpu", torch.bfloat16)
    monkeypatch.setattr(program.Trainer, "precision", lambda trainer: low)
    found = logged(run(program, tmp_path, *NO_DROPOUT))
    assert found == pytest.approx(logged(finished), rel=0.01)
    assert found != pytest.approx(logged(finished), rel=1e-6)


@pytest.mark.parametrize(
    "flags", [["--loaders=2"], ["--slices=2"], ["--no-bfloat16"]], ids=lambda flags: flags[0]
)
def test_how_it_is_computed_does_not_matter(
    program: ModuleType, finished: Path, tmp_path: Path, flags: list[str]
) -> None:
    assert logged(run(program, tmp_path, *NO_DROPOUT, *flags)) == pytest.approx(
        logged(finished), rel=1e-5
    )


def test_two_processes_agree_with_one(program: ModuleType, finished: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    arguments = ["--corpus", UK, "--output", str(tmp_path), *SMALL, *NO_DROPOUT]
    how = ["--slices=2", "--score", "train"]
    subprocess.run([*command, TRAINING / "train_lm.py", *arguments, *how], check=True)
    assert logged(tmp_path) == pytest.approx(logged(finished), rel=1e-5)
    assert len(list((tmp_path / "scores" / "0-train").iterdir())) == 2
    assert log_likelihoods(tmp_path, "0-train") == pytest.approx(
        log_likelihoods(finished, "0-train"), rel=1e-4
    )
    # One process goes on after two were stopped while they wrote. It takes no file of theirs.
    newest = tmp_path / "checkpoints" / "00000006"
    newest.rename(newest.with_name("00000006.part"))
    (tmp_path / "log.jsonl").unlink()
    run(program, tmp_path, *NO_DROPOUT)
    whole = logged(finished)
    assert logged(tmp_path) == pytest.approx({step: whole[step] for step in (4, 5, 6)}, rel=1e-5)
    assert len(list(newest.glob("streams-*"))) == 1


def test_others_wait_for_hours(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one process learns pieces or scores. PyTorch's own limit is 10 or 30 minutes."""
    given: dict[str, Any] = {}
    monkeypatch.setattr(program.dist, "init_process_group", lambda *_, **more: given.update(more))
    monkeypatch.setenv("WORLD_SIZE", "2")
    program.join_world()
    assert given["timeout"].total_seconds() >= 2 * 60 * 60


def test_the_log_has_the_rate_of_its_step_and_the_speed_of_training_alone(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step takes a second here, a validation and a checkpoint a minute."""
    now = 0.0

    def take(name: str, seconds: float) -> None:
        method = getattr(program.Trainer, name)

        def spend(*given: Any) -> Any:
            nonlocal now
            now += seconds
            return method(*given)

        monkeypatch.setattr(program.Trainer, name, spend)

    for name, seconds in (("take_step", 1), ("validate", 60), ("save", 60)):
        take(name, seconds)
    monkeypatch.setattr(program, "time", SimpleNamespace(monotonic=lambda: now))
    how = ["--rate=0.01", "--warmup=4", "--steps=4", "--validate-every=1", "--save-every=1"]
    run(program, tmp_path, *how)
    assert logged(tmp_path, "rate") == pytest.approx({1: 0.0025, 2: 0.005, 3: 0.0075, 4: 0.01})
    pieces = 4 * 16  # of a step; starts of documents do not count
    assert min(logged(tmp_path, "pieces_per_second").values()) > pieces / 2


def test_scoring_takes_its_own_number_of_streams(
    program: ModuleType, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of the model may be long then, and the training batch large."""
    made, empty = [], program.Decoder.empty_memory

    def spy(model: Any, streams: int, length: int) -> Any:
        made.append((streams, length))
        return empty(model, streams, length)

    monkeypatch.setattr(program.Decoder, "empty_memory", spy)
    run(
        program, finished, *NO_DROPOUT, "--score-batch=2", "--score-memory=24", "--score=validation"
    )
    assert made == [(4, 16), (2, 24)]


def test_runs_on_several_builds(program: ModuleType, tmp_path: Path) -> None:
    """One of them is a corpus that is kept up to date: the run keeps the edition that was current."""
    kept = tmp_path / "en"
    kept.mkdir()
    (kept / "first").symlink_to(EN)
    (kept / "CURRENT").write_text("first\n", "utf-8")
    pieces = f"--pieces={next(Path(EN).glob('sentencepiece/*.model'))}"
    flags = ["--corpus", UK, str(kept), pieces, "--temperature=5", "--segment=128", "--steps=2"]
    flags += ["--validate-every=0"]
    folder = run(program, tmp_path / "run", *flags)
    (kept / "CURRENT").write_text("second\n", "utf-8")
    run(program, folder, *flags, "--score", "test")
    assert len(log_likelihoods(folder, "0-test")) == program.read_size(UK, "test").documents
    assert len(log_likelihoods(folder, "1-test")) == program.read_size(EN, "test").documents


def test_other_settings_are_refused(program: ModuleType, finished: Path) -> None:
    with pytest.raises(
        SystemExit, match=r"width must be 16, as in the stopped run, got 32.*a new --output"
    ):
        run(program, finished, *NO_DROPOUT, "--width=32")
    with pytest.raises(SystemExit, match="the stopped run reads"):
        run(program, finished, *NO_DROPOUT, corpus=EN)


# Data.


@pytest.mark.parametrize(
    ("corpus", "split", "flags"),
    [
        (UK, "test", []),
        (BOOKS, "test", ["--pieces=vocabulary-2.tsv"]),
        (BOOKS, "train_2", ["--pieces=vocabulary-2.tsv"]),
    ],
)
def test_every_piece_that_the_build_counts_is_scored(
    program: ModuleType, tmp_path: Path, corpus: str, split: str, flags: list[str]
) -> None:
    settings = settings_of(program, *flags)
    world = program.World(0, 1, torch.device("cpu"))
    pieces = program.find_pieces([corpus], settings, tmp_path)
    trainer = program.Trainer(tmp_path, program.Run([corpus], pieces), settings, world)
    found, count = trainer.measure(corpus, split)
    stats = json.loads((Path(corpus) / "stats.json").read_text("utf-8"))
    if corpus == UK:
        assert count == stats[split]["pieces"] + stats[split]["articles"]
    else:
        size = stats["simplebooks-2"]["splits"]["train" if split == "train_2" else split]
        assert count == size["tokens_with_eos"]
    assert sorted(found) == list(range(program.read_size(corpus, split).documents))


def test_the_score_command_takes_it(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = score("bpb", UK, "test", log_likelihood=f"{finished}/scores/0-test/*.jsonl")
    assert found.log_likelihood == pytest.approx(math.fsum(log_likelihoods(finished).values()))
    assert found.build.corpus == open_build(UK).corpus


def test_learned_pieces_spell_every_text(program: ModuleType, tmp_path: Path) -> None:
    settings = settings_of(program, "--learn-pieces=400")
    pieces = program.read_pieces(program.find_pieces([BOOKS], settings, tmp_path))
    text = "  Two\n\nlines, ☃  and spaces \n"
    assert pieces.processor.decode(pieces.encode(text)[1:-1].tolist()) == text


def test_streams_mix_builds_by_temperature(program: ModuleType) -> None:
    """And go on in the midst of a document."""
    sizes = [program.read_size(edition, "train").text_bytes for edition in (UK, EN)]
    pieces = str(next(Path(EN).glob("sentencepiece/*.model")))
    for temperature in (1.0, 100.0):
        reading = program.Reading(
            [UK, EN], "train", "text", pieces, segment=64, streams=1, temperature=temperature
        )
        streams = program.Streams(reading, [0])
        documents = streams._documents(0, program.read_pieces(pieces))
        states = [next(documents)[0] for _ in range(2000)]
        had = [
            states[-1].epochs[at] * sizes[at]
            + states[-1].documents[at] * sizes[at] / program.read_size(edition, "train").documents
            for at, edition in enumerate((UK, EN))
        ]
        wanted = (sizes[0] / sizes[1]) ** (1 / temperature)
        assert had[0] / had[1] == pytest.approx(wanted, rel=0.2)
    found = [segment for _, segment in zip(range(40), streams, strict=False)]
    again = program.Streams(reading, [0], found[19].states)
    for old, new in zip(found[20:], again, strict=False):
        assert (old.pieces == new.pieces).all()
        assert old.states == new.states


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_recipes(program: ModuleType, recipe: Path) -> None:
    arguments = program.make_parser().parse_args(
        ["--corpus", UK, "--output", "none", "--recipe", str(recipe)]
    )
    settings = program.read_settings(arguments)
    assert dataclasses.replace(settings, steps=1) != program.Settings(steps=1)


def test_a_run_without_progress_ends(program: ModuleType, tmp_path: Path) -> None:
    flags = ["--steps=100", "--validate-every=2", "--patience=2", "--progress=1e9"]
    run(program, tmp_path, *flags)
    assert [*logged(tmp_path, "validation_loss")] == [2, 4, 6]  # the first one is progress
    run(program, tmp_path, *flags)
    assert max(logged(tmp_path)) == 6
    run(program, tmp_path, *flags, "--patience=3")
    assert max(logged(tmp_path)) == 8


def test_the_perplexity_of_several_builds_is_their_average(
    program: ModuleType, tmp_path: Path
) -> None:
    (pieces,) = Path(UK).glob("sentencepiece/*.model")
    flags = ["--rate=0", "--steps=1", "--validate-every=1", "--pieces", str(pieces), "--corpus"]
    found = []
    for number, builds in enumerate(([UK], [EN], [UK, EN])):
        folder = run(program, tmp_path / str(number), *flags, *builds)
        found += logged(folder, "validation_perplexity").values()
    assert found[2] == pytest.approx((found[0] + found[1]) / 2, rel=1e-4)


# Builds of all corpora.


def build_of(corpus: str) -> str:
    return str(next(GOLDEN.glob(f"{corpus}/2*")))


def test_books_of_pg19_are_trained_on_and_scored(program: ModuleType, tmp_path: Path) -> None:
    corpus = build_of("pg19/en-*")
    folder = run(program, tmp_path, "--learn-pieces=500", "--score", "test", corpus=corpus)
    assert set(logged(folder, "validation_loss")) == {6}
    assert set(log_likelihoods(folder)) == {0, 1}


def test_sentences_of_news_are_trained_on_and_scored(program: ModuleType, tmp_path: Path) -> None:
    flags = ["--learn-pieces=500", "--validation-split=dev", "--score", "paper_test"]
    folder = run(program, tmp_path, *flags, corpus=build_of("lm1b/en-*"))
    assert set(logged(folder, "validation_loss")) == {6}
    assert len(log_likelihoods(folder, "0-paper_test")) == 22


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--column=nope"],
            "there is no column nope with text in the split train; there are wikidata_id",
        ),
        (["--train-split=dev"], "there is no split dev; .*; choose one with --train-split"),
        (["--score", "dev"], "there is no split dev; .*; choose one with --score"),
        (["--pieces", __file__], "not a usable SentencePiece model"),
    ],
)
def test_flags_that_do_not_fit_the_build_are_refused_before_the_training(
    program: ModuleType, tmp_path: Path, flags: list[str], message: str
) -> None:
    with pytest.raises(SystemExit, match=f"^train_lm.py: .*{message}"):
        run(program, tmp_path, *flags)
    assert not (tmp_path / "log.jsonl").exists()


def test_too_few_pieces_are_refused(program: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"50 pieces cannot be learned: .*smaller than required"):
        run(program, tmp_path, "--learn-pieces=50", corpus=build_of("pg19/en-*"))
