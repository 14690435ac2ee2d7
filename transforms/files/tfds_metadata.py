"""Makes the two metadata files that `tfds.builder_from_directory` reads in addition to the TFRecord files.

They have the structure of tensorflow_datasets/core/proto/{dataset_info,feature}.proto, as JSON.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.records import OutputFile

_FEATURES = "tensorflow_datasets.core.features"


def features_json(names: Sequence[str], numbers: Collection[str] = ()) -> dict[str, Any]:
    """Returns the content of features.json, which describes the features `names` of a record.

    The features in `numbers` are 32-bit integers. All other features are texts.
    """
    text = {"pythonClassName": f"{_FEATURES}.text_feature.Text", "text": {}}
    number = {
        "pythonClassName": f"{_FEATURES}.tensor_feature.Tensor",
        "tensor": {"shape": {}, "dtype": "int32", "encoding": "none"},
    }
    features = {name: number if name in numbers else text for name in sorted(names)}
    return {
        "pythonClassName": f"{_FEATURES}.features_dict.FeaturesDict",
        "featuresDict": {"features": features},
    }


def dataset_info_json(
    corpus: str,
    edition: str,
    version: str,
    release_notes: Mapping[str, str],
    description: str,
    citation: str,
    outputs: Iterable[OutputFile],
    splits: Sequence[str] = SPLITS,
) -> dict[str, Any]:
    """Returns the content of dataset_info.json: its splits, and the number of records of each shard.

    Args:
      corpus: name of the data set, such as "wiki40b".
      edition: name of its configuration, such as "uk".
      version: version of the data set.
      release_notes: version → what is new in it.
      description: what the data set is.
      citation: the paper to cite, in BibTeX.
      outputs: the files of the build, of which only the TFRecord files are used.
      splits: names of the splits, in order.
    """
    frames = sorted(file for file in outputs if file.format == "tfrecord")
    return {
        "citation": citation,
        "configName": edition,
        "description": description,
        "fileFormat": "tfrecord",
        "name": corpus,
        "releaseNotes": dict(release_notes),
        "splits": [_split_json(split, frames) for split in splits],
        "version": version,
    }


def _split_json(split: str, frames: Iterable[OutputFile]) -> dict[str, Any]:
    files = [file for file in frames if file.split == split]
    return {
        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        "name": split,
        "numBytes": str(sum(file.bytes for file in files)),
        "shardLengths": [str(file.records) for file in files],
    }
