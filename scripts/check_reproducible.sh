#!/usr/bin/env bash
# Two builds of the last commit, in folders of different names, install the same bytes. Takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for name in one another/folder; do
  mkdir -p "$place/$name"
  git archive HEAD | tar -x -C "$place/$name"
  (
    cd "$place/$name"
    export CCACHE_DISABLE=1
    scripts/configure.sh build >/dev/null
    DESTDIR=$place/$name/staged cmake --install build --prefix /usr >/dev/null
  )
done
(cd "$place" && diff -rq one/staged another/folder/staged)
echo "the same bytes twice: $(find "$place/one/staged" -type f | wc -l) files," \
  "program $(sha256sum <"$place/one/staged/usr/bin/yawara" | cut -c1-16)"
