# SPDX-License-Identifier: MIT
"""The program `yawara`: finding it, starting it as a process of its own, reading what it says."""
import os
import re
import shutil
import signal
import subprocess
import sys

MISSING = ("The program yawara was not found. Build it (make, then build/yawara), and give its path in the "
           "preferences of the add-on, or put its folder into PATH.")


class ProgramError(RuntimeError):
    """The program is missing, cannot be started, or ended with an error."""


def find(path=""):
    """The program at the given path, or in PATH."""
    if path:
        if os.path.isdir(path):
            path = os.path.join(path, "yawara")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
        raise ProgramError(f"There is no program at {path}. {MISSING}")
    found = shutil.which("yawara")
    if not found:
        raise ProgramError(MISSING)
    return found


def start(program, arguments, log):
    """Starts the program; what it says goes to the file `log`."""
    try:
        with open(log, "wb") as output:
            return subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=subprocess.STDOUT, start_new_session=True)
    except OSError as problem:
        raise ProgramError(f"{program} cannot be started: {problem.strerror}. {MISSING}") from problem


def call(program, arguments, timeout=600):
    """Runs the program to its end; raises ProgramError with its words if it fails."""
    try:
        done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout, check=False)
    except OSError as problem:
        raise ProgramError(f"{program} cannot be started: {problem.strerror}. {MISSING}") from problem
    except subprocess.TimeoutExpired as problem:
        raise ProgramError(f"yawara {arguments[0]} took longer than {timeout} s") from problem
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode:
        raise ProgramError(summary(text, done.returncode))
    return text


def stop(process):
    """Asks a run to finish its frame and write a snapshot."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGINT)


def _is_progress(line):
    return bool(re.match(r"(exported )?frame \d+/\d+", line)) or line.startswith("warning: ")


def summary(text, code):
    """What a user needs of the output of a failed program: its last words, or how it ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _is_progress(line)]
    if code < 0:
        lines.append(f"The program was ended by signal {-code}. Blender is not harmed; the frames "
                     "made so far are kept, and Resume goes on after them.")
    return "\n".join(lines[-4:]) or f"yawara ended with code {code}"


def warnings(text):
    """Lines that the program prints as warnings."""
    return [line[9:].strip() for line in text.splitlines() if line.startswith("warning: ")]


def culprit(text, places, names):
    """Name of the object that a message is about, or None.

    places: scene paths such as "bodies[0].pins[1]" by object; names: bodies' names by object."""
    found = [(len(path), name) for path, name in places.items()
             if re.search(re.escape(path) + r"(?![\d\]])", text)]
    if found:
        return max(found)[1]
    quoted = re.findall(r'"([^"]*)"', text)
    return next((names[word] for word in quoted if word in names), None)
