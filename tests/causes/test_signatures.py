"""What was not called: the table, the matching, and programs that forget a call."""

import re
import subprocess
from pathlib import Path
from shutil import which

import pytest

import gomem
from gomem.causes.signatures import (
    ALLOCATED,
    FINALIZERS,
    GOROUTINES,
    NATIVE,
    RETAINED,
    THREADS,
    bare,
    inside_of_own,
    pattern_of,
    signature_of,
    signatures,
)
from gomem.releases import ANY, known_version
from gomem.text import File, Function

RECORDED = Path(__file__).parents[2] / "fixtures" / "signatures"
PROGRAMS = RECORDED.parent / "programs" / "signatures"
CASES = sorted({path.name.rpartition("-")[0] for path in RECORDED.glob("*.tar.gz")})
WHERE = {
    "ants-pool": ("main.resizeImages", "ants.go"),
    "badger-db": ("main.openStore", "badger.go"),
    "bbolt-writer": ("main.saveSession", "bbolt.go"),
    "bigcache": ("main.cachePages", "bigcache.go"),
    "channel-receive": ("main.startWorker.func1", "goroutines.go"),
    "channel-send": ("main.askReplicas.func1", "goroutines.go"),
    "container-list": ("main.enqueue", "memory.go"),
    "context-cancel": ("main.deriveContext", "memory.go"),
    "context-goroutine": ("main.watchRequest", "goroutines.go"),
    "cron": ("main.scheduleReport", "cron.go"),
    "elastic-bulk": ("main.indexDocuments", "elastic.go"),
    "errgroup": ("main.fetchAll", "xsync.go"),
    "exec-not-waited": ("main.startHelper", "goroutines.go"),
    "expirable-lru": ("main.cacheTokens", "golanglru.go"),
    "franz-go-client": ("main.connectToCluster", "franz.go"),
    "fsnotify-watcher": ("main.watchConfig", "fsnotify.go"),
    "go-cache-janitor": ("main.cacheOfRequest", "gocache.go"),
    "goleveldb-db": ("main.openIndex", "goleveldb.go"),
    "grpc-client-conn": ("main.askHealth", "grpc.go"),
    "grpc-client-stream": ("main.watchHealth", "grpc.go"),
    "http-client-timeout": ("main.askSlowServer.func1", "goroutines.go"),
    "http-idle-connections": ("main.fetchWithOwnClient", "goroutines.go"),
    "http-response-body": ("main.fetchPrice", "goroutines.go"),
    "influx-write": ("main.writePoint", "influx.go"),
    "iter-pull": ("main.firstOfPages", "iter.go"),
    "kafka-go-reader": ("main.readEvents", "kafkago.go"),
    "kubernetes-informer": ("main.watchPods", "clientgo.go"),
    "kubernetes-workqueue": ("main.newQueue", "clientgo.go"),
    "logrus-writer": ("main.newErrorLog", "logrus.go"),
    "lumberjack-mill": ("main.logToFile", "lumberjack.go"),
    "mongo-client": ("main.connectToDatabase", "mongo.go"),
    "mutex": ("main.updateBalance.func1", "goroutines.go"),
    "nats-conn": ("main.publishPrice", "nats.go"),
    "nats-subscription": ("main.followPrice", "nats.go"),
    "net-read": ("main.readFromPeer.func1", "goroutines.go"),
    "otel-meter-provider": ("main.meterRequest", "otel.go"),
    "otel-tracer-provider": ("main.traceRequest", "otel.go"),
    "pgx-acquire": ("main.listUsers.func1", "pgx.go"),
    "pgx-pool": ("main.openPool", "pgx.go"),
    "pipe-writer": ("main.exportReport.func1", "goroutines.go"),
    "prometheus-labels": ("main.countRequest", "prometheus.go"),
    "redis-pubsub": ("main.followNews", "redis.go"),
    "regexp-compile": ("main.matchRoute", "garbage.go"),
    "ristretto": ("main.cacheThumbnails", "ristretto.go"),
    "sarama-client": ("main.listTopics", "sarama.go"),
    "sarama-partition-consumer": ("main.readOrders", "sarama.go"),
    "sarama-producer": ("main.sendOrder", "sarama.go"),
    "select": ("main.startPoller.func1", "goroutines.go"),
    "semaphore": ("main.upload", "xsync.go"),
    "sentry-transport": ("main.reportPanic", "sentry.go"),
    "signal-notify-context": ("main.untilInterrupted", "goroutines.go"),
    "singleflight": ("main.loadProfile", "xsync.go"),
    "sql-rows": ("main.listOrders", "sql.go"),
    "sql-stmt": ("main.prepareEach", "sql.go"),
    "sql-tx": ("main.placeOrder", "sql.go"),
    "statsd-client": ("main.countOrder", "statsd.go"),
    "template-parse": ("main.renderPage", "garbage.go"),
    "time-after": ("main.waitShortly", "memory.go"),
    "time-ticker": ("main.startTicker", "memory.go"),
    "ttlcache": ("main.cacheSession", "ttlcache.go"),
    "waitgroup": ("main.fanOut.func3", "goroutines.go"),
    "websocket-closeread": ("main.followFeed", "websocket.go"),
    "yamux-session": ("main.openSession", "yamux.go"),
    "zap-buffered": ("main.logBuffered", "zap.go"),
    "zstd-decoder": ("main.readHead", "zstd.go"),
}
NAMED = frozenset({"goroutine-leak", "heap-growth", "gc-pressure"})  # findings with such a call
ROWS = {row.name: row for row in signatures()}
KINDS = {GOROUTINES, FINALIZERS, THREADS, RETAINED, ALLOCATED, NATIVE}
NATS = "github.com/nats-io/nats%2ego.(*Conn)."


