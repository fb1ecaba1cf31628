#!/bin/sh
# Collects what a Go process and the kernel say of its memory, as `gomem capture` does, where there
# is no Python: POSIX sh, what busybox has, and curl or wget. The capture is one tar on standard
# output; everything else is said on standard error.
#
#   sh collect.sh [-n SECONDS] [-c COUNT] [-u URL] [-H HEADER] [-t SECONDS] [-d URL [-y]] PID > capture.tar
#
#   -n  a moment every so many seconds      -u  where it serves /debug/pprof/, /debug/vars, /metrics;
#   -c  so many moments; else until Ctrl-C      else what it listens at is tried, on loopback
#   -t  for one answer; else 10             -H  a header for each request, 'Name: value'
#   -d  where it serves debug.WriteHeapDump: taken once. The program stops meanwhile, 1 to 3.5 ms for each
#       MB of heap, and the file holds the heap's contents. From Go 1.26 on it can end the process: -y
#
# In a container, by its standard input:
#   gomem capture --script | kubectl exec -i POD -- sh -s -- 1 > capture.tar
#   gomem capture --script | docker exec -i CONTAINER sh -s -- 1 > capture.tar
#
# A moment is read in this order: MemStats, the kernel's files at once behind it, MemStats again; then
# the control group's files, limits, the metrics page, profiles. If MemStats come with a heap profile
# in text, which takes up to seconds, the kernel's files are read while it is written: Go reads
# MemStats first. If a collection ended in between, but before the kernel's files, the second MemStats
# are kept; else the first three are read once more, up to three times.
set -u
export LC_ALL=C
every='' count='' url='' header='' timeout=10 dump='' yes=''
ATTEMPTS=3 DEAR_US=250000 LARGEST_BLOCKS=524288

say() { printf 'collect.sh: %s\n' "$1" >&2; }
fail() { say "$1"; exit 2; }
usage() { fail 'wanted: sh collect.sh [-n SECONDS] [-c COUNT] [-u URL] [-H HEADER] [-t SECONDS] [-d URL [-y]] PID'; }
is_number() { case $1 in '' | *[!0-9]*) return 1 ;; esac }

while getopts n:c:u:H:t:d:y option; do
  case $option in
    n) every=$OPTARG ;;
    c) count=$OPTARG ;;
    u) url=$OPTARG ;;
    H) header=$OPTARG ;;
    t) timeout=$OPTARG ;;
    d) dump=$OPTARG ;;
    y) yes=1 ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || usage
pid=$1
is_number "$pid" && is_number "$timeout" && is_number "${every:-0}" && is_number "${count:-1}" || usage
[ -n "$every" ] || count=1
proc=/proc/$pid
[ -r "$proc/stat" ] || fail "$pid: no such process here; see: ls /proc"

# The start of a process tells it from another that is given its number: field 22 of stat, behind
# the name, which may hold anything.
start_of() {
  read -r stat 2>/dev/null < "$proc/stat" || return 1
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  [ "$1" != Z ] && printf '%s\n' "${20}"
}
started=$(start_of) || fail "$pid: the process ended"
is_running() { [ "$(start_of)" = "$started" ]; }

work=''
for folder in "${TMPDIR:-/tmp}" /tmp /dev/shm /var/tmp /run; do
  work=$folder/gomem-$$
  (umask 077 && mkdir "$work") 2>/dev/null && break
  work=''
done
[ -n "$work" ] || fail 'no folder to write to; wanted one of TMPDIR, /tmp, /dev/shm, /var/tmp, /run'
trap 'rm -rf "$work"' EXIT
trap 'end_tar; exit 130' INT TERM HUP

# --- time: microseconds since the epoch; without nanoseconds in date, by the time since the boot

case $(date +%N) in
  *[!0-9]* | '') has_nanoseconds='' ;;
  *) has_nanoseconds=1 ;;
esac
uptime_us() {
  read -r up rest < /proc/uptime
  fraction=${up#*.}
  echo $((${up%.*} * 1000000 + (1$fraction - 100) * 10000))
}
if [ -z "$has_nanoseconds" ]; then
  second=$(date +%s)
  while [ "$(date +%s)" = "$second" ]; do sleep 0.01 2>/dev/null || :; done
  offset_us=$(((second + 1) * 1000000 - $(uptime_us)))
fi
now() {
  if [ -n "$has_nanoseconds" ]; then
    nanoseconds=$(date +%s%N)
    echo $((nanoseconds / 1000))
  else
    echo $(($(uptime_us) + offset_us))
  fi
}
iso() { printf '%s.%06dZ' "$(date -u -d "@$(($1 / 1000000))" +%Y-%m-%dT%H:%M:%S)" $(($1 % 1000000)); }
seconds() { printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)); }

