"""`corpusmill score spbleu`: against sacrebleu's own command, and over files and folders of all kinds."""

import bz2
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from corpusmill.pipelines.translation import score_translations, translation_scores
from corpusmill.pipelines.translation.score_tables import spearman
from corpusmill.transforms.files.markup import read_table
from tests.makers.spm_models import SENTENCES, small_model
from tests.makers.wiki_builds import Command
from tests.tools.case_tables import read_cases

RELEASE = "sacrebleu_tokenizer_spm.model"
SHA256 = hashlib.sha256(small_model()).hexdigest()
OWN = f"spm-{SHA256[:8]}"


def write(path: Path, lines: "tuple[str, ...] | list[str]") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path


def worse(number: int) -> list[str]:
    return [line[: len(line) - number - place % 3] for place, line in enumerate(SENTENCES)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a reference, an output and a model; sacrebleu has downloaded nothing."""
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path / "sacrebleu"))
    write(tmp_path / "ref.txt", SENTENCES)
    write(tmp_path / "out.txt", worse(4))
    (tmp_path / "own.model").write_bytes(small_model())
    return tmp_path


@pytest.fixture
def spbleu(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys, "score", "spbleu")


def one(files: Path, *more: object, model: str = "own.model") -> list[object]:
    of = ["--reference", files / "ref.txt", "--hypothesis", files / "out.txt"]
    return [*of, *(["--model", files / model] if model else []), *more]


def sacrebleu(files: Path, *flags: str) -> list[str]:
    """The lines that sacrebleu's own command prints."""
    command = [sys.executable, "-m", "sacrebleu", "ref.txt", "-i", "out.txt", "-w", "2", *flags]
    environment = os.environ | {"SACREBLEU": str(files / "sacrebleu"), "SACREBLEU_FORMAT": "text"}
    done = subprocess.run(
        command, cwd=files, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return [line.strip() for line in done.stdout.splitlines()]


def put_in_place(files: Path) -> Path:
    path = files / "sacrebleu" / "models" / RELEASE
    path.parent.mkdir(parents=True)
    path.write_bytes(small_model())
    return path


# Against sacrebleu's own command.


def test_scores_and_signatures_are_letter_for_letter_those_of_sacrebleu(
    files: Path, spbleu: Command
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
        assert spbleu(*arguments).out.splitlines()[-2:] == expected
    # The same model elsewhere: the same scores, a name of its own.
    own = f"tok:{OWN}|smooth:exp|corpusmill:0.1.0"
    assert spbleu(*one(files)).out.splitlines()[-2:] == [
        expected[0].replace("tok:flores101|smooth:exp", own),
        expected[1],
    ]
    others = [sacrebleu(files, "-m", metric)[0] for metric in ("chrf", "bleu")]
    assert spbleu(*one(files, "--chrf", "--bleu")).out.splitlines()[-2:] == others


# Which model.


def test_without_a_model(files: Path, spbleu: Command) -> None:
    assert spbleu(*one(files, model=""), status=1).err == (
        f"corpusmill: error: {files}/sacrebleu/models/{RELEASE}: no such file: --model is not given, and"
        " sacrebleu has not downloaded this model. Download a model and give it with --model FILE"
        f" (flores101: https://dl.fbaipublicfiles.com/fairseq/models/flores/{RELEASE};"
        " flores200: https://tinyurl.com/flores200sacrebleuspm;"
        " spBLEU-1K: https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model)\n"
    )
    err = spbleu(*one(files, "--model", "flores200", model=""), status=1).err
    assert f"{files}/sacrebleu/models/flores200sacrebleuspm: no such file: sacrebleu has" in err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.model", None, "no such file"),
        ("a.model", b"text", "not a SentencePiece model, or damaged"),
        (".", None, "a folder, not a file"),
        (
            "cut.model",
            small_model()[: small_model().index(b"\n", 1000)],
            "the end of the SentencePiece model is missing: download it again",
        ),
    ],
)
def test_no_model(
    files: Path,
    name: str,
    content: bytes | None,
    message: str,
    spbleu: Command,
) -> None:
    if content:
        (files / name).write_bytes(content)
    assert (
        spbleu(*one(files, model=name), status=1).err
        == f"corpusmill: error: {files / name}: {message}\n"
    )


def test_what_a_model_is_called(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(path: Path) -> tuple[str, bool]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small_model())
        model = score_translations.read_model(str(path))
        assert (model.sha256, model.data) == (SHA256, small_model())
        return model.name, bool(model.warnings)

    # By its hash, wherever it lies.
    monkeypatch.setattr(translation_scores, "RELEASED", {SHA256: "flores200"})
    assert name(files / "any.model") == ("flores200", False)
    monkeypatch.setattr(translation_scores, "RELEASED", {"00": "flores200"})
    # By its file name only where it is as large as the release, and no hash of that release is known.
    assert name(files / "copy" / RELEASE) == (OWN, False)
    monkeypatch.setattr(translation_scores, "RELEASED_PIECES", 100)
    assert name(files / "copy" / RELEASE) == ("flores101", True)
    assert name(files / "copy" / "other.model") == (OWN, False)
    assert name(files / "copy" / "flores200sacrebleuspm") == (OWN, False)
    # By its place, as sacrebleu itself does; where that is known to be wrong, it is said.
    assert name(files / "sacrebleu" / "models" / "flores200sacrebleuspm") == ("flores200", True)


# One direction.


def test_domains_and_topics(files: Path, spbleu: Command) -> None:
    domains = ["wikinews"] * 4 + ["wikibooks"] * 4 + ["wikivoyage"] * 3
    rows = [f"u\t{name}\tTravel \tno\tyes" for name in domains]
    for name in ("metadata_devtest.tsv", "metedata_devtest.tsv"):
        path = write(files / name, ["URL\tdomain\ttopic\thas_image\thas_hyperlink", *rows])
        value = json.loads(spbleu(*one(files, "--metadata", path, "--json")).out)
        groups = value["directions"][0]["groups"]
        assert [(g["kind"], g["name"], g["sentences"]) for g in groups] == [
            ("corpus", "", 11),
            ("domain", "wikibooks", 4),
            ("domain", "wikinews", 4),
            ("domain", "wikivoyage", 3),
            ("topic", "travel", 11),
        ]
        assert groups[0]["scores"] == groups[4]["scores"]
    out = spbleu(*one(files, "--metadata", files / "metadata_devtest.tsv")).out
    scores = [f"{groups[3]['scores'][name]:.2f}" for name in ("spBLEU", "chrF++")]
    assert ["domain", "wikivoyage", "3", *scores] in [line.split() for line in out.splitlines()]


def test_warnings(files: Path, spbleu: Command) -> None:
    write(files / "ref.txt", ["A dog .", "", "A cat ."] * 50)
    write(files / "out.txt", ["A dog .", "", " "] * 2 + ["Dogs run .", "b", "c ."] * 48)
    assert spbleu(*one(files)).err == (
        f"corpusmill: warning: {files}/ref.txt: 50 empty lines: 2, 5, 8, 11, 14, …\n"
        f"corpusmill: warning: {files}/out.txt: 4 empty lines: 2, 3, 5, 6\n"
    )
    write(files / "out.txt", ["A dog ."] * 150)
    assert f'{files}/out.txt: 150 lines end in " ."' in spbleu(*one(files)).err
    write(files / "ref.txt", SENTENCES)
    write(files / "out.txt", ["\ufeff" + SENTENCES[0], *SENTENCES[1:]])
    shown = spbleu(*one(files))
    chrf = sacrebleu(files, "-m", "chrf", "--chrf-word-order", "2")
    assert shown.out.splitlines()[-1:] == chrf
    assert not chrf[0].endswith("100.00")
    assert shown.err == (
        f"corpusmill: warning: {files}/out.txt: begins with a byte order mark, which counts as a"
        " character, as in sacrebleu\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "flags", "message"),
    read_cases("translation/score_translations", "misfits"),
)
def test_what_does_not_fit_together(
    files: Path,
    name: str,
    content: list[str],
    flags: list[str],
    message: str,
    spbleu: Command,
) -> None:
    (files / name).unlink(missing_ok=True)
    for text in content:
        (files / name).write_text(text, "latin-1")
    given = one(files, *(flag.format(files) for flag in flags))
    assert spbleu(*given, status=1).err == f"corpusmill: error: {message.format(files)}\n"


def test_compressed_and_crlf_files(files: Path, spbleu: Command) -> None:
    expected = spbleu(*one(files)).out
    data = (files / "out.txt").read_bytes()
    (files / "out.txt").write_bytes(bz2.compress(data.replace(b"\n", b"\r\n")))
    assert spbleu(*one(files)).out == expected


# Several systems, many directions.


def test_several_systems(files: Path, spbleu: Command) -> None:
    write(files / "best.txt", SENTENCES)
    arguments = one(files, files / "best.txt", model="")
    lines = [
        line.split() for line in spbleu(*arguments, "--model", files / "own.model").out.splitlines()
    ]
    assert lines[0] == ["system", "spBLEU", "chrF++"]
    assert ["best.txt", "100.00", "100.00"] in lines
    [of_worse] = [line for line in lines if line[:1] == ["out.txt"]]
    assert 0 < float(of_worse[1]) < 100


def test_systems_whose_files_are_called_the_same(files: Path, spbleu: Command) -> None:
    given = [write(files / name / "eng-fra.devtest", SENTENCES) for name in ("large", "small")]
    flags = ["--reference", files / "ref.txt", "--model", files / "own.model", "--json"]
    flags += ["--workers", 1]

    def systems(*hypotheses: Path) -> list[tuple[str, str]]:
        found = json.loads(spbleu("--hypothesis", *hypotheses, *flags).out)["directions"]
        return [(one["system"], one["source"]) for one in found]

    assert systems(*given) == [(str(given[0]), "eng"), (str(given[1]), "eng")]
    assert systems(files / "large", files / "small") == [("large", "eng"), ("small", "eng")]
    assert systems(files / "large") == [("", "eng")]
    write(files / "small" / "more.txt", SENTENCES)
    assert systems(files / "small") == [("", "eng"), ("more.txt", "")]


@pytest.fixture
def package(files: Path) -> Path:
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


def many(package: Path, *more: object) -> list[object]:
    of = ["--reference", package / "refs", "--hypothesis", package / "outputs"]
    return [*of, "--model", package / "own.model", "--workers", 1, *more]


def test_many_to_many(package: Path, spbleu: Command) -> None:
    target = package / "scores"
    shown = spbleu(*many(package, "--output", target))
    assert shown.err == (
        "corpusmill: warning: not scored, because the name is not like eng-fra.devtest:"
        f" {package}/outputs/README\n"
    )
    rows = [dict(row) for _, row in read_table((target / "scores.tsv").read_text("utf-8"), ())]
    keys = [(row["system"], row["split"], row["source"], row["target"]) for row in rows]
    assert list(map(list, keys)) == read_cases("translation/score_translations", "many_to_many")
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
            f"{kind}-{system}-{metric}.tsv"
            for kind in ("directions", "families", "resource-levels")
            for system in ("large-dev", "large-devtest", "small-devtest")
            for metric in ("spBLEU", "chrF++")
        ]
        + ["scores.json", "scores.tsv"]
    )
    # So have those of groups, which English is in none of.
    [one] = (
        value[key] for key in value if key[:1] == ("large",) and key[2:] == ("fra", "zho_simpl")
    )
    other = value["large", "devtest", "zho_simpl", "fra"]
    for kind, french, chinese in (
        ("families", "Romance", "Sino-Tibetan+Kra-Dai"),
        ("resource-levels", "high", "medium"),
    ):
        text = (target / f"{kind}-large-devtest-spBLEU.tsv").read_text("utf-8")
        rows_of = {line.split("\t")[0]: line.split("\t")[1:] for line in text.splitlines()}
        first, second = (french, chinese) if kind == "families" else (chinese, french)
        assert rows_of["from"] == [first, second, "average"]
        into = rows_of["from"].index(chinese)
        assert float(rows_of[french][into]) == pytest.approx(one, abs=1e-4)
        assert rows_of[french][1 - into] == ""  # no direction within the group
        assert float(rows_of["average"][2]) == pytest.approx((one + other) / 2, abs=1e-4)
    # The same on the screen.
    lines = [line.split() for line in shown.out.splitlines()]
    average = f"{sum(of_small.values()) / 4:.2f}"
    [all_of_small] = [line for line in lines if line[:2] == ["all", "4"]]
    assert all_of_small[3] == all_of_small[5] == average
    assert ["eng", "–"] in [line[:2] for line in lines]
    assert lines[-2] == [
        f"spBLEU|nrefs:1|case:mixed|eff:no|tok:{OWN}|smooth:exp|corpusmill:0.1.0|version:2.6.0"
    ]


