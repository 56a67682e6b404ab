#!/usr/bin/env bash
# Manual pages, from what the program says of itself.
# usage: scripts/write_manual.sh PROGRAM FOLDER
set -euo pipefail
program=$1
mkdir -p "$2"
for command in $("$program" --help=commands | cut -f1); do
  "$program" "$command" --help=man >"$2/yawara-$command.1"
done
"$program" --help=man >"$2/yawara.1"
