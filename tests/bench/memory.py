"""The memory that builds take on the in-process runner, as their inputs grow.

    python -m tests.bench.memory wiki40b|entities|books [--sizes N …] [--limit MB] [--workers N …] [-- FLAG …]

Makes inputs of each size (GB of XML, millions of items, thousands of books), and builds them as a user does,
in a control group where the user may make one (version 1, or 2). Prints the time, the core-seconds, and the
peak memory of all processes: the sum of their proportional shares (PSS), without the cache of files. With
--limit the group may take no more, the cache of files too. FLAGs go to the build.
"""
