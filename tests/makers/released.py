"""Made releases of the five corpora, in the layouts in which they were released."""

import io
import itertools
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.files.tfrecord import encode_example, frame_record

Files = Mapping[str, bytes]  # path below the source → content
COLUMNS = ("wikidata_id", "text", "version_id")
WORDS = "the old house by the river was sold and the new owner found a letter in the wall".split()
METADATA = "URL\tdomain\ttopic\thas_image\thas_hyperlink\n"


def sentence(number: int) -> str:
    """A sentence of words that occur in others, too."""
    turned = WORDS[number % 7 :] + WORDS[: number % 7]
    return f"{' '.join(turned)} for {number % 11} days ."


def article(number: int) -> dict[str, str]:
    """The row of an article in Ukrainian; the first two have the same id."""
    words = f'Це "село" біля річки.\'_NEWLINE_Там\t{number}'
    text = f"\n_START_ARTICLE_\nСело {number}\n_START_PARAGRAPH_\n{words}"
    return {"wikidata_id": f"Q{max(number, 1)}", "text": text, "version_id": str(900 + number)}


def _articles() -> dict[tuple[str, int, int], list[dict[str, str]]]:
    """(split, number of the file, number of files) → its articles."""
    numbers = itertools.count()
    places = {("train", 0, 2): 5, ("train", 1, 2): 4, ("validation", 0, 1): 2, ("test", 0, 1): 2}
    return {place: [article(next(numbers)) for _ in range(of)] for place, of in places.items()}


def wiki40b_parquet() -> Files:
    """As on the hub: outside English, values are bytes in Python's notation."""
    files = {}
    for (split, number, of), rows in _articles().items():
        named = {name: [repr(row[name].encode()) for row in rows] for name in COLUMNS}
        stream = io.BytesIO()
        pq.write_table(pa.table(named), stream)
        files[f"uk/{split}-{number:05d}-of-{of:05d}.parquet"] = stream.getvalue()
    return files


def wiki40b_tfrecord() -> Files:
    folders = {"train": "train", "validation": "dev", "test": "test"}
    return {
        f"{folders[split]}/uk_examples-{number:05d}-of-{of:05d}": b"".join(
            frame_record(encode_example(row)) for row in rows
        )
        for (split, number, of), rows in _articles().items()
    }


def lm1b() -> Files:
    top = "1-billion-word-language-modeling-benchmark-r13output"
    train, heldout = (
        f"{top}/{one}-monolingual.tokenized.shuffled" for one in ("training", "heldout")
    )
    files = {
        f"{train}/news.en-{number:05d}-of-00100": _lines(number, 3) for number in range(1, 100)
    }
    parts = {
        f"{heldout}/news.en.heldout-{number:05d}-of-00050": _lines(number + 300, 2)
        for number in range(50)
    }
    whole = {f"{heldout}/news.en-00000-of-00100": b"".join(parts.values())}
    return {f"{top}/README": b"About.\n", **files, **whole, **parts}


def _lines(first: int, count: int) -> bytes:
    return "".join(f"{sentence(first * count + one)}\n" for one in range(count)).encode()


def pg19() -> Files:
    books = {"train": (84, 100, 9), "validation": (1022,), "test": (10146, 36)}
    texts = {
        f"{split}/{book}.txt": f"A TALE\r\n\n  Of {book} é\n".encode() + _lines(book, 9)
        for split, of in books.items()
        for book in of
    }
    lines = (
        f"{book},Tale {book} by A. Writer,18{book % 100:02d},http://www.gutenberg.org/ebooks/{book}\n"
        for of in books.values()
        for book in of
    )
    return {**texts, "metadata.csv": "".join(lines).encode()}


def simplebooks() -> Files:
    return {
        f"simplebooks/simplebooks-{size}{form}/{part}.txt": _lines(place + len(size + form), count)
        for size in ("2", "92")
        for form in ("", "-raw")
        for place, (part, count) in enumerate((("train", 60), ("valid", 5), ("test", 4)))
    }


def flores101(codes: tuple[str, ...] = ("eng", "ukr")) -> Files:
    lines = {"dev": 997, "devtest": 1012}
    texts = {
        f"flores/{split}/{code}.{split}": b"".join(
            f"{code} {sentence(one)}\n".encode() for one in range(of)
        )
        for split, of in lines.items()
        for code in codes
    }
    tables = {
        f"flores/metedata_{split}.tsv": METADATA.encode()
        + b"".join(
            f"https://en.wikinews.org/wiki/{one // 4}\twikinews\thealth, {one}\tyes\tno\n".encode()
            for one in range(of)
        )
        for split, of in lines.items()
    }
    return {**texts, **tables}


def flores200() -> Files:
    return flores101(("eng_Latn", "ukr_Cyrl"))


def floresplus() -> Files:
    files = {}
    for split, code in itertools.product(("dev", "devtest"), ("eng_Latn", "ukr_Cyrl")):
        rows = [
            {
                "id": one,
                **dict(zip(("iso_639_3", "iso_15924"), code.split("_"), strict=True)),
                "glottocode": "stan1293",
                "text": f"{code} {sentence(one)}",
                "url": "https://en.wikinews.org/wiki/1",
                "domain": "wikinews",
                "topic": "health",
                "has_image": "yes",
                "has_hyperlink": "no",
                "last_updated": "1.0",
            }
            for one in range(6)
        ]
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), stream)
        files[f"{split}/{code}.parquet"] = stream.getvalue()
    return files


LAYOUTS: Mapping[str, Callable[[], Files]] = {
    one.__name__.replace("wiki40b_", "wiki40b-"): one
    for one in (
        wiki40b_parquet,
        wiki40b_tfrecord,
        lm1b,
        pg19,
        simplebooks,
        flores101,
        flores200,
        floresplus,
    )
}


def write_folder(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def write_tar(path: Path, files: Files) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def write_zip(path: Path, files: Files) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def without(files: Files, *parts: str) -> Files:
    """The files whose names have none of the parts."""
    return {name: of for name, of in files.items() if not any(one in name for one in parts)}


def texts_of(files: Files, part: str) -> Iterator[str]:
    """The lines of the files whose names have a part, in order."""
    for name in sorted(files):
        if part in name:
            yield from files[name].decode().split("\n")[:-1]
