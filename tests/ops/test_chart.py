"""The chart: valid for Kubernetes, confined, and its values are checked."""

# demands: S1-118

from __future__ import annotations

import ipaddress
import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml

from forebay.api.routes import demand, health
from tests.ops._chart import CHART, EXAMPLES, helm, of_kind, pods, program, render
from tests.ops._prometheus import OPS

FLEET = OPS / "helm" / "examples" / "fleet.yaml"
_CUSTOM = {"ScaledObject", "TriggerAuthentication", "ServiceMonitor"}


@pytest.mark.parametrize("values", EXAMPLES, ids=[each.stem for each in EXAMPLES])
def test_kubernetes_understands_what_it_renders(values: Path) -> None:
    linted = helm("lint", "--strict", str(CHART), "--values", str(values))
    assert linted.returncode == 0, linted.stdout + linted.stderr
    objects = render(values)
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]
    assert len(names) == len(set(names))
    for each in objects:
        if each["kind"] not in _CUSTOM:
            for version in ("1.25", "1.37"):
                kubernetes_validate.validate(each, version, strict=True)
        assert each["metadata"]["labels"]["app.kubernetes.io/instance"] == "forebay"


def test_objects_of_other_projects_have_the_fields_that_these_know(tmp_path: Path) -> None:
    objects = [each for values in EXAMPLES for each in render(values) if each["kind"] in _CUSTOM]
    assert {each["kind"] for each in objects} == _CUSTOM
    file = tmp_path / "objects.json"
    file.write_text(json.dumps([*objects, cluster()]), "utf-8")
    schema = Path(__file__).with_name("custom_resources.schema.json")
    command = [program("check-jsonschema"), "--schemafile", str(schema), str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


CLUSTER = OPS / "cloudnativepg" / "cluster.yaml"


def cluster() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(CLUSTER.read_text("utf-8"))
    return found


def test_the_cluster_waits_for_a_standby(tmp_path: Path) -> None:
    spec = cluster()["spec"]
    assert spec["instances"] >= 3
    assert spec["postgresql"]["synchronous"] == {"method": "any", "number": 1}
    values = {"settingsSecret": "s", "data": {"existingClaim": "c"}}
    told = CLUSTER.read_text("utf-8").splitlines()[1].removeprefix("#")
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(values | yaml.safe_load(told)), "utf-8")
    (_, pod), *_ = pods(of_kind(render(tmp_path / "values.yaml"), "Job"))
    (address,) = [one for one in pod["containers"][0]["env"] if one["name"] == "FOREBAY_DATABASE_URL"]
    secret = f"{cluster()['metadata']['name']}-app"
    assert address["valueFrom"]["secretKeyRef"] == {"name": secret, "key": "uri"}


@pytest.mark.parametrize("values", EXAMPLES, ids=[each.stem for each in EXAMPLES])
def test_containers_are_confined(values: Path) -> None:
    objects = render(values)
    grace = yaml.safe_load(values.read_text("utf-8")).get("graceSeconds", 20)
    for name, pod in pods(objects):
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        if container["name"] in {"worker", "dispatcher", "runner"}:
            assert pod["terminationGracePeriodSeconds"] == grace + 40, name
    guarded = [each["spec"]["selector"]["matchLabels"] for each in of_kind(objects, "PodDisruptionBudget")]
    for each in of_kind(objects, "Deployment"):
        assert each["spec"]["selector"]["matchLabels"] in guarded, each["metadata"]["name"]


def test_the_schema_is_migrated_before_an_upgrade() -> None:
    (job,) = of_kind(render(FLEET), "Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    # Nothing of the release exists when it runs.
    named = json.dumps(job["spec"]["template"]["spec"])
    assert "configMap" not in named
    assert "serviceAccountName" not in named


def test_runners_have_no_database_and_cannot_reach_it() -> None:
    objects = render(FLEET)
    for name, pod in pods(objects):
        if "-runner-" in name:
            (container,) = pod["containers"]
            assert not [one for one in container["env"] if "DATABASE" in one["name"]], name
            assert "envFrom" not in container, name
    (policy,) = [each for each in of_kind(objects, "NetworkPolicy") if each["metadata"]["name"] == "forebay-runner"]
    assert policy["spec"]["policyTypes"] == ["Egress"]
    broker, dns, internet = policy["spec"]["egress"]
    assert broker["ports"] == [{"port": 4222, "protocol": "TCP"}]
    assert {one["port"] for one in dns["ports"]} == {53}
    (block,) = [peer["ipBlock"] for peer in internet["to"]]
    refused = [ipaddress.ip_network(one) for one in block["except"]]
    for private in ("10.1.2.3", "172.20.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"):
        assert any(ipaddress.ip_address(private) in network for network in refused), private
    assert 5432 not in {one["port"] for one in internet["ports"]}


def test_groups_are_scaled_by_demand() -> None:
    objects = render(FLEET)
    (scaled,) = of_kind(objects, "ScaledObject")
    assert "replicas" not in next(
        each["spec"] for each in of_kind(objects, "Deployment") if each["metadata"]["name"] == "forebay-runner-gpu"
    )  # else each upgrade would set the number
    assert scaled["spec"]["scaleTargetRef"]["name"] == "forebay-runner-gpu"
    (trigger,) = scaled["spec"]["triggers"]
    url = urlsplit(trigger["metadata"]["url"])
    (service,) = of_kind(objects, "Service")
    assert url.netloc == f"{service['metadata']['name']}.prod.svc:{service['spec']['ports'][0]['port']}"
    # tests/ops/test_started.py asks the address.
    assert url.path == demand.router.url_path_for("get_demand", name="scans.embed")
    assert trigger["metadata"]["valueLocation"] in demand.Demand.model_fields
    (monitor,) = of_kind(objects, "ServiceMonitor")
    assert monitor["spec"]["endpoints"][0]["path"] == health.router.url_path_for("metrics")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--set", "workers[0].replica=2"], "Additional property replica is not allowed"),
        (["--set", "settings.FOREBAY_DATABASE_URL=x"], "settings"),
        (["--set", "settingsSecret="], "name a Secret with FOREBAY_SIGNING_KEY"),
        (["--set", "settings.FOREBAY_STORAGE_URL="], "set settings.FOREBAY_STORAGE_URL or data.existingClaim"),
        (["--set", "broker.secret="], "runners need the Secret"),
        (
            ["--set", "workers[0].name=a,workers[0].keda.min=1,workers[0].keda.max=2,workers[0].keda.slotsPerPod=1"],
            "name them",
        ),
        (["--set", "api.enabled=false"], "autoscaling asks the API"),
    ],
)
def test_wrong_values_are_refused(options: list[str], why: str) -> None:
    ran = helm("template", "forebay", str(CHART), "--values", str(FLEET), *options)
    assert ran.returncode != 0
    assert why in ran.stderr