@pytest.mark.slow
def test_workers_do_not_matter(package: Path, spbleu: Command) -> None:
    for name, workers in (("one", 1), ("two", 2)):
        flags = ("--workers", workers, "--output", package / name)
        spbleu(*many(package), *flags)
    for path in (package / "one").iterdir():
        assert path.read_bytes() == (package / "two" / path.name).read_bytes()


def test_an_output_folder_is_not_overwritten(package: Path, spbleu: Command) -> None:
    target = write(package / "scores" / "notes.txt", ["mine"]).parent
    assert spbleu(*many(package, "--output", target), status=1).err == (
        f"corpusmill: error: {target} is not empty; use another --output\n"
    )
    assert [path.name for path in target.iterdir()] == ["notes.txt"]


def test_systems_whose_tables_would_be_called_the_same(files: Path, spbleu: Command) -> None:
    write(files / "refs" / "fra.devtest", SENTENCES)
    write(files / "outputs" / "a" / "b" / "eng-fra.devtest", SENTENCES)
    write(files / "outputs" / "a-b" / "eng-fra.devtest", worse(4))
    flags = ["--reference", files / "refs", "--hypothesis", files / "outputs"]
    target = files / "scores"
    spbleu(*flags, "--model", files / "own.model", "--output", target)
    tables = sorted(target.glob("directions-a-b-devtest-chrF++*.tsv"))
    assert len(tables) == 2
    assert sorted("100.0000" in table.read_text("utf-8") for table in tables) == [False, True]


