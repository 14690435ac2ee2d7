"""Every command, with the fewest flags that its help allows, on the bundled samples."""

import argparse
import glob
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.sample_builds import SAMPLES
from tests.makers.wiki_builds import Command

# Rows: what to type, one command a line. {samples}: the bundled samples; {demo}: what `corpusmill demo` has
# built; the working folder is empty. A command ends with 0, or with the status before it.
WIKI = "{samples}/wikipedia/ukwiki/ukwiki-20260101-pages-articles-multistream.xml.bz2"
LIKELIHOOD = "--corpus {demo}/wiki40b/uk/2* --log-likelihood=-1000"
TYPED = [
    f"wiki40b --language uk --dump {WIKI} --output out",
    "entities --dump {samples}/wikidata/*.json.gz --output out",
    "multilingual --corpora {demo}/wiki40b/uk --output out",
    "lm1b --input {samples}/news/news.20??.en.shuffled* --output out",
    "pg19 --books {samples}/gutenberg/library --output out --members hash",
    "simplebooks --books {samples}/gutenberg/library --output out",
    "subwords --corpora {demo}/lm1b --output out --size 500",
    "ngrams --corpus {demo}/lm1b/*/2* --output out",
    "tokenize {demo}/wiki40b/uk --output out",
    "harness {demo}/wiki40b --output out",
    "publish hub owner/name {demo}/wiki40b --dry-run",
    "flores101 source --wikinews {samples}/wikimedia/enwikinews/*stream.xml.bz2 --output out",
    """
    flores101 packets --project p --languages fra --source {demo}/flores101/*/*/source.tsv --to box
    1 flores101 import --project p box/fra-round1.tsv
    2 flores101 check --project p
    2 flores101 review --project p --sheets
    flores101 status --project p
    2 flores101 package --project p --output out
    """,
    "2 refresh --config {samples}/README.md",
    "2 fetch wiki40b",
    "help refresh",
    "refresh --example",
    "report {demo}/wiki40b/*",
    f"""
    inspect wiki --language uk --dump {WIKI} --title Київ
    inspect wiki --language uk --wikitext {{samples}}/README.md
    inspect {{demo}}/pg19/*/2* 90001
    """,
    "verify {demo}/lm1b/*",
    "compare {demo}/wiki40b/uk/2* {demo}/wiki40b/uk/2*",
    "overlap {demo}/pg19 --output found",
    "contamination --train {demo}/lm1b --eval {samples}/README.md",
    f"score bpc {LIKELIHOOD}",
    f"score bpb {LIKELIHOOD}",
    f"score perplexity {LIKELIHOOD}",
    "score spbleu --reference {samples}/README.md --hypothesis {samples}/README.md"
    " --model {demo}/subwords/*/*/sentencepiece.model",
]
TYPED_BY_FIXTURES = ["demo"]


def commands_of(row: str) -> Iterator[tuple[list[str], int]]:
    """Arguments and status of each line."""
    for line in filter(str.strip, row.splitlines()):
        words = shlex.split(line)
        status = int(words.pop(0)) if words[0].isdigit() else 0
        yield words, status


@pytest.mark.slow
@pytest.mark.parametrize("row", TYPED, ids=lambda row: " ".join(row.split()[:2]))
def test_a_command_as_it_is_typed(
    row: str, tmp_path: Path, demo: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine of one core: builds by several workers are the matter of other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    for words, status in commands_of(row):
        typed = [word.format(samples=SAMPLES, demo=demo) for word in words]
        expanded = [path for word in typed for path in sorted(glob.glob(word)) or [word]]  # noqa: PTH207
        assert "Traceback" not in run(*expanded, status=status).err


def test_no_command_is_left_out() -> None:
    typed = {" ".join(words) for row in TYPED for words, _ in commands_of(row)}
    for name in set(leaves(make_parser())) - set(TYPED_BY_FIXTURES):
        assert any(words.startswith(name) for words in typed), name


def leaves(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Names of the commands below a parser, "flores101 check"."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                inner = list(leaves(below))
                yield from (f"{name} {one}" for one in inner) if inner else [name]
