"""A service that answers each path as it is told: well, badly, late or never.

    python fake_service.py '{"/debug/vars": "expvar", "/debug/pprof/heap": "hang"}'

It prints its port. What is not named is answered 404.
"""

import gzip
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MOMENT = Path(__file__).parents[2] / "fixtures/captures/healthy-go1.27.3/2-steady"
PAGE = MOMENT.parents[2] / "doors/go1.27.3/metrics.prom.gz"
TEXT = PAGE.with_name("heap.txt.gz")
DUMP = MOMENT.parents[2] / "heapdumps/keepers-go1.24.13.dump.gz"
ANSWERS = json.loads(sys.argv[1])
SECRET = "Bearer sesame"  # noqa: S105
COUNTS = {"/debug/vars": 0}


def arguments():
    return Path("/proc/self/cmdline").read_bytes().rstrip(b"\0")


def expvar():
    stats = json.loads((MOMENT / "memstats.json").read_text())
    COUNTS["/debug/vars"] += 1
    stats["NumGC"] += COUNTS["/debug/vars"] * int(os.environ.get("COLLECTIONS", "0"))
    if "GC_AGO" in os.environ:
        stats["LastGC"] = time.time_ns() - int(float(os.environ["GC_AGO"]) * 1e9)
    words = arguments().decode().split("\0")
    page = {"cmdline": words, "memstats": stats, "token": "s3cr3t"}
    lines = [
        f'"{name}": {json.dumps(value, separators=(",", ":"))}' for name, value in page.items()
    ]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()  # as Go's expvar lays it out


BODIES = {
    "expvar": expvar,
    "index": lambda: b"<html>/debug/pprof/ heap goroutine full goroutine stack dump",
    "cmdline": arguments,
    "joined cmdline": lambda: arguments().replace(b"\0", b" "),
    "heap": (MOMENT / "heap.pb.gz").read_bytes,
    "allocs": (MOMENT / "heap.pb.gz").read_bytes,
    "goroutine": (MOMENT / "goroutine.pb.gz").read_bytes,
    "cut-profile": lambda: (MOMENT / "heap.pb.gz").read_bytes()[:-40],
    "heap text": lambda: gzip.decompress(TEXT.read_bytes()),
    "metrics": lambda: gzip.decompress(PAGE.read_bytes()),
    "packed-html": lambda: gzip.compress(b"<!DOCTYPE html><html><body>Welcome</body></html>"),
    "dump": lambda: gzip.decompress(DUMP.read_bytes()),
    "html": lambda: b"<!DOCTYPE html><html><body>Welcome</body></html>",
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        how = ANSWERS.get(self.path, "404")
        if how == "hang":
            time.sleep(60)
        elif how == "drip":
            self.answer(200, 10_000, b"")
            self.drip(b"x")
        elif how == "drip-head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self.drip(b"X-A: x\r\n")
        elif how == "slow heap text":
            body = BODIES["heap text"]()
            self.answer(200, len(body), body[:4096])
            time.sleep(1)
            self.wfile.write(body[4096:])
        elif how == "die":
            self.answer(200, 10_000, b"half")
            self.close_connection = True
        elif how == "elsewhere":
            self.answer(302, 0, b"", Location="http://198.51.100.7/heap")
        elif how == "here":
            self.answer(301, 0, b"", Location="/debug/vars/")
        elif how == "authorized":
            good = self.headers.get("Authorization") == SECRET
            body = expvar() if good else b"who?"
            self.answer(200 if good else 401, len(body), body)
        elif how.isdecimal():
            self.answer(int(how), 2, b"no")
        else:
            body = BODIES[how]()
            self.answer(200, len(body), body)

    def drip(self, piece):
        for _ in range(600):
            self.wfile.write(piece)
            time.sleep(0.1)

    def answer(self, code, length, body, **headers):
        self.send_response(code)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
