#!/usr/bin/env bash
# Constructs the library must not contain: libm functions whose results differ between C libraries (use math/small/trig.h and
# exponent.h instead), and pointers written through a pointer of another type.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0

# forbid "reason" "regular expression": searches code, not comments
forbid() {
  local why=$1 pattern=$2 found
  found=$(grep -rnE "$pattern" src include --include='*.[ch]' | grep -vE "^[^:]*:[0-9]+:[[:space:]]*//" |
    grep -E "^[^:]*:[0-9]+:([^/]|/[^/])*$pattern" || true)
  if [ -n "$found" ]; then
    echo "$why:"
    echo "$found"
    bad=1
  fi
}

forbid "results that depend on the C library" \
  '\b(a?(sin|cos|tan)h?|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erfc?|[lt]gamma)[fl]?\('
forbid "writing through void** breaks strict aliasing" '\(void ?\*\*\)'
exit $bad
