"""What a job of several ranks takes under ``npusession launch``, beside the shell loop that people write by hand.

``python benchmarks/launch.py [--rounds 5] [--ranks 4] [--steps 200]``

Both run examples/digits_distributed.py on the emulation. They take turns, in a new random order each round, and each
round gives a ratio; the loop once more, compared with itself, shows the noise.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time

GOAL = 1.1
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "digits_distributed.py"
#: One background process for each rank, a log for each, then wait.
LOOP = """
export RANK_SIZE={ranks} JOB_ID=10087 NPUSESSION_BACKEND=fake NPUSESSION_FAKE_HUB=127.0.0.1:{port}
for ((rank = 0; rank < RANK_SIZE; rank++)); do
    RANK_ID=$rank ASCEND_DEVICE_ID=$rank {python} -u {example} --steps {steps} > {logs}/rank-$rank.log 2>&1 &
done
wait
"""


def command(kind: str, ranks: int, steps: int, logs: str) -> list[str]:
    """Return the command that runs the job in one of the two ways."""
    if kind == "launch":
        launch = [sys.executable, "-m", "npusession", "launch", "--fake", "--nproc", str(ranks), "--tee", "none"]
        return [*launch, "--log-dir", logs, str(EXAMPLE), "--steps", str(steps)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    python, example = shlex.quote(sys.executable), shlex.quote(str(EXAMPLE))
    values = {"ranks": ranks, "port": port, "python": python, "example": example, "steps": steps}
    return ["bash", "-c", LOOP.format(logs=shlex.quote(logs), **values)]


def timed(kind: str, ranks: int, steps: int) -> float:
    """Run the job once; return the seconds that it took."""
    host = f"benchmark-{os.getpid()}"
    environ = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "NPUSESSION_FAKE_HOST": host}
    with tempfile.TemporaryDirectory() as logs:
        arguments = command(kind.split()[0], ranks, steps, logs)
        begin = time.perf_counter()
        subprocess.run(arguments, env=environ, check=True)
        seconds = time.perf_counter() - begin
        said = pathlib.Path(logs, "rank-0.log").read_text("utf-8", "replace")
    assert f"{ranks} ranks on fake" in said, said
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5, help="jobs of each kind (default: 5)")
    parser.add_argument("--ranks", type=int, default=4, help="ranks of a job (default: 4)")
    parser.add_argument("--steps", type=int, default=200, help="training steps (default: 200)")
    args = parser.parse_args()
    kinds = ("loop", "loop once more", "launch")
    print(
        f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}; {args.rounds} rounds of {args.ranks} ranks\n"
    )
    timed("loop", args.ranks, args.steps)
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(args.rounds):
        for kind in random.sample(kinds, len(kinds)):
            times[kind].append(timed(kind, args.ranks, args.steps))
    print(f"{'':16} median s   ratio")
    for kind in kinds:
        ratio = statistics.median(took / loop for took, loop in zip(times[kind], times["loop"]))
        line = f"{kind:16} {statistics.median(times[kind]):8.2f}   {ratio:.3f}"
        if kind == "launch":
            line += f"   goal <= {GOAL:.2f}: {'met' if ratio <= GOAL else 'missed'}"
        print(line)


if __name__ == "__main__":
    main()
