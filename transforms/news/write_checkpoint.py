"""Writes an intermediate state of the corpus to files (a checkpoint).

The files can be compared with the file that the original scripts of the One Billion Word benchmark write at
the same step.
"""

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files.records import LineRange, OutputFile
from corpusmill.transforms.files.scratch import fetch
from corpusmill.transforms.files.write_files import HashedFile

FOLDER = "training-monolingual.tokenized"  # name of the folder in the original


class WriteCheckpoint(beam.PTransform):
    """Writes the lines of each range to a text file. PCollection[LineRange] → PCollection[OutputFile].

    The concatenated files are equal to the single file that the original scripts write.

    Args:
      folder: output folder of the build.
      name: name of the original file, such as "news.20XX.en.shuffled.sorted".
      splitters: side input with the borders between the ranges, from SortLines.
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
    """Writes the lines of one range to a text file.

    Args:
      lines: the range.
      folder: output folder of the build.
      base: name of the file that the original scripts write, such as "news.20XX.en.shuffled.sorted".
      splitters: the borders between all ranges.
    """
    name = f"{FOLDER}/{base}-{lines.index:05d}-of-{len(splitters) + 1:05d}"
    with HashedFile.in_folder(folder, name) as file:
        file.write(fetch(lines.packed))
    return file.output_file(name, "", "text", lines.lines)
