"""Processes of the command that are forks of one: it has imported all, so that none does it anew.

Where a process runs, its streams and how it ends are its own. How an interpreter starts, with a
stream that is closed or of another encoding, only a new one shows.
"""

import gc
import importlib
import json
import os
import pkgutil
import resource
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gomem
from gomem.cli.main import main

MOST_BYTES = 1 << 16  # of a request


class Forks:
    """Has the command run, in forks of a process that waits for that."""

    def __init__(self):
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._server = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )

    def close(self):
        self._requests.close()
        self._server.wait()

    def run(self, *arguments, stdout=None, file_bytes=None):
        """What `python -m gomem` prints in the working directory, and its exit code.

        Args:
            arguments: What it is asked.
            stdout: The file that is its standard output; else what it prints is kept.
            file_bytes: How far a file may grow.
        """
        asked = {
            "arguments": [*map(str, arguments)],
            "cwd": str(Path.cwd()),
            "file_bytes": file_bytes,
        }
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        streams = [its_out if stdout is None else stdout.fileno(), its_err]
        socket.send_fds(self._requests, [json.dumps(asked).encode()], streams)
        os.close(its_out)
        os.close(its_err)
        with ThreadPoolExecutor() as pool:
            printed, told = pool.map(whole, (out, err))
        code = int(self._requests.recv(MOST_BYTES))
        return subprocess.CompletedProcess(arguments, code, printed, told)


def whole(descriptor):
    with os.fdopen(descriptor, encoding="utf-8") as file:
        return file.read()


def await_a_request(requests):
    """Fork for each request; return in the fork, which is then what a new process would be."""
    while True:
        request, streams, _, _ = socket.recv_fds(requests, MOST_BYTES, 2)
        if not request:
            sys.exit()
        process = os.fork()
        if process == 0:
            requests.close()
            become(streams, **json.loads(request))
            return
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(process, 0)
        requests.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(streams, arguments, cwd, file_bytes):
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout, sys.stderr = opened_as(sys.stdout), opened_as(sys.stderr, buffering=1)
    os.chdir(cwd)
    if file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    sys.argv = ["gomem", *arguments]


def opened_as(stream, buffering=-1):
    """A stream anew, as it knows what the file could that it stood for."""
    asked = {"encoding": stream.encoding, "errors": stream.errors}
    return os.fdopen(stream.fileno(), "w", buffering, closefd=False, **asked)


if __name__ == "__main__":
    for module in pkgutil.walk_packages(gomem.__path__, "gomem."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()
    await_a_request(socket.socket(fileno=int(sys.argv[1])))
    main()
