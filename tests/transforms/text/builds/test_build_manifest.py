import json
from typing import Any

import pytest

from transforms.records import CorpusStats, InputFile, OutputFile
from transforms.text.builds.build_manifest import (
    AccountingError,
    Findings,
    Provenance,
    check_accounts,
    make_manifest,
    make_stats,
    to_json,
)
from transforms.text.vocabularies.subwords import SubwordStats, TrainedSubwords

PROVENANCE = Provenance(
    corpus="wiki40b",
    edition="zh-tw",
    dump_date="20260101",
    version="1.0.0",
    release_notes={"1.0.0": "First build."},
    settings={"language": "zh-tw"},
    caveats=("No entity dump was given.",),
    code={"corpusmill": "0.1.0"},
)
STATS = {
    "train": CorpusStats(3, 4, 5, 60, 700, 800),
    "test": CorpusStats(1, 0, 1, 10, 100, 110),
}

TRAINED = TrainedSubwords(b"model", 300, 3, "ab")
IN_PIECES = {"train": SubwordStats(200, 700, 0, 5), "test": SubwordStats(40, 100, 1, 0)}


def output(split: str, kind: str, records: int, name: str = "") -> OutputFile:
    return OutputFile(name or f"{split}.{kind}", split, kind, records, 10, "00ff")


def findings(**changed: Any) -> Findings:
    outputs = [
        output(split, kind, records)
        for kind in ("parquet", "tfrecord")
        for split, records in (("train", 3), ("validation", 0), ("test", 1))
    ]
    rejections = {("screen-pages", "redirect"): 4, ("clean-wikitext", "too-deep"): 2}
    found = Findings(
        inputs=[InputFile("page-props", "b.gz", 2, "bb"), InputFile("dump", "a.bz2", 1, "aa")],
        outputs=outputs,
        pages_read=10,
        rejections=rejections,
        class_unknown=2,
        pinned=3,
        pinned_elsewhere=1,
        lost=[],
        stats=STATS,
        subwords=TRAINED,
        subword_stats=IN_PIECES,
    )
    return found._replace(**changed)


def test_accounts_that_agree() -> None:
    check_accounts(findings())
    nothing: dict[str, Any] = {"rejections": {}, "stats": {}, "outputs": [], "subword_stats": {}}
    check_accounts(findings(pages_read=0, **nothing))


def test_records_of_several_shards_add_up() -> None:
    shards = [
        output("train", kind, 1, f"{kind} {shard}")
        for kind in ("parquet", "tfrecord")
        for shard in range(3)
    ]
    tests = [output("test", kind, 1) for kind in ("parquet", "tfrecord")]
    check_accounts(findings(outputs=shards + tests))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pages_read": 11}, "4 kept + 6 rejected are not the 11 pages that were read"),
        ({"pages_read": 9}, "4 kept + 6 rejected are not the 9 pages that were read"),
        (
            {"rejections": {("screen-pages", "redirect"): 5}},
            "4 kept + 5 rejected are not the 10 pages that were read",
        ),
        ({"outputs": []}, "parquet of train holds 0 of 3 articles"),
        (
            {"outputs": [output("train", "parquet", 3), output("test", "parquet", 1)]},
            "tfrecord of train holds 0 of 3 articles",
        ),
        (
            {"outputs": [*findings().outputs, output("test", "tfrecord", 1)]},
            "tfrecord of test holds 2 of 1 articles",
        ),
        (
            {"outputs": [*findings().outputs, output("validation", "parquet", 1)]},
            "parquet of validation holds 1 of 0 articles",
        ),
        (
            {"subword_stats": IN_PIECES | {"test": SubwordStats(40, 99)}},
            "99 of 100 characters of test are counted in pieces",
        ),
        ({"subword_stats": {}}, "0 of 700 characters of train are counted in pieces"),
    ],
)
def test_accounts_that_do_not_agree(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(AccountingError) as raised:
        check_accounts(findings(**changed))
    assert str(raised.value) == message


def test_signature() -> None:
    assert PROVENANCE.signature == "wiki40b|lang:zh-tw|dump:20260101|v:1.0.0"


def test_settings_that_make_a_variant_are_in_the_signature_in_their_order() -> None:
    variant = PROVENANCE._replace(signature_settings={"shards": "100", "dedup": "raw"})
    assert variant.signature == "wiki40b|lang:zh-tw|dump:20260101|shards:100|dedup:raw|v:1.0.0"


def test_stats_have_every_split_and_the_total() -> None:
    stats = make_stats(findings())
    assert list(stats) == ["train", "validation", "test", "total"]
    assert stats["validation"] == CorpusStats()._asdict() | SubwordStats()._asdict()
    total = CorpusStats(4, 4, 6, 70, 800, 910)._asdict() | SubwordStats(240, 800, 1, 5)._asdict()
    assert stats["total"] == total


@pytest.mark.parametrize("subwords", [None, TrainedSubwords(b"", 0, 0, "ab", "there is no text")])
def test_stats_without_a_vocabulary(subwords: TrainedSubwords | None) -> None:
    found = findings(subwords=subwords, subword_stats={})
    assert make_stats(found)["train"] == STATS["train"]._asdict()
    manifest = make_manifest(PROVENANCE, found)
    if subwords:
        assert manifest["sentencepiece"]["reason"] == "there is no text"
    else:
        assert "sentencepiece" not in manifest


def test_manifest() -> None:
    manifest = make_manifest(PROVENANCE, findings())
    assert manifest["signature"] == PROVENANCE.signature
    assert manifest["caveats"] == ["No entity dump was given."]
    assert [file["role"] for file in manifest["inputs"]] == ["dump", "page-props"]
    assert manifest["inputs"][0] == {"role": "dump", "name": "a.bz2", "bytes": 1, "sha256": "aa"}
    assert manifest["counts"] == {
        "pages_read": 10,
        "kept": {"train": 3, "validation": 0, "test": 1, "total": 4},
        "rejected": {"clean-wikitext/too-deep": 2, "screen-pages/redirect": 4, "total": 6},
        "class_unknown": 2,
        "pinned": 3,
        "pinned_elsewhere": 1,
    }
    assert manifest["stats"] == make_stats(findings())
    assert manifest["sentencepiece"] == {
        "vocabulary_size": 300,
        "sampled_articles": 3,
        "sample_sha256": "ab",
        "reason": "",
    }
    assert [file["name"] for file in manifest["outputs"]] == sorted(
        file.name for file in findings().outputs
    )
    assert manifest["lost"] == []


def test_a_manifest_does_not_depend_on_the_order_of_what_was_found() -> None:
    lost = [{"name": "b", "start": 2}, {"name": "a", "start": 9}, {"name": "a", "start": 1}]
    one = findings(lost=lost)
    two = findings(
        inputs=list(reversed(list(one.inputs))),
        outputs=list(reversed(list(one.outputs))),
        rejections=dict(list(one.rejections.items())[::-1]),
        lost=lost[::-1],
        stats=dict(list(one.stats.items())[::-1]),
    )
    assert to_json(make_manifest(PROVENANCE, one)) == to_json(make_manifest(PROVENANCE, two))
    assert to_json(make_stats(one)) == to_json(make_stats(two))


def test_json_is_readable_and_ends_with_a_line_feed() -> None:
    text = to_json({"назва": ["日本", 1]})
    assert text == '{\n  "назва": [\n    "日本",\n    1\n  ]\n}\n'
    assert json.loads(text) == {"назва": ["日本", 1]}
