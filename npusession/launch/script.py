"""A job as a shell script that does the same, for those who want to see or keep what is run."""

from __future__ import annotations

import os
import shlex
import typing

from .job import Job

_RUN = """\
# What ranks write goes to a file each. The signals that end them do not end what writes it.
to() {
    trap '' INT TERM HUP
    %(to)s
}
# The first rank that fails leaves its number and code, and makes this shell stop the others.
rank() {
    local number=$1 code; shift
    trap : INT TERM HUP
    env "$@" 2>&1 | to "$number"
    code=${PIPESTATUS[0]}
    [ "$code" -eq 0 ] && return
    (set -C; echo "$number $code" > "$work/first") 2>/dev/null
    kill -s USR1 $$
}
stop() {
    trap '' USR1
    kill -s "$1" -- "${ranks[@]}"
    (sleep %(grace)s; kill -s KILL -- "${ranks[@]}") & disown; timers+=("-$!")
} 2>/dev/null
finish() {
    kill -- "${timers[@]}" 2>/dev/null
    rm -rf "$work"%(table)s
}
work=$(mktemp -d) || exit
logs=%(logs)s
ranks=() timers=() started= early= asked=
trap finish EXIT
# What comes while ranks are being started is kept until all are there.
ask() {
    if [ -n "$started" ]; then stop "$1"; else early=$1; fi
}
trap 'ask TERM' USR1
trap 'asked=130; ask INT' INT
trap 'asked=143; ask TERM' TERM
trap 'asked=129; ask HUP' HUP
trap 'asked=124; ask TERM' ALRM
"""
_WAIT = """
started=1
[ -z "$early" ] || stop "$early"
for rank in "${ranks[@]#-}"; do
    # A signal ends a wait early. One for a number that is no rank's any more gives 127.
    while kill -0 "$rank" && { wait "$rank"; [ $? -ne 127 ]; }; do :; done 2>/dev/null
done
if [ -z "$asked" ] && [ -e "$work/first" ]; then
    read -r number asked < "$work/first"
    echo "rank $number ended with code $asked:" >&2
    tail -n 20 "$logs/rank-$number.log" >&2
fi
exit "${asked:-0}"
"""


def script(job: Job) -> str:
    """Return a script for bash that runs a job; only that nothing ends its ranks if it is killed itself."""
    numbers = [rank.number for rank in job.ranks]
    what = f"rank {numbers[0]}" if len(numbers) == 1 else f"ranks {numbers[0]} to {numbers[-1]}"
    lines = ["#!/usr/bin/env bash", f"# {what} of a job, as npusession launch starts them"]
    lines += ["set -m # every rank is a process group of its own", f"cd {shlex.quote(os.getcwd())} || exit"]
    if job.log_dir is not None:
        lines.append(f"mkdir -p {shlex.quote(job.log_dir)} || exit")
    lines.append("unset " + " ".join(job.removed))
    lines.append("export " + _assignments(job.environ))
    made = None
    if job.rank_table is not None:
        path = shlex.quote(job.environ["RANK_TABLE_FILE"])
        lines += [f"cat > {path} <<'END' || exit", job.rank_table, "END"]
        made = None if job.log_dir is not None else path
    keep = 'cat >> "$logs/rank-$1.log"'
    show = {
        "all": 'tee -a "$logs/rank-$1.log" | sed -u "s/^/[rank $1] /"',
        "first": f'if [ "$1" = {numbers[0]} ]; then tee -a "$logs/rank-$1.log"; else {keep}; fi',
        "none": keep,
    }
    values = {
        "to": show[job.tee],
        "grace": f"{job.grace:.10g}",
        "table": "" if made is None else f" {made}",
        "logs": '"$work"' if job.log_dir is None else shlex.quote(job.log_dir),
    }
    lines.append(_RUN % values)
    if job.timeout is not None:
        lines += [f'(sleep {job.timeout:.10g}; kill -s ALRM $$) & disown; timers+=("-$!")', ""]
    for rank in job.ranks:
        words = ["rank", str(rank.number), _assignments(rank.environ)]
        if rank.cpus is not None:
            words += ["taskset", "-c", ",".join(map(str, rank.cpus))]
        words += map(shlex.quote, job.command)
        # The input can go to one of them only.
        words += ["&" if rank.number == 0 else "< /dev/null &", 'ranks+=("-$!")']
        lines.append(" ".join(words))
    return "\n".join(lines) + _WAIT


def _assignments(values: typing.Mapping[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())
