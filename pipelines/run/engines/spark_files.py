"""Finds the files for Spark on the machine that starts a job: Java, Spark's jars, and Beam's job server."""

import importlib.util
import os
import pathlib
import shutil
import zipfile
from typing import NamedTuple

JOB_SERVER_VARIABLE = "CORPUSMILL_SPARK_JOB_SERVER"
JOB_SERVER_VERSION = "2.62.0"
"""The newest version of Beam whose job server can be assembled from published jars."""
FETCH_COMMAND = "deploy/spark/job-server/fetch.sh"

SPARK_CLASS = "org/apache/spark/SparkContext.class"


class JobServerFiles(NamedTuple):
    """Paths of the files that a job server needs."""

    java: str  # the program `java`
    jar: str  # the jar of Beam's job server, which executors also need
    class_path: tuple[str, ...]  # the jar and its dependencies: files, folders, patterns DIR/*


def find_job_server_files(java: str = "", jar: str = "") -> JobServerFiles:
    """Returns the paths of the files that a job server needs.

    Args:
      java: The program `java`; "" for the one in JAVA_HOME or PATH.
      jar: The path of Beam's job server; "" to search for it (see `find_job_server`).

    Raises ValueError, with advice, if a file is missing.
    """
    server = find_job_server(jar)
    spark = () if _has_spark(server) else (str(_find_spark() / "jars" / "*"),)
    return JobServerFiles(find_java(java), server, (server, *spark, *_hadoop_settings()))


def find_java(java: str = "") -> str:
    """Returns the path of the program `java`. Raises ValueError if it is not found.

    Args:
      java: The path or name to use; "" for the one in JAVA_HOME or PATH.
    """
    home = os.environ.get("JAVA_HOME")
    wanted = java or (str(pathlib.Path(home, "bin", "java")) if home else "java")
    found = shutil.which(wanted)
    if not found:
        raise ValueError(
            f"SparkRunner needs Java 8, 11 or 17, but {wanted} was not found: install Java (on Debian, the"
            " package openjdk-17-jre-headless), or set JAVA_HOME"
        )
    return found


def cached_jar() -> pathlib.Path:
    """Returns the path at which deploy/spark/job-server/fetch.sh stores Beam's job server for Spark."""
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(caches, "corpusmill", f"spark-job-server-{JOB_SERVER_VERSION}.jar")


def find_job_server(jar: str = "") -> str:
    """Returns the path of the jar of Beam's job server. Raises ValueError if there is no such file.

    Args:
      jar: The path of the jar; "" for the path in the environment variable CORPUSMILL_SPARK_JOB_SERVER or, if
        it is not set, for `cached_jar()`.
    """
    server = pathlib.Path(jar or os.environ.get(JOB_SERVER_VARIABLE) or cached_jar())
    if not server.is_file():
        raise ValueError(
            f"SparkRunner needs Beam's job server, but there is no {server}: download it with"
            f" {FETCH_COMMAND},"
            f" or set the path of a jar with --spark_job_server_jar or {JOB_SERVER_VARIABLE}"
        )
    return str(server)


def _has_spark(jar: str) -> bool:
    """Returns True if a jar contains Spark, as does the job server that Beam publishes."""
    with zipfile.ZipFile(jar) as packed:
        return SPARK_CLASS in packed.namelist()


def _find_spark() -> pathlib.Path:
    home = os.environ.get("SPARK_HOME")
    spec = None if home else importlib.util.find_spec("pyspark")
    spark = pathlib.Path(home or (spec and spec.origin and pathlib.Path(spec.origin).parent) or "")
    if not (home or spec) or not any((spark / "jars").glob("spark-core_2.12-*.jar")):
        raise ValueError(
            "SparkRunner needs Spark 3.5 for Scala 2.12: pip install 'corpusmill[spark]', or set SPARK_HOME"
        )
    return spark


def _hadoop_settings() -> tuple[str, ...]:
    """Returns the folders with the settings of YARN and HDFS, as set in environment variables."""
    folders = (os.environ.get(name) for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"))
    return tuple(dict.fromkeys(folder for folder in folders if folder))
