#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes the numbers of figures into docs/papers.md, so that they are those of the program. A block
#   <!-- yawara paper NAME OPTIONS -->
#   ...
#   <!-- end -->
# is replaced by what that command prints. Numbers in the text that a block has are taken from there,
#   <!--= NAME; ROW; COLUMN; FORMAT -->110<!--/-->
# ROW is its label, or how that begins ("A > B": the first such line after that of A), COLUMN the number in it, from 1, or from the end, -1;
# FORMAT, which may be left out, is that of Python, after a factor if one is wanted: "*100 .0f".
# usage: scripts/write_papers.py [NAME...]                 these figures, or all that have a block but those with --full (make numbers)
#        scripts/write_papers.py --full NAME...            figures (or papers) at the papers' sizes; their blocks get --full (make numbers-full, half an hour)
#        scripts/write_papers.py [--full] --from FILE NAME what an earlier run printed; NAME is a figure or a paper
#        scripts/write_papers.py --text                    numbers in the text alone
#        scripts/write_papers.py --check FILE NAME         compares that with the block, but for times
#        scripts/write_papers.py --check-text              compares the numbers in the text with the blocks
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs/papers.md"
block = re.compile(r"(<!-- yawara paper (\S+)([^>]*?) -->\n)(.*?)(<!-- end -->)", re.S)
marked = re.compile(r"<!--= (.+?) -->(.*?)<!--/-->")
number = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def numbers(name, options):
    command = [str(root / "build/yawara"), "paper", name, "--no-pictures", *options.split()]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


# Tests compare these blocks of a paper whose others are at full size; they stay quick.
compared = ["saida2017-fig1", "saida2017-buckling"]
# CPU ms/step and the share of the solve; what placing a surface takes.
times = re.compile(r"\s+\d+\.\d+\s+\d+ %$|placing it takes .*$", re.M)


def body_of(printed):
    """The first line is the figure's name; lines about written files come and go."""
    lines = [line.rstrip() for line in printed.splitlines()[1:] if not line.startswith("wrote ")]
    return "\n".join(lines).strip("\n")


def value_of(text, key):
    """What a mark in the text stands for."""
    name, row, column, *form = [part.strip() for part in key.split(";")]
    lines = [line.strip() for b in block.finditer(text) if b.group(2) == name for line in b.group(4).splitlines()]
    for begin in [part.strip() for part in row.split(" > ")]:
        begun = [i for i, line in enumerate(lines) if line.startswith(begin)]
        at = next((i for i in begun if lines[i][len(begin):][:2] in ("", "  ")), begun[0] if begun else None)
        if at is None:
            sys.exit(f"write_papers.py: no line of {name} begins with \"{begin}\" (mark \"{key}\")")
        found, lines = lines[at][len(begin):], lines[at + 1:]
    values = number.findall(found)
    place = int(column) - (int(column) > 0)
    if not -len(values) <= place < len(values):
        sys.exit(f"write_papers.py: that line has {len(values)} numbers (mark \"{key}\")")
    if not form:
        return values[place]
    factor, _, form = form[0].rpartition(" ")
    return format(float(values[place]) * float(factor.lstrip("*") or 1), form)


def with_values(text):
    return marked.sub(lambda m: f"<!--= {m.group(1)} -->{value_of(text, m.group(1))}<!--/-->", text)


def check_text():
    text = page.read_text()
    wrong = [f"{m.group(1)}: {m.group(2)}, but the block has {value_of(text, m.group(1))}" for m in marked.finditer(text) if m.group(2) != value_of(text, m.group(1))]
    if wrong:
        sys.exit("write_papers.py: docs/papers.md (scripts/write_papers.py --text mends it)\n" + "\n".join(wrong))
    print(f"{len(marked.findall(text))} numbers in the text")


def figures_of(printed):
    """What a run of one or more figures printed, by the name of the figure."""
    parts = re.split(r"^((?:koyama2013|saida2017|hino|imai)-\S+)(?=: )", printed, flags=re.M)
    return {name: name + text for name, text in zip(parts[1::2], parts[2::2])}


def check(file, name):
    found = [b.group(4) for b in block.finditer(page.read_text()) if b.group(2) == name and "--full" not in b.group(3)]
    if not found:
        sys.exit(f"write_papers.py: docs/papers.md has no block for {name}")
    written = found[0].replace("```text\n", "").replace("\n```", "").strip("\n")
    printed = pathlib.Path(file).read_text()
    printed = body_of(figures_of(printed).get(name, printed))
    if times.sub("", written) != times.sub("", printed):
        sys.exit(f"write_papers.py: docs/papers.md has other numbers (scripts/write_papers.py {name} writes these):\n{printed}")


def main(arguments):
    if arguments[:1] == ["--check"]:
        if len(arguments) != 3:
            sys.exit("write_papers.py: --check takes a file and one name")
        return check(*arguments[1:])
    if arguments == ["--check-text"]:
        return check_text()
    if arguments == ["--text"]:
        return page.write_text(with_values(page.read_text()))
    full = "--full" in arguments
    arguments = [a for a in arguments if a != "--full"]
    printed = None
    if arguments[:1] == ["--from"]:
        if len(arguments) != 3:
            sys.exit("write_papers.py: --from takes a file and one name")
        printed = figures_of(pathlib.Path(arguments[1]).read_text())
        arguments = arguments[2:]
    text = page.read_text()
    names = [b.group(2) for b in block.finditer(text) if full or "--full" not in b.group(3)]
    if full:
        names = [n for n in names if n not in compared]
    wanted = [n for n in names if not arguments or n in arguments or n.split("-")[0] in arguments]
    if not wanted or (full and not arguments):
        sys.exit(f"write_papers.py: no block for {', '.join(arguments) or 'nothing'}; docs/papers.md has {', '.join(names)}")

    def fill(found):
        _, name, options, _, end = found.groups()
        if name not in wanted or (not full and "--full" in options) or (printed is not None and name not in printed):
            return found.group(0)
        if full:
            options = " --full"
        shown = printed[name] if printed is not None else numbers(name, options)
        return f"<!-- yawara paper {name}{options} -->\n```text\n{body_of(shown)}\n```\n{end}"

    page.write_text(with_values(block.sub(fill, text)))


main(sys.argv[1:])
