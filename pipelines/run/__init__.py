"""Runs a build: launch, stages, resume, publishing, progress, cost, and the engines that run Beam pipelines.

In: a build with its settings. Out: a published folder, or an error that says what to do. `corpora.py` has
one row per corpus, by which other rooms find its facts without importing it. Knows transforms/files, and the
names of files and languages in transforms/books, models, news, wikipedia and wikitext.
"""
