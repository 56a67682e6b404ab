#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command has a help text and a manual page, and shells can complete its options.
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

"$root/scripts/write_manual.sh" "$yawara" "$work/man"
same "a manual page for each command and one for the program" "$(ls "$work/man" | wc -l)" \
  "$(($("$yawara" --help=commands | wc -l) + 1))"
if command -v groff >/dev/null 2>&1; then
  same "manual pages without faults" "faults:$(groff -man -ww -z "$work"/man/*.1 2>&1)" "faults:"
fi
grep -q -- '\\-\\-max\\-memory' "$work/man/yawara-run.1"
same "the page of run has its options" $? 0

# complete_words WORD...: what bash offers for the last word.
complete_words() {
  COMP_WORDS=("$yawara" "$@") COMP_CWORD=$# COMPREPLY=()
  _yawara
  echo "${COMPREPLY[*]}"
}
. "$root/apps/yawara/completion/yawara.bash"
same "completion of a command" "$(complete_words ren)" render
same "completion of an option" "$(complete_words run cow.obj --max-d)" --max-disk
same "completion of a word" "$(complete_words run cow.obj --as j)" jelly
same "completion of a bench" "$(complete_words bench plas)" plastic
same "no words where a file is meant" "files$(complete_words run xyzzy)" files

# Every command of the help and every format of exports is run by a test of the program.
tested=$(cat "$root"/tests/cli/test_*.sh "$root"/tests/web/*.mjs)
missing=
for command in $("$yawara" --help | sed -nE 's/^  ([a-z]+) {2,}.*/\1/p'); do
  grep -qE "(yawara\"?|[a-z]+) $command( |\$|\")" <<<"$tested" || missing+=" $command"
done
for format in $("$yawara" export --help | sed -nE 's/.*--format LIST +(.*), comma.*/\1/p' | tr -d ,); do
  grep -qE -- "(--format|-f) [a-z0-9,]*\b$format\b" <<<"$tested" || missing+=" $format"
done
same "commands and formats that are not tested" "none$missing" none
finish
