"""The distribution "corpusmill". Dataflow workers install the same file (--setup_file)."""

import pathlib
import re

from setuptools import find_packages, setup

HERE = pathlib.Path(__file__).parent
README = (HERE / "README.md").read_text("utf-8")
PROVENANCE = (HERE / "pipelines" / "provenance.py").read_text("utf-8")

# GPL-2.0-or-later, for the conversion tables of MediaWiki that it holds.
CHINESE = ["zhconv-rs>=0.4.2,<0.5"]

setup(
    name="corpusmill",
    version=re.search(r'^VERSION = "(.+)"$', PROVENANCE, re.MULTILINE).group(1),
    description="Rebuilds language-model benchmark corpora from their raw sources.",
    long_description=README,
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=find_packages(include=["pipelines", "pipelines.*", "transforms", "transforms.*"]),
    package_data={
        "pipelines": ["samples/**/*", "*.tsv"],
        "transforms.text.books": ["*/*.toml"],
        "transforms.text.news": ["*.toml"],
        "transforms.text.translation": ["*.toml", "*/*.toml"],
        "transforms.text.wikimedia": ["languages/*.toml", "sites/*.toml"],
        "transforms.text.wikimedia.wikitext.conversion": ["*.toml"],
    },
    entry_points={"console_scripts": ["corpusmill=pipelines.cli:main"]},
    install_requires=[
        "apache-beam>=2.77,<2.78",
        "ftfy>=6.3,<7",  # knows text that was decoded wrongly
        "google-crc32c>=1.5",
        "langcodes>=3.5,<4",
        "language-data>=1.4,<2",  # what langcodes knows of names and scripts
        "msgspec>=0.20",  # of an entity it builds only what is wanted, so it beats orjson
        "numpy>=1.26",
        "protobuf>=4.25",
        "py3langid==0.4.*",  # its model decides what counts as another language
        "pyarrow>=14,<26",
        "regex>=2024.1",  # knows the scripts of characters
        "rich>=13",
        "sacrebleu>=2.6,<2.7",  # its version is in signatures, and its counts of lines are no public API
        "sentencepiece==0.2.3",  # another version may learn other pieces
        "sentencex==1.0.32",  # another version may cut other sentences
        "spacy>=3.8,<3.9",  # its English tokenizer is that of SimpleBooks
        "zstandard>=0.22",
    ],
    extras_require={
        "gcp": ["apache-beam[gcp]"],
        "zh": CHINESE,
        "test": [
            *CHINESE,
            "datasketch>=2,<3",  # signatures must equal its own; it needs scipy, 140 MB, so only here
            "hypothesis>=6",
            "pytest>=8",
            "pytest-xdist>=3.8",  # tests on all cores
        ],
        "compat": ["datasets>=4", "tensorflow-cpu>=2.20", "tensorflow-datasets>=4.9"],
        "bench": ["mwparserfromhell>=0.7.2", "orjson>=3.10", "psutil>=6", "wikiextractor>=3.1"],
        "lint": ["mypy>=1.18", "ruff>=0.14"],
    },
)
