#!/usr/bin/env python3
"""Lists the public interface of the library, one item a line: `scripts/public_api.py [--check FILE | --write FILE]`.

Reads the JSON of rustdoc for a build without default features, in which only the stable interface is public.

`--signatures` lists every item that is public with all features, with its types: what `fleet/` and `python/` are compiled against.
"""
import json
import os
import subprocess
import sys

CRATE = "iophase"


def documented(features):
    """The JSON of rustdoc, or the reason why there is none. With all features, a link that leads nowhere is an error."""
    lints = ["-D", "warnings"] if features == "--all-features" else ["-A", "warnings"]
    command = ["cargo", "rustdoc", "-q", "--lib", features, "--message-format", "short", "--",
               *lints, "-Z", "unstable-options", "--output-format", "json"]
    done = subprocess.run(command, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip() or "rustdoc failed"
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    with open(f"{target}/doc/{CRATE}.json") as f:
        return json.load(f), None


class Listing:
    def __init__(self, doc, signatures):
        self.index = doc["index"]
        self.signatures = signatures
        self.lines = set()
        self.walk(self.index[str(doc["root"])], CRATE, set())

    def item(self, number):
        return self.index.get(str(number))

    def add(self, kind, path, note="", item=None):
        if self.signatures and item is not None:
            note += " " + json.dumps(self.types(item["inner"]), sort_keys=True)
        self.lines.add(f"{kind} {path}{note}")

    def types(self, part):
        """A part of an item without what does not matter to a caller: places, documentation, numbers of other items."""
        if isinstance(part, dict):
            left_out = ("id", "impls", "items", "fields", "variants", "links", "has_body")
            return {k: self.types(v) for k, v in part.items() if k not in left_out}
        return [self.types(v) for v in part] if isinstance(part, list) else part

    def traits(self, blocks):
        """The traits that a type has."""
        found = (self.item(n)["inner"]["impl"] for n in blocks)
        names = {b["trait"]["path"] for b in found if b["trait"] and not b["is_synthetic"] and not b["blanket_impl"]}
        return " " + " ".join(sorted(names)) if self.signatures else ""

    def walk(self, module, path, inside):
        for number in module["inner"]["module"]["items"]:
            item = self.item(number)
            if item is None:
                continue
            kind = next(iter(item["inner"]))
            if kind == "use":
                use = item["inner"]["use"]
                target = self.item(use["id"]) if use["id"] is not None else None
                if target is None:
                    self.add("use", f"{path}::{use['name']}", f" = {use['source']}")
                elif use["is_glob"]:
                    if use["id"] not in inside:
                        self.walk(target, path, inside | {use["id"]})
                else:
                    self.one(target, f"{path}::{use['name']}", inside)
            elif item["visibility"] == "public":
                self.one(item, f"{path}::{item['name']}", inside)

    def one(self, item, path, inside):
        kind = next(iter(item["inner"]))
        inner = item["inner"][kind]
        open_ended = " (non-exhaustive)" if "non_exhaustive" in str(item["attrs"]) else ""
        if kind == "module":
            self.add("mod", path)
            if item["id"] not in inside:
                self.walk(item, path, inside | {item["id"]})
        elif kind in ("struct", "enum", "union"):
            self.add(kind, path, open_ended + self.traits(inner["impls"]), item)
            for number in self.parts(kind, inner):
                part = self.item(number)
                if part and (kind == "enum" or part["visibility"] == "public"):
                    self.add("variant" if kind == "enum" else "field", f"{path}::{part['name']}", item=part)
                    if kind == "enum" and self.signatures:
                        self.payload(part, f"{path}::{part['name']}")
            for number in inner["impls"]:
                block = self.item(number)["inner"]["impl"]
                if block["trait"] is None:
                    for n in block["items"]:
                        method = self.item(n)
                        if method and method["visibility"] == "public":
                            word = {"function": "fn", "assoc_const": "const"}.get(next(iter(method["inner"])), "item")
                            self.add(word, f"{path}::{method['name']}", item=method)
        elif kind == "trait":
            self.add(kind, path)
            for n in inner["items"]:
                self.add("fn", f"{path}::{self.item(n)['name']}", item=self.item(n))
        else:
            self.add({"function": "fn", "constant": "const", "type_alias": "type"}.get(kind, kind), path, item=item)

    def payload(self, variant, path):
        """The values that a variant carries."""
        shape = variant["inner"]["variant"]["kind"]
        numbers = (shape.get("tuple") or shape.get("struct", {}).get("fields") or []) if isinstance(shape, dict) else []
        for at, number in enumerate(numbers):
            part = self.item(number)
            if part:
                self.add("field", f"{path}::{at} {part['name']}", item=part)

    @staticmethod
    def parts(kind, inner):
        if kind == "enum":
            return inner["variants"]
        shape = inner.get("kind", inner)
        if isinstance(shape, dict) and "plain" in shape:
            return shape["plain"]["fields"]
        return []


def main():
    signatures = "--signatures" in sys.argv
    doc, reason = documented("--all-features" if signatures else "--no-default-features")
    if doc is None:
        print(f"public interface not listed: {reason}", file=sys.stderr)
        return 1
    lines = sorted(Listing(doc, signatures).lines, key=lambda line: line.split(" ", 1)[::-1])
    text = "".join(line + "\n" for line in lines)
    match sys.argv[1:]:
        case ["--write", path]:
            with open(path, "w") as f:
                f.write(text)
        case ["--check", path]:
            with open(path) as f:
                known = f.read().splitlines()
            gone, new = [l for l in known if l not in lines], [l for l in lines if l not in known]
            for sign, changed in (("-", gone), ("+", new)):
                for line in changed:
                    print(sign, line)
            if gone or new:
                print(f"the public interface changed; if that is meant: {sys.argv[0]} --write {path}, and a line in CHANGELOG.md")
                return 1
        case _:
            print(text, end="")
    return 0


sys.exit(main())
