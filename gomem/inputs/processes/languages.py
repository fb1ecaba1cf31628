"""Which programs and containers in a table are not written in Go, judged by name?

A name seldom proves that a program is written in Go. But some prove that it is not: names of
databases, of Java servers, and of interpreters. An interpreter's name as a word of a longer one
proves nothing: `op-node` and `aws-node` are Go. `redis-exporter` and similar ones are excepted.
A name that programs in any language have, such as `node`, proves nothing beside evidence of Go.
"""

from __future__ import annotations

import re

from gomem.inputs.processes.row import NOT_GO

_INTERPRETER = re.compile(r"(?:python|ruby|perl|php|php-fpm|node|java|pypy)-?[0-9][0-9.]*")
_WORDS = re.compile(r"[^A-Za-z]+")
# Words in names of containers and pods.
_SERVERS = frozenset(
    {"kafka", "zookeeper", "ksql", "ksqldb", "cassandra", "elasticsearch", "logstash", "kibana"}
    | {"solr", "hbase", "hadoop", "spark", "flink", "keycloak", "jenkins", "tomcat", "wildfly"}
    | {"activemq", "sonarqube", "neo4j", "rabbitmq", "wordpress", "goaccess", "memcached"}
    | {"postgresql", "mysql", "mariadb", "mongodb", "redis", "clickhouse", "haproxy", "envoy"}
    | {"postgres", "mysqld", "mariadbd", "mongod"}
)
# Confluent's images, which are Java.
_CONFLUENT = re.compile(r"\bcp-(?:control-center|schema-registry|kafka|ksql|server|zookeeper)")
_BESIDE = frozenset(
    {"exporter", "operator", "controller", "sidecar", "agent", "proxy", "backup", "manager", "ui"}
    | {"adapter", "client", "consumer", "producer", "gateway", "ingress", "proxysql", "metrics"}
)

_ALSO_GO = frozenset({"node"})  # Node.js, and the node of many networks


def is_not_go(name: str, *, shows_go: bool = False) -> bool:
    """Whether a program's or container's name shows that it is not Go, beside evidence of Go."""
    if shows_go and name in _ALSO_GO:
        return False
    if name in NOT_GO or _INTERPRETER.fullmatch(name) or _CONFLUENT.search(name):
        return True
    words = {word.lower() for word in _WORDS.split(name)}
    return not words.isdisjoint(_SERVERS) and words.isdisjoint(_BESIDE)
