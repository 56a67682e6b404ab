#!/usr/bin/env bash
# Includes point one way: base <- math <- geometry <- methods, contact <- world <- io <- apps.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0

# allow FOLDER "regular expression of what its quoted includes may start with"
allow() {
  local folder=$1 pattern=$2 found
  [ -d "$folder" ] || return 0
  found=$(grep -rnE '^#include "' "$folder" --include='*.[ch]' | grep -vE "#include \"($pattern)" || true)
  if [ -n "$found" ]; then
    echo "includes that point the wrong way:"
    echo "$found"
    bad=1
  fi
}
allow src/base 'base/|yawara/base\.h'
allow src/math 'base/|math/|yawara/base\.h'
allow src/geometry 'base/|math/|geometry/|yawara/(base|mesh|shape|model)\.h'
for method in match frames plastic fem; do
  allow "src/$method" "base/|math/|geometry/|method\.h|$method/|yawara/(base|mesh|shape|model|$method)\.h"
done
allow src/contact 'base/|math/|geometry/|method\.h|contact/|yawara/(base|mesh|shape|model)\.h'
allow src/world 'base/|math/|geometry/|method\.h|match/|frames/|plastic/|fem/|contact/|world/|yawara/(base|mesh|shape|model|match|frames|plastic|fem|world)\.h'
allow src/io 'base/|math/|geometry/|world/|io/|yawara/'
allow include '[a-z]+\.h'
exit $bad
