"""The `gomem` command: the parser, and the only place that turns errors into exit codes.

0: done, even if the reader of a pipe stops early. 1: done, and the condition of `--fail-on` was
met. 2: wrong usage, no readable input, or an output that cannot be written. 70: a bug in gomem. 71:
out of memory. 130: stopped by Ctrl-C.
"""

from __future__ import annotations

import errno
import gc
import inspect
import os
import re
import sys
import traceback
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gomem.text import Text

COMMANDS = {
    "report": "Show where the memory of a Go process went.",
    "compare": "Compare two captures or benchmark files.",
    "fleet": "Show which of many instances are unlike the others.",
    "matrix": "Show the first build of a program that differs.",
    "top": "Show the functions that allocate most in a profile.",
    "rss": "Write RSS as one pprof profile: heap, stacks, C, files.",
    "table": "Print a file of a capture as a table.",
    "capture": "Collect a capture from a running process.",
    "inspect": "List what is in a capture: kinds, snapshots, damage.",
    "retain": "Show who keeps the heap, from a heap dump.",
    "what-if": "Predict the effect of another GOGC or GOMEMLIMIT.",
    "notebook": "Run a packaged notebook on a capture and write it as one file.",
    "explain": "Explain a field, a finding or a word.",
    "schema": "Print the JSON Schema of a command's output.",
    "completion": "Print a script for shell completion.",
}
_NOT_ONE_OF = re.compile("'([^']*)' is not one of (.*)")  # typer's message
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)  # in a docstring
USAGE = 2
OWN_FAULT = 70  # EX_SOFTWARE
OUT_OF_MEMORY = 71  # EX_OSERR
INTERRUPTED = 130
DEBUG = "GOMEM_DEBUG"
# errors of the operating system
REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP})
# Container objects allocated between two of Python's own collections. With the default of 700, a
# command collects about a hundred times while modules load, in vain: nearly all objects stay.
COLLECT_AFTER = 50_000

_OVERVIEW = """Usage: gomem COMMAND [OPTIONS] ARGS…

Where did my Go process's memory go, and did my change help?

Commands:
{commands}

Options:
  --version  Print the version and exit.
  --help     Print this help; after a command, that command's help.

Exit codes:
  0    Done.
  1    Done, and --fail-on was met.
  2    Wrong usage, nothing readable, or an output that cannot be written.
  70   A bug in gomem; GOMEM_DEBUG=1 shows where.
  71   Out of memory.
  130  Stopped by Ctrl-C.

Start with: gomem report --demo
"""


class Stopped(Exception):  # noqa: N818 - the user did
    """Raised by Ctrl-C during a command, with a message for the user."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    try:
        from gomem.cli.output import flush_standard_output, open_standard_streams

        gc.set_threshold(COLLECT_AFTER)
        open_standard_streams()
        given = sys.argv[1:] if arguments is None else arguments
        code = run(given)
        code = _guarded(flush_standard_output) or code
    except KeyboardInterrupt:  # outside of the code that reports it
        code = INTERRUPTED
    gc.freeze()  # remaining objects go with the process, and need no further collection
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit code, for tests and other programs."""
    from gomem.cli.redaction import redacting

    with redacting(arguments):
        return _guarded(lambda: _run(arguments))


