"""`gomem completion SHELL`: shell completion for commands, options and their values."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from gomem.cli.output import write

Words = dict[str, tuple[str, ...]]  # an option's values by its name; empty if any value is allowed


Shell = StrEnum("Shell", "bash zsh fish")  # supported shells


def completion(shell: Shell) -> None:
    """Print a script that makes a shell complete gomem's commands, options and values.

    Examples:
        source <(gomem completion bash)
        gomem completion fish > ~/.config/fish/completions/gomem.fish

    Args:
        shell: The shell.
    """
    from gomem.cli.main import COMMANDS, parser_of

    options = {name: _options(parser_of(name)) for name in COMMANDS}
    if shell is Shell.fish:
        write(_fish(options, COMMANDS), None)
        return
    first = "autoload -U +X bashcompinit && bashcompinit\n" if shell is Shell.zsh else ""
    write(first + _bash(options), None)


def _options(command: Any) -> Words:
    """The options of a command with their choices; those of its argument have the key ''."""
    words: Words = {"--help": ()}
    for parameter in command.params:
        choices = tuple(map(str, getattr(parameter.type, "choices", ())))
        names = parameter.opts if parameter.opts[0].startswith("-") else [""]
        words |= dict.fromkeys(names, choices)
    return words


def _bash(options: dict[str, Words]) -> str:
    """One function: it completes the command, its options, an option's values, or files."""
    lines = ["_gomem() {", '  local now="${COMP_WORDS[COMP_CWORD]}" words=""',
             '  local before="${COMP_WORDS[COMP_CWORD-1]}"',
             '  if [ "$COMP_CWORD" -eq 1 ]; then', f'    words="{" ".join(options)}"', "  else",
             '    case "${COMP_WORDS[1]} $before" in']  # fmt: skip
    lines += [
        f'      "{name} {option}") words="{" ".join(choices)}" ;;'
        for name, words in options.items()
        for option, choices in words.items()
        if choices and option
    ]
    lines += ["      *)", '        case "${COMP_WORDS[1]} $now" in']
    each = {f"{name} -": tuple(filter(None, words)) for name, words in options.items()}
    each |= {f"{name} ": words[""] for name, words in options.items() if words.get("")}
    lines += [
        f'          "{begin}"*) words="{" ".join(words)}" ;;' for begin, words in each.items()
    ]
    lines += ["        esac ;;", "    esac", "  fi",
              '  COMPREPLY=($(compgen -W "$words" -- "$now"))', "}",
              "complete -o bashdefault -o default -F _gomem gomem"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _fish(options: dict[str, Words], commands: dict[str, str]) -> str:
    """A line per command, and a line per option."""
    quoted = {name: commands[name].replace("'", "\\'") for name in options}
    lines = [
        f"complete -c gomem -n __fish_use_subcommand -a {name} -d '{words}'"
        for name, words in quoted.items()
    ]
    for name, words in options.items():
        seen = f"-c gomem -n '__fish_seen_subcommand_from {name}'"
        for option, choices in words.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            values = f" -x -a '{' '.join(choices)}'" if choices else ""
            if option or choices:  # an argument without choices is a file
                lines.append(f"complete {seen} {flag if option else '-f'}{values}")
    return "\n".join(lines) + "\n"
