"""Draws small texts by a seed, and stores the models that lmplz of KenLM makes of them.

    apt-get install cmake g++ zlib1g-dev libboost-{dev,thread-dev,program-options-dev,system-dev,test-dev}
    python -m tests.tools.kenlm_toys FOLDER

The second command builds KenLM in FOLDER, unless it is there.
"""

import gzip
import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODELS = Path(__file__).parents[1] / "cases" / "kenlm_toys.jsonl.gz"
BUILD = """pip download --no-deps --no-binary kenlm kenlm==0.3.0 && tar xf kenlm-0.3.0.tar.gz --strip 1 &&
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && make -C build lmplz"""
ODD = "\1\b\v\f\x1b\x1c\x1f\x7f\x80\x85\x9f\xa0\xad\u2028\u2029\u3000\ufeff\ufffe\ufffd\U0010ffff\ue000"
ODD += '\u0301ﬁ"\\'
GAPS = [" ", "  ", "\t", "\r", "\0", " \t ", "\r ", "\0\0"]
SIGNS = ["<s>", "</s>", "<unk>", "<S>", "</S>", "<UNKNOWN>", "<s", "</s>."]
REASON = re.compile(r"Special word|(?<=discounts for )\d-gram|(?<=ERROR: )\d-gram")
PRUNES = [[], [], [], [0, 1], [0, 0, 1], [0, 1, 1, 2], [0, 0, 0, 1]]


def draw_text(kind: str, draw: random.Random) -> str:
    """A text of the kind: lines with their line feeds."""
    if kind == "one":
        return " ".join(["hello"] * draw.choice([1, 1, 2, 5, 20])) + "\n" * draw.choice([1, 1, 3])
    words = [f"{draw.choice('abcdefgh')}{number}" for number in range(60)]
    if kind == "odd":
        words[::2] = ("".join(draw.choices("a" + ODD, k=draw.randint(1, 2))) for _ in words[::2])
    if kind == "signs":
        words[:8:2] = draw.sample(SIGNS, 4)
    words = words[: draw.choice([3, 6, 20, 60])]
    lengths = [0, 1, 1, 2] if kind == "short" else range(1, 8)
    phrases = [
        draw.choices(words, k=draw.choice(lengths)) for _ in range(draw.choice([10, 30, 60]))
    ]
    lines = []
    for number in range(draw.choice([2, 10, 30, 60])):
        phrase = phrases[0 if kind == "equal" else int(len(phrases) * draw.random() ** 3)]
        phrase = phrase if kind == "equal" else phrase[: draw.randint(0, 99)]
        phrase = [f"{number}a", f"{number}b"] if kind == "unique" else phrase
        lines.append("".join(word + draw.choice(GAPS if kind == "odd" else " ") for word in phrase))
    return "".join(f"{line}\n" for line in lines)


def make_models(lmplz: Path, seed: int) -> Iterator[dict[str, Any]]:
    """The texts with their models, and why lmplz makes none without --discount_fallback."""
    draw = random.Random(seed)
    for kind in ["one", "unique", "equal", "short", "signs", *["odd"] * 3, *["plain"] * 4] * 10:
        yield make_model(lmplz, kind, draw.randint(1, 5), draw)
    for order in [1, 2, 3, 4, 5] * 16:
        kind = draw.choice(["odd", "plain", "plain"])
        models = (make_model(lmplz, kind, order, draw) for _ in itertools.count())
        yield next(model for model in models if not model["refused"])


def make_model(lmplz: Path, kind: str, order: int, draw: random.Random) -> dict[str, Any]:
    """A drawn text with its model."""
    text, prune = draw_text(kind, draw), draw.choice(PRUNES)[:order]
    flags = ["-o", str(order), "-S", "50M", *(["--prune", *map(str, prune)] if prune else [])]
    plain, backed = (
        subprocess.run([lmplz, *flags, *more], input=text.encode(), capture_output=True)
        for more in ([], ["--discount_fallback"])
    )
    refused = REASON.findall(plain.stderr.decode())[:1]
    assert len(refused) == bool(plain.returncode), plain.stderr
    assert not backed.returncode or refused[0].startswith("Special"), backed.stderr
    model = {} if backed.returncode else {"arpa": backed.stdout.decode()}
    return {"kind": kind, "text": text, "order": order, "prune": prune, "refused": refused, **model}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if not (folder / "build/bin/lmplz").exists():
        subprocess.run(BUILD, shell=True, cwd=folder, check=True)
    lines = (f"{json.dumps(one)}\n" for one in make_models(folder / "build/bin/lmplz", 1))
    MODELS.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
