"""Write the type stubs of the adapter's packages, from the annotations of the emulation.

``python tools/stubs.py`` writes the files, ``--check`` only says which are stale, and fails if any is.
"""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mypy import stubgen

ROOT = Path(__file__).resolve().parent.parent
STUBS = ROOT / "stubs"
EMULATION = "npusession.backends.fake"
PACKAGES = f"{EMULATION}.packages"
#: What stubgen writes for a type that it does not know.
UNKNOWN = "Incomplete"
ANY = ast.parse("typing.Any", mode="eval").body
#: Packages with more than is emulated: every other attribute is Any.
PARTIAL = (f"{PACKAGES}.npu_device",)
PARTIAL_ATTRIBUTE = "\ndef __getattr__(name: str) -> typing.Any: ..."


def drafts(folder: Path) -> dict[str, ast.Module]:
    """Return what stubgen makes of the emulation, by the names of modules; ``folder`` is for its files."""
    stubgen.main(["--quiet", "--output", str(folder), str(ROOT.joinpath(*EMULATION.split(".")))])
    found = {}
    for path in folder.rglob("*.pyi"):
        parts = path.relative_to(folder).with_suffix("").parts
        # A base that is the result of a call has no name in a stub.
        text = re.sub(r"<ERROR>[.\w]*", UNKNOWN, path.read_text("utf-8"))
        found[".".join(parts if parts[-1] != "__init__" else parts[:-1])] = ast.parse(text)
    return found


class _Public(ast.NodeTransformer):
    """Leaves nothing in a stub that its readers do not have.

    Args:
        bases: names that a class may be derived from; every other base becomes Any.
        aliases: what to write for names of types.
    """

    def __init__(self, bases: set[str], aliases: dict[str, ast.expr]) -> None:
        self.bases = bases
        self.aliases = aliases

    def visit_Module(self, node: ast.Module) -> ast.Module:
        for statement in node.body:
            # A function that becomes a method: stubgen drops the type of self.
            if isinstance(statement, ast.FunctionDef):
                for argument in statement.args.args:
                    argument.annotation = argument.annotation or ANY
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.bases = [base if ast.unparse(base).partition(".")[0] in self.bases else ANY for base in node.bases]
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.aliases.get(node.id, node)


def stub(name: str, modules: dict[str, ast.Module]) -> str:
    """Return the stub of an emulated module, which names nothing of this project.

    What it exports or needs from elsewhere in the emulation is defined in place if it is a function, written out if it
    is another name of a type, and else Any.
    """
    body: list[ast.stmt] = [*ast.parse("import typing").body]
    foreign: dict[str, ast.stmt | None] = {}
    exported: list[str] = []
    for statement in modules[name].body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("npusession"):
            for alias in statement.names:
                foreign[alias.asname or alias.name] = _definition(modules, str(statement.module), alias.name)
        elif isinstance(statement, ast.Assign) and _names(statement) == ["__all__"]:
            # Older releases of stubgen sort it, newer ones do not.
            exported = sorted(ast.literal_eval(statement.value))
            body += ast.parse(f"__all__ = {exported}").body
        elif not isinstance(statement, ast.ImportFrom) or statement.module != "_typeshed":
            body.append(statement)
    for local in exported:
        if local in foreign:
            body += [foreign[local] or ast.parse(f"{local}: typing.Any").body[0]]
    bases = {defined for statement in body for defined in _names(statement)} | {*dir(builtins)}
    aliases = {local: found.value for local, found in foreign.items() if isinstance(found, ast.Assign)}
    tree = _Public(bases, {**aliases, UNKNOWN: ANY}).visit(ast.Module(body, []))
    text = ast.unparse(ast.fix_missing_locations(tree))
    return text + (PARTIAL_ATTRIBUTE if name in PARTIAL else "")


def _definition(modules: dict[str, ast.Module], module: str, name: str) -> ast.stmt | None:
    body = modules[module].body if module in modules else []
    return next((statement for statement in body if name in _names(statement)), None)


def _names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement binds."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def files() -> dict[Path, str]:
    """Return every stub with its content, by its path within the folder of stubs."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        modules = drafts(folder / "drafts")
        made = folder / "made"
        for name in modules:
            if name.startswith(f"{PACKAGES}."):
                package, *rest = name[len(PACKAGES) + 1 :].split(".")
                path = made.joinpath(f"{package}-stubs", *rest)
                is_package = ROOT.joinpath(*name.split(".")).is_dir()
                path = path / "__init__.pyi" if is_package else path.with_suffix(".pyi")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(stub(name, modules) + "\n", "utf-8")
        for options in (["check", "--quiet", "--fix", "--select", "F401,I"], ["format", "--quiet"]):
            config = ["--config", str(ROOT / "pyproject.toml")]
            subprocess.run([sys.executable, "-m", "ruff", *options, *config, "."], cwd=made, check=True)
        return {path.relative_to(made): path.read_text("utf-8") for path in made.rglob("*.pyi")}


def main() -> int:
    """Write, or with --check compare; a stub of a module that is no more counts as stale."""
    made = files()
    there = {path.relative_to(STUBS): path.read_text("utf-8") for path in STUBS.rglob("*.pyi")}
    stale = sorted(path for path in {*made, *there} if made.get(path) != there.get(path))
    for path in stale:
        if "--check" in sys.argv:
            print(f"stubs/{path} is stale")
        elif path in made:
            print(f"writing stubs/{path}")
            (STUBS / path).parent.mkdir(parents=True, exist_ok=True)
            (STUBS / path).write_text(made[path], "utf-8")
        else:
            print(f"removing stubs/{path}")
            (STUBS / path).unlink()
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