# --- HTTP

if command -v curl >/dev/null; then
  fetch() { curl -s -f -N -m "$timeout" ${header:+-H "$header"} -o "$2" "$1" 2>/dev/null; }
elif command -v wget >/dev/null; then
  # busybox has it without -T, or with one that crashes; its older timeout takes -t.
  if timeout 9 true 2>/dev/null; then
    bound="timeout $timeout"
  elif timeout -t 9 true 2>/dev/null; then
    bound="timeout -t $timeout"
  else
    bound=''
  fi
  # A redirect would take the header to another host. Of busybox's nothing keeps it from that.
  once="-t 1 -T $timeout --max-redirect=0"
  if wget --help 2>&1 | grep -q BusyBox; then
    [ -z "${header:-}" ] || fail 'busybox wget follows redirects with -H: take curl or GNU wget'
    once=''
  fi
  # shellcheck disable=SC2086
  fetch() { $bound wget -q $once ${header:+--header "$header"} -O "$2" "$1" 2>/dev/null; }
else
  say 'neither curl nor wget is here: the kernel'\''s side alone'
  fetch() { return 1; }
fi
get() { # of a bounded size; an incomplete answer is discarded
  (ulimit -f $LARGEST_BLOCKS && fetch "$1" "$2") && [ -s "$2" ] && return 0
  rm -f "$2"
  return 1
}
get_and_kernel() { # as get; the kernel's files are read as soon as the answer begins
  mkfifo "$work/answer" 2>/dev/null || { get "$1" "$2"; return; }
  fetch "$1" - > "$work/answer" &
  fetching=$!
  exec 3< "$work/answer"
  rm "$work/answer"
  dd bs=1 count=1 <&3 > "$2" 2>/dev/null
  [ ! -s "$2" ] || kernel
  (ulimit -f $LARGEST_BLOCKS && cat <&3 >> "$2")
  is_kept=$?
  exec 3<&-
  wait $fetching && [ $is_kept -eq 0 ] && [ -s "$2" ] && return 0
  rm -f "$2"
  return 1
}
is_page() { # no page for people
  read -r first < "$1" || :
  case $first in '<'*) return 1 ;; esac
}
holds() { grep -q "$2" "$1"; }

