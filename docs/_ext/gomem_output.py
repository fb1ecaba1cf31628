r"""`{gomem}`: a command and its output, run while the manual is built.

    ```{gomem} report captures/api
    :lines: 20
    ```

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
    option_spec = {"lines": directives.positive_int, "exit": int}  # noqa: RUF012 - as docutils has it

    def run(self):
        """Run it."""
        command = " ".join(self.arguments[0].split())
        code, printed = answer_of(command)
        if code != self.options.get("exit", 0):
            raise self.error(f"gomem {command}: exit code {code}: {printed}")
        lines = printed.splitlines()
        most = self.options.get("lines", len(lines))
        shown = [*lines[:most], *(["…"] if len(lines) > most else [])]
        text = "\n".join([f"$ gomem {command}", *shown])
        return [nodes.literal_block(text, text, classes=["gomem-output"], language="text")]


def setup(app):
    """Add the directive."""
    app.add_directive("gomem", GomemDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
