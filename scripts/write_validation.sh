#!/usr/bin/env bash
# Writes the table of docs/validation.md: bodies with default settings against CalculiX (ccx). Takes
# up to an hour; build first. Rows of bodies that were not measured to the end stay as they were.
# usage: scripts/write_validation.sh [PART OF A NAME]    all bodies, or these
# LOG=FILE takes the rows from an earlier run instead.
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/validation.md
log=${LOG:-}
if [ -z "$log" ]; then
  command -v "${YAWARA_CCX:-ccx}" >/dev/null || { echo "write_validation.sh: there is no ccx (package calculix-ccx)"; exit 1; }
  [ -x build/tests/test_fem_shapes ] || { echo "write_validation.sh: build test_fem_shapes first"; exit 1; }
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # The table is that of a run from end to end: rows beyond 2 % are named, but belong into it.
  YW_TEST_FULL=1 YW_TEST_TABLE=${1:-all} build/tests/test_fem_shapes 2>&1 | tee "$log" >&2 ||
    echo "write_validation.sh: some bodies are not within 2 %" >&2
fi
# Four rows make a body; those of the page are replaced where they are, new ones come last.
awk -F' [|] ' '
  FNR == NR { if (/^\| /) { rows[$1] = rows[$1] $0 "\n"; if (++count[$1] == 4) names[++n] = $1 } next }
  !(/^\| /) || /^\| body / || count[$1] < 4 { print; next }
  !written[$1]++ { printf "%s", rows[$1] }
  END { for (i = 1; i <= n; ++i) if (!written[names[i]]) printf "%s", rows[names[i]] }
' "$log" "$page" >"$page.new"
mv "$page.new" "$page"
grep -oE '^    \{"[^"]*' tests/physics/test_fem_shapes.c | cut -d'"' -f2 | while read -r name; do
  [ "$(grep -cF "| $name |" "$log")" -eq 4 ] || echo "write_validation.sh: not measured: $name"
done