addresses() { # where the process listens, as http://127.0.0.1:PORT
  inodes=$(for file in "$proc"/fd/*; do readlink "$file"; done 2>/dev/null | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
  for table in tcp tcp6; do
    while read -r _ local _ state _ _ _ _ _ inode _; do
      [ "$state" = 0A ] || continue
      case "
$inodes
" in *"
$inode
"*) ;; *) continue ;; esac
      case ${local%:*} in # words of 32 bits in the machine's byte order
        0100007F | 7F000001 | 00000000 | 00000000000000000000000000000000) host=127.0.0.1 ;;
        00000000000000000000000001000000 | 00000000000000000000000000000001) host='[::1]' ;;
        *) say "it also listens beyond loopback, at port $((0x${local##*:})); -u URL asks there"; continue ;;
      esac
      echo "http://$host:$((0x${local##*:}))"
    done < "$proc/net/$table"
  done 2>/dev/null | sort -u
}

pprof='' expvar='' metrics='' has_memstats='' go_version='' bases=''
find_doors() {
  for base in ${url:-$(addresses)}; do
    base=${base%/}
    found=''
    if [ -z "$pprof" ] && get "$base/debug/pprof/" "$work/index" && holds "$work/index" goroutine; then
      pprof=$base/debug/pprof found=1
    fi
    if [ -z "$expvar" ] && get "$base/debug/vars" "$work/vars" && holds "$work/vars" '^"memstats": {'; then
      expvar=$base/debug/vars found=1
    fi
    if [ -z "$metrics" ] && get "$base/metrics" "$work/page" && is_page "$work/page"; then
      metrics=$base/metrics found=1
      holds "$work/page" '^go_memstats_heap_sys_bytes ' && has_memstats=1
      go_version=$(sed -n 's/^go_info{version="\(go1\.[0-9a-z.]*\).*/\1/p' "$work/page")
    fi
    [ -z "$found" ] || bases="$bases${bases:+, }\"$(plain "${base%%\?*}" | sed 's,//[^/]*@,//,')\""
  done
  [ -n "$bases" ] || say '/debug/pprof/, /debug/vars and /metrics are not served: the kernel'\''s side alone'
}

# --- the executable's build information, printed as `go version -m` does

plain() { printf '%s' "$1" | tr -d '\000-\037"\\' | utf8; }
utf8() { if command -v iconv >/dev/null; then iconv -c -f UTF-8 -t UTF-8; else tr '\200-\377' '?'; fi; }
build_info() {
  tr -cs '\011\040-\176' '\n' 2>/dev/null < "$proc/exe" | grep -A 4000 ' Go buildinf:$' > "$work/build"
  version=$(sed -n 's/^.\{0,1\}\(go1\.[0-9][0-9a-z.]*\).*/\1/p;12q' "$work/build")
  version=${version%%
*}
  [ -n "$version" ] || { say 'no build info: the executable cannot be read, or is not Go'\''s'; return; }
  go_version=$version
  {
    printf '%s: %s\n' "$program" "$version"
    grep "^path	\|^mod	\|^dep	\|^=>	\|^build	" "$work/build" | sed 's/^/	/'
  } > "$work/capture/buildinfo.txt"
  main=$(sed -n 's/^mod	\([^	]*\)	\([^	]*\).*/\1 \2/p;s/^path	//p' "$work/build" | sed -n '$p')
}

# --- where its control group has its files

cgroup() { # version 1 where memory is on it: then version 2 has no memory files
  found=$(cgroup_of cgroup '*,memory,*' usage_in_bytes limit_in_bytes max_usage_in_bytes \
    soft_limit_in_bytes failcnt stat oom_control memsw.usage_in_bytes memsw.limit_in_bytes)
  [ -n "$found" ] || found=$(cgroup_of cgroup2 '0:,,' current max high low peak stat events \
    swap.current swap.max pressure)
  [ -n "$found" ] && echo "$found" || lack cgroup 'the memory files of its cgroup are not visible from here'
}
cgroup_of() { # type of the file system, what its line in /proc/PID/cgroup looks like, files
  type=$1 line=$2
  shift 2
  while IFS=: read -r number controllers group; do
    # shellcheck disable=SC2254
    case $number:,$controllers, in $line) ;; *) continue ;; esac
    while read -r _ _ _ root at rest; do
      case $type:$rest in
        cgroup2:*" - cgroup2 "* | cgroup:*" - cgroup "*memory*) ;;
        *) continue ;;
      esac
      case $group/ in *..*) continue ;; "${root%/}"/*) ;; *) continue ;; esac
      below=${group#"${root%/}"}
      for name in "$@"; do
        [ ! -r "$at${below%/}/memory.$name" ] || echo "$at${below%/}/memory.$name"
      done
    done < /proc/self/mountinfo
  done < "$proc/cgroup" | sort -u
}

# --- one moment

entries='' missing=''
note() { # kind, file, began: an artefact's line in the manifest, its time still in microseconds
  entries="$entries$1 $2 $3 $(($(now) - $3))
"
}
lack() {
  missing="$missing${missing:+, }{\"artefact\": \"$1\", \"why\": \"$(plain "$2")\"}"
  say "no $1: $2"
}
copy() { # kind, path
  began=$(now)
  if cat "$2" > "$moment/$1" 2>"$work/error"; then
    note "$1" "$1" "$began"
  else
    rm -f "$moment/$1"
    read -r why < "$work/error" || why='cannot be read'
    lack "$1" "${why##*: }; smaps wants the process's user, root, or CAP_SYS_PTRACE"
  fi
}
kernel() {
  kernel_began=$(now) entries='' missing=''
  copy smaps "$proc/smaps"
  for name in smaps_rollup status statm; do copy $name "$proc/$name"; done
}
runtime() { # MemStats into a file, by get or get_and_kernel; sets kind, file, asked, took and num_gc
  num_gc='' last_gc='' asked=$(now) way=${2:-get}
  if [ -n "$expvar" ]; then
    kind=memstats file=memstats.json
    get "$expvar" "$1" || return 1
    num_gc=$(sed -n 's/.*"NumGC":\([0-9]*\).*/\1/p' "$1")
    last_gc=$(sed -n 's/.*"LastGC":\([0-9]*\).*/\1/p' "$1")
  elif [ -n "$has_memstats" ]; then
    kind=metrics file=metrics.txt
    get "$metrics" "$1" || return 1
    num_gc=$(sed -n 's/^go_gc_duration_seconds_count \([0-9]*\)$/\1/p' "$1")
  elif [ -n "$pprof" ]; then
    kind=heap_text file=heap.txt
    $way "$pprof/heap?debug=1" "$1" || return 1
    num_gc=$(sed -n 's/^# NumGC = \([0-9]*\)$/\1/p' "$1")
    last_gc=$(sed -n 's/^# LastGC = \([0-9]*\)$/\1/p' "$1")
  else
    return 2
  fi
  took=$(($(now) - asked))
}
both_sides() {
  paths=$(cgroup)
  attempt=1 have=''
  while :; do
    loop_began=$(now) kernel_began=''
    if [ -z "$have" ] || [ "$file" = heap.txt ]; then
      runtime "$work/before" get_and_kernel
      have=$?
      before_line="$kind $file $asked $took" before=$num_gc
    fi
    [ -n "$kernel_began" ] || kernel
    is_running && grep -q '^VmRSS:' "$proc/status" 2>/dev/null || return 1
    [ $have -eq 0 ] && runtime "$work/after" || num_gc=''
    # A collection that ended before the kernel's files is in what was read behind them.
    if [ -n "$num_gc" ] && [ -n "$before" ] && [ "$num_gc" -gt "$before" ] && [ -n "$last_gc" ] &&
      [ -n "$has_nanoseconds" ] && [ $((last_gc / 1000)) -lt "$kernel_began" ]; then
      mv "$work/after" "$work/before"
      before_line="$kind $file $asked $took" before=$num_gc
      break
    fi
    [ -n "$num_gc" ] && [ -n "$before" ] && [ "$num_gc" -gt "$before" ] && [ $attempt -lt $ATTEMPTS ] &&
      [ $(($(now) - loop_began)) -le $DEAR_US ] || break
    mv "$work/after" "$work/before"
    before_line="$kind $file $asked $took" before=$num_gc attempt=$((attempt + 1))
  done
  counts=''
  [ -z "$num_gc" ] || [ -z "$before" ] || counts="\"num_gc\": {\"before\": $before, \"after\": $num_gc}, "
  case $have in
    0) mv "$work/before" "$moment/$file"; entries="$before_line
