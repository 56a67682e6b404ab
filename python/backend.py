#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheel: PEP 517, with nothing but Python and CMake.

pip calls build_wheel. The tests call stage from the command line, to use the package in place:
    backend.py stage FOLDER [LIBRARY]

LIBRARY, or the environment variable YAWARA_LIBRARY, names a shared library that is already built.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import write_abi

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NAMES = {"darwin": "libyawara.dylib", "win32": "yawara.dll"}
LIBRARY = NAMES.get(sys.platform, "libyawara.so")


def version():
    text = (ROOT / "include/yawara/base.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define YW_VERSION_{part} (\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


def build_library():
    """Builds the shared library with CMake and returns its path."""
    if not shutil.which("cmake"):
        raise SystemExit("yawara is built with CMake, which is missing: install cmake and gcc (Debian: "
                         "apt-get install cmake gcc ninja-build), or set YAWARA_LIBRARY to a built "
                         f"{LIBRARY}")
    folder = ROOT / "build" / "wheel"
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DYW_BUILD_APP=OFF",
                 "-DYW_BUILD_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists():
        configure += ["-G", "Ninja"]
    subprocess.run(configure, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", str(folder), "--target", "yawara_shared", "--parallel",
                    str(os.cpu_count() or 1)], check=True, stdout=sys.stderr)
    return folder / LIBRARY


def package(library=None):
    """The files of the package: {name in the wheel: bytes}."""
    if not (ROOT / "include/yawara/yawara.h").exists():
        raise SystemExit("yawara's Python package is built inside of the repository: its folder "
                         "python alone lacks the C sources. Clone it and run `pip install ./python`")
    library = pathlib.Path(library or os.environ.get("YAWARA_LIBRARY") or build_library())
    if not library.exists():
        raise SystemExit(f"{library}: there is no such library")
    files = {f"yawara/{path.name}": path.read_bytes()
             for path in sorted((HERE / "yawara").iterdir())
             if path.suffix == ".py" or path.name == "py.typed"}
    files["yawara/_abi.py"] = write_abi.write(write_abi.read(ROOT / "include")).encode()
    files[f"yawara/{LIBRARY}"] = library.read_bytes()
    return files


def metadata():
    return "\n".join([
        "Metadata-Version: 2.1", "Name: yawara", f"Version: {version()}",
        "Summary: Soft bodies: example-based shape matching, finite elements, rods, sheets, clay",
        "License: MIT", "Requires-Python: >=3.9", "Requires-Dist: numpy>=1.20",
        "Provides-Extra: all", 'Requires-Dist: scipy; extra == "all"',
        'Requires-Dist: matplotlib; extra == "all"', 'Requires-Dist: pandas; extra == "all"',
        "Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text("utf-8")])


def tag():
    """Any Python 3, but this platform alone: the library is inside."""
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"yawara-{version()}.dist-info"
    files = package()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: yawara\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag()}\n").encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out = f"yawara-{version()}-{tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, out), "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return out


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("there is no source package of yawara for Python alone: give the repository, or a "
                     "wheel (pip wheel ./python)")


def stage(folder, library=None):
    """Writes the package into a folder that PYTHONPATH can name."""
    for name, data in package(library).items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.unlink(missing_ok=True)  # a library that is in use stays whole
            path.write_bytes(data)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "stage":
        raise SystemExit(__doc__)
    stage(*sys.argv[2:4])