def _guarded(work: Callable[[], int | None]) -> int:
    """Run the work and return its exit code, whatever it raises."""
    from gomem.cli.output import ReaderGone
    from gomem.errors import CaptureError, FormatError, is_out_of_memory

    try:
        return work() or 0
    except (CaptureError, FormatError) as error:
        return _failed(error.message)
    except ReaderGone:
        return 0
    except (KeyboardInterrupt, Stopped) as stopped:
        return _failed(str(stopped) or "interrupted", INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - a fault must not look like --fail-on
        if any(map(is_out_of_memory, _with_causes(error))):
            what = "out of memory; wanted a smaller capture or a larger machine"
            return _failed(what, OUT_OF_MEMORY)
        return _unforeseen(error)


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _unforeseen(error: Exception) -> int:
    """The exit code of an unexpected error: refused by the OS, or a bug in gomem."""
    from gomem.sources.names import readable_name
    from gomem.text import File, Quoted, text

    if isinstance(error, OSError) and error.errno in REFUSED and error.filename:
        named = File(readable_name(str(error.filename)))
        return _failed(text("{}: {}", named, error.strerror or ""))
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    what = text("{}{}", type(error).__name__, ": " * bool(str(error))) + Quoted(error)
    hint = f"the input might be fine; please report this, with the output of {DEBUG}=1"
    return _failed(text("this is a bug in gomem: {}; {}", what, hint), OWN_FAULT)


def _run(arguments: list[str]) -> int:
    from gomem.cli.output import write

    if not arguments or arguments[0] in {"--help", "-h", "help"}:
        write(overview(), None)
        return 0 if arguments else USAGE
    if arguments[0] == "--version":
        from importlib.metadata import version

        write(f"gomem {version('gomem')}", None)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        return _failed(_no_command(name))
    from typer.exceptions import TyperException

    try:
        result = parser_of(name)(rest, prog_name=f"gomem {name}", standalone_mode=False)
    except TyperException as error:
        return _failed(_usage(error) + f" See gomem {name} --help")
    return result if isinstance(result, int) else 0


def _no_command(name: str) -> Text:
    """The error for an unknown command, with the most similar command."""
    from gomem.errors import did_you_mean
    from gomem.text import Quoted, text

    if name.startswith("-"):
        near = did_you_mean(name, ("--version", "--help"))
        what = "not an option; wanted a command, --version or --help"
    else:
        near = did_you_mean(name, COMMANDS)
        what = f"not a command; wanted one of {', '.join(COMMANDS)}"
    return text("{}: {}{}", Quoted(name), what, near)


def overview() -> str:
    """Return the output of `gomem --help`, without importing any command."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return _OVERVIEW.format(commands="\n".join(lines))


def parser_of(name: str) -> Any:
    """Return a command's parser; the command's docstring has the help, examples and arguments."""
    import typer

    word = name.replace("-", "_")
    command = getattr(import_module(f"gomem.cli.{word}"), word)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    said, _, each = inspect.cleandoc(command.__doc__ or "").partition("Args:\n")
    words, _, examples = said.partition("Examples:\n")
    told = [" ".join(paragraph.split()) for paragraph in words.strip().split("\n\n")]
    shown = [f"  {line.strip()}" for line in examples.strip().split("\n")]
    told.append("\n".join(["\b", "Examples:", *shown]))  # its lines are not wrapped
    app.command(name, help="\n\n".join(told))(_stoppable(command))
    parser: Any = typer.main.get_command(app)
    means = {found[1]: " ".join(found[2].split()) for found in _ARGUMENT.finditer(each)}
    for param in parser.params:
        param.help = param.help or means.get(param.name)
        if param.default is False:  # an unset flag is off
            param.show_default = False
    return parser


def _stoppable(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command to keep the message of Ctrl-C, because typer keeps only the code."""

    @wraps(command)
    def run_it(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as stopped:
            raise Stopped(str(stopped)) from stopped

    return run_it


def _usage(error: Exception) -> Text:
    """The error about an option or its value, with the most similar valid one."""
    import typer

    from gomem.errors import nearest
    from gomem.text import Quoted, text

    said = error.format_message() if isinstance(error, typer.BadParameter) else str(error)
    said = said.replace("Value error, ", "").rstrip(".")
    near = next(iter(getattr(error, "possibilities", None) or ()), None)
    if choice := _NOT_ONE_OF.search(said):
        near = nearest(choice[1], re.findall("'([^']+)'", choice[2]))
    what, colon, value = said.partition(": ")  # hide the user's input in redacted output
    whole = text("{}{}{}", what, colon, Quoted(value)) if colon else text("{}", Quoted(said))
    return whole + "." if near is None else text("{}; did you mean {}?", whole, near)


def _failed(message: str, code: int = USAGE) -> int:
    from gomem.cli.output import tell

    tell(message)
    return code
