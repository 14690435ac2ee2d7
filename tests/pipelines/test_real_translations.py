"""Published scores of real systems, and real languages against each other."""

import json
import math
import pathlib

import pytest

from corpusmill.pipelines.cli import main
from tests.makers.spm_models import small_model
from tests.tools.real_data import DATA, needs_real_data

WMT21 = DATA / "flores" / "wmt21-florestest"
DEVTEST = DATA / "flores" / "flores101_dataset"

# wmt-conference/wmt21-news-systems, scores/automatic-scores.tsv at f41750d: zu-xh, bleu-A and chrf-A.
PUBLISHED = {
    "florestest2021.zu-xh.hyp.GTCOM.xh": {"BLEU": 11.869166190672052, "chrF": 47.49091617540442},
    "florestest2021.zu-xh.hyp.HuaweiTSC.xh": {"BLEU": 9.919021204721114, "chrF": 48.64352818919227},
}


@pytest.fixture
def model(tmp_path: pathlib.Path) -> str:
    (tmp_path / "own.model").write_bytes(small_model())
    return str(tmp_path / "own.model")


@needs_real_data
def test_published_scores(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    reference = str(WMT21 / "references" / "florestest2021.zu-xh.ref.A.xh")
    outputs = str(WMT21 / "system-outputs")
    flags = ["--model", model, "--chrf", "--bleu", "--json"]
    assert main(["score", "spbleu", "--reference", reference, "--hypothesis", outputs, *flags]) == 0
    value = json.loads(capsys.readouterr().out)
    found = {one["system"]: one["groups"][0]["scores"] for one in value["directions"]}
    assert found.keys() == PUBLISHED.keys()
    for system, scores in PUBLISHED.items():
        for metric, score in scores.items():
            assert math.isclose(found[system][metric], score, rel_tol=1e-14)
    assert value["signatures"]["BLEU"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|")
    assert value["signatures"]["chrF"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|")


@needs_real_data
def test_real_languages(
    model: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for source, target in (("deu", "fra"), ("fra", "fra")):
        text = (DEVTEST / "devtest" / f"{source}.devtest").read_bytes()
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / f"{source}-{target}.devtest").write_bytes(text)
    arguments = ["--reference", str(DEVTEST / "devtest"), "--hypothesis", str(tmp_path / "out")]
    flags = ["--model", model, "--metadata", str(DEVTEST), "--workers", "1", "--json"]
    assert main(["score", "spbleu", *arguments, *flags]) == 0
    value = json.loads(capsys.readouterr().out)
    found = {f"{one['source']}-{one['target']}": one["groups"] for one in value["directions"]}
    assert list(found) == ["deu-fra", "fra-fra"]
    assert [(g["name"], g["sentences"]) for g in found["deu-fra"] if g["kind"] == "domain"] == [
        ("wikibooks", 351),
        ("wikinews", 341),
        ("wikivoyage", 320),
    ]
    assert all(
        score == pytest.approx(100)
        for group in found["fra-fra"]
        for score in group["scores"].values()
        if group["sentences"] > 3
    )
    assert 10 < found["deu-fra"][0]["scores"]["chrF++"] < 60
