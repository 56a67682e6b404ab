# Completion of yawara in bash. The program itself says what there is.
_yawara() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
  local IFS=$' \t\n' name argument choices
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "$("$program" --help=commands 2>/dev/null | cut -f1) --help --version" -- "$word"))
    return
  fi
  local options
  options=$("$program" "${COMP_WORDS[1]}" --help=options 2>/dev/null)
  if [ "${word:0:1}" = - ]; then
    COMPREPLY=($(compgen -W "$(cut -f1 <<<"$options")" -- "$word"))
    return
  fi
  # Empty columns count: a tab would be skipped as white space.
  while IFS='|' read -r name argument choices _; do
    if [ "$name" = "$before" ] && [ -n "$choices" ]; then
      COMPREPLY=($(compgen -W "$choices" -- "$word"))
      return
    fi
  done < <(tr '\t' '|' <<<"$options")
  local names=
  [ "${COMP_WORDS[1]}" = bench ] && names=$("$program" bench --list 2>/dev/null | awk '{ print $1 }')
  [ "${COMP_WORDS[1]}" = paper ] && names=$("$program" paper 2>/dev/null | awk '/^  / { print $1 }')
  [ -n "$names" ] && COMPREPLY=($(compgen -W "$names" -- "$word"))
  [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null || true
}
complete -F _yawara yawara
