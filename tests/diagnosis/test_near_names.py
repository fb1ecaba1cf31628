"""Functions in a verdict's sentences, with and without the path of their package."""

from dataclasses import dataclass

import pytest

from gomem.diagnosis.near_names import NearFunction, with_near_names
from gomem.text import Function, Text, text


@dataclass(frozen=True)
class Said:
    headline: Text
    whose: tuple[Text, ...] = ()


@pytest.mark.parametrize(
    ("function", "near"),
    [
        ("github.com/acme/hub.(*Client).run", "hub.(*Client).run"),
        ("net/http.(*conn).serve.func1", "http.(*conn).serve.func1"),
        ("example.com/redis/v2.monitor", "redis/v2.monitor"),
        ("example.com/redis/v2/server.Run", "server.Run"),
        ("a.org/x.Map[github.com/b/y.T](...)", "x.Map[github.com/b/y.T](...)"),
        ("main.Map[a.org/b.T]", "main.Map[a.org/b.T]"),
        ("golang.org/x/crypto/ssh", "golang.org/x/crypto/ssh"),  # a package
        ("runtime.gopark", "runtime.gopark"),
    ],
)
def test_the_path_before_a_packages_name_is_left_out(function, near):
    said = with_near_names(Said(text("{} waits", Function(function)), (text("{}", "words"),)))

    assert f"{near} waits" == said.headline
    (name,) = said.headline.of(Function)
    assert function == name.value


def test_two_functions_that_differ_only_in_the_path_keep_it():
    both = text("{} and {}", Function("a.org/queue.Run"), Function("b.org/queue.Run"))

    said = with_near_names(Said(both, (text("{}", Function("a.org/log.Write")),)))

    assert both == said.headline
    assert (Text(NearFunction("a.org/log.Write")),) == said.whose
    assert "log.Write" == said.whose[0]
