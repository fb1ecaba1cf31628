"""What goroutines are, by where they wait, and what would end them.

net/http     its own goroutines serve connections, of a client or a server
a test       goleak and leaktest print the whole answer: no server runs that could be asked for more
one type     a client or a pool starts a goroutine for each of its loops, and ends them as it is
             closed. Then equal numbers in the loops are the number of those that are open
"""

from __future__ import annotations

import re
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from gomem.analysis.series.goroutine_growth import places_of
from gomem.causes.commands import TAKE_GOROUTINES
from gomem.inputs.pprof.calls.names import in_standard_library, of_the_runtime
from gomem.text import Age, Command, Count, Function, Text, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.goroutines import GoroutineCount
    from gomem.inputs.goroutines.table import Goroutines

HTTP_CLIENT = "net/http.(*persistConn)."
_SERVING = ("net/http.(*connReader).", "net/http.(*conn).")  # a server's, not a client's
READS = ("crypto/tls.(*Conn).Read", "net.(*conn).Read")  # where no frame says of what
_CONNECTIONS = {
    "net/http.(*connReader).": "A server waits there for the next request of a client.",
    "net/http.(*conn).": "Each is a client's connection to this HTTP server.",
    **dict.fromkeys(
        READS,
        "Each keeps a connection open until the other side sends, or closes it: one that vanished "
        "silently does neither.",
    ),
    HTTP_CLIENT: "Each serves a connection of an HTTP client, in use or idle.",
}
_ALONE = {"Each is": "It is", "Each serves": "It serves"}
_SET_TIMEOUTS = Text(
    "Set ReadHeaderTimeout and IdleTimeout on the http.Server: without them, clients that send "
    "nothing keep their connections."
)
_SET_DEADLINES = text(
    "Count them again later: {}. If the number grows, give each read a deadline "
    "(conn.SetReadDeadline, or IdleTimeout on an http.Server), and close what is done.",
    TAKE_GOROUTINES,
)
_CLOSE_BODIES = text(
    "Count them again later: {}. If the number grows, look for response bodies that are never "
    "closed (resp.Body.Close()), or a Transport made for each request.",
    TAKE_GOROUTINES,
)
GOLEAK = "goleak"
INTERNAL = "/internal/"
RUNS_TESTS = "testing.(*M).Run"
_IN_INIT = re.compile(r"\.init(?:\.[0-9]+)?(?:\.func[0-9.]+)?$")
_CLOSE_IDLE = text(
    "Close the response bodies, and idle connections before the test ends: {}.",
    Command("client.CloseIdleConnections()"),
)
_ENDS = {  # a state, and what lets it end
    "IO wait": "close the connection that they wait for, or set a deadline",
    "chan send": "receive what it sends, give the channel room for it, or send in a select that "
    "also waits for the context (closing the channel makes the sender panic)",
}
# A connection that is not there yet.
_DIALLING = frozenset({"net.(*netFD).connect", "net.(*sysDialer).dialSingle"})
_DIALS = "cancel the context of the dial, or give it a timeout (net.Dialer.Timeout)"
MIN_VALUES = 10  # of a type; fewer are equal by chance
_METHOD = re.compile(r"(?P<type>.+\.\(\*?\w+(?:\[\.\.\.\])?\))\.\w+")


COUNTING = frozenset({"goroutine-leak", "stack-growth"})


def are_counted(diagnosis: Diagnosis) -> bool:
    """Whether a finding or an observation says how many goroutines there are."""
    is_found = any(finding.code in COUNTING for finding in diagnosis.findings)
    return is_found or any(each.group == "goroutines" for each in diagnosis.observations)


def connection_words(where: str, goroutines: int) -> str:
    """Say what the goroutines in a function of net/http serve; empty for any other function."""
    said = next((said for name, said in _CONNECTIONS.items() if where.startswith(name)), "")
    each = next((each for each in _ALONE if goroutines == 1 and said.startswith(each)), "")
    return _ALONE.get(each, "") + said.removeprefix(each)


def step_of_connections(where: str, groups: pd.DataFrame, most: float, enough: int) -> Text:
    """Return what to do about connections where most goroutines wait; empty if they are others.

    A few clients' connections are no matter for a server: `enough` goroutines are.
    """
    if where.startswith(_SERVING):
        waiting = groups.loc[groups["function"].str.startswith(_SERVING), "goroutines"].sum()
        return _SET_TIMEOUTS if waiting >= enough else Text()
    if where in READS:
        waiting = groups.loc[groups["function"].isin(READS), "goroutines"].sum()
        return _SET_DEADLINES if waiting >= enough else Text()
    of_clients = groups.loc[groups["function"].str.startswith(HTTP_CLIENT), "goroutines"].sum()
    return _CLOSE_BODIES if of_clients > most * groups["goroutines"].sum() else Text()


