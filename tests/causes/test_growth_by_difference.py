"""A difference of two heap profiles that pprof printed is a growth, alone and beside RSS."""

import pytest

import gomem
from gomem.causes.finding import Severity

TABLE = """$ go tool pprof -top -diff_base h1.pb.gz h2.pb.gz
File: packer
Type: inuse_space
Time: 2026-11-27 14:28:33 UTC
Showing nodes accounting for {whole}MB, 494.87% of 9.51MB total
      flat  flat%   sum%        cum   cum%
   {flat}MB 478.91% 478.91%    {flat}MB 478.91%  strings.(*Builder).Write
    1.52MB 15.95% 494.87%    {whole}MB 494.87%  main.(*ledger).note
         0     0% 494.87%    {flat}MB 478.91%  fmt.Fprintf
         0     0% 494.87%    {whole}MB 494.87%  main.main
         0     0% 494.87%    {whole}MB 494.87%  runtime.main
"""
GROWN = TABLE.format(flat="45.53", whole="47.05")
RSS = "\nRSS in between:\n\n" + "".join(
    f"14:{28 + place // 60}:{place % 60:02} VmRSS:\t{37 + place << 10} kB\n"
    for place in range(0, 90, 10)
)


def growth(tmp_path, text):
    (tmp_path / "ticket.txt").write_text(text)
    return [found for found in gomem.diagnose(tmp_path).findings if found.code == "heap-growth"]


def test_alone_it_is_a_step_with_the_own_function_that_has_most_below_it(tmp_path):
    (finding,) = growth(tmp_path, GROWN)

    assert (Severity.WARNING, "possible") == (finding.severity, finding.confidence)
    assert (
        "Leak, filling cache or burst: 47 MiB more in use in the second profile than in the first; "
        "nearly all of the growth is from main.(*ledger).note"
    ) == finding.title


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TABLE.format(flat="3.10", whole="4.62"), id="little"),
        pytest.param(GROWN.replace("47.05MB", "-47.05MB").replace("45.53", "-45.53"), id="less"),
        pytest.param(GROWN.replace("inuse_space", "alloc_space"), id="allocated"),
    ],
)
def test_little_or_less_or_only_allocated_is_none(text, tmp_path):
    assert [] == growth(tmp_path, text)


def test_beside_rss_that_rises_it_names_who_holds_what_grows(tmp_path):
    (finding,) = growth(tmp_path, GROWN + RSS)

    assert "RSS grows by 1 MiB/s and has reached 117 MiB" in finding.title
    assert finding.title.endswith("of the growth is from main.(*ledger).note")


TOP = "POD   CPU(cores)   MEMORY(bytes)\napi-0   21m          {}Mi\n"


@pytest.mark.parametrize(
    ("sizes", "flat", "whole", "is_said"),
    [
        pytest.param((13, 29), "10.10", "11.62", True, id="both rise"),
        pytest.param((29, 29), "10.10", "11.62", False, id="a working set that stays"),
        pytest.param((13, 29), "1.10", "2.62", False, id="too little of the profile"),
    ],
)
def test_little_growth_is_a_note_where_two_readings_of_memory_rise(
    sizes, flat, whole, is_said, tmp_path
):
    read = "\n".join(f"$ kubectl top pod   # 10:{10 + n}\n{TOP.format(size)}"
                     for n, size in enumerate(sizes))  # fmt: skip
    found = growth(tmp_path, f"{read}\n{TABLE.format(flat=flat, whole=whole)}")

    assert is_said == bool(found)
    for finding in found:
        assert Severity.INFO is finding.severity
        assert "the working set rose from 13 MiB to 29 MiB" in finding.title
        assert finding.title.endswith("from main.(*ledger).note")
        assert ["working set, first", "working set, last"] == [
            row.field for row in finding.evidence if row.field.startswith("working")
        ]


OF_ONE = """ops@desk-4:~$ date; go tool pprof -top {name}
File: packer
Type: inuse_space
Time: 2026-11-27 14:{minute}:33 UTC
Showing nodes accounting for {whole}MB, 100% of {whole}MB total
      flat  flat%   sum%        cum   cum%
   {flat}MB 95.55% 95.55%    {flat}MB 95.55%  strings.(*Builder).Write
    0.52MB  2.68%   100%    {whole}MB   100%  main.(*ledger).note
         0     0%   100%    {whole}MB   100%  main.main
"""
FIRST = OF_ONE.format(name="a.pb.gz", minute=28, whole="9.52", flat="9.00")


@pytest.mark.parametrize(
    ("whole", "flat", "grown"), [("56.52", "56.00", True), ("12.52", "12.00", False)]
)
def test_tables_of_two_profiles_are_two_readings(whole, flat, grown, tmp_path):
    last = OF_ONE.format(name="b.pb.gz", minute=29, whole=whole, flat=flat)

    found = growth(tmp_path, FIRST + last)

    assert grown == bool(found)
    for finding in found:
        assert "47 MiB more in use in the last table than in the first (9.5 MiB)" in finding.title
        assert finding.title.endswith("from main.(*ledger).note")


def test_several_tables_of_one_profile_are_one_reading(tmp_path):
    (tmp_path / "ticket.txt").write_text(FIRST + FIRST)

    assert 1 == len(gomem.load(tmp_path).by_moment)
