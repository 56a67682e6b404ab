# SPDX-License-Identifier: MIT
"""Every key and every named value of the schema of scenes is said by a scene that the tests run, or by a test.

usage: every_word.py SCHEMA ROOT [WORD...]      WORD: tested through a table of the library instead
Prints the words that nothing says; exit code 1 if there are any."""
import json
import pathlib
import re
import sys

FOLDERS = {"tests": (".c", ".h", ".sh", ".json", ".mjs"), "scenes": (".json",), "python/tests": (".py",)}


def words_of(node, out):
    """Names of properties and strings of enumerations."""
    if isinstance(node, list):
        for child in node:
            words_of(child, out)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("properties"), dict):
        out.update(node["properties"])
    out.update(value for value in node.get("enum", []) if isinstance(value, str))
    for child in node.values():
        words_of(child, out)


def main(schema, root, *tabled):
    root = pathlib.Path(root)
    files = [path for folder, endings in FOLDERS.items() for path in (root / folder).rglob("*")
             if path.suffix in endings and "compat" not in path.parts]
    said = "\n".join(path.read_text(errors="replace") for path in files)
    # In JSON, in a C string, or as a part of a path like bodies[0].match.alpha.
    spoken = set(re.findall(r'\\?"(\w+)\\?"', said)) | set(re.findall(r"[.\]](\w+)(?=[ =.\[\"])", said))
    words = set()
    words_of(json.loads(pathlib.Path(schema).read_text()), words)
    missing = sorted(words - spoken - set(tabled))
    print(f"{len(words)} words, not said: {' '.join(missing) or 'none'}")
    return 1 if missing else 0


sys.exit(main(*sys.argv[1:]))
