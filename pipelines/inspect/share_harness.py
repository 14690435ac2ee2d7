"""Writes task files for lm-evaluation-harness, which measure word perplexity and bits per byte on builds.

https://github.com/EleutherAI/lm-evaluation-harness
"""

import os
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from corpusmill.pipelines.inspect import corpusmill_task
from corpusmill.pipelines.inspect.language_model_scores import Normalisers, read_normalisers
from corpusmill.pipelines.run.chosen_builds import choose_builds
from corpusmill.pipelines.run.corpora import layouts, shapes
from corpusmill.transforms.files.builds.finished_builds import Build, read_json
from corpusmill.transforms.files.safe_files import write_whole

_FUNCTIONS = """\
custom_dataset: !function corpusmill_task.load
process_results: !function corpusmill_task.process_results
"""
_METRICS = ("word_perplexity", "byte_perplexity", "bits_per_byte")


def write_tasks(
    folders: Sequence[str], output: str, split: str = "test", repo: str = ""
) -> Iterator[str]:
    """Writes a task file for each edition in `folders` and their subfolders. Yields the names of the tasks.

    Args:
      output: The folder for the task files and for the module that they import.
      split: The split on which to measure.
      repo: "owner/name" of a data set on the Hugging Face hub that contains the builds; "" to read them from
        their folders.

    Raises InputError if there is no build with text, ValueError if a build does not have the split.
    """
    builds = choose_builds(folders, lambda one: one.corpus in layouts(), "running text")
    folder = pathlib.Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(corpusmill_task.__file__)
    write_whole(folder / source.name, source.read_bytes())
    for build in builds:
        place = f"hub:{repo}:{build.edition}" if repo else os.path.relpath(build.folder, folder)
        name = name_task(build, split)
        write_whole(folder / f"{name}.yaml", make_task(build, split, place).encode("utf-8"))
        yield name


def name_task(build: Build, split: str) -> str:
    """Returns the name of a task, such as "corpusmill_wiki40b_uk_test"."""
    return re.sub(r"\W+", "_", f"corpusmill_{build.corpus}_{build.edition}_{split}").lower()


def make_task(build: Build, split: str, place: str) -> str:
    """Returns the content of a task file, in YAML.

    Args:
      place: The place of the build: a folder, or "hub:owner/name:config" for a build on the Hugging Face hub.

    Raises ValueError if the build does not have the split.
    """
    counts = _normalisers(build, split)
    task: dict[str, Any] = {
        "task": name_task(build, split),
        "tag": f"corpusmill_{build.corpus}",
        "dataset_kwargs": {
            "build": place,
            "split": split,
            "column": shapes()[build.corpus].texts[0],
            # A row of One Billion Word is a line, and models predict its end.
            "end": "" if layouts()[build.corpus].paragraphs else "\n",
            "words": counts.predicted_words,
            "text_bytes": counts.text_bytes,
        },
        "test_split": split,
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "text",
        "metric_list": [{"metric": name} for name in _METRICS],
        "metadata": {"version": build.manifest["version"], "signature": build.signature},
    }
    text: str = yaml.safe_dump(task, sort_keys=False, allow_unicode=True)
    return text + _FUNCTIONS


def _normalisers(build: Build, split: str) -> Normalisers:
    try:
        counts = read_normalisers({"stats": read_json(build.folder, "stats.json")}, split)
    except ValueError as error:
        raise ValueError(f"{build.folder}: {error}") from None
    if not counts.text_bytes or not counts.words:
        raise ValueError(f"{build.folder}: stats.json has no counts of words and bytes for {split}")
    return counts
