"""An environment: the runtime's variables are read, and nothing else of it is ever shown."""

import json
import math

import pytest

import gomem
from gomem.cli.main import run
from gomem.errors import FormatError
from gomem.inputs.environ.parse import gogc_fraction, memory_limit_bytes, parse_environ
from gomem.inputs.environ.table import read_environ
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.looks_like import looks_like
from gomem.units import GIB, KIB, MIB
from tests.builders import FIXTURES

RECORDED = FIXTURES / "environ"
ENVIRON = (RECORDED / "environ").read_bytes()
SECRETS = ("hunter2", "DATABASE_URL", "API_TOKEN", "not-a-real", "nonexistent", "/usr/bin")
KEPT = {"GOGC": "40", "GOMEMLIMIT": "1GiB", "GODEBUG": "gctrace=1,madvdontneed=1"}


@pytest.mark.parametrize("name", ["environ", "env.txt"])
def test_both_recorded_forms_have_the_runtimes_variables_alone(name):
    content = (RECORDED / name).read_bytes()

    assert kind_of(content) is BY_NAME["environ"]
    assert KEPT == read_environ(RECORDED / name).variables
    assert any(secret.encode() in content for secret in SECRETS)


@pytest.mark.parametrize("told", json.loads((RECORDED / "readings.json").read_text()),
                         ids=lambda told: f"{told['name']}={told['value']}")  # fmt: skip
def test_values_are_read_as_the_runtime_reads_them(told):
    variables = {told["name"]: told["value"]}
    percent = math.inf if told["gogc_percent"] == 2**64 - 1 else told["gogc_percent"]
    limit = told["memory_limit_bytes"]

    assert percent / 100 == gogc_fraction(variables)
    assert (math.inf if limit == 2**63 - 1 else limit) == memory_limit_bytes(variables)


@pytest.mark.parametrize(
    ("value", "size"),
    [("64MiB", 64 * MIB), ("2TiB", 2048 * GIB), ("512KiB", 512 * KIB), ("1000B", 1000),
     ("off", math.inf), ("64MB", math.inf), ("", math.inf)],
)  # fmt: skip
def test_a_limit_that_the_runtime_refuses_is_none(value, size):
    assert size == memory_limit_bytes({"GOMEMLIMIT": value})


def test_of_two_entries_the_first_counts_and_a_cut_one_is_damage_by_its_number():
    kept, damage = parse_environ(b"GOGC=50\0GOGC=60\0TOKEN=hunter2\0SECRET_hunter2", source="e")

    assert {"GOGC": "50"} == kept
    assert ["e: entry 4: no NAME=VALUE; the file may be cut"] == [str(one) for one in damage]


@pytest.mark.parametrize(
    ("content", "name", "is_environ"),
    [
        (b"GOGC=50\0", "", True),
        (b"A=1\0B=line\nline\0", "", True),
        (b"A=1\0\xff\xfe\0", "", False),
        (b"A=1\0cut", "", True),
        (b"A=1\0no entry\0B=2\0", "", False),
        (b"PATH=/bin\nA=1\n", "", True),
        (b"PATH=/bin\r\nGOGC=\r\n", "", True),
        (b"GOGC=50\n", "", False),
        (b"PATH=/bin\nno entry\n", "", False),
        (b'NAME="Debian"\nID=debian\n', "os-release", False),
        (b"A=1\nB=2\n", "api.env", True),
        (b"A=1\nB=2\n", "7/environ", True),
        (b"A=1\nB=2\n", "envoy.txt", False),
        (b"GODEBUG=''\nGOTOOLDIR='/usr/local/go/pkg'\n", "", False),
        (b"level=info msg=hello\nlevel=info msg=more\n", "", False),
        (b"GODEBUG=gctrace=1 ./api\ngc 1 @0.1s\n", "", False),
    ],
)
def test_content_tells_an_environment(content, name, is_environ):
    kind = kind_of(content, name)

    assert is_environ == (kind is not None and kind.name == "environ")


@pytest.mark.parametrize(
    "content",
    [
        b"TOKEN=hunter2\n",
        b"TOKEN=hunter2\0no entry\0B=2\0",
        b"export TOKEN=hunter2\nexport B=2\n",
        b'declare -x TOKEN="hunter2"\n',
        b"\n TOKEN=hunter2\nKEY=-----BEGIN\nhunter2\n-----END\n",
        b"T=hunter2\0\xff\xff\0",
    ],
)
def test_what_only_looks_like_one_is_not_quoted(content, tmp_path):
    seen = looks_like(content, "environ")
    with pytest.raises(FormatError) as caught:
        read_environ(content)
    (tmp_path / "environ").write_bytes(content)
    (tmp_path / "status").write_bytes(b"Name:\tapi\nPid:\t7\nVmRSS:\t 2000 kB\n")
    capture = gomem.load(tmp_path)
    said = [seen.sentence, seen.text, str(caught.value), *capture.looks.values()]
    said += [str(damage) for damage in capture.damaged]

    assert not any("hunter2" in one or "6e746572" in one.replace(" ", "") for one in map(str, said))
    assert "NAME=VALUE" in seen.what


@pytest.mark.parametrize("form", ["html", "text", "json", "md", "ipynb"])
def test_no_report_has_a_secret(form, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/environ").write_bytes(ENVIRON + b"CUT_hunter2")
    (tmp_path / "in/status").write_bytes(b"Name:\tapi\nPid:\t7\nVmRSS:\t 2000 kB\n")
    out = tmp_path / f"out.{form}"

    run(["report", str(tmp_path / "in"), "--format", form, "-o", str(out)])
    run(["inspect", str(tmp_path / "in")])
    run(["table", str(tmp_path / "in/environ")])

    printed = capsys.readouterr()
    said = out.read_text() + printed.out + printed.err
    assert "GOGC" in printed.out
    assert not [secret for secret in SECRETS if secret in said]
