"""`corpusmill score spbleu`: against sacrebleu's own command, and over files and folders of all kinds."""

import bz2
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

from pipelines.cli import main
from pipelines.inspect import spbleu_model
from tests.makers.spm_models import SENTENCES, small_model
from transforms.text.translation import translation_scores
from transforms.text.translation.tables import read_table

RELEASE = "sacrebleu_tokenizer_spm.model"
SHA256 = hashlib.sha256(small_model()).hexdigest()
OWN = f"spm-{SHA256[:8]}"


def write(path: pathlib.Path, lines: "tuple[str, ...] | list[str]") -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path


def worse(number: int) -> list[str]:
    return [line[: len(line) - number - place % 3] for place, line in enumerate(SENTENCES)]


@pytest.fixture
def files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder with a reference, an output and a model; sacrebleu has downloaded nothing."""
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path / "sacrebleu"))
    write(tmp_path / "ref.txt", SENTENCES)
    write(tmp_path / "out.txt", worse(4))
    (tmp_path / "own.model").write_bytes(small_model())
    return tmp_path


def run(*arguments: object) -> int:
    try:
        return main(["score", "spbleu", *map(str, arguments)])
    except SystemExit as end:
        return int(end.code or 0)


def one(files: pathlib.Path, *more: object, model: str = "own.model") -> list[object]:
    of = ["--reference", files / "ref.txt", "--hypothesis", files / "out.txt"]
    return [*of, *(["--model", files / model] if model else []), *more]


def sacrebleu(files: pathlib.Path, *flags: str) -> list[str]:
    """The lines that sacrebleu's own command prints."""
    command = [sys.executable, "-m", "sacrebleu", "ref.txt", "-i", "out.txt", "-w", "2", *flags]
    environment = os.environ | {"SACREBLEU": str(files / "sacrebleu"), "SACREBLEU_FORMAT": "text"}
    done = subprocess.run(
        command, cwd=files, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return [line.strip() for line in done.stdout.splitlines()]


def put_in_place(files: pathlib.Path) -> pathlib.Path:
    path = files / "sacrebleu" / "models" / RELEASE
    path.parent.mkdir(parents=True)
    path.write_bytes(small_model())
    return path


# Against sacrebleu's own command.


def test_scores_and_signatures_are_letter_for_letter_those_of_sacrebleu(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put_in_place(files)
    metrics = ("-m", "bleu", "chrf", "-tok", "flores101", "--chrf-word-order", "2")
    expected = sacrebleu(files, *metrics)
    assert expected[0].startswith(
        "BLEU|nrefs:1|case:mixed|eff:no|tok:flores101|smooth:exp|version:2.6.0 = "
    )
    assert expected[1].startswith("chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:")
    for model in (path, "flores101", None):
        arguments = one(files, *(["--model", model] if model else []), model="")
        assert run(*arguments) == 0
        assert capsys.readouterr().out.splitlines()[-2:] == expected
    assert run(*one(files)) == 0  # the same model elsewhere: the same scores, a name of its own
    own = f"tok:{OWN}|smooth:exp|corpusmill:0.1.0"
    assert capsys.readouterr().out.splitlines()[-2:] == [
        expected[0].replace("tok:flores101|smooth:exp", own),
        expected[1],
    ]


def test_the_other_metrics_of_sacrebleu(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*one(files, "--chrf", "--bleu")) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        sacrebleu(files, "-m", "chrf")[0],
        sacrebleu(files, "-m", "bleu")[0],
    ]


# Which model.


def test_without_a_model(files: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*one(files, model="")) == 1
    assert capsys.readouterr().err == (
        f"corpusmill: error: {files}/sacrebleu/models/{RELEASE}: no such file: no --model is given, and"
        " sacrebleu has not downloaded its model. Get a model there, and give it by --model FILE"
        f" (flores101: https://dl.fbaipublicfiles.com/fairseq/models/flores/{RELEASE};"
        " flores200: https://tinyurl.com/flores200sacrebleuspm;"
        " spBLEU-1K: https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model)\n"
    )
    assert run(*one(files, "--model", "flores200", model="")) == 1
    assert f"{files}/sacrebleu/models/flores200sacrebleuspm: no such file: sacrebleu has" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.model", None, "no such file"),
        ("a.model", b"text", "no SentencePiece model"),
        (".", None, "a folder, no file"),
        (
            "cut.model",
            small_model()[: small_model().index(b"\n", 1000)],
            "the end of the SentencePiece model is missing: a download was cut off?",
        ),
    ],
)
def test_no_model(
    files: pathlib.Path,
    name: str,
    content: bytes | None,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if content:
        (files / name).write_bytes(content)
    assert run(*one(files, model=name)) == 1
    assert capsys.readouterr().err == f"corpusmill: error: {files / name}: {message}\n"


def test_what_a_model_is_called(files: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(path: pathlib.Path) -> tuple[str, bool]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small_model())
        model = spbleu_model.read_model(str(path))
        assert (model.sha256, model.data) == (SHA256, small_model())
        return model.name, bool(model.warnings)

    # By its hash, wherever it lies.
    monkeypatch.setattr(translation_scores, "RELEASED", {SHA256: "flores200"})
    monkeypatch.setattr(spbleu_model, "RELEASED", {SHA256: "flores200"})
    assert name(files / "any.model") == ("flores200", False)
    monkeypatch.setattr(translation_scores, "RELEASED", {"00": "flores200"})
    monkeypatch.setattr(spbleu_model, "RELEASED", {"00": "flores200"})
    # By its file name only where it is as large as the release, and no hash of that release is known.
    assert name(files / "copy" / RELEASE) == (OWN, False)
    monkeypatch.setattr(spbleu_model, "RELEASED_PIECES", 100)
    assert name(files / "copy" / RELEASE) == ("flores101", True)
    assert name(files / "copy" / "other.model") == (OWN, False)
    assert name(files / "copy" / "flores200sacrebleuspm") == (OWN, False)
    # By its place, as sacrebleu itself does; where that is known to be wrong, it is said.
    assert name(files / "sacrebleu" / "models" / "flores200sacrebleuspm") == ("flores200", True)


# One direction.


def test_domains_and_topics(files: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    domains = ["wikinews"] * 4 + ["wikibooks"] * 4 + ["wikivoyage"] * 3
    rows = [f"u\t{name}\tTravel \tno\tyes" for name in domains]
    for name in ("metadata_devtest.tsv", "metedata_devtest.tsv"):
        path = write(files / name, ["URL\tdomain\ttopic\thas_image\thas_hyperlink", *rows])
        assert run(*one(files, "--metadata", path, "--json")) == 0
        value = json.loads(capsys.readouterr().out)
        groups = value["directions"][0]["groups"]
        assert [(g["kind"], g["name"], g["sentences"]) for g in groups] == [
            ("corpus", "", 11),
            ("domain", "wikibooks", 4),
            ("domain", "wikinews", 4),
            ("domain", "wikivoyage", 3),
            ("topic", "travel", 11),
        ]
        assert groups[0]["scores"] == groups[4]["scores"]
        part = [files / "part-ref.txt", files / "part-out.txt"]
        write(part[0], SENTENCES[4:8])
        write(part[1], worse(4)[4:8])
        arguments = [
            "--reference",
            part[0],
            "--hypothesis",
            part[1],
            "--model",
            files / "own.model",
        ]
        assert run(*arguments, "--json") == 0
        alone = json.loads(capsys.readouterr().out)["directions"][0]["groups"][0]
        assert alone["scores"] == groups[1]["scores"]
    assert run(*one(files, "--metadata", files / "metadata_devtest.tsv")) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    scores = groups[3]["scores"]
    assert [
        "domain",
        "wikivoyage",
        "3",
        f"{scores['spBLEU']:.2f}",
        f"{scores['chrF++']:.2f}",
    ] in shown


def test_warnings(files: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(files / "ref.txt", ["A dog .", "", "A cat ."] * 50)
    write(files / "out.txt", ["A dog .", "", " "] * 2 + ["Dogs run .", "b", "c ."] * 48)
    assert run(*one(files)) == 0
    assert capsys.readouterr().err == (
        f"corpusmill: warning: {files}/ref.txt: 50 empty lines: 2, 5, 8, 11, 14, …\n"
        f"corpusmill: warning: {files}/out.txt: 4 empty lines: 2, 3, 5, 6\n"
    )
    write(files / "out.txt", ["A dog ."] * 150)
    assert run(*one(files)) == 0
    assert f'{files}/out.txt: 150 lines end in " ."' in capsys.readouterr().err
    write(files / "ref.txt", SENTENCES)
    write(files / "out.txt", ["\ufeff" + SENTENCES[0], *SENTENCES[1:]])
    assert run(*one(files)) == 0
    shown = capsys.readouterr()
    chrf = sacrebleu(files, "-m", "chrf", "--chrf-word-order", "2")
    assert shown.out.splitlines()[-1:] == chrf
    assert not chrf[0].endswith("100.00")
    assert shown.err == (
        f"corpusmill: warning: {files}/out.txt: begins with a byte order mark, which counts as a"
        " character, as in sacrebleu\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "flags", "message"),
    [
        (
            "out.txt",
            b"one\ntwo\n",
            (),
            "{0}/out.txt: has 2 lines, and the reference {0}/ref.txt has 11",
        ),
        ("out.txt", b"", (), "{0}/out.txt: has 0 lines, and the reference {0}/ref.txt has 11"),
        ("ref.txt", b"", (), "{0}/ref.txt: is empty: nothing to score against"),
        ("out.txt", b"a\nb\xff\n", (), "{0}/out.txt: line 2 is no UTF-8"),
        (
            "m.tsv",
            b"domain\ttopic\nwikinews\thealth\n",
            ("--metadata", "{0}/m.tsv"),
            "{0}/m.tsv: has 1 rows, and the reference {0}/ref.txt has 11 lines",
        ),
        (
            "m.tsv",
            b"URL\ttopic\n",
            ("--metadata", "{0}/m.tsv"),
            "{0}/m.tsv: line 1: no column domain; there are URL, topic",
        ),
        (
            "m.tsv",
            b"",
            ("--metadata", "{0}"),
            "{0}: a folder, and no name of a file tells the split as in eng-fra.devtest; give the table",
        ),
    ],
)
def test_what_does_not_fit_together(
    files: pathlib.Path,
    name: str,
    content: bytes,
    flags: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (files / name).write_bytes(content)
    assert run(*one(files, *(flag.format(files) for flag in flags))) == 1
    assert capsys.readouterr().err == f"corpusmill: error: {message.format(files)}\n"


def test_no_file(files: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "out.txt").unlink()
    assert run(*one(files)) == 1
    assert capsys.readouterr().err == f"corpusmill: error: {files}/out.txt: no such file\n"


def test_compressed_and_crlf_files(files: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*one(files)) == 0
    expected = capsys.readouterr().out
    data = (files / "out.txt").read_bytes()
    (files / "out.txt").write_bytes(bz2.compress(data.replace(b"\n", b"\r\n")))
    assert run(*one(files)) == 0
    assert capsys.readouterr().out == expected


# Several systems, many directions.


def test_several_systems(files: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(files / "best.txt", SENTENCES)
    arguments = one(files, files / "best.txt", model="")
    assert run(*arguments, "--model", files / "own.model") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["system", "spBLEU", "chrF++"]
    assert ["best.txt", "100.00", "100.00"] in lines
    [of_worse] = [line for line in lines if line[:1] == ["out.txt"]]
    assert 0 < float(of_worse[1]) < 100


def test_systems_whose_files_are_called_the_same(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [write(files / name / "eng-fra.devtest", SENTENCES) for name in ("large", "small")]
    flags = ["--reference", files / "ref.txt", "--model", files / "own.model", "--json"]
    flags += ["--workers", 1]

    def systems(*hypotheses: pathlib.Path) -> list[tuple[str, str]]:
        assert run("--hypothesis", *hypotheses, *flags) == 0
        found = json.loads(capsys.readouterr().out)["directions"]
        return [(one["system"], one["source"]) for one in found]

    assert systems(*given) == [(str(given[0]), "eng"), (str(given[1]), "eng")]
    assert systems(files / "large", files / "small") == [("large", "eng"), ("small", "eng")]
    assert systems(files / "large") == [("", "eng")]
    write(files / "small" / "more.txt", SENTENCES)
    assert systems(files / "small") == [("", "eng"), ("more.txt", "")]


@pytest.fixture
def package(files: pathlib.Path) -> pathlib.Path:
    """References of three languages, and directions between them by two systems."""
    codes = ("eng", "fra", "zho_simpl")
    for place, code in enumerate(codes):
        write(files / "refs" / "devtest" / f"{code}.devtest", [f"{code} {s}" for s in SENTENCES])
        write(files / "refs" / "dev" / f"{code}.dev", SENTENCES[place:])
    for number, system in enumerate(("large", "small")):
        for source in codes:
            for target in codes:
                if source != target and (system, source) != ("small", "zho_simpl"):
                    lines = [f"{target} {line}" for line in worse(1 + number + len(source))]
                    write(files / "outputs" / system / f"{source}-{target}.devtest", lines)
    write(files / "outputs" / "large" / "eng-fra.dev", SENTENCES[1:])
    write(files / "outputs" / "README", ["What these are."])
    return files


def many(package: pathlib.Path, *more: object) -> list[object]:
    of = ["--reference", package / "refs", "--hypothesis", package / "outputs"]
    return [*of, "--model", package / "own.model", "--workers", 1, *more]


def test_many_to_many(package: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = package / "scores"
    assert run(*many(package, "--output", target)) == 0
    shown = capsys.readouterr()
    assert shown.err == (
        "corpusmill: warning: not scored, since it is not named like eng-fra.devtest:"
        f" {package}/outputs/README\n"
    )
    rows = [dict(row) for _, row in read_table((target / "scores.tsv").read_text("utf-8"), ())]
    keys = [(row["system"], row["split"], row["source"], row["target"]) for row in rows]
    assert keys == [
        ("large", "dev", "eng", "fra"),
        ("large", "devtest", "eng", "fra"),
        ("large", "devtest", "eng", "zho_simpl"),
        ("large", "devtest", "fra", "eng"),
        ("large", "devtest", "fra", "zho_simpl"),
        ("large", "devtest", "zho_simpl", "eng"),
        ("large", "devtest", "zho_simpl", "fra"),
        ("small", "devtest", "eng", "fra"),
        ("small", "devtest", "eng", "zho_simpl"),
        ("small", "devtest", "fra", "eng"),
        ("small", "devtest", "fra", "zho_simpl"),
    ]
    assert [row["sentences"] for row in rows] == ["10"] + ["11"] * 10
    assert rows[0]["spBLEU"] == "100.0000"
    value = {key: float(row["spBLEU"]) for key, row in zip(keys, rows, strict=True)}
    assert value["large", "devtest", "eng", "fra"] > value["small", "devtest", "eng", "fra"]
    # The table of directions has these numbers, and their averages.
    table = (target / "directions-small-devtest-spBLEU.tsv").read_text("utf-8").splitlines()
    cells = [line.split("\t") for line in table]
    assert [line[0] for line in cells] == ["from", "eng", "fra", "average"]
    assert cells[0] == ["from", "eng", "fra", "zho_simpl", "average"]
    assert cells[1][1] == ""  # nothing from English into English
    of_small = {key[2:]: number for key, number in value.items() if key[0] == "small"}
    assert float(cells[2][1]) == of_small["fra", "eng"]
    mean = (of_small["eng", "fra"] + of_small["eng", "zho_simpl"]) / 2
    assert float(cells[1][4]) == pytest.approx(mean, abs=1e-4)
    mean = (of_small["eng", "zho_simpl"] + of_small["fra", "zho_simpl"]) / 2
    assert float(cells[3][3]) == pytest.approx(mean, abs=1e-4)
    assert float(cells[3][4]) == pytest.approx(sum(of_small.values()) / 4, abs=1e-4)
    assert sorted(path.name for path in target.iterdir()) == sorted(
        [
            f"directions-{system}-{metric}.tsv"
            for system in ("large-dev", "large-devtest", "small-devtest")
            for metric in ("spBLEU", "chrF++")
        ]
        + ["scores.json", "scores.tsv"]
    )
    # The same on the screen.
    lines = [line.split() for line in shown.out.splitlines()]
    average = f"{sum(of_small.values()) / 4:.2f}"
    [all_of_small] = [line for line in lines if line[:2] == ["all", "4"]]
    assert all_of_small[3] == all_of_small[5] == average
    assert ["eng", "–"] in [line[:2] for line in lines]
    assert lines[-2] == [
        f"spBLEU|nrefs:1|case:mixed|eff:no|tok:{OWN}|smooth:exp|corpusmill:0.1.0|version:2.6.0"
    ]


def test_workers_do_not_matter(package: pathlib.Path) -> None:
    for name, workers in (("one", 1), ("two", 2)):
        flags = ("--workers", workers, "--output", package / name)
        assert run(*many(package), *flags) == 0
    for path in (package / "one").iterdir():
        assert path.read_bytes() == (package / "two" / path.name).read_bytes()


def test_an_output_folder_is_not_overwritten(
    package: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = write(package / "scores" / "notes.txt", ["mine"]).parent
    assert run(*many(package, "--output", target)) == 1
    assert capsys.readouterr().err == (
        f"corpusmill: error: {target} is not empty; take another --output\n"
    )
    assert [path.name for path in target.iterdir()] == ["notes.txt"]


def test_systems_whose_tables_would_be_called_the_same(files: pathlib.Path) -> None:
    write(files / "refs" / "fra.devtest", SENTENCES)
    write(files / "outputs" / "a" / "b" / "eng-fra.devtest", SENTENCES)
    write(files / "outputs" / "a-b" / "eng-fra.devtest", worse(4))
    flags = ["--reference", files / "refs", "--hypothesis", files / "outputs"]
    target = files / "scores"
    assert run(*flags, "--model", files / "own.model", "--output", target) == 0
    tables = sorted(target.glob("directions-a-b-devtest-chrF++*.tsv"))
    assert len(tables) == 2
    assert sorted("100.0000" in table.read_text("utf-8") for table in tables) == [False, True]


def test_nothing_is_left_behind_where_it_fails(package: pathlib.Path) -> None:
    write(package / "outputs" / "small" / "eng-fra.devtest", ["short"])
    before = sorted(path.name for path in package.iterdir())
    assert run(*many(package, "--output", package / "scores")) == 1
    assert sorted(path.name for path in package.iterdir()) == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "outputs/large/eng-deu.devtest",
            "there is no reference for it: no deu.devtest in {0}/refs",
        ),
        ("outputs/large/eng-fra.test", "there is no reference for it: no fra.test in {0}/refs"),
        ("outputs/small/fra-eng.devtest", "has 1 lines, and the reference"),
        (
            "outputs/large/eng-fra.devtest.gz",
            "is the same system and direction as {0}/outputs/large/eng-fra.devtest",
        ),
    ],
)
def test_directions_that_do_not_fit(
    package: pathlib.Path, path: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(package / path, ["text"])
    assert run(*many(package)) == 1
    expected = f"corpusmill: error: {package / path}: {message.format(package)}"
    assert capsys.readouterr().err.startswith(expected)


def test_a_folder_without_directions(
    package: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(package / "empty" / "notes.txt", ["text"])
    model = ("--model", package / "own.model")
    folder = ("--reference", package / "refs")
    assert run(*folder, "--hypothesis", package / "empty", *model) == 1
    assert f"{package}/empty: holds no translations" in capsys.readouterr().err
    assert run(*folder, "--hypothesis", package / "out.txt", *model) == 1
    assert f"{package}/out.txt: is not named like eng-fra.devtest" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "Nothing is ever downloaded here." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    firsts = [words[0] for words in shown if words]
    assert all(metric in firsts for metric in ("bpc", "perplexity", "spbleu"))