# The table


def test_every_row_has_what_a_finding_says_of_it():
    assert len(ROWS) == len(signatures()) >= 80
    for row in signatures():
        assert re.fullmatch(r"[a-z0-9-]+", row.name)
        assert row.frames or row.states, row.name
        assert row.of, row.name
        assert {*row.of} <= KINDS, row.name
        assert re.fullmatch(r"\S.*\.", row.why), row.name
        assert re.fullmatch(r"https://(pkg\.)?go\.dev/\S+", row.reference), row.name
        assert re.fullmatch(r".+", row.call), row.name
        assert row.before is None or row.since < row.before, row.name
        assert not row.module or re.fullmatch(r"\S+@v\d\S+", row.module), row.name


def test_no_row_stands_behind_one_that_takes_all_of_it():
    """
    A frame stands in two rows of one kind only where they differ in more than the frame.
    """
    seen = {}
    for row in signatures():
        for kind in row.of:
            for frame in row.frames:
                narrow = (row.is_innermost, row.since, row.before)
                assert narrow not in seen.setdefault((kind, frame), []), (row.name, frame)
                seen[kind, frame].append(narrow)


@pytest.mark.go
def test_every_function_of_gos_library_is_in_its_source():
    """
    Those of releases before this one are in `fixtures/programs/check_signatures.py`'s hands.
    """
    if which("go") is None:
        pytest.skip("there is no Go here")
    run = subprocess.run(["go", "env", "GOROOT"], check=True, capture_output=True, text=True)
    source = Path(run.stdout.strip()) / "src"
    missing = [row.name for row in signatures() if _is_of_now(row) and not _is_there(row, source)]

    assert [] == missing


def _is_of_now(row):
    return bool(row.frames) and not row.module and row.before is None


def _is_there(row, source):
    return any(frame.startswith("*.") or _declares(source, *_split(frame)) for frame in row.frames)


def _split(frame):
    package, _, name = frame.partition(".") if "/" not in frame else _after_slash(frame)
    return package, name


def _after_slash(frame):
    slash = frame.rindex("/", 0, (frame + "(").index("("))
    head, dot, name = frame[slash:].partition(".")
    return frame[:slash] + head, dot, name


def _declares(source, package, name):
    receiver, _, method = name.rpartition(".")
    kind = re.sub(r"\W", "", receiver)
    of = rf"\(\w+ \*?{kind}(\[.*\])?\) " if kind else ""
    declared = re.compile(rf"^func {of}{method}[\[(]", re.MULTILINE)
    return any(declared.search(file.read_text()) for file in (source / package).glob("*.go"))


# Matching


@pytest.mark.parametrize(
    ("function", "plain"),
    [
        ("main.f.func1.2", "main.f"),
        ("context.(*cancelCtx).propagateCancel.func2", "context.(*cancelCtx).propagateCancel"),
        ("a.com/x.(*Cache[go.shape.string,b.com/y.T[int]]).run", "a.com/x.(*Cache).run"),
        ("iter.Pull[...].func1", "iter.Pull"),
        ("main.main.gowrap1", "main.main"),
        ("x/vendor/" + NATS + "readLoop", "github.com/nats-io/nats.go.(*Conn).readLoop"),
    ],
)
def test_a_function_is_told_by_its_plain_name(function, plain):
    assert plain == bare(function)
    assert re.search(pattern_of([plain]), function.removeprefix("x/vendor/"))


def test_what_is_outside_of_the_own_function_does_not_count():
    inside, own = inside_of_own(["sync.(*Mutex).Lock", "main.f", "net/http.(*conn).serve"])

    assert (["sync.(*Mutex).Lock"], "main.f") == (inside, own)
    assert "mutex" == signature_of(inside, GOROUTINES).name
    assert None is signature_of(inside_of_own(["main.f", "time.NewTicker"])[0], RETAINED)


