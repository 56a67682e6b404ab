# SPDX-License-Identifier: MIT
"""Every key of every kind of object in scenes, and every named value of each, is in one of the given scenes.

usage: every_key.py SCHEMA SCENE...
Follows the schema through the scenes, so that "size" of a box does not count as "size" of a lattice. Names of materials are left out:
test_golden runs them all, from the library's table. Prints what is missing, as OBJECT KEY or OBJECT.KEY VALUE; exit code 1 if anything is."""
import json
import re
import sys


def without_comments(text):
    """Scenes may have comments, and commas at the end of lists."""
    pattern = r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/'
    plain = re.sub(pattern, lambda match: match[0] if match[0][0] == '"' else " ", text, flags=re.S)
    return re.sub(r",(\s*[\]}])", r"\1", plain)


def names_of(node):
    """Strings of enumerations, but those of keys inside."""
    if isinstance(node, list):
        return [name for child in node for name in names_of(child)]
    if not isinstance(node, dict):
        return []
    own = [value for value in [*node.get("enum", []), node.get("const")] if isinstance(value, str)]
    return own + [name for key, child in node.items() if key not in ("properties", "$defs", "enum", "const") for name in names_of(child)]


class Schema:
    def __init__(self, schema):
        self.objects = {"scene": schema, **schema["$defs"]}
        self.said = set()

    def wanted(self):
        for name, node in self.objects.items():
            for key, child in node.get("properties", {}).items():
                yield name, key
                if key != "material":
                    yield from ((f"{name}.{key}", value) for value in names_of(child))
            yield from ((name, value) for value in names_of(node))

    def follow(self, name, place, node, value):
        """A value, as the schema describes it at this place of an object."""
        if "$ref" in node:
            other = node["$ref"].split("/")[-1]
            self.follow(other, other, self.objects[other], value)
        for kind in ("anyOf", "oneOf", "allOf"):
            for choice in node.get(kind, []):
                self.follow(name, place, choice, value)
        if isinstance(value, str) and (value in node.get("enum", []) or value == node.get("const")):
            self.said.add((place, value))
        if isinstance(value, list):
            for item in value:
                self.follow(name, place, node.get("items", {}), item)
        if isinstance(value, dict):
            for key, child in value.items():
                if key in node.get("properties", {}):
                    self.said.add((name, key))
                    self.follow(name, f"{name}.{key}", node["properties"][key], child)
                elif isinstance(node.get("additionalProperties"), dict):
                    self.follow(name, place, node["additionalProperties"], child)


def main(schema_file, *scenes):
    with open(schema_file, encoding="utf-8") as file:
        schema = Schema(json.load(file))
    for scene in scenes:
        with open(scene, encoding="utf-8") as file:
            schema.follow("scene", "scene", schema.objects["scene"], json.loads(without_comments(file.read())))
    wanted = set(schema.wanted())
    missing = sorted(wanted - schema.said)
    print(f"{len(wanted)} keys and values in {len(scenes)} scenes; missing: {'; '.join(' '.join(pair) for pair in missing) or 'none'}")
    return 1 if missing or not scenes else 0


sys.exit(main(*sys.argv[1:]))