def test_nothing_is_left_behind_where_it_fails(package: Path, spbleu: Command) -> None:
    write(package / "outputs" / "small" / "eng-fra.devtest", ["short"])
    before = sorted(path.name for path in package.iterdir())
    spbleu(*many(package, "--output", package / "scores"), status=1)
    assert sorted(path.name for path in package.iterdir()) == before


@pytest.mark.parametrize(
    ("path", "message"),
    read_cases("translation/score_translations", "directions"),
)
def test_directions_that_do_not_fit(
    package: Path, path: str, message: str, spbleu: Command
) -> None:
    write(package / path, ["text"])
    expected = f"corpusmill: error: {package / path}: {message.format(package)}"
    assert spbleu(*many(package), status=1).err.startswith(expected)


def test_participants_who_are_not_scored_are_listed(files: Path, spbleu: Command) -> None:
    write(files / "hidden" / "fra.test", SENTENCES)
    write(files / "sent" / "ada" / "eng-fra.test", worse(4))
    write(files / "sent" / "ben" / "eng-fra.test", SENTENCES[1:])
    write(files / "sent" / "cid" / "eng-deu.test", SENTENCES)
    flags = ("--hypothesis", files / "sent", "--model", files / "own.model", "--hidden")
    out, err = spbleu("--reference", files / "hidden", *flags, "--json")
    told = json.loads(out)
    assert [one["hypothesis"] for one in told["directions"]] == [f"{files}/sent/ada/eng-fra.test"]
    assert told["directions"][0]["system"] == "ada"
    assert "ada test averages" in spbleu("--reference", files / "hidden", *flags).out
    count, place = len(SENTENCES), f"not scored: {files}/sent"
    assert told["warnings"][-2:] == [
        f"{place}/ben/eng-fra.test: has {count - 1} lines, but the reference has {count}; both must have"
        " the same number of lines",
        f"{place}/cid/eng-deu.test: there is no reference deu.test for this file",
    ]
    assert str(files / "hidden") not in out + err
    (files / "sent" / "ada" / "eng-fra.test").unlink()
    none = spbleu("--reference", files / "hidden", *flags, status=1).err
    assert none.startswith(f"corpusmill: error: {files}/sent: {place}/ben/eng-fra.test: has ")


