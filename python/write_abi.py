#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the ctypes declarations of the library from its public headers, so that they cannot drift.

usage: write_abi.py INCLUDE_FOLDER OUT.py

Understands the C that include/yawara/*.h uses: constants, enums, structs, callbacks, functions. What
it does not understand is an error. Comments of struct members become DOCS, from which docstrings
are made.
"""
import pathlib
import re
import sys

SCALARS = {
    "bool": "c_bool", "char": "c_char", "float": "c_float", "double": "c_double",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
    "size_t": "c_size_t", "int": "c_int", "uint8_t": "c_uint8",
}


class Headers:
    """Everything that was declared so far, by name, in the order of declaration."""

    def __init__(self):
        self.constants = {}  # name: text of a Python number
        self.enums = {}      # type: {enumerator: value}
        self.structs = {}    # type: [(member, ctypes expression)]
        self.opaque = set()
        self.callbacks = {}  # type: ctypes expression
        self.functions = {}  # name: (result, [arguments])
        self.docs = {}       # type: {member: comment}
        self.kinds = {}      # type: {member: its enum}
        self.order = []      # structs and callbacks

    def type_of(self, text):
        """The ctypes expression of a C type without its name. Pointers to numbers, to vectors and
        to opaque structs are plain addresses, as numpy arrays have them."""
        text = re.sub(r"\bconst\b", "", text).strip()
        base = text.rstrip("* ").strip()
        stars = text.count("*")
        if stars == 0:
            return self.value_type(base)
        if stars == 1 and base == "char":
            return "c_char_p"
        if stars == 1 and base in self.structs and base not in ("yw_vec3", "yw_quat"):
            return f"POINTER({base})"
        if base == "void" or base in SCALARS or base in self.structs or base in self.opaque:
            return "c_void_p"
        raise SystemExit(f"write_abi.py: unknown type {text!r}")

    def value_type(self, base):
        if base == "void":
            return "None"
        if base in self.enums:
            return "c_int32"
        if base in self.structs or base in self.callbacks:
            return base
        if base in SCALARS:
            return SCALARS[base]
        raise SystemExit(f"write_abi.py: unknown type {base!r}")


def split_declaration(text):
    """"const int32_t cells[3]" -> ("const int32_t", "cells", "[3]")."""
    match = re.fullmatch(r"(.*?[\s*])(\w+)\s*((?:\[[^\]]*\])*)", text.strip())
    if not match:
        raise SystemExit(f"write_abi.py: cannot read {text!r}")
    return match.group(1).strip(), match.group(2), match.group(3)


def arguments(headers, text):
    out = []
    for part in [] if text.strip() in ("", "void") else text.split(","):
        if "..." in part:
            raise SystemExit(f"write_abi.py: variadic functions are not public: {text!r}")
        if "(*" in part:  # a pointer to arrays, e.g. "yw_body_id (*out)[2]"
            out.append("c_void_p")
            continue
        kind, _, dimensions = split_declaration(part)
        out.append("c_void_p" if dimensions else headers.type_of(kind))
    return out


def add_members(headers, struct, text, comment):
    """One declaration of a struct, e.g. "float x, y" or "void (*run)(void* context)"."""
    docs = headers.docs.setdefault(struct, {})
    pointer = re.match(r".*?\(\*(\w+)\)\s*\(", text)
    if pointer:
        headers.structs[struct].append((pointer.group(1), "c_void_p"))
        docs[pointer.group(1)] = comment
        return
    first, *others = [part.strip() for part in text.split(",")]
    kind, name, dimensions = split_declaration(first)
    declared = [(kind, name, dimensions)]
    for other in others:
        declared.append(split_declaration(kind.rstrip("* ") + " " + other))
    for kind, name, dimensions in declared:
        expression = headers.type_of(kind)
        for size in re.findall(r"\[([^\]]*)\]", dimensions):
            expression = f"{expression} * {headers.constants.get(size, size)}"
        headers.structs[struct].append((name, expression))
        docs[name] = comment
        if kind in headers.enums:
            headers.kinds.setdefault(struct, {})[name] = kind


def add_struct(headers, name, body):
    headers.structs[name] = []
    headers.order.append(name)
    above, members = [], []  # members: [text, [comment lines]]
    pending = ""
    for line in body.splitlines():
        code, mark, comment = line.partition("//")
        comment = (mark + comment).strip()
        pending = (pending + " " + code.strip()).strip()
        while ";" in pending:
            text, _, pending = pending.partition(";")
            members.append([text.strip(), above])
            above, pending = [], pending.strip()
        if comment.startswith("///<") and members and not pending:
            members[-1][1].append(comment[4:].strip())
        elif comment.startswith("///<"):
            above.append(comment[4:].strip())
        elif comment.startswith("///"):
            above.append(comment[3:].strip())
    for text, comments in members:
        add_members(headers, name, text, " ".join(comments))


def add_enum(headers, name, body):
    values, value = {}, -1
    for part in filter(None, (p.strip() for p in re.sub(r"//.*", "", body).split(","))):
        label, _, explicit = (t.strip() for t in part.partition("="))
        value = int(explicit, 0) if explicit else value + 1
        values[label] = value
    headers.enums[name] = values


def words_of(values):
    """Enumerators without what they have in common, in lower case: {"global": 0, "labels": 1}."""
    parts = [name.split("_") for name in values]
    shared = 0
    while all(len(p) > shared + 1 and p[shared] == parts[0][shared] for p in parts):
        shared += 1
    return {"_".join(p[shared:]).lower(): v for p, v in zip(parts, values.values())}


def add_statement(headers, text):
    """One statement at file scope, without comments unless it is a struct."""
    block = re.match(r"typedef (struct|enum) (\w+) \{(.*)\}", text, re.S)
    plain = " ".join(re.sub(r"//[^\n]*", "", text).split())
    if block:
        (add_struct if block.group(1) == "struct" else add_enum)(headers, *block.group(2, 3))
    elif re.match(r"typedef struct (\w+) \1$", plain):
        headers.opaque.add(plain.split()[2])
    elif plain.startswith("typedef"):
        match = re.match(r"typedef (.*?)\(\*(\w+)\)\((.*)\)$", plain)
        if not match:
            raise SystemExit(f"write_abi.py: cannot read {plain!r}")
        types = [headers.type_of(match.group(1))] + arguments(headers, match.group(3))
        headers.order.append(match.group(2))
        headers.callbacks[match.group(2)] = f"CFUNCTYPE({', '.join(types)})"
    elif plain:
        match = re.match(r"YW_API (.*?)(\w+)\((.*)\)$", plain)
        if not match:
            raise SystemExit(f"write_abi.py: cannot read {plain!r}")
        result, name, inside = match.groups()
        headers.functions[name] = (headers.type_of(result), arguments(headers, inside))


def add_header(headers, text):
    for name, value in re.findall(r"^#define (YW_\w+) \(?(-?[0-9][0-9.]*)f?\)?$", text, re.M):
        headers.constants[name] = value
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r'^(extern "C" \{|\})$', "", text, flags=re.M)
    statement, depth = "", 0
    for line in text.splitlines():
        code = line.partition("//")[0]
        if not statement.strip() and not code.strip():
            continue
        statement += line + "\n"
        depth += code.count("{") - code.count("}")
        if depth == 0 and code.rstrip().endswith(";"):
            body = statement.rstrip()
            add_statement(headers, body[:body.rindex(";")] if "{" in body else
                          re.sub(r"//[^\n]*", "", body).strip().rstrip(";"))
            statement = ""


def read(folder):
    """Reads the headers in the order in which they include each other."""
    headers, seen = Headers(), set()

    def visit(path):
        if path in seen:
            return
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r'^#include "(\w+\.h)"', text, re.M):
            visit(path.with_name(name))
        add_header(headers, text)

    visit(pathlib.Path(folder) / "yawara" / "yawara.h")
    visit(pathlib.Path(folder) / "yawara" / "extend" / "shown.h")
    return headers


def write(headers):
    out = ['"""ctypes declarations of the library. Made from its headers by write_abi.py: do not '
           'edit."""', "from ctypes import *  # noqa: F401,F403", ""]
    out += [f"{name} = {value}" for name, value in headers.constants.items()]
    for values in headers.enums.values():
        out += [f"{name} = {value}" for name, value in values.items()]
    out += ["", "# Enumerators as words.", "WORDS = {"]
    out += [f"    {name!r}: {words_of(values)!r}," for name, values in headers.enums.items()]
    out += ["}", ""]
    for name in headers.order:
        if name in headers.callbacks:
            out += ["", f"{name} = {headers.callbacks[name]}"]
            continue
        out += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        out += [f"        ({member!r}, {kind})," for member, kind in headers.structs[name]]
        out += ["    ]"]
    out += ["", "", "STRUCTS = {"]
    out += [f"    {name!r}: {name}," for name in headers.structs]
    out += ["}", "", "# Members that are enums.", f"KINDS = {headers.kinds!r}"]
    out += ["", "# Result and arguments of every function.", "FUNCTIONS = {"]
    out += [f"    {name!r}: ({result}, [{', '.join(kinds)}]),"
            for name, (result, kinds) in headers.functions.items()]
    out += ["}", "", "# Members of structs: unit, range and default as the headers say.", "DOCS = {"]
    for name, docs in headers.docs.items():
        out += [f"    {name!r}: {{"]
        out += [f"        {member!r}: {text!r}," for member, text in docs.items()] + ["    },"]
    return "\n".join(out + ["}", ""])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(write(read(sys.argv[1])), encoding="utf-8")
