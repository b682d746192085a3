"""The page of all problem codes, every example evaluated on the way."""

from __future__ import annotations

import os
import tempfile
import warnings
from types import SimpleNamespace
from typing import Any, Iterable, Iterator
from unittest import mock

from problem_examples import DESCRIBED, EXAMPLES, FIXES  # type: ignore[import-not-found]

import npusession
from npusession import NpuSession, OptionsWarning, Problem, configfiles, hccl, proto
from npusession.errors import ProblemsError
from npusession.frontends import estimator
from npusession.hccl import Rank, RankTable, Server
from npusession.options import RULES, check
from npusession.options import TABLE as OPTIONS
from npusession.options.problems import Rule

#: What a file made for an example is called on the page.
SHOWN = "/data/file"
INTRODUCTION = """\
# Problem codes

Every code that a check may report: its cause, an input that breaks the rule, and what npusession says about it, which
ends with what is allowed or how to mend it. Names in the examples come from `npusession`, `npusession.configfiles` and
`npusession.hccl`. `file(text)` stands for the path of a file with that text, `table(this, that)` for that of a rank
table with `that` in the place of `this`, `answers(...)` for an HCCL that answers so, and `config` for a
`tf.compat.v1.ConfigProto`. The severity is that of the example: a problem that depends on the product is a warning as
long as the product is not known.
"""

#: Two super pods, of which either is a server with two devices.
TABLE = RankTable(
    tuple(
        Server(
            f"node_{server}",
            tuple(
                Rank(2 * server + device, device, f"192.0.2.{10 * server + device + 1}", super_device_id=device)
                for device in range(2)
            ),
            super_pod=f"pod_{server}",
        )
        for server in range(2)
    ),
    "1.2",
).text()


def answers(*numbers: int) -> SimpleNamespace:
    """Return an HCCL that answers its queries for ranks and sizes with these numbers."""
    queries = ("get_rank_id", "get_rank_size", "get_local_rank_id", "get_local_rank_size")
    return SimpleNamespace(**{name: lambda number=number: number for name, number in zip(queries, numbers)})


def all_rules() -> dict[str, Rule]:
    """Return the rules of options, ConfigProtos, side files, clusters and rank tables, by their codes."""
    rules = {
        **RULES,
        **{rule.code: rule for rule in (*proto.RULES, *estimator.RULES)},
        **configfiles.RULES,
        **hccl.RULES,
    }
    return {code: rules[code] for code in sorted(rules)}


def problems_of(expression: str) -> list[Problem]:
    """Evaluate an expression, apart from this machine's environment, and return the problems that it leads to."""
    names = {name: getattr(npusession, name) for name in npusession.__all__ if name != "RunningSession"}
    names.update((name, getattr(module, name)) for module in (configfiles, hccl) for name in module.__all__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(os.path.realpath(folder), "file")

        def file(text: str) -> str:
            with open(path, "w", encoding="utf-8") as opened:
                opened.write(text)
            return path

        def table(this: str = "", that: str = "") -> str:
            if this not in TABLE:
                raise LookupError(f"{this} is not in the rank table")
            return file(TABLE.replace(this, that, 1))

        # An empty PATH hides npu-smi, which a check asks for the product.
        with mock.patch.dict(os.environ, {"PATH": ""}, clear=True), warnings.catch_warnings():
            warnings.simplefilter("ignore", OptionsWarning)
            try:
                result = eval(expression, {**names, "file": file, "table": table, "answers": answers})
                found: Iterable[Problem] = warnings_of(result) if isinstance(result, NpuSession) else result
            except ProblemsError as error:
                found = error.problems
        return [without(path, problem) for problem in found]


def warnings_of(plan: NpuSession) -> Iterable[Problem]:
    """Return what a plan was warned of when it was made, which reaches its user as text."""
    known = {name: value for name, value in plan.options.items() if name in OPTIONS}
    extra = {name: value for name, value in plan.options.items() if name not in OPTIONS}
    return check(known, scene=plan.scene, product=plan.product, extra=extra)[1]


def without(path: str, problem: Problem) -> Problem:
    """Return a problem that says the same on every machine, and without the reason, which is the rule."""
    texts = ("option", "message", "allowed", "fix", "source")
    shown: dict[str, Any] = {
        name: getattr(problem, name).replace(path, SHOWN) for name in texts if hasattr(problem, name)
    }
    if isinstance(problem.value, str):
        shown["value"] = problem.value.replace(path, SHOWN)
    return problem._replace(why="", **shown)


def block(text: str) -> str:
    """Return text as it stands."""
    return f"```text\n{text}\n```\n"


def entry(rule: Rule) -> Iterator[str]:
    """Yield the lines of one code.

    Raises:
        LookupError: the rule has no example, or its example does not break it or does not say how to mend it.
    """
    yield f"## {rule.code} {rule.slug}\n"
    yield rule.title + "\n"
    if rule.code in DESCRIBED:
        yield f"Severity: {rule.severity.value}.\n"
        yield block(DESCRIBED[rule.code].example)
        yield f"Fix: {DESCRIBED[rule.code].fix}\n"
        return
    if rule.code not in EXAMPLES:
        raise LookupError(f"{rule.code} has no example in tools/problem_examples.py")
    found = [problem for problem in problems_of(EXAMPLES[rule.code]) if problem.code == rule.code]
    if not found:
        raise LookupError(f"the example of {rule.code} does not break it: {EXAMPLES[rule.code]}")
    if not (found[0].fix or found[0].allowed or rule.code in FIXES):
        raise LookupError(f"nothing says how to mend {rule.code}: add it to FIXES in tools/problem_examples.py")
    yield f"Severity: {found[0].severity.value}.\n"
    yield block(EXAMPLES[rule.code])
    yield "npusession says:\n"
    # The indentation of a list, which an exception has, is of no use here.
    lines = [line for problem in found for line in str(problem).splitlines()]
    yield block("\n".join(line[2:] for line in lines))
    if rule.code in FIXES:
        yield f"Fix: {FIXES[rule.code]}\n"


def problems_page(note: str) -> str:
    """Return the page of all codes; ``note`` says where it comes from."""
    lines = [f"<!-- {note} -->", "", INTRODUCTION]
    for rule in all_rules().values():
        lines += entry(rule)
    return "\n".join(lines).rstrip() + "\n"
