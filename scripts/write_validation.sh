#!/usr/bin/env bash
# Writes the table of docs/validation.md: bodies with default settings against CalculiX (ccx). Takes
# up to an hour; build first.
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/validation.md
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
YW_TEST_TABLE=all build/tests/test_fem_shapes 2>&1 | tee /dev/stderr | grep '^| ' >"$rows" || true
{
  sed '/^| body/,$d' "$page"
  echo '| body | computed by | tets | largest displacement | first frequency |'
  echo '|---|---|---|---|---|'
  cat "$rows"
} >"$page.new"
mv "$page.new" "$page"
