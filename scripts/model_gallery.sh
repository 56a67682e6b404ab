#!/usr/bin/env bash
# One picture of many models: a row per model, a column per method, nothing given but a word.
# usage: scripts/model_gallery.sh FOLDER [OUT.png]      models: .obj, .ply, .stl, .ele in FOLDER
# Each cell is frame 0 beside a later one. Runs stay beside the picture, so that a second call only
# draws; remove them to simulate again. YAWARA: the program (build/yawara). COLUMNS_OF: method:word.
# SECONDS_EACH: a run that takes longer is shown as far as it came, and its label says so.
set -uo pipefail
folder=${1:?usage: scripts/model_gallery.sh FOLDER [OUT.png]}
out=${2:-out/model_gallery.png}
yawara=${YAWARA:-$(dirname "$0")/../build/yawara}
columns=${COLUMNS_OF:-match:jelly frames:jelly fem:jelly plastic:clay}
seconds_each=${SECONDS_EACH:-300}
size=400x300
frame=75
runs=${out%.png}
command -v montage >/dev/null || { echo "needs ImageMagick (montage)"; exit 2; }
mkdir -p "$runs" || exit 2

shopt -s nullglob nocaseglob
models=("$folder"/*.obj "$folder"/*.ply "$folder"/*.stl "$folder"/*.ele)
[ ${#models[@]} -gt 0 ] || { echo "$folder has no .obj, .ply, .stl or .ele"; exit 2; }

# draw FRAME PICTURE
draw() { "$yawara" render "$run" -o "$2" --from "$1" --to "$1" --size $size -q >>"$run.txt" 2>&1; }

cells=() failed=0
for model in "${models[@]}"; do
  name=$(basename "${model%.*}")
  for column in $columns; do
    method=${column%:*} word=${column#*:}
    run=$runs/${name}_$method cell=$runs/${name}_$method.png
    began=$SECONDS
    if [ ! -e "$run/run.json" ]; then
      timeout "$seconds_each" "$yawara" run "$model" --as "$word" --method "$method" -n "$frame" -q -o "$run" >"$run.txt" 2>&1
    fi
    # A run that was stopped for its time is shown as far as it came.
    last=$(sed -n 's/.*"frames_done": \([0-9]*\).*/\1/p' "$run/run.json" 2>>"$run.txt")
    if draw 0 "$run.first.png" && draw "${last:-0}" "$run.last.png"; then
      montage "$run.first.png" "$run.last.png" -tile 2x1 -geometry +0+0 "$cell"
      printf '%-24s %-8s %-7s %4d s\n' "$name" "$method" "$word" $((SECONDS - began))
    else
      failed=$((failed + 1))
      printf '%-24s %-8s %-7s failed: %s\n' "$name" "$method" "$word" "$(tail -n 1 "$run.txt")"
      montage -size 800x300 xc:white "$cell"
    fi
    [ "${last:-0}" -ge "$frame" ] && note= || note=" (stopped at frame ${last:-0} of $frame)"
    cells+=(-label "$name, $method as $word$note" "$cell")
  done
done
montage "${cells[@]}" -tile "$(wc -w <<<"$columns")x" -geometry 480x180+4+4 -pointsize 12 "$out"
echo "wrote $out"
[ $failed -eq 0 ]
