"""What other GOGC and GOMEMLIMIT would do, in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.document import Section
from gomem.views.what_if.blocks import what_if_blocks

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


def what_if_section(diagnosis: Diagnosis) -> Section | None:
    """The usual settings; one sentence where the log is not enough, None without a log."""
    answer = diagnosis.what_if
    if answer is None:
        return None
    blocks = what_if_blocks(answer)
    gist = answer.refused or "estimates from this log, held against its own course"
    heading = "What other GOGC and GOMEMLIMIT would do"
    return Section("what-if", heading, blocks, brief=False, gist=gist)
