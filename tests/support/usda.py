# SPDX-License-Identifier: MIT
"""A strict reader of USD text, as far as our exports go: prims, attributes, time samples, metadata."""
import re

TOKEN = re.compile(r'\s+|(?P<path><[^<>]*>)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<word>[A-Za-z_][\w:.]*(?:\[\])?)'
                   r"|(?P<number>-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?)|(?P<sign>[][(){}=,:])")


def tokens(text):
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, "cannot be read: %r" % text[at:at + 60]
        at = match.end()
        if match.lastgroup:
            yield match.lastgroup, match.group()
    yield "end", ""


class Reader:
    def __init__(self, text):
        assert text.startswith("#usda 1.0\n"), text[:20]
        self.list, self.at = list(tokens(text[len("#usda 1.0\n"):])), 0

    def see(self, sign):
        return self.list[self.at][1] == sign

    def take(self, *wanted):
        kind, text = self.list[self.at]
        assert kind in wanted or text in wanted, "expected %s, but found %r" % (wanted, text)
        self.at += 1
        return text

    def value(self):
        kind, text = self.list[self.at]
        if text in ("[", "("):
            self.at += 1
            out = []
            while not self.see("]" if text == "[" else ")"):
                out.append(self.value())
                if not self.see(","):
                    break
                self.take(",")
            self.take("]" if text == "[" else ")")
            return out if text == "[" else tuple(out)
        self.take("number", "string", "path")
        if kind == "number":
            return float(text)
        return text[1:-1].encode().decode("unicode_escape").encode("latin-1").decode() if kind == "string" else text[1:-1]

    def metadata(self):
        out = {}
        if not self.see("("):
            return out
        self.take("(")
        while not self.see(")"):
            if self.see("prepend"):
                self.take("prepend")
            name = self.take("word")
            self.take("=")
            out[name] = self.value()
        self.take(")")
        return out

    def samples(self):
        out = {}
        self.take("{")
        while not self.see("}"):
            time = float(self.take("number"))
            self.take(":")
            out[time] = self.value()
            self.take(",")
        self.take("}")
        return out

    def prim(self):
        self.take("def")
        out = {"type": self.take("word"), "name": self.value(), "prims": {}, "types": {}}
        assert re.fullmatch(r"[A-Za-z_]\w*", out["name"], re.A), out["name"]
        out["metadata"] = self.metadata()
        self.take("{")
        while not self.see("}"):
            if self.see("def"):
                inner = self.prim()
                assert inner["name"] not in out["prims"], "twice: " + inner["name"]
                out["prims"][inner["name"]] = inner
                continue
            if self.see("uniform"):
                self.take("uniform")
            kind, name = self.take("word"), self.take("word")
            assert name not in out, "twice: " + name
            out["types"][name] = kind
            # An output of a shader has no value.
            if self.see("="):
                self.take("=")
                out[name] = self.samples() if name.endswith(".timeSamples") else self.value()
            out.setdefault(name + " (metadata)", self.metadata())
        self.take("}")
        return out


def read(path):
    """The layer's metadata and its only prim. Every path that is referred to must be there."""
    with open(path, encoding="utf-8") as file:
        r = Reader(file.read())
    head, root = r.metadata(), r.prim()
    r.take("end")
    paths = {}

    def visit(prim, path):
        paths[path] = prim
        for inner in prim["prims"].values():
            visit(inner, path + "/" + inner["name"])

    visit(root, "/" + root["name"])
    for prim in paths.values():
        for name, value in prim.items():
            if name.startswith("material:binding") and "(" not in name:
                assert paths[value]["type"] == "Material", value
            if name.endswith(".connect"):
                place, output = value.rsplit(".", 1)
                assert output in paths[place]["types"], value
    return head, root
