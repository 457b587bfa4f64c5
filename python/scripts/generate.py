#!/usr/bin/env python3
"""Writes iophase/_answers.py, iophase/_answers.pyi and iophase/_commands.py: the classes of answers from the JSON Schemas, and the functions from
the options of the command line. With --check it only compares, and fails if they differ.

Asks the program, or the built module: python scripts/generate.py [--program target/release/iophase] [--check] [FOLDER]
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import keyword
import subprocess
import sys
import textwrap
import types
from pathlib import Path


@functools.cache
def native() -> types.ModuleType:
    """The native part, without the Python files of the package, which this script makes."""
    package = types.ModuleType("iophase")
    package.__path__ = list(importlib.util.find_spec("iophase").submodule_search_locations)
    sys.modules["iophase"] = package
    return importlib.import_module("iophase._iophase")


def schemas_of(program: str | None) -> dict[str, dict]:
    """The JSON Schemas, of the program or else of the native part."""
    if program is None:
        return {name: json.loads(native().schema(name)) for name in SCHEMAS}
    return {name: json.loads(subprocess.run([program, "schema", name], check=True, stdout=subprocess.PIPE).stdout) for name in SCHEMAS}


def options_of(program: str | None, command: str) -> list[dict]:
    """The options of a command, of the program or else of the native part."""
    if program is None:
        return json.loads(native().options(command))["options"]
    return json.loads(subprocess.run([program, "man", command, "--options"], check=True, stdout=subprocess.PIPE).stdout)["options"]


SCHEMAS = ["report", "info", "patterns", "classes", "dfg", "findings", "comparison", "truth", "prediction"]
#: Answers and parts that have methods of their own.
BASES = {
    "Report": "ReportBase",
    "SignalReport": "SignalBase",
    "Detection": "PeriodBase",
    "Dfg": "DfgBase",
    "Comparison": "ComparisonBase",
}
#: Fields that a base has in another form.
REPLACED = {("Report", "primary")}
NOTE = "# Made by scripts/generate.py from the {}. Do not edit.\n"


def one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def doc_literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class Schemas:
    """All objects of all schemas, each with a name of its own."""

    def __init__(self, roots: dict[str, dict]) -> None:
        self.classes: dict[str, dict] = {}
        self.names: dict[tuple[str, str], str] = {}
        self.defs = {name: root.get("$defs", {}) for name, root in roots.items()}
        for name, root in roots.items():
            self.classes[name.capitalize()] = {"schema": name, "root": True, "object": root}
        for name, defs in self.defs.items():
            for title, definition in sorted(defs.items()):
                if definition.get("type") == "object" and "properties" in definition:
                    self.names[name, title] = self.named(name, title, definition)

    def named(self, name: str, title: str, definition: dict) -> str:
        for candidate in (title, name.capitalize() + title):
            known = self.classes.get(candidate)
            if known is None:
                self.classes[candidate] = {"schema": name, "root": False, "object": definition}
                return candidate
            if known["object"] == definition:
                return candidate
        raise SystemExit(f"no name for {title} of {name}")

    def part(self, name: str, schema: dict) -> str:
        """The class of the objects in a field: `Name`, `[Name]` for lists, empty for plain values."""
        if "$ref" in schema:
            return self.names.get((name, schema["$ref"].split("/")[-1]), "")
        for key in ("anyOf", "allOf", "oneOf"):
            parts = [self.part(name, s) for s in schema.get(key, [])]
            if any(parts):
                return next(p for p in parts if p)
        if schema.get("type") == "array" or "array" in schema.get("type", []):
            part = self.part(name, schema.get("items", {}))
            return f"[{part}]" if part else ""
        return ""

    def type(self, name: str, schema: dict | bool) -> str:
        """The type of a field as Python writes it."""
        if schema is True or schema == {}:
            return "Any"
        if "$ref" in schema:
            title = schema["$ref"].split("/")[-1]
            return self.names.get((name, title)) or self.type(name, self.defs[name][title])
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return "Literal[" + ", ".join(repr(v) for v in schema["enum"]) + "]"
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return union(self.type(name, s) for s in schema[key])
        kinds = schema.get("type", "Any")
        return union(self.plain(name, kind, schema) for kind in (kinds if isinstance(kinds, list) else [kinds]))

    def plain(self, name: str, kind: str, schema: dict) -> str:
        if kind == "array":
            if "prefixItems" in schema:
                return "list[" + union(self.type(name, s) for s in schema["prefixItems"]) + "]"
            return f"list[{self.type(name, schema.get('items', True))}]"
        if kind == "object":
            return f"dict[str, {self.type(name, schema.get('additionalProperties', True))}]"
        return {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None"}.get(kind, "Any")


def union(types) -> str:
    literals, others = [], []
    for t in types:
        if t.startswith("Literal["):
            literals.append(t[len("Literal[") : -1])
        elif t not in others:
            others.append(t)
    if "None" in others:
        others.remove("None")
        others.append("None")
    return " | ".join(([f"Literal[{', '.join(literals)}]"] if literals else []) + others)


def answers(schemas: Schemas) -> tuple[str, str]:
    """Module and stub of the classes of answers."""
    code = [NOTE.format("JSON Schemas"), '"""Answers and their parts."""\n']
    stub = [NOTE.format("JSON Schemas"), "from typing import Any, Literal\n"]
    used = sorted({*BASES.values(), "Answer", "Part"})
    code.append("from ._base import " + ", ".join([*used, "Field"]) + "\n")
    stub.append("from ._base import " + ", ".join(used) + "\n")
    for title, entry in sorted(schemas.classes.items()):
        name, root, schema = entry["schema"], entry["root"], entry["object"]
        base = BASES.get(title, "Answer" if root else "Part")
        about = one_line(schema.get("description")) or f"An object of iophase.{name}.v1."
        head = f"\nclass {title}({base}):\n    {doc_literal(about)}\n"
        code.append(head + "\n    __slots__ = ()")
        stub.append(head)
        for field, what in schema["properties"].items():
            if (title, field) in REPLACED:
                continue
            doc = one_line(what.get("description")) if isinstance(what, dict) else ""
            attribute = field + ("_" if keyword.iskeyword(field) else "")
            code.append(f"    {attribute} = Field({field!r}, {schemas.part(name, what)!r}, {doc_literal(doc)})")
            stub.append(f"    @property\n    def {attribute}(self) -> {schemas.type(name, what)}:\n        {doc_literal(doc)}")
    return "\n".join(code) + "\n", "\n".join(stub) + "\n"


#: Options that write files or text, or have a form of their own in Python.
LEFT_OUT = set(
    """help version si recursive json svg csv table fields quiet verbose output fail-on fail-if train extract before after dot
    timeline figure size save-log color exact-names""".split()
)
PATHS = {"FILE", "PATH", "MODEL", "DIR"}

#: Function: command, arguments before the keywords, call, type of the answer, description, example.
FUNCTIONS = {
    "analyze": (
        "analyze",
        "source: Source",
        '_core.one("analyze", "Report", source, keywords, SPECS["analyze"])',
        "Report",
        "Period of the I/O, when it holds, bursts, and the next burst.",
        """
        >>> import iophase as iop
        >>> report = iop.analyze("data/stable.darshan", mode="write")
        >>> report.primary.period.dominant.cycles
        14.0
        >>> report.signal("write").bandwidth().columns
        ['t_s', 'bytes_per_s']
        """,
    ),
    "open": (
        "info",
        "source: Source",
        '_core.opened(source, keywords, SPECS["info"])',
        "Trace",
        "Reads a trace once; all other functions take what it gives.",
        """
        >>> import iophase as iop
        >>> trace = iop.open("data/stable.darshan")
        >>> trace.requests().num_rows
        1792
        >>> trace.info.version
        '3.41'
        """,
    ),
    "info": (
        "info",
        "source: Source",
        '_core.one("info", "Info", source, keywords, SPECS["info"])',
        "Info",
        "Contents of a trace: format, job, ranks, files, operations, bytes, time span.",
        """
        >>> import iophase as iop
        >>> iop.info("data/stable.darshan").job.ranks
        8
        """,
    ),
    "findings": (
        "findings",
        "source: Source",
        '_core.one("findings", "Findings", source, keywords, SPECS["findings"])',
        "Findings",
        "Problems of the I/O: evidence, time lost, settings that help.",
        """
        >>> import iophase as iop
        >>> found = iop.findings("data/stable.darshan")
        >>> "IOP-POSIX-002" in [f.code for f in found.findings]
        True
        """,
    ),
    "patterns": (
        "patterns",
        "source: Source",
        '_core.one("patterns", "Patterns", source, keywords, SPECS["patterns"])',
        "Patterns",
        "Access patterns, each with its period.",
        """
        >>> import iophase as iop
        >>> found = iop.patterns("data/stable.darshan", next=3)
        >>> found.coverage.matched == found.coverage.records
        True
        """,
    ),
    "classify": (
        "classify",
        "source: Source",
        '_core.one("classify", "Classes", source, keywords, SPECS["classify"])',
        "Classes",
        "How the job accesses each file, and which settings suit that.",
        """
        >>> import iophase as iop
        >>> classes = iop.classify("data/stable.darshan")
        >>> len(classes.files)
        14
        """,
    ),
    "dfg": (
        "dfg",
        "source: Source | Sequence[Source]",
        '_core.one("dfg", "Dfg", source, keywords, SPECS["dfg"])',
        "Dfg",
        "Directly-follows graph of one trace or several: order and cost of activities, and differences between two sets of cases.",
        """
        >>> import iophase as iop
        >>> graph = iop.dfg("data/stable.strace", match="^/scratch")
        >>> graph.svg()[:4]
        '<svg'
        """,
    ),
    "compare": (
        "compare",
        "before: Source | Sequence[Source], after: Source | Sequence[Source]",
        '_core.comparison(before, after, keywords, SPECS["compare"])',
        "Comparison",
        "Differences between two runs, or two sets of runs, and their causes.",
        """
        >>> import iophase as iop
        >>> iop.compare("data/stable.darshan", "data/stable.darshan").verdict
        'same'
        """,
    ),
    "report": (
        "report",
        "source: Source | Sequence[Source], output: str | os.PathLike[str] | None = None",
        '_core.page(source, output, keywords, SPECS["report"])',
        "Page",
        "All answers on a trace as one HTML page, which is written to `output` if that is given; of two traces also their comparison.",
        """
        >>> import iophase as iop
        >>> page = iop.report("data/stable.darshan")
        >>> page[:15]
        '<!DOCTYPE html>'
        """,
    ),
    "convert": (
        "convert",
        "source: Source, output: str | os.PathLike[str]",
        '_core.converted(source, output, keywords, SPECS["convert"])',
        "int",
        "Writes a trace in another format, by the ending of `output` or as `to` says; gives the number of rows.",
        """
        >>> import iophase as iop, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     iop.convert("data/stable.darshan", os.path.join(folder, "stable.csv"))
        1792
        """,
    ),
}

POSITIONS = {
    "source": "A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.",
    "before": "A run before, or several.",
    "after": "A run after, or several.",
    "output": "Path of the file.",
}


def parameter(option: dict) -> tuple[str, str, str]:
    """Name, type and default of the keyword of an option."""
    name = option["name"].replace("-", "_")
    name += "_" if keyword.iskeyword(name) else ""
    if option["flag"]:
        return name, "bool", "False"
    default = option["default"]
    value = option["value"] or ""
    if option["values"]:
        kind = "Literal[" + ", ".join(repr(v[0]) for v in option["values"]) + "]"
    elif value in ("N",) and default != ["auto"]:
        kind = "int"
    elif value in ("SECONDS", "HZ", "SHARE", "X") and default != ["auto"]:
        kind = "float"
    elif value in ("N", "SECONDS", "HZ"):
        kind = "float | str"
    elif value in PATHS:
        kind = "str | os.PathLike[str]"
    elif value in ("BYTES", "TIME", "AGE"):
        kind = "int | float | str"
    elif name == "ranks":
        kind = "str | Sequence[int]"
    else:
        kind = "str"
    if option["several"]:
        plain = "float" if value.startswith("HZ") else kind
        kind = f"{plain} | Sequence[{plain}]"
    if not default:
        return name, f"{kind} | None", "None"
    text = default[0]
    for make in (int, float):
        try:
            if kind.split(" ")[0] in ("int", "float"):
                return name, kind, repr(make(text))
        except ValueError:
            continue
    return name, kind, repr(text)


def commands(program: str | None) -> str:
    """The module of the functions."""
    out = [
        NOTE.format("options of the command line"),
        '"""Functions with the arguments of a command of the program."""\n',
        "from __future__ import annotations\n",
        "import os\nfrom collections.abc import Sequence\nfrom typing import TYPE_CHECKING, Any, Literal\n",
        "from . import _core\nfrom ._core import Page, Progress, Source\nfrom ._iophase import Trace\n",
        "if TYPE_CHECKING:\n    from ._answers import Classes, Comparison, Dfg, Findings, Info, Patterns, Report\n",
        "#: Defaults of the keywords of a command, and those that take several values.",
        "SPECS: dict[str, tuple[dict[str, Any], frozenset[str]]] = {",
    ]
    specs, functions = {}, []
    for function, (command, positions, call, answer, about, example) in FUNCTIONS.items():
        options = [o for o in options_of(program, command) if o["name"] not in LEFT_OUT]
        keywords, lines, several = [], [], []
        for option in options:
            name, kind, default = parameter(option)
            keywords.append((name, kind, default))
            if option["several"]:
                several.append(name)
            choice = [f"`{v}` ({h})" for v, h in option["values"] if h]
            text = one_line(option["help"]) + ("" if not choice else ": " + ", ".join(choice)) + "."
            lines.append(textwrap.fill(f"{name}: {text}", 120, initial_indent=" " * 8, subsequent_indent=" " * 12))
        specs[command] = ({n: d for n, _, d in keywords}, several)
        of_positions = [p.split(":")[0] for p in positions.split(", ")]
        lines = [f"        {name}: {POSITIONS[name]}" for name in of_positions] + lines
        lines.append(" " * 8 + "progress: True for a line on standard error, or a function of the bytes done and to do.")
        parameters = "".join(f"    {n}: {k} = {d},\n" for n, k, d in keywords)
        before = "".join(f"    {p},\n" for p in positions.split(", "))
        names = ", ".join(f'"{n}": {n}' for n, _, _ in keywords)
        docs = textwrap.fill(about, 116, subsequent_indent="    ")
        functions.append(
            f"\ndef {function}(\n{before}    *,\n{parameters}    progress: Progress = None,\n) -> {answer}:\n"
            f'    """{docs}\n\n    Args:\n' + "\n".join(lines) + f"\n{textwrap.indent(textwrap.dedent(example), '    ').rstrip()}\n"
            f'    """\n    keywords: dict[str, Any] = {{{names}, "progress": progress}}\n'
            f"    answer: {answer} = {call}\n    return answer\n"
        )
    for command, (defaults, several) in specs.items():
        text = ", ".join(f"{n!r}: {d}" for n, d in defaults.items())
        out.append(f"    {command!r}: ({{{text}}}, frozenset({several!r})),")
    out.append("}\n")
    return "\n".join(out) + "\n".join(functions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent.parent / "iophase")
    given = parser.parse_args()
    module, stub = answers(Schemas(schemas_of(given.program)))
    texts = {"_answers.py": module, "_answers.pyi": stub, "_commands.py": commands(given.program)}
    wrong = []
    for name, text in texts.items():
        path = given.folder / name
        if not path.exists() or path.read_text() != text:
            wrong.append(name)
            if not given.check:
                path.write_text(text)
    if given.check and wrong:
        program = f" --program {given.program}" if given.program else ""
        print(f"not as the schemas and the command line have it: {', '.join(wrong)}; renew with {sys.argv[0]}{program}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
