"""Makes the small text files of a build: statistics, dataset card and metadata of TensorFlow Datasets."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from corpusmill.transforms.files import tfds_metadata
from corpusmill.transforms.files.builds.build_manifest import CARD, Description, Provenance, to_json
from corpusmill.transforms.files.records import OutputFile


def make_texts(
    provenance: Provenance,
    description: Description,
    stats: Mapping[str, Any],
    card: str,
    outputs: Iterable[OutputFile],
) -> dict[str, str]:
    """Returns file name → text of all small text files of a build, except manifest.json.

    Args:
      provenance: the facts that are known before the build.
      description: the description of the corpus.
      stats: the statistics of the corpus, for stats.json.
      card: the text of the dataset card.
      outputs: the data files of the build.
    """
    texts = {"stats.json": to_json(stats), CARD: card}
    if not description.features:
        return texts
    dataset_info = tfds_metadata.dataset_info_json(
        provenance.corpus,
        provenance.edition,
        provenance.version,
        provenance.release_notes,
        description.about,
        description.citation,
        outputs,
        description.splits,
    )
    features = tfds_metadata.features_json(description.features, description.numbers)
    return {
        "features.json": json.dumps(features, indent=2),
        "dataset_info.json": json.dumps(dataset_info, indent=2),
        **texts,
    }
