"""RSS by owner, with what is small in one row."""

import shutil

import gomem
from gomem.views.report.ledger import OTHERS, RETAINED, groups_table
from tests.builders import FIXTURES


def test_what_files_do_not_say_of_the_small_owners_is_no_zero(tmp_path):
    """
    Without MemStats, nothing is known of what Go retains.
    """
    smaps = max((FIXTURES / "captures/zeroing-go1.24.2").rglob("smaps"))
    shutil.copy(smaps, tmp_path / "smaps")
    (facts,) = gomem.diagnose(tmp_path).moments

    owners = groups_table(facts, facts.name)

    assert OTHERS in [row[0].text for row in owners.rows]
    assert RETAINED not in owners.columns
