"""The scores that a capture's own program had no part in."""

from dataclasses import replace

import pytest

from gomem.causes.scores import scores
from tools.laboratory import fit

OF_EACH = 6  # cases of either truth
LEAK, WELL = 1.0, 0.0  # what every feature is


def case_of(program, scored, *, is_true):
    values = (LEAK if is_true else WELL,) * len(scored.sentences)
    return fit.Case(program, program, is_true, not is_true, is_whole=True, values=values)


@pytest.fixture
def every():
    """Of each score: programs that are as they should be, and one in which all is reversed."""
    return [
        (scored.code, replace(case, is_true=is_true != (program == "odd")))
        for scored in fit.SCORED
        for program in ("plain", "odd")
        for is_true in [True, False] * OF_EACH
        for case in [case_of(program, scored, is_true=is_true)]
    ]


def values_of(code, value):
    return dict.fromkeys((feature.name for feature in scores()[code].features), value)


def test_a_program_has_no_part_in_its_own_scores(every):
    """
    Where the odd program is left out leaks look like leaks, where the plain one is, like none.
    """
    without_odd, without_plain = (
        fit.scores_without("odd", every),
        fit.scores_without("plain", every),
    )

    assert set(without_odd) == set(scores())
    for code in without_odd:
        leak = values_of(code, LEAK)
        assert without_odd[code].probability(leak) > 0.8
        assert without_plain[code].probability(leak) < 0.2


def test_other_scores_hold_for_a_while(every):
    own = dict(scores())

    with fit.using(fit.scores_without("odd", every)):
        assert scores() != own
    assert scores() == own
