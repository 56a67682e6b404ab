#!/usr/bin/env bash
# A release: the sources of the last commit, their checksum, and what the program is linked with.
# usage: scripts/dist.sh [FOLDER]      (default: out/dist); the same commit gives the same bytes
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-out/dist}
number() { sed -n "s/^#define YW_VERSION_$1 //p" include/yawara/base.h; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
mkdir -p "$folder"
git archive --format=tar --prefix="yawara-$version/" HEAD | gzip -9n >"$folder/yawara-$version.tar.gz"
(cd "$folder" && sha256sum "yawara-$version.tar.gz" >"yawara-$version.tar.gz.sha256")
python3 scripts/write_sbom.py "$version" build/yawara build/yawara-studies build/libyawara*.so \
  >"$folder/yawara-$version.spdx.json"
ls -l "$folder"
