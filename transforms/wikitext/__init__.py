"""Converts wikitext to text. A library of its own, without Beam.

In: the wikitext of a page, the tables of its language (`languages/*.toml`) and the templates of its dump.
Out: text in the layout of Wiki-40B, or Markdown; `audit/` compares it with the page, and `explain/` says
which rule made which text. Knows transforms/files.

Modules that use Beam: none
"""
