#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes the numbers of figures into docs/papers.md, so that they are those of the program. A block
#   <!-- yawara paper NAME OPTIONS -->
#   ...
#   <!-- end -->
# is replaced by what that command prints.
# usage: scripts/write_papers.py [NAME...]            these figures, or all that have a block (make numbers)
#        scripts/write_papers.py --from FILE NAME     what an earlier run printed
#        scripts/write_papers.py --check FILE NAME    compares that with the block, but for times; exit code 1 if they differ
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs/papers.md"
block = re.compile(r"(<!-- yawara paper (\S+)([^>]*?) -->\n)(.*?)(<!-- end -->)", re.S)


def numbers(name, options):
    command = [str(root / "build/yawara"), "paper", name, "--no-pictures", *options.split()]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


# CPU ms/step and the share of the solve.
times = re.compile(r"\s+\d+\.\d+\s+\d+ %$", re.M)


def body_of(printed):
    """The first line is the figure's name; lines about written files come and go."""
    lines = [line.rstrip() for line in printed.splitlines()[1:] if not line.startswith("wrote ")]
    return "\n".join(lines).strip("\n")


def check(file, name):
    blocks = {found.group(2): found.group(4) for found in block.finditer(page.read_text())}
    if name not in blocks:
        sys.exit(f"write_papers.py: docs/papers.md has no block for {name}")
    written = blocks[name].replace("```text\n", "").replace("\n```", "").strip("\n")
    printed = body_of(pathlib.Path(file).read_text())
    if times.sub("", written) != times.sub("", printed):
        sys.exit(f"write_papers.py: docs/papers.md has other numbers (scripts/write_papers.py {name} writes these):\n{printed}")


def main(arguments):
    kept = None
    if arguments[:1] == ["--check"]:
        if len(arguments) != 3:
            sys.exit("write_papers.py: --check takes a file and one name")
        return check(*arguments[1:])
    if arguments[:1] == ["--from"]:
        if len(arguments) != 3:
            sys.exit("write_papers.py: --from takes a file and one name")
        kept = pathlib.Path(arguments[1]).read_text()
        arguments = arguments[2:]
    text = page.read_text()
    names = [found.group(2) for found in block.finditer(text)]
    for name in arguments:
        if name not in names:
            sys.exit(f"write_papers.py: docs/papers.md has no block for {name}; it has {', '.join(names)}")

    def fill(found):
        head, name, options, _, end = found.groups()
        if arguments and name not in arguments:
            return found.group(0)
        printed = kept if kept is not None else numbers(name, options)
        return f"{head}```text\n{body_of(printed)}\n```\n{end}"

    page.write_text(block.sub(fill, text))


main(sys.argv[1:])
