"""A project of translators for FLORES-101: packets, imports, checks, review, scores, and the final package.

In: a table of source sentences, and the files of translators and reviewers. Out: a benchmark with its
scores. The checks of a sentence and the file formats are pure functions. Knows pipelines/run,
transforms/files and translation.
"""
