"""What goroutines of net/http's own serve, and what would end them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.commands import TAKE_GOROUTINES
from gomem.text import Text, text

if TYPE_CHECKING:
    import pandas as pd

HTTP_CLIENT = "net/http.(*persistConn)."
_SERVING = ("net/http.(*connReader).", "net/http.(*conn).")  # a server's, not a client's
_CONNECTIONS = {
    "net/http.(*connReader).": "A server waits there for the next request of a client.",
    "net/http.(*conn).": "Each is a client's connection to this HTTP server.",
    HTTP_CLIENT: "Each serves a connection of an HTTP client, in use or idle.",
}
_SET_TIMEOUTS = Text(
    "Set ReadHeaderTimeout and IdleTimeout on the http.Server: without them, clients that send "
    "nothing keep their connections."
)
_CLOSE_BODIES = text(
    "Count them again later: {}. If the number grows, look for response bodies that are never "
    "closed (resp.Body.Close()), or a Transport made for each request.",
    TAKE_GOROUTINES,
)


def connection_words(where: str) -> str:
    """Say what the goroutines in a function of net/http serve; empty for any other function."""
    return next((said for name, said in _CONNECTIONS.items() if where.startswith(name)), "")


def step_of_connections(where: str, groups: pd.DataFrame, most: float, enough: int) -> Text:
    """Return what to do about connections where most goroutines wait; empty if they are others.

    A few clients' connections are no matter for a server: `enough` goroutines are.
    """
    if where.startswith(_SERVING):
        waiting = groups.loc[groups["function"].str.startswith(_SERVING), "goroutines"].sum()
        return _SET_TIMEOUTS if waiting >= enough else Text()
    of_clients = groups.loc[groups["function"].str.startswith(HTTP_CLIENT), "goroutines"].sum()
    return _CLOSE_BODIES if of_clients > most * groups["goroutines"].sum() else Text()
