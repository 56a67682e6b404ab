#!/usr/bin/env bash
# Installs the packages needed to build, test or run the demo with apt; if it cannot, lists them.
# usage: scripts/setup.sh build|demo|test|web|blender
set -euo pipefail

build=(gcc g++ libc6-dev make cmake ninja-build pkg-config)
pictures=(libembree-dev libpng-dev librsvg2-dev fonts-dejavu-core libopenvdb-dev libboost-dev ffmpeg)
files=(zlib1g-dev liblz4-dev liblzma-dev)
server=(libwebsockets-dev)
ranks=(libopenmpi-dev openmpi-bin)
tests=(clang libclang-rt-14-dev clang-format clang-tidy python3 libcmocka-dev libbullet-dev calculix-ccx python3-meshio python3-vtk9 python3-gmsh slurm-wlm munge)
python=(python3-numpy python3-scipy python3-matplotlib python3-pandas python3-pip)

page=(emscripten chromium)
# Node.js often comes from elsewhere than Debian, with npm in it.
command -v node >/dev/null 2>&1 || page+=(nodejs)
command -v npm >/dev/null 2>&1 || page+=(npm)

case "${1:-build}" in
  build) wanted=("${build[@]}") ;;
  demo) wanted=("${build[@]}" "${pictures[@]}" "${files[@]}" "${server[@]}") ;;
  test) wanted=("${build[@]}" "${pictures[@]}" "${files[@]}" "${server[@]}" "${ranks[@]}" "${tests[@]}" "${python[@]}") ;;
  web) wanted=("${page[@]}" "${server[@]}") ;;
  blender) wanted=(blender) ;;
  *) echo "usage: scripts/setup.sh build|demo|test|web|blender" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "This is not a Debian system, so nothing is installed. The packages needed are, by their Debian names:"
  echo "  ${wanted[*]}"
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [ "${state:0:2}" = ii ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  run=()
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  run=(sudo -n)
else
  echo "Missing packages. Please run as root, then try again:" >&2
  echo "  apt-get update && $install" >&2
  exit 1
fi
log=$(mktemp)
echo "Installing ${#missing[@]} packages: ${missing[*]}"
if ! { "${run[@]}" apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${run[@]}" env DEBIAN_FRONTEND=noninteractive $install; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "Installing failed. The command was: $install" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