def leak_test_words(dumps: Sequence[Goroutines]) -> Text:
    """Return what a test says about the goroutines that it lists; empty without a test."""
    name = _leak_test(dumps)
    if not name:
        return Text()
    stacks = [stack for dump in dumps for stack in dump.goroutines["stack"]]
    which = "these goroutines as leaked" if stacks[1:] else "it as leaked"
    said = text("{} reported {} when the test ended.", name, which)
    own = any(RUNS_TESTS in stack.split(";") for stack in stacks)
    words = "{} The goroutine in {} runs the tests, and is no leak."
    return text(words, said, Function(RUNS_TESTS)) if own else said


def step_of_test(dumps: Sequence[Goroutines], largest: pd.Series) -> Text:
    """Return what ends the largest group of the goroutines that a test lists; empty without one."""
    name = _leak_test(dumps)
    if not name:
        return Text()
    where = str(largest["function"])
    begun = "" if is_unknown(largest["created_by"]) else str(largest["created_by"])
    if _IN_INIT.search(begun):
        words = "It runs as long as the program, and is no leak of the test{}."
        ignore = Command(text('goleak.IgnoreTopFunction("{}")', Function(where)))
        return text(words, text("; let goleak ignore it: {}", ignore) if name == GOLEAK else "")
    if where.startswith(HTTP_CLIENT):
        return _CLOSE_IDLE
    count = sum(int(dump.goroutines["goroutines"].sum()) for dump in dumps)
    these = "these goroutines" if count > 1 else "this goroutine"
    what = text("what {} starts", Function(begun)) if begun else these
    if INTERNAL in begun:  # only its library can call it
        what = text("what the test opens of {}", begun.partition(INTERNAL)[0])
    ends = "close it, or cancel its context" if begun else "cancel the context that they wait for"
    how = _ENDS.get(str(largest["state"]), ends)
    how = _DIALS if not _DIALLING.isdisjoint(str(largest["stack"]).split(";")) else how
    return text("Stop {} before the test ends: {}.", what, how)


def _leak_test(dumps: Sequence[Goroutines]) -> str:
    """Return the package of the test that lists the goroutines; empty without one."""
    return next((dump.leak_test for dump in dumps if dump.leak_test), "")


def one_type_words(groups: pd.DataFrame, largest: pd.Series) -> Text:
    """Say that as many goroutines are in another method of the type; empty if none are."""
    where, there = str(largest["function"]), int(largest["goroutines"])
    method = _METHOD.match(where)
    if method is None or there < MIN_VALUES or in_standard_library(where):
        return Text()
    begin = f"{method['type']}."
    stacks = (stack.split(";") for stack in groups.loc[groups["goroutines"] == there, "stack"])
    alike = (stack for stack in stacks if where not in stack)
    others = [name for stack in alike for name in stack if name.startswith(begin)]
    if not others:
        return Text()
    words = "As many are in {}: likely {} of that type are open, each with its own loops."
    return text(words, Function(others[0]), Count(there))


def state_words(group: pd.Series, counted: GoroutineCount, at: Sequence[pd.DataFrame]) -> Text:
    """The wait reason of a group with its line in the source, in brackets; empty if unknown.

    `at` has the positions of each dump's functions.
    """
    if is_unknown(group["state"]):
        return Text()
    assert counted.frame is not None
    here = counted.frame[places_of(counted.frame) == group["function"]]
    several, longest = len(set(here["state"])) > 1, group["wait_seconds"]
    is_alone = counted.shown == 1 and not is_unknown(longest)
    wait = text(", for {} or more", Age(longest)) if is_alone else ""
    line = _line_of(str(group["function"]), at)
    return text(" ({}{}{}{})", "mostly " * several, str(group["state"]), line, wait)


def _line_of(function: str, at: Sequence[pd.DataFrame]) -> str:
    """The one line at which goroutines are in a function; empty if there are several."""
    rows = [row for own in at for row in own[own["function"] == function].itertuples()]
    if len(rows) != 1 or of_the_runtime(function) or in_standard_library(function):
        return ""
    return f" at {PureWindowsPath(str(rows[0].file)).name}:{rows[0].line}"
