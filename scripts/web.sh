#!/usr/bin/env bash
# Builds the page into out/web: the core with Emscripten, the rest with esbuild.
# usage: scripts/web.sh [--check]      --check: only says whether the tools for it are there
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in emcmake node npm; do
  command -v $tool >/dev/null 2>&1 && continue
  echo "the page needs $tool: scripts/setup.sh web installs it" >&2
  exit 1
done
if [ "${1:-}" = --check ]; then exit 0; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quiet() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }

# Debian keeps the JavaScript packages that Emscripten needs here.
export NODE_PATH=/usr/share/nodejs
if [ ! -f build/wasm/CMakeCache.txt ]; then
  options=()
  if command -v ninja >/dev/null 2>&1; then options+=(-G Ninja); fi
  if command -v ccache >/dev/null 2>&1; then options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi
  quiet emcmake cmake -S . -B build/wasm "${options[@]}" -DYW_BUILD_APP=OFF "-DCMAKE_C_FLAGS=-pthread -msimd128"
fi
quiet cmake --build build/wasm --parallel "$(nproc)"

cd web
if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  quiet npm ci
fi
quiet npx tsc --noEmit
quiet node build.mjs ../build/wasm/core ../out/web