$entries" ;;
    1) lack memstats 'did not answer' ;;
  esac
  for path in $paths; do copy "${path##*/}" "$path"; done
  # A heap profile in text is some MB of words: it is kept packed, under the name of what it holds.
  [ $have -ne 0 ] || [ "$file" != heap.txt ] || ! gzip -1 "$moment/heap.txt" 2>/dev/null ||
    entries="heap_text heap.txt.gz ${entries#heap_text heap.txt }"
  # Of expvar's page MemStats alone: it has the command line, too.
  [ $have -ne 0 ] || [ "$file" != memstats.json ] || {
    sed -n 's/^"memstats": \({.*}\),\{0,1\}$/\1/p' "$moment/$file" > "$work/stats" && mv "$work/stats" "$moment/$file"
  }
}
costly() {
  copy limits "$proc/limits"
  if [ -n "$metrics" ] && [ ! -e "$moment/metrics.txt" ]; then
    began=$(now)
    if get "$metrics" "$moment/metrics.txt"; then note metrics metrics.txt "$began"; else lack metrics 'did not answer'; fi
  fi
  [ -n "$pprof" ] || return 0
  for name in heap allocs goroutine; do
    began=$(now)
    if get "$pprof/$name" "$moment/$name.pb.gz" && gzip -t < "$moment/$name.pb.gz" 2>/dev/null; then
      note $name $name.pb.gz "$began"
    else
      rm -f "$moment/$name.pb.gz"
      lack $name 'did not answer with a whole profile'
    fi
  done
}
check_dump() { # before anything is read: a dump that can end the process is taken only with -y
  [ -n "$dump" ] || return 0
  minor=${go_version#go1.} minor=${minor%%[!0-9]*}
  if ! is_number "$minor" || [ "$minor" -ge 26 ]; then
    [ -n "$yes" ] || fail "-d: ${go_version:-a release that is not known} can end the process while it writes a heap dump; -y takes it all the same"
  fi
  say 'heap dump: the program stops until it is written, 1 to 3.5 ms for each MB of heap; it holds secrets'
}
heap_dump() {
  began=$(now)
  if (umask 077 && fetch "$dump" "$moment/heap.dump") && [ "$(head -c 15 "$moment/heap.dump")" = 'go1.7 heap dump' ]; then
    note heapdump heap.dump "$began"
  else
    rm -f "$moment/heap.dump"
    lack heapdump 'did not answer with a heap dump'
  fi
  dump=''
}
manifest() { # name, began
  printf '{"schema": "gomem.capture/1", %s"moments": [{"name": "%s", "time": "%s", ' \
    "${go_version:+\"go_version\": \"$go_version\", }" "$1" "$(iso "$2")"
  printf '%s"missing": [%s], "artefacts": {' "$counts" "$missing"
  separator=''
  echo "$entries" | while read -r kind file began took; do
    [ -n "$kind" ] || continue
    printf '%s\n "%s": {"path": "%s", "time": "%s", "duration_seconds": %s}' \
      "$separator" "$kind" "$file" "$(iso "$began")" "$(seconds "$took")"
    separator=,
  done
  printf '}}]}\n'
}

# --- one tar, moment by moment: of each its members alone, without the zeros at a tar's end

add_to_tar() { # paths below $work; a folder is its files
  tar -cf "$work/part" -C "$work" "$@" || return 1
  size=0
  for path in "$@"; do
    for file in "$work/$path" "$work/$path"/*; do
      [ -e "$file" ] || continue
      bytes=0
      [ -d "$file" ] || bytes=$(wc -c < "$file")
      size=$((size + 512 + (bytes + 511) / 512 * 512))
    done
  done
  head -c $size "$work/part"
  rm -f "$work/part"
}
end_tar() { head -c 1024 /dev/zero; }

mkdir "$work/capture"
program=$(readlink "$proc/exe" 2>/dev/null) || program=''
program=$(plain "${program% (deleted)}")
kind='' file='' began=0 took=0 main=''
find_doors
build_info
check_dump
boot=$(sed -n 's/^btime //p' /proc/stat)
machine=$(uname -m)
case $machine in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; esac
page=$(sed -n 's/^KernelPageSize: *\([0-9]*\) kB/\1/p;/^VmFlags/q' "$proc/smaps" 2>/dev/null)
{
  printf '{"schema": "gomem.capture/1", "collector": "gomem collect.sh", "pid": %s, ' "$pid"
  printf '"started": "%s", "program": "%s", ' "$(iso $((boot * 1000000 + started * 10000)))" "$program"
  [ -z "$go_version" ] || printf '"go_version": "%s", "main": "%s", ' "$go_version" "$(plain "$main")"
  [ -z "$page" ] || printf '"page_size": %d, ' $((${page%%[!0-9]*} * 1024))
  printf '"goos": "linux", "goarch": "%s", "kernel": "%s", "endpoints": [%s]}\n' \
    "$machine" "$(uname -r | sed 's/[^0-9.].*//')" "$bases"
} > "$work/capture/gomem.json"
files=capture/gomem.json
[ ! -e "$work/capture/buildinfo.txt" ] || files="$files capture/buildinfo.txt"
# shellcheck disable=SC2086
add_to_tar $files || fail 'tar cannot write'

number=0
begun=$(now)
while [ -z "$count" ] || [ $number -lt "$count" ]; do
  number=$((number + 1)) at=$(now)
  called=$number-$(date -u -d "@$((at / 1000000))" +%Y%m%dT%H%M%SZ)
  moment=$work/capture/$called
  mkdir "$moment" || fail 'no space left'
  both_sides || { say "the process ended; $((number - 1)) moments were collected"; break; }
  costly
  [ -z "$dump" ] || heap_dump
  manifest "$number-$(date -u -d "@$((at / 1000000))" +%H%M%S)" "$at" > "$moment/gomem.json" || fail 'no space left'
  add_to_tar "capture/$called" || { say 'nobody reads any more, or no space is left'; exit 2; }
  rm -rf "$moment"
  [ -z "$count" ] || [ $number -lt "$count" ] || break
  wait=$((begun + number * every * 1000000 - $(now)))
  [ $wait -le 0 ] || sleep "$(seconds $wait)" 2>/dev/null || sleep $((wait / 1000000 + 1))
  is_running || { say "the process ended; $number moments were collected"; break; }
done
end_tar
[ $number -gt 0 ]
