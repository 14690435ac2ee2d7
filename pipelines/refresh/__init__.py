"""Finds new dumps, downloads them, and builds new editions.

In: a configuration (refresh.toml) and the listings of dump servers. Out: downloaded files, and editions that
passed the conditions of acceptance. Knows pipelines/run and inspect, transforms/files, wikipedia and
wikitext.
"""
