#!/usr/bin/env bash
# Packs the Blender add-on as a zip that Blender installs: out/yawara_blender.zip.
set -euo pipefail
cd "$(dirname "$0")/../blender"
mkdir -p ../out
python3 - <<'END'
import pathlib, zipfile

# Fixed times: the same sources make the same file.
with zipfile.ZipFile("../out/yawara_blender.zip", "w", zipfile.ZIP_DEFLATED) as pack:
    for path in sorted(pathlib.Path("yawara_addon").glob("*.py")):
        entry = zipfile.ZipInfo(str(path), (2020, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        pack.writestr(entry, path.read_bytes())
END
