# SPDX-License-Identifier: MIT
"""What may be left on a disk whose power fails during a run, for kill.py.

The program runs with tests/support/io_power.c, which records its operations on names and what it asks to be safe, and kills it before one
of them. After a power failure, a disk has
- what there was at the last syncfs;
- a part of the changes of names since then, in their order: those before some moment (journals keep the order);
- of a file that was synced since then, what it held then; of others that were made or changed: nothing, a part, or all of it.
"""
import os
import shutil


class File:
    def __init__(self, safe=None):
        self.safe = safe  # what is on the disk for sure; None: nothing
        self.changed = safe is None
        self.last = b""  # what it held at the end


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_below(root):
    return {os.path.relpath(os.path.join(folder, name), root): read(os.path.join(folder, name))
            for folder, _, names in os.walk(root) for name in names}


def replay(operations, record, root, names):
    """Applies operations to `names` (path -> File), and yields after each."""
    for number, (kind, first, second) in operations:
        first, second = (os.path.relpath(path, root) if path else "" for path in (first, second))
        if kind == "make":
            names[first] = File()
        elif kind == "append":
            names.setdefault(first, File()).changed = True
        elif kind == "rename":
            names[second] = names.pop(first)
        elif kind == "link":
            names[second] = names[first]
        elif kind == "unlink":
            names.pop(first, None)
        elif kind == "fsync":
            names[first].safe, names[first].changed = read(os.path.join(record, f"file_{number}")), False
        yield dict(names)


def left_of(file, draw):
    if not file.changed:
        return file.safe
    least = len(file.safe or b"") if file.last.startswith(file.safe or b"") else 0
    return draw.choice([file.safe or b"", file.last, file.last[:draw.randint(least, max(least, len(file.last)))]])


def operations_in(record):
    """(number, (kind, first name, second name)) of each."""
    path = os.path.join(record, "ops")
    if not os.path.exists(path):
        return []  # killed before the first
    with open(path) as file:
        return list(enumerate(tuple(line.rstrip("\n").split("\t")) for line in file))


def cut(run_folder, record, draw):
    """Makes of the folder of a killed run what may be left of it. True if a snapshot was safe."""
    operations = operations_in(record)
    synced = [number for number, (kind, _, _) in operations if kind == "syncfs"]
    start = synced[-1] + 1 if synced else 0
    names = {path: File(content) for path, content in files_below(os.path.join(record, f"disk_{start - 1}")).items()} if synced else {}
    begin = dict(names)
    states = [begin, *replay(operations[start:], record, run_folder, names)]
    for path, content in files_below(run_folder).items():
        if path in names:
            names[path].last = content
    kept = draw.choice(states)
    shutil.rmtree(run_folder, ignore_errors=True)
    # Folders are made before the first file, and an empty one is no run.
    for path, file in kept.items():
        os.makedirs(os.path.dirname(os.path.join(run_folder, path)), exist_ok=True)
        with open(os.path.join(run_folder, path), "wb") as out:
            out.write(left_of(file, draw))
    return any(path.startswith("snapshot") and path.endswith(".yws") for path in begin)


def fail(bench, run, draw, most):
    """Runs, fails at one of `most` operations, and leaves what may be left. (the operation, a snapshot was safe)"""
    record = os.path.join(bench.folder, "record")
    shutil.rmtree(record, ignore_errors=True)
    os.makedirs(record)
    folder, at = os.path.join(bench.folder, run), draw.randrange(most)
    bench.run_with(run, LD_PRELOAD=bench.power, YW_POWER_RECORD=record, YW_POWER_FOLDER=folder, YW_POWER_AT=str(at))
    return at, cut(folder, record, draw)


def count_operations(bench, run):
    record = os.path.join(bench.folder, "record")
    shutil.rmtree(record, ignore_errors=True)
    os.makedirs(record)
    bench.run_with(run, LD_PRELOAD=bench.power, YW_POWER_RECORD=record, YW_POWER_FOLDER=os.path.join(bench.folder, run), YW_POWER_AT="-1")
    return len(operations_in(record))
