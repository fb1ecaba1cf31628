"""A table below the results: which rule took which bytes of the recorded mappings."""

import pytest

from gomem.units import format_bytes

RULES = pytest.StashKey()


@pytest.fixture
def record_rules(request):
    """Keep a table of rules for the end of the run."""

    def keep(by_rule):
        request.config.stash[RULES] = by_rule

    return keep


def pytest_terminal_summary(terminalreporter, config):
    if RULES not in config.stash:
        return
    terminalreporter.section("which rule took which bytes, in all recorded smaps")
    terminalreporter.write_line(f"{'rows':>6} {'resident':>9}  kind             rule")
    for row in config.stash[RULES].reset_index().itertuples():
        resident = format_bytes(row.Rss)
        terminalreporter.write_line(f"{row.rows:6} {resident:>9}  {row.kind:15}  {row.rule}")
