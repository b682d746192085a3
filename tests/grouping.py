"""What the tests of the option groups share: checking options, and reading one value."""

from npusession import Severity
from npusession.options import RULES, TABLE, Scene, check
from npusession.options.check_value import value_problems
from npusession.options.model import Settings


def report(scene=Scene.TRAINING, product=None, environ=None, host=False, **options):
    """Return what a check of options finds."""
    return check(options, scene=scene, product=product, environ=environ, host=host)[1]


def codes(scene=Scene.TRAINING, product=None, environ=None, host=False, **options):
    """Return the codes of the errors and of the warnings, in the order of the report."""
    found = report(scene, product, environ, host, **options)
    return [problem.code for problem in found.errors], [problem.code for problem in found.warnings]


def inferring(**options):
    return codes(Scene.INFERENCE, **options)


def read(name, value):
    """Return the canonical form of a value that is right."""
    scene = next(iter(TABLE[name].scenes))
    canonical, problems = value_problems(TABLE[name], value, Settings({}, scene))
    assert not [problem for problem in problems if problem.severity is Severity.ERROR], problems
    return canonical


def refusal(name, value):
    """Return what is wrong with a value that is not right."""
    scene = next(iter(TABLE[name].scenes))
    canonical, (problem,) = value_problems(TABLE[name], value, Settings({}, scene))
    assert canonical is None
    assert problem.code in ("NPU105", "NPU106")
    assert problem.allowed
    return problem


def check_examples(examples, group):
    """Assert that each rule of a group has an example that breaks it and one that keeps it.

    Args:
        examples: a report that a rule's code is in, and the nearest one that it is not in, by code.
        group: the group of options.
    """
    assert set(examples) == {rule.code for rule in group.rules}
    for code, (broken, kept) in examples.items():
        found = [problem for problem in broken if problem.code == code]
        assert found, code
        for problem in found:
            assert problem.rule is RULES[code]
            assert problem.message
            assert problem.why
            assert problem.fix or problem.allowed
        assert code not in [problem.code for problem in kept]
        assert not kept, code
