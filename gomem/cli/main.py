"""The `gomem` command: the parser, and the only place that turns errors into exit codes.

Exit 0: done. 1: done, and `--fail-on` was met. 2: wrong usage, or nothing readable.
"""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {
    "report": "Say where the memory of a Go process went.",
    "compare": "Hold two captures or benchmark files against each other.",
    "top": "Show the functions that allocate most in a profile.",
    "table": "Print an artefact as a table.",
    "inspect": "List what is in a capture: kinds, moments, damage.",
    "notebook": "Run a packaged notebook on a capture and write it as one file.",
}
USAGE = 2
INTERRUPTED = 130

_OVERVIEW = """Usage: gomem COMMAND [OPTIONS] ARGS…

Where did my Go process's memory go, and did my change help?

Commands:
{commands}

Options:
  --version  Print the version and leave.
  --help     Print this, or with a command, its own help.

Start with: gomem report --demo
"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the command line; the exit code comes back, for tests and other programs."""
    if not arguments or arguments[0] in {"--help", "-h", "help"}:
        print(overview(), end="")
        return 0 if arguments else USAGE
    if arguments[0] == "--version":
        from gomem import __version__

        print(f"gomem {__version__}")
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        return _failed(f"{name}: not a command; wanted one of {', '.join(COMMANDS)}")
    return _run_command(name, rest)


def overview() -> str:
    """What `gomem --help` prints; made without loading any command, so that it costs nothing."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return _OVERVIEW.format(commands="\n".join(lines))


def _run_command(name: str, arguments: list[str]) -> int:
    import typer
    from typer.exceptions import TyperException

    from gomem.errors import CaptureError, FormatError

    command = getattr(import_module(f"gomem.cli.{name}"), name)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, help=command.__doc__)(command)
    try:
        result = app(arguments, prog_name=f"gomem {name}", standalone_mode=False)
    except (CaptureError, FormatError) as error:
        return _failed(str(error))
    except TyperException as error:
        message = error.format_message() if isinstance(error, typer.BadParameter) else str(error)
        return _failed(f"{message.rstrip('.')}; see gomem {name} --help")
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _failed(message: str) -> int:
    print(f"gomem: {' '.join(message.split())}", file=sys.stderr)
    return USAGE
