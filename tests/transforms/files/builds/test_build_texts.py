import json

from corpusmill.transforms.files.builds.dataset_card import make_texts
from corpusmill.transforms.files.builds.manifest import Description, Provenance
from corpusmill.transforms.files.records import OutputFile

DESCRIPTION = Description("Tales", "Of hens.", "@x", "other", ("book_id", "text"), ("book_id",))
PROVENANCE = Provenance("tales", "en", "20261101", "1.0.0", {"1.0.0": "First."}, {}, (), {})
OUTPUTS = [OutputFile("tales-train_2.tfrecord-00000-of-00001", "train_2", "tfrecord", 7, 70, "00")]


def texts(description: Description = DESCRIPTION) -> dict[str, str]:
    stats = {"train_2": {"books": 7}, "title": "Übung"}
    return make_texts(PROVENANCE, description, stats, "# Card\n", OUTPUTS)


def test_the_small_files_of_a_build() -> None:
    made = texts()
    assert list(made) == ["features.json", "dataset_info.json", "stats.json", "README.md"]
    assert made["README.md"] == "# Card\n"
    assert json.loads(made["stats.json"]) == {"train_2": {"books": 7}, "title": "Übung"}


def test_readers_are_told_of_numbers_and_of_every_split() -> None:
    made = texts(DESCRIPTION._replace(splits=("train", "train_2")))
    features = json.loads(made["features.json"])["featuresDict"]["features"]
    assert features["book_id"]["tensor"]["dtype"] == "int32"
    assert "text" in features["text"]
    info = json.loads(made["dataset_info.json"])
    assert (info["name"], info["configName"], info["description"]) == ("tales", "en", "Of hens.")
    lengths = {split["name"]: split["shardLengths"] for split in info["splits"]}
    assert lengths == {"train": [], "train_2": ["7"]}


def test_the_splits_are_the_usual_three() -> None:
    info = json.loads(texts()["dataset_info.json"])
    assert [split["name"] for split in info["splits"]] == ["train", "validation", "test"]
