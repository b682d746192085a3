"""The rules that several formats share, and the checks of names, words and settings by them."""

from __future__ import annotations

import typing

from ..options.problems import Problem, Rule, Severity
from ..products import Product
from ._values import BLANKS, Pairs

BAD_WORD = Rule("NPU501", "bad-value", "The word is none that the reference lists for this place.")
BAD_NAME = Rule("NPU502", "bad-value", "The name is empty or would not read back as itself.")
BAD_NUMBER = Rule("NPU503", "bad-value", "The number is outside the range of the reference.")
TWICE = Rule("NPU504", "conflict", "One thing is set in two entries, and only one can count.")
REPEATED = Rule("NPU505", "no-effect", "The same item is listed more than once.", Severity.WARNING)
EMPTY = Rule("NPU506", "no-effect", "The file sets nothing.", Severity.WARNING)
STRICT_READER = Rule(
    "NPU507", "bad-value", "A strict reader of the format, as the runtime's may be, refuses it.", Severity.WARNING
)

SHARED_RULES = (BAD_WORD, BAD_NAME, BAD_NUMBER, TWICE, REPEATED, EMPTY, STRICT_READER)


def report(
    rule: Rule,
    place: str,
    message: str,
    *,
    value: object = None,
    allowed: str = "",
    fix: str = "",
    severity: Severity | None = None,
) -> Problem:
    """Build a problem at a place in the file: a key, or a section and a name."""
    return Problem(rule, place, message, value, allowed, rule.title, fix, severity or rule.severity)


def name_fault(name: str, used: str = "", leading: str = "") -> str:
    """Return what keeps ``name`` from being written and read back as itself, or an empty string.

    Args:
        name: the name of an operator, a pass, a key.
        used: characters that the format puts between entries.
        leading: characters that mean something else at the start of a line.
    """
    if not name:
        return "is empty"
    if name.strip(BLANKS) != name:
        return "begins or ends with a blank"
    if any(ord(character) < 32 or character == "\x7f" for character in name):
        return "has a control character"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "has a character that UTF-8 cannot encode"
    if name[0] in leading or name[0] == "\ufeff":
        return f"begins with {name[0]!r}"
    return next((f"has {character!r}, which the format uses itself" for character in used if character in name), "")


def check_names(place: str, names: typing.Iterable[str], used: str = "", leading: str = "") -> typing.Iterator[Problem]:
    """Yield a problem per name that is no name, and per name that is listed again."""
    seen: set[str] = set()
    for name in names:
        fault = name_fault(name, used, leading)
        if fault:
            yield report(BAD_NAME, place, f"the name {fault}", value=name)
        elif name in seen:
            yield report(REPEATED, place, "listed again", value=name, fix="list it once")
        seen.add(name)


def check_words(place: str, words: typing.Iterable[str], allowed: typing.Sequence[str]) -> typing.Iterator[Problem]:
    """Yield a problem per word that is not allowed, and per word that is listed again."""
    seen: set[str] = set()
    for word in words:
        if word not in allowed:
            yield report(BAD_WORD, place, "unknown", value=word, allowed=", ".join(allowed), fix=closest(word, allowed))
        elif word in seen:
            yield report(REPEATED, place, "listed again", value=word, fix="list it once")
        seen.add(word)


def check_pairs(
    place: str, pairs: Pairs, allowed: typing.Sequence[str], used: str = "", leading: str = ""
) -> typing.Iterator[Problem]:
    """Yield what is wrong with settings: names that are none or come again, words that are not allowed."""
    seen: set[str] = set()
    for name, word in pairs:
        fault = name_fault(name, used, leading)
        if fault:
            yield report(BAD_NAME, place, f"the name {fault}", value=name)
        elif name in seen:
            yield report(TWICE, f"{place} {name}", "set again", value=word, fix="set it once")
        seen.add(name)
        if word not in allowed:
            yield report(
                BAD_WORD, f"{place} {name}", "unknown", value=word, allowed=", ".join(allowed),
                fix=closest(word, allowed),
            )  # fmt: skip


def check_product(
    rule: Rule, place: str, value: str, product: Product | None, products: typing.Collection[Product]
) -> typing.Iterator[Problem]:
    """Yield a problem when a value is not for the product; a warning when the product is not known."""
    if product in products:
        return
    yield report(
        rule, place,
        f"not supported on {product.title}" if product else "not supported on every product",
        value=value,
        allowed=", ".join(sorted(supporting.title for supporting in products)),
        fix="leave it out" if product else "name the product: product=...",
        severity=Severity.ERROR if product else Severity.WARNING,
    )  # fmt: skip


def closest(word: str, words: typing.Iterable[str]) -> str:
    """Return the one of ``words`` that ``word`` most likely means, empty when none is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(words), 1, 0.6)
    return close[0] if close else ""
