"""The commands for finished builds: verify, compare, report, score, contamination, overlap, explain, share.

In: folders of finished builds, and other people's texts. Out: a verdict, a table, a page or a new edition.
`inspect_commands.py` has their flags and help pages. Knows pipelines/run and all transforms but translation.
"""