@pytest.mark.parametrize(
    ("given", "name", "message"), read_cases("translation/score_translations", "hidden")
)
def test_one_participant_does_not_end_the_command(
    files: Path, given: str, name: str, message: str, spbleu: Command
) -> None:
    references, sent = files / "sent", files / "sent-in"
    write(references / "fra.test", [*SENTENCES, " "])
    (references / "ukr.test").write_bytes(b"a\xff\n")
    write(sent / "ada" / "eng-fra.test", [*worse(4), "."])
    write(sent / name, [*worse(4), "."])
    flags = ("--hypothesis", sent / "ada", sent / given, "--model", files / "own.model")
    out, err = spbleu("--reference", references, *flags, "--hidden", "--json")
    told = json.loads(out)
    assert [one["hypothesis"] for one in told["directions"]] == [f"{sent}/ada/eng-fra.test"]
    assert [one for one in told["warnings"] if "not scored" in one][-1] == message.format(sent)
    assert not re.search(f"{references}(?!-in)|empty lines", out + err)


@pytest.mark.parametrize(
    ("first", "second", "rank"), read_cases("translation/score_translations", "correlations")
)
def test_rank_correlations(first: list[int], second: list[int], rank: float | str) -> None:
    assert spearman(first, second) == (pytest.approx(rank) if rank != "" else None)


