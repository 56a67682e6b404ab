#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command has a help text.
. "$(dirname "$0")/lib.sh"
check "a version" "$yawara" --version
for command in $("$yawara" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  case $command in yawara) continue ;; esac
  said=$("$yawara" "$command" --help)
  if grep -q "usage: yawara $command" <<<"$said" && grep -q "examples:" <<<"$said"; then
    pass "$command --help shows an example"
  else
    flunk "$command --help shows an example" "$said"
  fi
done
"$yawara" >/dev/null 2>&1
same "no command is an error" $? 2
finish
