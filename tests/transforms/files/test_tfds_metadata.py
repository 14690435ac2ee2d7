from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.tfrecord import dataset_info_json, features_json


def tfrecord(split: str, shard: int, shards: int, records: int, size: int) -> OutputFile:
    name = f"wiki40b-{split}.tfrecord-{shard:05d}-of-{shards:05d}"
    return OutputFile(name, split, "tfrecord", records, size, "00")


def test_features_are_texts() -> None:
    text = {"pythonClassName": "tensorflow_datasets.core.features.text_feature.Text", "text": {}}
    assert features_json(["wikidata_id", "text", "version_id"]) == {
        "pythonClassName": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
        "featuresDict": {
            "features": {"text": text, "version_id": text, "wikidata_id": text},
        },
    }


def test_numbers_are_integers() -> None:
    features = features_json(["id", "text"], numbers=["id"])["featuresDict"]["features"]
    assert features["id"] == {
        "pythonClassName": "tensorflow_datasets.core.features.tensor_feature.Tensor",
        "tensor": {"shape": {}, "dtype": "int32", "encoding": "none"},
    }
    assert features["text"]["text"] == {}


def test_dataset_info_lists_the_shards_of_each_split_in_order() -> None:
    outputs = [
        tfrecord("train", 1, 2, 5, 50),
        OutputFile("train-00000-of-00001.parquet", "train", "parquet", 9, 999, "00"),
        tfrecord("test", 0, 1, 2, 20),
        tfrecord("train", 0, 2, 4, 40),
        tfrecord("validation", 0, 1, 0, 0),
        OutputFile("rejected/rejected-00000-of-00001.parquet", "", "parquet", 7, 70, "00"),
    ]
    info = dataset_info_json("wiki40b", "uk", "1.0.0", {"1.0.0": "First."}, "About.", "@x", outputs)
    template = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
    assert info == {
        "name": "wiki40b",
        "configName": "uk",
        "version": "1.0.0",
        "releaseNotes": {"1.0.0": "First."},
        "description": "About.",
        "citation": "@x",
        "fileFormat": "tfrecord",
        "splits": [
            {
                "name": "train",
                "filepathTemplate": template,
                "numBytes": "90",
                "shardLengths": ["4", "5"],
            },
            {
                "name": "validation",
                "filepathTemplate": template,
                "numBytes": "0",
                "shardLengths": ["0"],
            },
            {"name": "test", "filepathTemplate": template, "numBytes": "20", "shardLengths": ["2"]},
        ],
    }


def test_splits_of_other_names() -> None:
    outputs = [tfrecord("paper_test", 0, 1, 2, 20), tfrecord("train", 0, 1, 4, 40)]
    names = ["train", "test", "paper_test"]
    info = dataset_info_json("lm1b", "en", "1.0.0", {}, "About.", "@x", outputs, names)
    found = [(split["name"], split["shardLengths"], split["numBytes"]) for split in info["splits"]]
    assert found == [("train", ["4"], "40"), ("test", [], "0"), ("paper_test", ["2"], "20")]