def test_correlations_are_by_target_language(files: Path, spbleu: Command) -> None:
    write(files / "refs" / "fra.devtest", SENTENCES)
    for name, number in (("a", 2), ("b", 4), ("c", 7)):
        write(files / "outputs" / name / "eng-fra.devtest", worse(number))
    flags = ("--reference", files / "refs", "--hypothesis", files / "outputs")
    shown = spbleu(*flags, "--model", files / "own.model").out
    table = shown.split("devtest rank correlation (Spearman) by target language\n")[1].splitlines()
    assert [line.split() for line in table[2:4]] == [["fra", "3", "1.00"], ["all", "3", "1.00"]]


def test_a_folder_without_directions(package: Path, spbleu: Command) -> None:
    write(package / "empty" / "notes.txt", ["text"])
    model = ("--model", package / "own.model")
    folder = ("--reference", package / "refs")
    for name, message in (
        ("empty", "contains no translations"),
        ("out.txt", "must have a name like eng-fra.devtest"),
    ):
        err = spbleu(*folder, "--hypothesis", package / name, *model, status=1).err
        assert f"{package}/{name}: {message}" in err


def test_help_teaches(spbleu: Command) -> None:
    assert "This command downloads nothing." in spbleu("--help").out
    shown = [line.split() for line in Command(spbleu.capsys, "score")("--help").out.splitlines()]
    firsts = [words[0] for words in shown if words]
    assert all(metric in firsts for metric in ("bpc", "perplexity", "spbleu"))
