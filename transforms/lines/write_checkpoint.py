"""The corpus between two steps → files, as the original leaves it there, for whoever wants to compare."""

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from transforms.files.scratch import fetch
from transforms.files.write_files import HashedFile
from transforms.records import LineRange, OutputFile

FOLDER = "training-monolingual.tokenized"  # of the original


class WriteCheckpoint(beam.PTransform):
    """PCollection[LineRange] → PCollection[OutputFile], one of each range.

    The files one after the other are the one file of the original.

    Args:
      folder: of the build.
      name: of the file in the original, "news.20XX.en.shuffled.sorted".
      splitters: of the ranges, as SortLines gives them.
    """

    def __init__(self, folder: str, name: str, splitters: beam.PCollection):
        super().__init__()
        self.folder = folder
        self.name = name
        self.splitters = splitters

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        return ranges | "WriteRange" >> beam.Map(
            write_range, self.folder, self.name, AsSingleton(self.splitters)
        )


def write_range(lines: LineRange, folder: str, base: str, splitters: list[bytes]) -> OutputFile:
    """Writes the lines of one range."""
    name = f"{FOLDER}/{base}-{lines.index:05d}-of-{len(splitters) + 1:05d}"
    with HashedFile.in_folder(folder, name) as file:
        file.write(fetch(lines.packed))
    return file.output_file(name, "", "text", lines.lines)
