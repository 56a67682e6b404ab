#!/usr/bin/env bash
# A short tour: builds, simulates three scenes, and writes pictures and movies to out/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
out=out/demo
scenes=(twist car teddy)
steps=$((1 + 2 * ${#scenes[@]}))
step=0
say() {
  step=$((step + 1))
  printf '[%d/%d] %s (%d s)\n' "$step" "$steps" "$1" "$SECONDS"
}

say "building build/yawara"
scripts/configure.sh build
for scene in "${scenes[@]}"; do
  say "simulating scenes/gallery/$scene.json"
  build/yawara run "scenes/gallery/$scene.json" -o "$out/cache/$scene"
  say "filming $out/$scene.mp4"
  build/yawara render "$out/cache/$scene" -o "$out/$scene.mp4" --every 2
done

# All scenes in one movie, and a still of each.
list=$(mktemp)
trap 'rm -f "$list"' EXIT
for scene in "${scenes[@]}"; do
  echo "file '$PWD/$out/$scene.mp4'" >>"$list"
  ffmpeg -v error -y -sseof -2 -i "$out/$scene.mp4" -frames:v 1 "$out/$scene.png"
done
ffmpeg -v error -y -f concat -safe 0 -i "$list" -c copy "$out/tour.mp4"

cat <<END

The tour is in $out/tour.mp4 ($SECONDS s in all):
$(printf '  %s\n' "$out"/*.mp4 "$out"/*.png)

Touch it, in a browser (make web builds the page, once):
  make web && build/yawara view scenes/gallery/twist.json
  build/yawara view $out/cache/twist                    a run, with a timeline

Try next, for a softer preference for the example pose:
  build/yawara run scenes/gallery/twist.json -o out/soft --set bodies[1].match.beta=0.5
  build/yawara render out/soft -o out/soft.mp4
END
