#!/usr/bin/env bash
# One picture of many models: a row per model, a column per word or method, nothing else given.
# usage: scripts/model_gallery.sh FOLDER [OUT.png|OUT.jpg]    models: .obj, .ply, .stl, .gltf, .glb, .ele
# Runs stay beside the picture, so that a second call only draws; remove them to simulate again.
#   YAWARA         the program (build/yawara)
#   COLUMNS_OF     words, or method:word ("jelly frames:jelly fem:jelly rubber foam toy steel clay cloth")
#   MOMENTS        frames that a cell shows side by side ("75")
#   SECONDS_EACH   a run that takes longer is shown as far as it came, and its label says so (300)
#   CELL, SAMPLES  size of a picture in pixels (240x180), and samples per pixel (16)
#   JOBS           runs at once (1)
set -uo pipefail
folder=${1:?usage: scripts/model_gallery.sh FOLDER [OUT.png|OUT.jpg]}
out=${2:-out/model_gallery.png}
yawara=${YAWARA:-$(dirname "$0")/../build/yawara}
columns=${COLUMNS_OF:-jelly frames:jelly fem:jelly rubber foam toy steel clay cloth}
moments=${MOMENTS:-75}
frame=${moments##* }
runs=${out%.*}
command -v ffmpeg >/dev/null || { echo "needs ffmpeg"; exit 2; }
mkdir -p "$runs" || exit 2

shopt -s nullglob nocaseglob
models=("$folder"/*.obj "$folder"/*.ply "$folder"/*.stl "$folder"/*.gltf "$folder"/*.glb "$folder"/*.ele)
[ ${#models[@]} -gt 0 ] || { echo "$folder has no .obj, .ply, .stl, .gltf, .glb or .ele"; exit 2; }
font=$(find /usr/share/fonts -name DejaVuSans.ttf 2>/dev/null | head -n 1)

# tile hstack|vstack OUT IN...: pictures side by side, or below each other.
tile() {
  local how=$1 to=$2 from=() picture
  shift 2
  [ $# -gt 1 ] || { ffmpeg -y -loglevel error -i "$1" -q:v 2 "$to" </dev/null; return; }
  for picture in "$@"; do from+=(-i "$picture"); done
  ffmpeg -y -loglevel error "${from[@]}" -filter_complex "$how=inputs=$#" -frames:v 1 -q:v 2 "$to" </dev/null
}
# label PICTURE TEXTFILE: writes the text below the picture.
label() {
  local text=''
  [ -n "$font" ] && text=",drawtext=fontfile=$font:textfile='$2':fontsize=10:x=4:y=h-14:fontcolor=black"
  ffmpeg -y -loglevel error -i "$1" -vf "pad=iw+4:ih+18:2:2:white$text" -frames:v 1 "${1%.png}.labelled.png" </dev/null
}

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
    ffmpeg -y -loglevel error -f lavfi -i "color=white:size=${CELL:-240x180}" -frames:v 1 "$run.png" </dev/null
  else
    tile hstack "$run.png" "${pictures[@]}"
    echo "$name, $column$([ "${last:-0}" -ge "$frame" ] || echo " (stopped at frame $last of $frame)")" >"$run.txt"
  fi
  echo "$(cat "$run.txt"): $((SECONDS - began)) s"
}

for model in "${models[@]}"; do
  for column in $columns; do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
    make_cell "$model" "$column" &
  done
done
wait
failed=0
rows=()
for model in "${models[@]}"; do
  name=$(basename "${model%.*}")
  cells=()
  for column in $columns; do
    cell=$runs/${name}_${column/:/_}
    grep -q ': failed' "$cell.txt" && failed=$((failed + 1))
    label "$cell.png" "$cell.txt" && cells+=("$cell.labelled.png")
  done
  tile hstack "$runs/$name.row.png" "${cells[@]}" && rows+=("$runs/$name.row.png")
done
tile vstack "$out" "${rows[@]}"
echo "wrote $out"
[ $failed -eq 0 ]
