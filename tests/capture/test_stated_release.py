"""A sentence of a pasted text can state the Go release."""

import pytest

import gomem
from gomem.releases import stated_release

QUESTION = "### What version of Go are you using (`go version`)?\n"
MEMSTATS = "\n```\nAlloc = 12 MiB\tTotalAlloc = 80 MiB\tSys = 70 MiB\tNumGC = 12\n```\n"


@pytest.mark.parametrize(
    ("sentence", "release"),
    [
        ("1. the executable is compiled under Go 1.17.7", "go1.17.7"),
        ("$ go version\ngo version go1.18.3 linux/amd64", "go1.18.3"),
        ("nsqd v1.2.1 (built w/go1.17)", "go1.17"),
        ("It is built with go1.21 and runs in a pod.", "go1.21"),
        ("Go version: 1.20.5", "go1.20.5"),
        ("go1.19.2 darwin/arm64", "go1.19.2"),
        ("built with Go 1.17.7, and also built with Go 1.18.1", None),
        ("Please use Go 1.17 or later.", None),
        ("Memstats of our process in go1.19:", "go1.19"),
        ("Chain App version v1.3-0-gde0e/go1.17.6/linux-amd64/be36", "go1.17.6"),
        ("It was fixed in go1.19, they say.", None),
        ("go 1.17", None),
        ("It is our C library (go1.20.14, CGO_ENABLED=1).", "go1.20.14"),
        ("our meter reader (bbolt, go1.24) shows 256 MB", "go1.24"),
        ("go 1.25, no GOGC, no GOMEMLIMIT", "go1.25"),
        ("Go 1.24.6, GOGC not set.", "go1.24.6"),
        ("It needs a fix (since go1.19).", None),
        ("In Go 1.19, GOMEMLIMIT was added.", None),
        ("We moved (go1.20.14) from go1.19.", None),
        (f"{QUESTION}1.16.3", "go1.16.3"),
        (f"{QUESTION}\ngo1.16.3", "go1.16.3"),
        (f"{QUESTION}\n<pre>\n$  1.16.3\n\n</pre>", "go1.16.3"),
        (f"{QUESTION}\n<pre>\n$ go version\ngo version go1.16.3 linux/amd64\n</pre>", "go1.16.3"),
        (f"{QUESTION}```\ngo 1.16\n```", "go1.16"),
        (
            f"{QUESTION}<!-- the output of `go version` -->\n\n1.16\n".replace("\n", "\r\n"),
            "go1.16",
        ),
        ("**Go version**\n\nGolang v1.16.3", "go1.16.3"),
        (f"{QUESTION}\n1. I start it.", None),
        (f"{QUESTION}\n10.1.16", None),
        (f"{QUESTION}1.16.3\n\nWith Go version: 1.17 it is the same.", None),
    ],
)
def test_a_text_states_the_release(tmp_path, sentence, release):
    path = tmp_path / "ticket.txt"
    path.write_text(f"{sentence}\n{MEMSTATS}")
    stated = gomem.load(path).go_version

    assert release == stated.text
    assert release is None or "ticket.txt" in stated.evidence


def test_the_users_release_is_believed_first(tmp_path):
    path = tmp_path / "ticket.txt"
    path.write_text(f"compiled with go1.17.7\n{MEMSTATS}")

    assert "go1.24.2" == gomem.load(path, go_version="go1.24.2").go_version.text


BY_DOCKER = " API version:  1.24\n Go version:   go1.6.3\n"
PS = "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n{}\n"
ROW = "root 1809 4.3 19.8 2726788 1229952 ? Ssl Apr15 287:01 /usr/bin/{} --config a.toml"


@pytest.mark.parametrize(("program", "release"), [("dockerd", "go1.6.3"), ("shop", None)])
def test_docker_version_states_the_release_of_docker_alone(tmp_path, program, release):
    path = tmp_path / "ticket.txt"
    path.write_text(f"```\n{PS.format(ROW.format(program))}```\n\n```\n{BY_DOCKER}```\n")

    assert release == gomem.load(path).go_version.text


@pytest.mark.parametrize("side", ["client", "server"])
def test_the_side_can_stand_behind_the_name(tmp_path, side):
    path = tmp_path / "ticket.txt"
    path.write_text(f"Go version ({side}): go1.4.2\n{MEMSTATS}")

    assert "go1.4.2" == gomem.load(path).go_version.text


PODS = "NAME  CPU(cores)  MEMORY(bytes)\nweb-577fbfbc97-d6k85  1m  2860Mi\n"
CLUSTER = "k3s version v1.32.3+k3s1 (079ffa8d)\ngo version go1.23.6\n"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        pytest.param(CLUSTER + PODS, "", id="of the cluster, above its pods"),
        pytest.param(CLUSTER + PODS + " 31 root 12:01.23 k3s-server\n", "go1.23.6", id="with k3s"),
        pytest.param(CLUSTER, "go1.23.6", id="without pods"),
        pytest.param("go version go1.23.6\n" + PODS, "go1.23.6", id="of no other program"),
    ],
)
def test_the_release_of_a_cluster_is_not_that_of_its_pods(text, release):
    assert release == stated_release(text.encode())


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("The lab's intake, PID 31. Go 1.20.14, no cgo. It grows.", "go1.20.14"),
        ("It has 128 MB. Go 1.19. After the probes came, it is slow.", "go1.19"),
        ("It has 128 MB.\nGo 1.19.\n", "go1.19"),
        ("Then it was idle. It is Go 1.19. I see this:", "go1.19"),
        ("We are on Go 1.22.3; no limit is set.", "go1.22.3"),
        ("Every release since Go 1.19. It is slow.", ""),
        ("Go 1.19. It was the same with Go 1.18.", ""),
    ],
)
def test_a_sentence_can_be_the_release(text, release):
    assert release == stated_release(text.encode())
