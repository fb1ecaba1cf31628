"""Pages that are made while building, into `docs/causes` and `docs/reference`; git ignores both."""

from pathlib import Path

from gomem_causes import cause_pages
from gomem_reference import reference_pages


def setup(app):
    """Make them before Sphinx looks for pages."""
    app.connect("builder-inited", _write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app) -> None:
    source = Path(app.srcdir)
    for folder, pages in (("causes", cause_pages()), ("reference", reference_pages())):
        (source / folder).mkdir(exist_ok=True)
        for stale in (source / folder).glob("*.md"):
            if stale.stem not in pages:
                stale.unlink()
        for name, text in pages.items():
            page = source / folder / f"{name}.md"
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                page.write_text(text, encoding="utf-8")
