"""The gallery shows what there is."""

import re

from tools.gallery import CAPTURES, DOCS, PICTURES, REPORTS, notebooks

PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")


def test_every_report_and_every_notebook_has_its_picture_on_the_page():
    shown = re.findall(r"\]\(pictures/([\w-]+)\.png\)", PAGE)

    assert [*REPORTS, *notebooks()] == shown
    assert {*shown} == {path.stem for path in PICTURES.glob("*.png")}


def test_the_commands_on_the_page_are_those_of_the_pictures():
    commands = re.findall(r"`gomem report ([^`]+)`", PAGE)

    folder = f"fixtures/{CAPTURES.name}/"
    assert [" ".join(one) for one in REPORTS.values()] == [
        command.replace(folder, "") for command in commands
    ]
