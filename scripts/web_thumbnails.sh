#!/usr/bin/env bash
# Draws the thumbnails of the page's gallery into web/static/thumbs. They are kept in the repository because this takes
# minutes. usage: scripts/web_thumbnails.sh [SCENE...]
set -euo pipefail
cd "$(dirname "$0")/.."
out=web/static/thumbs
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The frame with the most to see; 45 unless listed.
declare -A moments=([bowling]=100 [buggy]=60 [cake]=60 [carrot]=36 [chocolate]=40 [glaze]=12 [torn_jelly]=60 [drape]=60 [fishing_rod]=40 [frog]=90 [ice_cream]=150 [materials]=60 [nails]=70
  [bristle]=60 [creases]=330 [curls]=110 [leaf]=200 [rope]=60 [teddy]=70 [trampoline]=50 [twist]=28)
[ $# -gt 0 ] || set -- $(basename -s .json scenes/gallery/*.json)
for scene; do
  frame=${moments[$scene]:-45}
  build/yawara render "scenes/gallery/$scene.json" -q -o "$work/$scene.png" --from "$frame" --to "$frame" --size 480x320
  ffmpeg -v error -y -i "$(find "$work" -name "$scene*.png")" -vf scale=240:160:flags=lanczos -c:v libwebp -quality 70 \
    "$out/$scene.webp"
done
