"""Write what is generated from the option table and the rules: the reference pages and the types of keyword arguments.

``python tools/reference.py`` writes the files, ``--check`` only says which are stale, and fails if any is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterator

from problem_pages import problems_page  # type: ignore[import-not-found]

from npusession.cli.options import defaults
from npusession.cli.words import Words, values_of
from npusession.options import GROUPS, Option, Scene
from npusession.options.kinds import Choice, Flag, IntChoice, Integer
from npusession.options.kinds import Path as PathKind
from npusession.options.model import Status

ROOT = Path(__file__).resolve().parent.parent
NOTE = "Made by tools/reference.py from the option table; change it there."
PROBLEMS_NOTE = "Made by tools/reference.py from the rules and tools/problem_examples.py; change it there."

INTRODUCTION = {
    "en": (
        "# Session options",
        "Every option, by the groups of the vendor's reference. `npusession options NAME` shows the same.",
    ),
    "zh": (
        "# session 配置参数",
        "按参考文档的分组列出全部参数；`npusession options NAME --lang zh` 给出同样的内容。",
    ),
}
TITLES = {"en": lambda group: group.title, "zh": lambda group: group.title_zh}
PROFILING = {"en": "### Keys of profiling_options", "zh": "### profiling_options 的键"}


def entry(option: Option, words: Words) -> Iterator[str]:
    """Yield the lines of one option."""
    mark = "" if option.status is Status.CURRENT else f" ({words.status(option.status)})"
    yield f"#### `{option.name}`{mark}\n"
    yield words.summary(option) + "\n"
    facts = [("field", f"`{words.place(option)}`")]
    values = values_of(option)
    if not values:
        facts.append(("values", words.allowed(option)))
    facts.append(("default", ", ".join(f"`{text}`{where}" for text, where in defaults(option, words, None, None))))
    facts.append(("scope", words(option.scope.value)))
    facts.append(("scenes", words.scenes(option.scenes)))
    facts.append(("products", words.products(option.products)))
    facts.append(("instead", words(option.instead)))
    facts.append(("side file", f"`{option.file_format}`" if option.file_format else ""))
    facts += [("environment", f"`{name}`: {words('counts when not given')}") for name in option.replaces]
    facts += [("environment", f"`{name}`: {words('goes before the option')}") for name in option.yields_to]
    for title, text in facts:
        if text:
            yield f"* {words(title)}: {text}"
    for value in values:
        only = "" if value.products >= option.products else f" [{words.products(value.products)}]"
        yield f"* `{value.value}`: {words.summary(value)}{only}"
    for note in words.notes(option):
        yield f"* {note}"
    yield ""


def options_page(language: str) -> str:
    """Return the page of all options in one language."""
    words = Words(language)
    lines = [f"<!-- {NOTE} -->", "", *[f"{text}\n" for text in INTRODUCTION[language]]]
    for group in GROUPS:
        lines.append(f"## {TITLES[language](group)}\n")
        for option in group.options:
            lines += entry(option, words)
        if group.keys:
            lines.append(PROFILING[language] + "\n")
            for key in group.keys:
                lines += entry(key, words)
    return "\n".join(lines).rstrip() + "\n"


def annotation(option: Option) -> str:
    """Return the type of an option's keyword argument."""
    kind = option.kind
    if isinstance(kind, Flag):
        return "bool | None"
    if isinstance(kind, (IntChoice, Choice)):
        literals = ", ".join(repr(value.value) for value in kind.values)
        words = {str(value.value) for value in kind.values}
        also = " | bool" if words <= {"0", "1"} or {"true", "false"} <= words else ""
        return f"Literal[{literals}]{also} | None"
    if isinstance(kind, Integer):
        return "int | None"
    if isinstance(kind, PathKind):
        return "str | os.PathLike[str] | None"
    return "object"


def types_module() -> str:
    """Return the module with the keyword arguments of training and of inference plans."""
    lines = [
        "# The options as keyword arguments, for editors and type checkers.",
        f"# {NOTE}",
        "",
        "import os",
        "from typing import Literal, TypedDict",
        "",
    ]
    for scene in Scene:
        lines.append(f"class {scene.value.capitalize()}Options(TypedDict, total=False):")
        lines += [
            f"    {option.name}: {annotation(option)}"
            for group in GROUPS
            for option in group.options
            if scene in option.scenes and not option.removed
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def files() -> dict[Path, str]:
    """Return every generated file with its content."""
    return {
        ROOT / "docs" / "options.md": options_page("en"),
        ROOT / "docs" / "options.zh.md": options_page("zh"),
        ROOT / "docs" / "problems.md": problems_page(PROBLEMS_NOTE),
        ROOT / "npusession" / "options" / "keywords.pyi": types_module(),
    }


def main() -> int:
    """Write, or with --check compare."""
    made = files()
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is stale" if "--check" in sys.argv else f"writing {path.relative_to(ROOT)}")
        if "--check" not in sys.argv:
            path.write_text(made[path], "utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
