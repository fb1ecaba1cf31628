"""Processes to capture: a fake service that answers as told, and a real one in Go."""

import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.server import ThreadingHTTPServer
from pathlib import Path
from tempfile import mkdtemp

HERE = Path(__file__).parent
GOOD = {
    "/debug/vars": "expvar",
    "/debug/pprof/": "index",
    "/debug/pprof/cmdline": "cmdline",
    "/debug/pprof/heap": "heap",
    "/debug/pprof/allocs": "allocs",
    "/debug/pprof/goroutine": "goroutine",
    "/metrics": "metrics",
}
MEMSTATS = {"/debug/vars", "/metrics"}
# MemStats come with a heap profile in text, which takes a second.
WITH_A_LONG_PAGE = {path: how for path, how in GOOD.items() if path not in MEMSTATS} | {
    "/debug/pprof/heap?debug=1": "slow heap text"
}


@dataclass
class Service:
    process: subprocess.Popen
    url: str

    @property
    def pid(self) -> str:
        return str(self.process.pid)


@contextmanager
def fake_service(answers, *more, scheme="http", **environment):
    """A process that answers each path as told; see `fake_service.py`."""
    command = [sys.executable, "-S", str(HERE / "fake_service.py"), json.dumps(answers), *more]
    with _running(command, {**os.environ, **environment}) as (process, line):
        yield Service(process, f"{scheme}://127.0.0.1:{line}")


@contextmanager
def go_service(*arguments):
    """A Go program with every debug endpoint."""
    with _running([str(built_service()), *arguments], dict(os.environ)) as (process, line):
        yield Service(process, f"http://{line}")


@cache
def built_service() -> Path:
    program = Path(mkdtemp(prefix="gomem-service-")) / "service"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE / "service", check=True)
    return program


@contextmanager
def _running(command, environment):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def serving(handler):
    """The URL of a server on loopback that answers with a handler of its own."""
    handler.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


has_go = shutil.which("go") is not None
