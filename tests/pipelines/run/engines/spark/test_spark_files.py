"""Java, Spark and Beam's job server are found, or the error says what to do."""

import re
import zipfile
from pathlib import Path

import pytest

from corpusmill.pipelines.run.engines import spark_job_server
from corpusmill.pipelines.run.engines.spark_job_server import find_job_server_files


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with Java, Spark, and a job server in the cache."""
    for name in (
        "JAVA_HOME",
        "HADOOP_CONF_DIR",
        "YARN_CONF_DIR",
        spark_job_server.JOB_SERVER_VARIABLE,
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java = touch(tmp_path / "bin" / "java")
    java.chmod(0o755)
    touch(tmp_path / "spark" / "jars" / "spark-core_2.12-3.5.9.jar")
    write_jar(spark_job_server.cached_jar())
    return tmp_path


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def write_jar(path: Path, *names: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        for name in names:
            jar.writestr(name, b"")
    return str(path)


def test_the_jar_of_the_cache_needs_those_of_spark(machine: Path) -> None:
    jar = str(machine / "cache" / "corpusmill" / "spark-job-server-2.62.0.jar")
    assert find_job_server_files() == (
        str(machine / "bin" / "java"),
        jar,
        (jar, str(machine / "spark" / "jars" / "*")),
    )


def test_the_official_jar_needs_nothing_else(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(machine / "nothing"))
    jar = write_jar(machine / "official.jar", "org/apache/spark/SparkContext.class")
    assert find_job_server_files(jar=jar)[1:] == (jar, (jar,))


def test_the_flag_wins_over_the_variable(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, other = write_jar(machine / "named.jar"), write_jar(machine / "other.jar")
    monkeypatch.setenv(spark_job_server.JOB_SERVER_VARIABLE, other)
    assert find_job_server_files(jar=named).jar == named
    assert find_job_server_files().jar == other


def test_settings_of_yarn_are_in_the_class_path(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    assert find_job_server_files().class_path[-2:] == (
        str(machine / "spark" / "jars" / "*"),
        "/etc/hadoop",
    )


def test_no_java(machine: Path) -> None:
    (machine / "bin" / "java").unlink()
    with pytest.raises(
        ValueError, match="needs Java 8, 11 or 17, but java was not found: install Java"
    ):
        find_job_server_files()


def test_java_home_wins_over_the_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(machine / "jdk"))
    with pytest.raises(ValueError, match=r"but .*/jdk/bin/java was not found"):
        find_job_server_files()


def test_no_job_server() -> None:
    jar = spark_job_server.cached_jar()
    jar.unlink()
    message = f"there is no {jar}: download it with deploy/spark/job-server/fetch.sh"
    with pytest.raises(ValueError, match=re.escape(message)):
        find_job_server_files()


def test_no_spark(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(machine / "nothing"))
    with pytest.raises(ValueError, match=r"pip install 'corpusmill\[spark\]', or set SPARK_HOME"):
        find_job_server_files()


def test_the_command_that_gets_the_job_server_is_there_and_of_this_version() -> None:
    root = Path(spark_job_server.__file__).resolve().parents[3]
    fetch = root / spark_job_server.FETCH_COMMAND
    version = spark_job_server.JOB_SERVER_VERSION
    assert f"\nversion={version}\n" in fetch.read_text("utf-8")
    assert f"<version>{version}</version>" in (fetch.parent / "pom.xml").read_text("utf-8")
    assert f"beam-runners-spark-3-{version}.jar\n" in (fetch.parent / "jars.sha256").read_text()
