"""The files of deploy/container and deploy/kubernetes: what their own programs' schemas say, and that they fit the service."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is missing: pip install -r tools/requirements_tests.txt")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/http"))
from server import serving  # noqa: E402

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
CONTAINER = ROOT / "deploy/container"
KUBERNETES = ROOT / "deploy/kubernetes"
VERSION = re.search(r"project\(attend VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
RESOURCES = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(name="pod", scope="module")
def read_pod():
    return read(KUBERNETES / "deployment.yaml")["spec"]["template"]


@pytest.fixture(name="container", scope="module")
def read_container(pod):
    (container,) = pod["spec"]["containers"]
    return container


@pytest.fixture(name="image", scope="module")
def read_image():
    """The Containerfile's last stage: instructions by name, lines joined."""
    text = (CONTAINER / "Containerfile").read_text(encoding="utf-8")
    assert f'image.version="{VERSION}"' in text
    stage = re.sub(r"\\\n", "", text.split("\nFROM $BASE\n")[1])
    return dict(re.findall(r"^([A-Z]+) (.*)$", stage, flags=re.M))


def test_the_containerfile_has_no_findings():
    hadolint = shutil.which("hadolint", path=pathlib.Path(sys.executable).parent) or pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, CONTAINER / "Containerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def compose_text():
    """With the defaults of its variables, as Compose reads it."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (CONTAINER / "compose.yaml").read_text(encoding="utf-8"))


def test_the_compose_file_is_one():
    compose_spec = pytest.importorskip("compose_spec")
    spec = compose_spec.PyCompose.from_yaml(compose_text()).to_spec()
    assert set(spec.services) == {"attend"}
    with pytest.raises(ValueError):
        compose_spec.PyCompose.from_yaml(compose_text().replace("retries: 3", "retries: many"))


def test_compose_and_the_image_ask_alike(image):
    service = yaml.safe_load(compose_text())["services"]["attend"]
    health = yaml.safe_load(image["HEALTHCHECK"].split(" CMD ")[1])
    assert service["healthcheck"]["test"] == ["CMD", *health]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert (CONTAINER / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == CONTAINER / "Containerfile"


@pytest.mark.parametrize("name", RESOURCES)
def test_kubernetes_takes_it(name):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for version in ("1.30", "1.37"):
        kubernetes_validate.validate(read(KUBERNETES / name), version, strict=True)


def test_kubernetes_refuses_what_is_misspelt():
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    deployment = read(KUBERNETES / "deployment.yaml")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["startupPrope"] = container.pop("startupProbe")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.37", strict=True)


def test_every_manifest_is_applied():
    left_out = {"kustomization.yaml", "prometheus_adapter.yaml"}
    assert set(RESOURCES) == {path.name for path in KUBERNETES.glob("*.yaml")} - left_out


def test_the_pod_runs_as_the_image_does(pod, container, image):
    ports = {str(port["containerPort"]) for port in container["ports"]}
    assert ports == set(image["EXPOSE"].split())
    uid, gid = image["USER"].split(":")
    security = pod["spec"]["securityContext"]
    assert (security["runAsNonRoot"], security["runAsUser"], security["runAsGroup"]) == (True, int(uid), int(gid))
    own = container["securityContext"]
    assert own == {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert image["VOLUME"] in {mount["mountPath"] for mount in container["volumeMounts"]}
    assert container["image"].endswith(f":{VERSION}")


def test_names_fit_each_other(pod, container):
    labels = pod["metadata"]["labels"]
    ports = {port["name"] for port in container["ports"]}
    for name in ("deployment.yaml", "disruption_budget.yaml"):
        assert read(KUBERNETES / name)["spec"]["selector"]["matchLabels"] == labels
    service = read(KUBERNETES / "service.yaml")["spec"]
    assert service["sessionAffinity"] == "ClientIP"  # files that were made are with one pod
    assert service["selector"] == labels and {port["targetPort"] for port in service["ports"]} <= ports
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/health", "port": "metrics"}
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    assert volumes["models"]["persistentVolumeClaim"]["claimName"] == read(KUBERNETES / "models.yaml")["metadata"]["name"]
    assert volumes["options"]["configMap"]["name"] == read(KUBERNETES / "configmap.yaml")["metadata"]["name"]
    target = read(KUBERNETES / "autoscaler.yaml")["spec"]["scaleTargetRef"]
    assert target == {"apiVersion": "apps/v1", "kind": "Deployment", "name": read(KUBERNETES / "deployment.yaml")["metadata"]["name"]}


def test_there_is_time_to_stop(pod, container):
    (wait,) = re.findall(r"\d+", " ".join(container["lifecycle"]["preStop"]["exec"]["command"]))
    options = read(KUBERNETES / "configmap.yaml")["data"]["serve.toml"]
    stop = float(re.search(r"^stop_timeout = (\S+)", options, flags=re.M).group(1))
    assert pod["spec"]["terminationGracePeriodSeconds"] > int(wait) + stop
    stop = float(re.search(r"^stop_timeout = (\S+)", (CONTAINER / "serve.toml").read_text(encoding="utf-8"), flags=re.M).group(1))
    assert float(yaml.safe_load(compose_text())["services"]["attend"]["stop_grace_period"].rstrip("s")) > stop


def test_the_service_takes_these_options_and_has_the_autoscalers_metric(tmp_path, container, image):
    """The entry point and the arguments of the pod, with folders and ports of this test."""
    shutil.copytree(ROOT / "tests/data/golden_v1", tmp_path / "models/ka-su")
    for options in (read(KUBERNETES / "configmap.yaml")["data"]["serve.toml"], (CONTAINER / "serve.toml").read_text(encoding="utf-8")):
        with_proxy = re.sub(r'^# (\w+ = .*)$', r"\1", options, flags=re.M)
        config = tmp_path / "serve.toml"
        config.write_text(with_proxy.replace('"/models"', f'"{tmp_path}/models"'), encoding="utf-8")
        program, command, *arguments = yaml.safe_load(image["ENTRYPOINT"])
        assert (program, command) == ("attend", "serve") and container["args"][0] == "--config"
        local = [argument.replace("0.0.0.0:9464", "127.0.0.1:0").replace("0.0.0.0", "127.0.0.1") for argument in arguments]
        with serving(tmp_path, *local, "--config", config, model=None) as server:
            assert server.translate("lumi tavo keri")
            server.port = server.wait_for("listening")["metrics_port"]
            assert server.get("/health") == {"status": "ok"}
            (metric,) = [rule for rule in read(KUBERNETES / "autoscaler.yaml")["spec"]["metrics"] if rule["type"] == "Pods"]
            name = metric["pods"]["metric"]["name"]
            assert f'\n{name}{{model="ka-su"}} 0\n' in server.request("GET", "/metrics")[2]
            (rule,) = read(KUBERNETES / "prometheus_adapter.yaml")["rules"]["custom"]
            assert rule["name"]["as"] == name and rule["seriesQuery"].startswith(f"{name}{{")
