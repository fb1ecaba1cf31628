"""What a container's description sets, as an orchestrator or Docker prints it."""

import pytest

from gomem.inputs.environ.containers import container_settings

YAML = """\
    containers:
    - name: api
      image: registry.example.com/shop/api:3.1
      env:
      - name: GOGC
        value: "20"
      # - name: GOMEMLIMIT
      #   value: "1GiB"
      - name: TOKEN
        value: hunter2
"""
DESCRIBED = """\
    Image:         registry.example.com/shop/api:3.1
    Image ID:      docker.io/shop/api@sha256:77af4d6b
    Environment:
      GOGC:        20
      TOKEN:       hunter2
    Mounts:        <none>
"""
COMPOSE = "services:\n  api:\n    environment:\n      GOGC: '20'\n      TOKEN: hunter2\n"
COMPOSE_LIST = 'services:\n  api:\n    environment:\n      - "GOGC=20"\n      - TOKEN=hunter2\n'
INSPECTED = (
    '[{"Image": "sha256:77", "Config": {"Env": ["GOGC=20", "TOKEN=hunter2"], "Image": "a"}}]'
)
AS_JSON = '{"env": [{"name": "TOKEN", "value": "hunter2"}, {"name": "GOGC", "value": "20"}]}'


@pytest.mark.parametrize("text", [YAML, DESCRIBED, COMPOSE, COMPOSE_LIST, INSPECTED, AS_JSON])
def test_the_runtimes_variables_are_read_and_no_other(text):
    assert {"GOGC": "20"} == container_settings(text.encode())


def test_a_variable_with_two_values_is_unknown():
    twice = (
        YAML
        + '      - name: GOGC\n        value: "50"\n      - name: GOMAXPROCS\n        value: 2\n'
    )

    assert {"GOMAXPROCS": "2"} == container_settings(twice.encode())


def test_of_two_images_nothing_says_whose_the_other_files_are():
    assert {} == container_settings((YAML + "    - image: envoy:1.30\n").encode())


@pytest.mark.parametrize("text", ["GOGC: 20\n", "x:\n  GOGC: 20\n", "env:\n  GOGC: $PERCENT\n"])
def test_other_texts_set_nothing(text):
    assert {} == container_settings(text.encode())
