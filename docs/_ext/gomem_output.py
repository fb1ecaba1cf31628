r"""`{gomem}`: a command and its output, run while the manual is built.

    ```{gomem} report captures/api
    :lines: 20
    ```

With `:slow:`, a brief build (`-D gomem_brief=1`, which the tests make) shows the command alone.

It runs in a folder with gomem's recorded captures, named as in `PLACES`, like on a terminal of 80
columns without colours. If the exit code is not `:exit:` (0 by default), the build fails.
"""

from docutils import nodes
from docutils.parsers.rst import directives
from gomem_run import answer_of
from sphinx.util.docutils import SphinxDirective


class GomemDirective(SphinxDirective):
    """The command in the directive's argument, and its output."""

    required_arguments, final_argument_whitespace = 1, True
    option_spec = {  # noqa: RUF012 - as docutils has it
        "lines": directives.positive_int,
        "exit": int,
        "slow": directives.flag,
    }

    def run(self):
        """Run it."""
        command = " ".join(self.arguments[0].split())
        if "slow" in self.options and self.config.gomem_brief:
            return [_shown(f"$ gomem {command}")]
        code, printed = answer_of(command)
        if code != self.options.get("exit", 0):
            raise self.error(f"gomem {command}: exit code {code}: {printed}")
        lines = printed.splitlines()
        most = self.options.get("lines", len(lines))
        shown = [*lines[:most], *(["…"] if len(lines) > most else [])]
        return [_shown("\n".join([f"$ gomem {command}", *shown]))]


def _shown(text):
    return nodes.literal_block(text, text, classes=["gomem-output"], language="text")


def setup(app):
    """Add the directive, and the option for a brief build."""
    app.add_config_value("gomem_brief", default=False, rebuild="env", types=bool)
    app.add_directive("gomem", GomemDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
