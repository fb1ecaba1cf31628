"""Each cause is registered once, and all judgements of all causes are thresholds."""

import ast
from dataclasses import fields
from pathlib import Path

import gomem.causes
from gomem.causes import CAUSES
from gomem.causes.thresholds import Thresholds

PACKAGE = Path(gomem.causes.__file__).parent
ABOUT_CAUSES = {"__init__", "cause", "collecting", "evidence", "finding", "thresholds"}
ABOUT_CAUSES |= {"commands"}
ABOUT_CAUSES |= {"signatures"}  # whose rows stand in signatures.toml
ABOUT_CAUSES |= {"scores"}  # whose numbers are fitted, and stand in weights.toml
SHARED = {
    "beyond_go",
    "checks",
    "goroutines",
    "grown_in_one_file",
    "sites",
    "lock_holder",
    "memory_rise",
    "killed",
    "missing_call",
    "multiplying_series",
    "of_library",
    "outside_go",
    "one_dump",
}  # judgements of several causes
JUDGES = sorted(path for path in PACKAGE.glob("*.py") if path.stem not in ABOUT_CAUSES)
VERDICT = sorted((PACKAGE.parent / "diagnosis").glob("*.py"))
COMPARISON = sorted((PACKAGE.parent / "comparison").glob("*.py"))
MODULES = [path for path in JUDGES if path.stem not in SHARED]
# Numbers that are no judgement of anybody's.
FACTS = {
    "SITES": "how many sites are named as evidence",
    "SHOWN": "how many mappings, files, places or moments are named as evidence",
}
NONE_OR_ONE = {0, 1}  # of something: a singular, an empty frame, a slope's sign


def test_a_cause_is_a_module_of_its_code():
    assert {path.stem for path in MODULES} == {cause.code.replace("-", "_") for cause in CAUSES}
    assert len(CAUSES) == len(MODULES)


def test_a_cause_says_why_and_what_to_do():
    for cause in CAUSES:
        assert cause.mechanism.endswith("."), cause.code
        assert not set("{}") & set(cause.mechanism + cause.remedy), cause.code
        assert cause.remedy, cause.code


def test_every_threshold_is_read_by_a_rule():
    read = {
        node.attr
        for path in [*JUDGES, *VERDICT, *COMPARISON, PACKAGE / "thresholds.py"]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }

    assert set() == {field.name for field in fields(Thresholds)} - read


def test_every_threshold_has_its_reason():
    for field in fields(Thresholds):
        assert f"        {field.name}: " in Thresholds.__doc__, field.name


def numbers(expression: ast.expr | None) -> set[float]:
    found = set() if expression is None else set(ast.walk(expression))
    return {
        node.value
        for node in found
        if isinstance(node, ast.Constant) and type(node.value) in {int, float}
    }


def is_a_fact(value: ast.expr | None) -> bool:
    """A release's number, or a cause's own record, whose numbers stand in sentences."""
    return isinstance(value, ast.Call) and ast.unparse(value.func) in {"GoRelease", "Cause"}


def test_no_module_of_a_cause_has_a_number_of_its_own():
    for path in JUDGES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and not is_a_fact(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {ast.unparse(target) for target in targets}
                assert not numbers(node.value) or names <= set(FACTS), f"{path.name}: {names}"


def test_no_rule_compares_with_a_number_of_its_own():
    for path in JUDGES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                own = set().union(*(numbers(one) for one in (node.left, *node.comparators)))
                assert own <= NONE_OR_ONE, f"{path.name}: {ast.unparse(node)}"
