"""Formulas as MathML, which browsers render themselves, without scripts or a network."""

from docutils.utils.math.latex2mathml import tex2mathml


def setup(app):
    """Add the renderer `mathml`."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(_renders(as_block=False), None),
        block_renderers=(_renders(as_block=True), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _renders(*, as_block):
    def visit(translator, node):
        from docutils.nodes import SkipNode

        translator.body.append(tex2mathml(node.astext(), as_block=as_block))
        raise SkipNode

    return visit
