"""What `--help` shows of each command in use."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "report": (
        "gomem report --demo",
        "gomem report captures/api --baseline captures/api-before",
        "gomem report capture.tar.gz --format json --fail-on warning",
    ),
    "compare": (
        "gomem compare before.txt after.txt",
        "gomem compare 'old/*' 'new/*' --fail-on rss=+10%,allocs/op=+0",
    ),
    "top": (
        "gomem top heap.pb.gz -n 20",
        "gomem top heap.pb.gz --base before.pb.gz --sample-type alloc_space --cum",
    ),
    "table": (
        "gomem table gctrace.log --format csv",
        "gomem table smaps --frame totals --format json",
    ),
    "capture": (
        "gomem capture 4711 -o captures/api --every 10s --for 5m",
        "gomem capture http://127.0.0.1:6060 -o captures/api --when 'rss>2GiB'",
        "gomem capture --script | kubectl exec -i POD -- sh -s -- 1 > capture.tar",
    ),
    "inspect": ("gomem inspect captures/api",),
    "what-if": ("gomem what-if gctrace.log --gogc 50,100,200 --memory-limit none,512MiB",),
    "notebook": (
        "gomem notebook --list",
        "gomem notebook rss-vs-heap captures/api -o postmortem.html",
        "gomem notebook --copy notebooks",
    ),
    "explain": ("gomem explain HeapIdle", "gomem explain idle-heap-kept"),
    "schema": ("gomem schema report",),
    "completion": (
        "source <(gomem completion bash)",
        "gomem completion fish > ~/.config/fish/completions/gomem.fish",
    ),
}
