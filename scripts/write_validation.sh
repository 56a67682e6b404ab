#!/usr/bin/env bash
# Writes the table of docs/validation.md: bodies with default settings against CalculiX (ccx). Takes
# up to an hour; build first. Changes nothing unless all bodies were measured.
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/validation.md
command -v "${YAWARA_CCX:-ccx}" >/dev/null || { echo "write_validation.sh: there is no ccx (package calculix-ccx)"; exit 1; }
[ -x build/tests/test_fem_shapes ] || { echo "write_validation.sh: build test_fem_shapes first"; exit 1; }
rows=$(mktemp)
log=$(mktemp)
trap 'rm -f "$rows" "$log"' EXIT
# The table is that of a run from end to end: rows beyond 2 % are named, but belong into it.
YW_TEST_TABLE=all build/tests/test_fem_shapes 2>&1 | tee "$log" >&2 || echo "write_validation.sh: some bodies are not within 2 %" >&2
grep '^| ' "$log" >"$rows"
bodies=$(grep -c 'default settings' "$rows" || true)
expected=$(grep -cE '^    \{"' tests/physics/test_fem_shapes.c)
[ "$bodies" -eq "$expected" ] || { echo "write_validation.sh: $bodies of $expected bodies were measured; docs/validation.md is as it was"; exit 1; }
{
  sed '/^| body/,$d' "$page"
  echo '| body | computed by | tets | largest displacement | first frequency |'
  echo '|---|---|---|---|---|'
  cat "$rows"
} >"$page.new"
mv "$page.new" "$page"
