"""The manifests of Kubernetes."""

import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from corpusmill.pipelines.run.corpora import rows
from tests.deploy.schedulers import (
    ANOTHER_IS_AT_WORK,
    CONFIG,
    DEPLOY,
    FAILED,
    WRONG,
    check_config,
    run_tool,
)

FOLDER = DEPLOY / "kubernetes"
OLDEST = "1.31"  # that has podFailurePolicy for good
NEWEST = "1.37"
Manifest = dict[str, Any]

KUSTOMIZATION: Manifest = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
MANIFESTS: list[Manifest] = [
    manifest
    for name in KUSTOMIZATION["resources"]
    for manifest in yaml.safe_load_all((FOLDER / name).read_text("utf-8"))
]
CONFIGURATION = tomllib.loads((FOLDER / "refresh.toml").read_text("utf-8"))
SETTINGS, CORPORA = CONFIGURATION["refresh"], CONFIGURATION["corpus"]


def of_kind(kind: str) -> list[Manifest]:
    return [manifest for manifest in MANIFESTS if manifest["kind"] == kind]


def job() -> Manifest:
    (cron_job,) = of_kind("CronJob")
    spec: Manifest = cron_job["spec"]["jobTemplate"]["spec"]
    return spec


def pods() -> Iterator[Manifest]:
    """The specs of all pods."""
    yield job()["template"]["spec"]
    for deployment in of_kind("Deployment"):
        yield deployment["spec"]["template"]["spec"]


def mounts(pod: Manifest) -> dict[PurePosixPath, str]:
    """Path → volume, of what the first container can write."""
    return {
        PurePosixPath(mount["mountPath"]): mount["name"]
        for mount in pod["containers"][0]["volumeMounts"]
        if not mount.get("readOnly")
    }


def test_all_files_are_taken() -> None:
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(KUSTOMIZATION["resources"]) == files
    assert KUSTOMIZATION["configMapGenerator"] == [{"name": "refresh", "files": ["refresh.toml"]}]


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_the_schemas_of_kubernetes(version: str) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for manifest in MANIFESTS:
        kubernetes_validate.validate(manifest, version, strict=True)
    wrong = {**MANIFESTS[0], "metdata": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


def test_kustomize_builds_it() -> None:
    run = run_tool("kubectl", "kubernetes.io", "kustomize", FOLDER)
    assert run.returncode == 0, run.stderr
    built = list(yaml.safe_load_all(run.stdout))
    (config,) = (one for one in built if one["kind"] == "ConfigMap")
    (cron_job,) = (one for one in built if one["kind"] == "CronJob")
    pod = cron_job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (volume,) = (one for one in pod["volumes"] if "configMap" in one)
    assert volume["configMap"]["name"] == config["metadata"]["name"] != "refresh"
    assert pod["containers"][0]["image"] != "corpusmill"
    assert len(built) == len(MANIFESTS) + 1


def test_the_profile_restricted_lets_all_pods_in() -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/"""
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert all(
            volume.keys() & {"configMap", "emptyDir", "persistentVolumeClaim"}
            for volume in pod["volumes"]
        )
        for container in pod["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False
            assert own["capabilities"] == {"drop": ["ALL"]}
            assert own["readOnlyRootFilesystem"] is True
            assert container["resources"]["limits"]["memory"]


def test_what_is_mounted_is_there() -> None:
    claims = {claim["metadata"]["name"] for claim in of_kind("PersistentVolumeClaim")}
    for pod in pods():
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        used = {m["name"] for one in pod["containers"] for m in one["volumeMounts"]}
        assert used == set(volumes)
        for volume in volumes.values():
            assert (
                volume.get("persistentVolumeClaim", {"claimName": "corpora"})["claimName"] in claims
            )


def test_refreshes_do_not_meet_and_are_not_repeated_in_vain() -> None:
    (cron_job,) = of_kind("CronJob")
    assert cron_job["spec"]["concurrencyPolicy"] == "Forbid"
    fails, ignored = job()["podFailurePolicy"]["rules"]
    assert fails["action"] == "FailJob"
    assert fails["onExitCodes"]["values"] == [FAILED, WRONG, ANOTHER_IS_AT_WORK]
    assert (
        fails["onExitCodes"]["containerName"] == job()["template"]["spec"]["containers"][0]["name"]
    )
    assert ignored["action"] == "Ignore"
    assert job()["template"]["spec"]["restartPolicy"] == "Never"  # the policy asks for it


def test_the_configuration_is_right() -> None:
    assert check_config(FOLDER / "refresh.toml") == 0
    (container,) = job()["template"]["spec"]["containers"]
    assert container["args"] == ["refresh", "--config", CONFIG]
    assert str(SETTINGS["workers"]) == container["resources"]["requests"]["cpu"]


def test_the_memory_is_enough_for_the_corpora() -> None:
    """For each wiki a dump of 3 GB, which is more than Ukrainian has; that of Wikidata has a hundred."""
    (container,) = job()["template"]["spec"]["containers"]
    limit = int(container["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
    gigabytes = {"wiki40b": 3, "entities": 100}
    for corpus in CORPORA:
        model = rows()[corpus["kind"]].memory
        text_bytes = model.text_bytes({"dump.bz2": gigabytes[corpus["kind"]] * 10**9})
        assert model.needed(text_bytes, SETTINGS["workers"]) < limit


def test_the_configuration_writes_to_volumes() -> None:
    writable = mounts(job()["template"]["spec"])
    for key in ("output", "downloads", "metrics"):
        path = PurePosixPath(SETTINGS[key])
        (name,) = (writable[folder] for folder in (path, *path.parents) if folder in writable)
        assert name == ("downloads" if key == "downloads" else "corpora")


def test_the_exporter_reads_where_the_refresh_writes() -> None:
    (_, exporter) = pods()
    folder = PurePosixPath(SETTINGS["metrics"]).parent
    assert f"--collector.textfile.directory={folder}" in exporter["containers"][0]["args"]
    assert mounts(exporter) == {}
