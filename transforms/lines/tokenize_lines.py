"""Raw lines → normalised and tokenised lines, a block at a time."""

from collections.abc import Iterator

import apache_beam as beam

from transforms.files import counters
from transforms.text.lines.line_blocks import count_lines
from transforms.text.news.character_classes import CURRENT_PERL
from transforms.text.news.line_tokenizer import LineTokenizer

STAGE = "tokenize-lines"


class TokenizeLines(beam.PTransform):
    """PCollection[(range, block)] → PCollection[(range, block)]: as many lines, in the same order.

    Args:
      language: whose rules and abbreviations, "en".
      lower_case: whether the tokens are put into lower case.
      perl: the version of Perl whose Unicode decides what is a letter or a digit.
    """

    def __init__(self, language: str = "en", lower_case: bool = False, perl: str = CURRENT_PERL):
        super().__init__()
        self.settings = language, lower_case, perl

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        return ranges | "Tokenize" >> beam.ParDo(_TokenizeRange(*self.settings)).with_output_types(
            tuple[int, bytes]
        )


class TokenizeBlocks(beam.PTransform):
    """PCollection[block] → PCollection[block], for lines that are tokenised before they are sorted."""

    def __init__(self, language: str = "en", lower_case: bool = False, perl: str = CURRENT_PERL):
        super().__init__()
        self.settings = language, lower_case, perl

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return blocks | "Tokenize" >> beam.ParDo(_TokenizeBlock(*self.settings)).with_output_types(
            bytes
        )


class _Tokenize(beam.DoFn):
    """Holds the table of words for as long as the worker lives."""

    def __init__(self, language: str, lower_case: bool, perl: str):
        self._settings = language, lower_case, perl

    def setup(self) -> None:
        self.tokenize = LineTokenizer(*self._settings)


class _TokenizeRange(_Tokenize):
    def process(self, index_to_block: tuple[int, bytes]) -> Iterator[tuple[int, bytes]]:
        index, block = index_to_block
        yield index, self.tokenize(block)
        counters.count(STAGE, "lines", count_lines(block))
        counters.flush()


class _TokenizeBlock(_Tokenize):
    def process(self, block: bytes) -> Iterator[bytes]:
        yield self.tokenize(block)
