#!/usr/bin/env bash
# One picture of many models: a row per model, a column per word or method, nothing else given.
# usage: scripts/model_gallery.sh FOLDER [OUT.png|OUT.jpg]    models: .obj, .ply, .stl, .ele in FOLDER
# Runs stay beside the picture, so that a second call only draws; remove them to simulate again.
#   YAWARA         the program (build/yawara)
#   COLUMNS_OF     words, or method:word ("jelly rubber foam toy clay cloth steel")
#   MOMENTS        frames that a cell shows side by side ("75")
#   SECONDS_EACH   a run that takes longer is shown as far as it came, and its label says so (300)
#   CELL, SAMPLES  size of a picture in pixels (240x180), and samples per pixel (16)
#   JOBS           runs at once (1)
set -uo pipefail
folder=${1:?usage: scripts/model_gallery.sh FOLDER [OUT.png|OUT.jpg]}
out=${2:-out/model_gallery.png}
yawara=${YAWARA:-$(dirname "$0")/../build/yawara}
columns=${COLUMNS_OF:-jelly rubber foam toy clay cloth steel}
moments=${MOMENTS:-75}
frame=${moments##* }
runs=${out%.*}
command -v montage >/dev/null || { echo "needs ImageMagick (montage)"; exit 2; }
mkdir -p "$runs" || exit 2

shopt -s nullglob nocaseglob
models=("$folder"/*.obj "$folder"/*.ply "$folder"/*.stl "$folder"/*.ele)
[ ${#models[@]} -gt 0 ] || { echo "$folder has no .obj, .ply, .stl or .ele"; exit 2; }

# The run of a model and a column, and its picture: cell.png and a line about it in cell.txt.
make_cell() {
  local model=$1 column=$2 name word method='' run last began=$SECONDS pictures=() at
  name=$(basename "${model%.*}")
  word=${column#*:}
  [ "$word" = "$column" ] || method=${column%:*}
  run=$runs/${name}_${column/:/_}
  if [ ! -e "$run/run.json" ]; then
    timeout "${SECONDS_EACH:-300}" "$yawara" run "$model" --as "$word" ${method:+--method "$method"} \
      -n "$frame" -q -o "$run" >"$run.log" 2>&1
  fi
  last=$(sed -n 's/.*"frames_done": \([0-9]*\).*/\1/p' "$run/run.json" 2>>"$run.log")
  for at in $moments; do
    [ "$at" -le "${last:-0}" ] || at=${last:-0}
    "$yawara" render "$run" -o "$run.$at.png" --from "$at" --to "$at" --size "${CELL:-240x180}" \
      --samples "${SAMPLES:-16}" -q >>"$run.log" 2>&1 && pictures+=("$run.$at.png")
  done
  if [ ${#pictures[@]} -eq 0 ]; then
    echo "$name, $column: failed, $(tail -n 1 "$run.log")" >"$run.txt"
    montage -size "${CELL:-240x180}" xc:white "$run.png"
  else
    montage "${pictures[@]}" -tile "${#pictures[@]}x1" -geometry +0+0 "$run.png"
    echo "$name, $column$([ "${last:-0}" -ge "$frame" ] || echo " (stopped at frame $last of $frame)")" >"$run.txt"
  fi
  echo "$(cat "$run.txt"): $((SECONDS - began)) s"
}

cells=()
for model in "${models[@]}"; do
  for column in $columns; do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
    make_cell "$model" "$column" &
  done
done
wait
failed=0
for model in "${models[@]}"; do
  for column in $columns; do
    cell=$runs/$(basename "${model%.*}")_${column/:/_}
    grep -q ': failed' "$cell.txt" && failed=$((failed + 1))
    cells+=(-label "$(cat "$cell.txt")" "$cell.png")
  done
done
montage "${cells[@]}" -tile "$(wc -w <<<"$columns")x" -geometry +3+3 -pointsize 11 "$out"
echo "wrote $out"
[ $failed -eq 0 ]
