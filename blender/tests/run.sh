#!/usr/bin/env bash
# Tests the add-on: scenes without Blender, then everything in Blender without a window, from the zip.
# usage: blender/tests/run.sh [WORD]      WORD: only tests in Blender whose name has it
# YAWARA names another program than build/yawara.
set -uo pipefail
cd "$(dirname "$0")/../.."
YAWARA=$(realpath "${YAWARA:-build/yawara}")
export YAWARA
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
code=0
if "$python" -c 'import numpy' 2>/dev/null; then
  "$python" blender/tests/test_plain.py || code=1
else
  echo "# numpy is not installed: scenes are tested in Blender only"
fi
command -v blender >/dev/null 2>&1 || exit $code
scripts/blender.sh || exit 1
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
BLENDER_USER_RESOURCES=$home blender -b --factory-startup --python-exit-code 1 --python blender/tests/run.py -- "${1:-}" 2>&1 |
  grep -v '^Info: \|^Blender \|^Read blend\|^Fra:\|^Saved: \|^ Time: '
[ "${PIPESTATUS[0]}" -eq 0 ] || code=1
exit $code
