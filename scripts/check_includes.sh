#!/usr/bin/env bash
# Includes point one way, see docs/design/architecture.md. One line per room: what it may include.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0

# allow FOLDER "regular expression of what its quoted includes may start with" [NAME OF FILES TO SKIP]
allow() {
  local folder=$1 pattern=$2 skip=${3:-} found
  [ -e "$folder" ] || { echo "check_includes.sh: there is no $folder"; bad=1; return; }
  found=$(grep -HrnE '^#include "' "$folder" --include='*.[ch]' --include='*.cpp' --exclude="$skip" |
    grep -vE "#include \"($pattern)" || true)
  if [ -n "$found" ]; then
    echo "includes that point the wrong way:"
    echo "$found"
    bad=1
  fi
}

# The library, lowest room first.
tools='yawara/extend/(error|file|hash|memory|ranks|rigid_motion|shown|stream|tasks|text|text_number|timer|vec)\.h|yawara/base\.h'
low="$tools|base/|math/"
shapes="$low|geometry/|yawara/(mesh|pose|shape|model)\.h"
allow include '(\.\./)?[a-z_]+\.h|extend/'
allow src/base "$tools|base/"
allow src/math/small "$tools|base/|math/small/"
allow src/math/sparse "$tools|base/|math/(small|sparse)/"
allow src/geometry "$shapes"
allow src/materials 'yawara/'
seam="$shapes|materials/|yawara/extend/method\.h"
# Devices: what opens them is low; the kernels (cuda) are a library of their own above the methods.
for file in device.h device.c; do allow "src/device/$file" "$tools|device/|yawara/(world|extend/method)\.h"; done
allow src/device/cuda "$seam|methods/|contact/|device/"
allow src/model "$seam|model/"
# A method's own functions for models and bodies (interface.c) reach both through the seam as well.
allow src/methods/kit "$seam|methods/kit/"
for folder in src/methods/*/; do
  method=$(basename "$folder")
  [ "$method" = kit ] && continue
  allow "$folder" "$seam|device/device\.h|methods/(kit|$method)/|yawara/$method\.h" scene.c
  # What a method is in scene files lives with it, but stands above the world like all of src/scene.
  allow "${folder}scene.c" "$shapes|files/|scene/|yawara/(files|$method|extend/[a-z_]+)\.h"
done
allow src/contact "$seam|contact/"
allow src/world "$seam|device/device\.h|model/|contact/|world/|yawara/(world|joint|query|contact|force|track|follow|mesh_obstacle|extend/shared_body)\.h"
allow src/files "$shapes|files/|yawara/(files|extend/[a-z_]+)\.h"
allow src/scene "$shapes|materials/|files/|scene/|yawara/(pose|scene|world|joint|force|track|follow|mesh_obstacle|files|extend/[a-z_]+)\.h"

# The program uses public headers and its own rooms.
public='yawara/'
allow apps/yawara/codecs "$public|codecs/"
allow apps/yawara/console "$public|console/"
allow apps/yawara/plugins "$public|plugins/"
allow apps/yawara/ranks "$public|console/|plugins/|ranks/"
allow apps/yawara/render "$public|plugins/|render/"
allow apps/yawara/playback "$public|console/|render/|playback/"
allow apps/yawara/server "$public|console/|render/|playback/|server/|(core|frame_layout|poser|text)\.h"
allow apps/yawara/commands "$public|console/|render/|playback/|ranks/|server/|commands/"

# The page's core shows worlds as the program does.
allow web/core "$public|console/|playback/|(core|display|frame_layout|poser|text|wrap)\.h"

# What it takes from the program brings along what that uses.
list=web/core/CMakeLists.txt
for file in $(grep -oE 'YW_PROGRAM\}/[a-z_/]+\.c' "$list" | cut -d/ -f2-); do
  for part in $(grep -oE '^#include "(console|playback)/[a-z_]+\.h"' "apps/yawara/$file" | grep -oE '(console|playback)/[a-z_]+'); do
    [ ! -f "apps/yawara/$part.c" ] || grep -q "/$part\.c" "$list" && continue
    echo "$list lacks $part.c, which $file uses"
    bad=1
  done
done

# Studies and tests may include everything; of the studies, tests may include only the references.
rooms='(codecs|console|render|playback|ranks|server|commands)/|(core|frame_layout|text)\.h'
inside='(base|device|math|geometry|materials|model|methods|contact|world|files|scene)/'
allow studies/reference "$public|$inside|reference/"
allow studies/bench "$public|$inside|$rooms|reference/|bench/|bullet_[a-z]+\.h|studies\.h"
allow studies/fit "$public|$inside|$rooms|reference/|fit/|studies\.h"
allow studies/papers "$public|$inside|$rooms|reference/|papers/|studies\.h"
for kind in fuzz golden physics support unit; do
  allow "tests/$kind" "$public|$inside|$rooms|reference/|support/|core/"
done
allow tests/compat '[a-z_]+\.h'
allow examples 'yawara/'
exit $bad
