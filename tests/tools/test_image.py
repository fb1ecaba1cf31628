"""The image is made from what the wheel is made from, and its capture sees the service."""

import tomllib

import pytest

from gomem.cli.main import COMMANDS
from tests.builders import FIXTURES

ROOT = FIXTURES.parent


def test_what_the_image_is_made_from_is_what_the_wheel_is_made_from():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    lines = (ROOT / ".dockerignore").read_text().splitlines()
    taken = {line.removeprefix("!") for line in lines if line.startswith("!")}
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    metadata = project["project"]["license-files"], [project["project"]["readme"], "pyproject.toml"]
    assert {*wheel["packages"], *wheel["force-include"], *metadata[0], *metadata[1]} == taken


def test_a_capture_shares_what_it_reads_with_the_service():
    services = pytest.importorskip("yaml").safe_load((ROOT / "compose.yaml").read_text())[
        "services"
    ]

    capture = services["capture"]
    assert "container:${CONTAINER:-service}" == capture["pid"] == capture["network_mode"]
    assert (["SYS_PTRACE"], "host") == (capture["cap_add"], capture["cgroup"])
    assert capture["command"][0] in COMMANDS
    assert services["report"]["entrypoint"][1] in COMMANDS
