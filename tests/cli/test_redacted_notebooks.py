"""A notebook that is run with --redact names nothing of its captures, in whatever it shows."""

import pytest

from gomem.views.writers import notebook as notebooks
from tests.views.planted import given_away


@pytest.mark.at_most(1)
@pytest.mark.parametrize(
    ("name", "captures"),
    [
        ("rss-vs-heap", ("CAPTURE", "OTHER")),
        ("who-keeps-it", ("CAPTURE",)),
        ("fleet", ("PODS", "BUILDS")),
    ],
)
def test_no_cell_of_a_notebook_gives_a_name_away(written, monkeypatch, name, captures):
    """
    Sentences, tables, figures and frames, in the notebook that is run and in its page.
    """
    ran, execute = [], notebooks.execute_notebook

    def once(*arguments, **options):
        ran[:] = ran or [execute(*arguments, **options)]
        return ran[0]

    monkeypatch.setattr(notebooks, "execute_notebook", once)
    for file in ("out.ipynb", "out.html"):
        told = written("notebook", name, *captures, "-o", file, "--redact")
        assert {} == given_away(told)
        assert "moment-1" in told[file] or "instance-1" in told[file]


def test_without_it_the_same_notebook_gives_names_away(written):
    told = written("notebook", "who-keeps-it", "CAPTURE", "-o", "out.ipynb")

    assert {"psstcapture", "pssttwo"} <= set(given_away(told)["out.ipynb"])