def test_a_library_that_the_table_knows_is_not_the_programs_own():
    inside, own = inside_of_own(["bufio.(*Reader).Read", NATS + "readLoop"])

    assert ("nats-conn", "") == (signature_of(inside, GOROUTINES).name, own)


@pytest.mark.parametrize(
    ("waits", "begun", "name"),
    [
        ("net.(*conn).Read", "github.com/coder/websocket.(*Conn).CloseRead", "websocket-closeread"),
        (
            "io.(*PipeReader).Read",
            "github.com/sirupsen/logrus.(*Entry).writerScanner",
            "logrus-writer",
        ),
        (
            "os.(*File).Read",
            "github.com/fsnotify/fsnotify.(*inotify).readEvents",
            "fsnotify-watcher",
        ),
    ],
)
def test_a_module_that_waits_in_gos_library_is_named_by_its_own_row(waits, begun, name):
    assert name == signature_of([waits, begun], GOROUTINES).name


def test_what_blocks_inside_of_a_library_is_not_the_programs_to_mend():
    stack = ["runtime.gopark", "runtime.selectgo", "net.(*Resolver).exchange", "main.f"]

    assert None is signature_of(inside_of_own(stack)[0], GOROUTINES)
    assert "select" == signature_of(inside_of_own(stack[:2] + stack[3:])[0], GOROUTINES).name


def test_a_body_is_told_from_an_idle_connection_by_where_its_loop_waits():
    loop = "net/http.(*persistConn).readLoop"

    assert "http-response-body" == signature_of(["runtime.selectgo", loop], GOROUTINES).name
    idle = ["bufio.(*Reader).Peek", loop]
    assert "http-idle-connections" == signature_of(idle, GOROUTINES).name


@pytest.mark.parametrize(
    ("release", "name"), [("go1.22.12", "time-ticker"), ("go1.23.0", "time-ticker-held")]
)
def test_a_row_counts_in_the_releases_in_which_it_holds(release, name):
    version = known_version(release, "")

    assert name == signature_of(["time.NewTicker"], RETAINED, version).name
    assert version.certainly(ROWS[name])


def test_releases_are_said_in_words():
    assert "before Go 1.23" == ROWS["time-after"].releases
    assert "since Go 1.23" == ROWS["iter-pull"].releases
    assert ("", ANY) == (ROWS["sql-rows"].releases, ROWS["sql-rows"].since)


# Programs


def test_every_recorded_case_is_a_row_and_has_its_place():
    assert {*CASES} == WHERE.keys() <= ROWS.keys()
    assert len(CASES) >= 60


def test_a_module_is_tried_in_the_version_in_which_its_frames_were_read():
    text = (PROGRAMS / "modules" / "go.mod").read_text()
    required = dict(re.findall(r"^\t(\S+) (\S+)$", text, re.MULTILINE))
    of_modules = {ROWS[case].module for case in CASES} - {""}

    assert of_modules
    assert of_modules <= {f"{path}@{version}" for path, version in required.items()}


@pytest.mark.at_most(3)
@pytest.mark.parametrize("case", CASES)
def test_a_program_that_forgets_a_call_is_told_which_and_where(case):
    findings = gomem.diagnose(RECORDED / f"{case}-wrong.tar.gz").findings
    found = [finding for finding in findings if finding.code in NAMED]

    assert found
    for finding in found:
        missing = finding.missing_call
        assert missing is not None
        function, file = WHERE[case]
        assert (ROWS[case].call, function) == (missing.call, missing.function)
        assert missing.file.endswith(f"/{file}")
        assert missing.line
        assert "" == missing.releases
        place = f": {function} ({file}" if ROWS[case].is_elsewhere else f" in {function} ({file}"
        assert finding.next_step.startswith(f"Check for a missing {missing.call}{place}")
        assert Function(function) in finding.next_step.of(Function)
        assert missing.file not in finding.next_step
        assert file in finding.next_step.of(File)


@pytest.mark.at_most(3)
@pytest.mark.parametrize("case", CASES)
def test_the_same_program_that_makes_the_call_is_told_nothing(case):
    findings = gomem.diagnose(RECORDED / f"{case}-right.tar.gz").findings

    assert [] == [finding.code for finding in findings if finding.missing_call is not None]
    assert NAMED.isdisjoint(finding.code for finding in findings)


@pytest.mark.parametrize(
    ("inside", "is_for_another"),
    [
        (["context.(*cancelCtx).propagateCancel", "context.withCancel"], True),
        (["runtime.mapassign", "context.(*cancelCtx).propagateCancel"], True),
        (["context.(*cancelCtx).Done", "context.(*cancelCtx).propagateCancel"], True),
        (["context.withCancel", "context.WithCancel"], False),
    ],
)
def test_the_map_of_a_parents_children_is_not_of_the_function_that_made_a_child(
    inside, is_for_another
):
    row = ROWS["context-cancel"]

    assert row.fits(inside)
    assert is_for_another is row.is_for_another(inside)
