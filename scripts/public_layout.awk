# Turns public headers into a C program that prints the layout of every struct (type, offset and size
# of its members), the value of every enumerator, and the declarations of functions.
# usage: cat include/yawara/*.h | awk -f scripts/public_layout.awk > layout.c
function print_text(text) {
  gsub(/["\\]/, "\\\\&", text)
  printf "  puts(\"%s\");\n", text
}

# One declaration of a struct: "float x, y", "const int32_t* tets", "void (*run)(void*)".
function print_members(type, text,   names, count, i, name, declared) {
  if (text ~ /\(\*/) {
    name = text
    sub(/^[^(]*\(\*/, "", name)
    sub(/\).*$/, "", name)
    print_member(type, name, text)
    return
  }
  count = split(text, names, ",")
  for (i = 1; i <= count; i++) {
    name = names[i]
    sub(/\[.*$/, "", name)
    sub(/^.*[ *]/, "", name)
    if (i == 1) {
      declared = names[1]
      sub(/[ *]*[a-z0-9_]+(\[[^]]*\])?$/, "", declared)
    }
    print_member(type, name, i == 1 ? names[1] : declared names[i])
  }
}

function print_member(type, name, text) {
  gsub(/"/, "", text)
  printf "  printf(\"%s.%s at %%zu, %%zu bytes: %s\\n\", offsetof(%s, %s), sizeof(((%s*)0)->%s));\n",
    type, name, text, type, name, type, name
}

function print_struct(text,   type, body, parts, count, i) {
  type = text
  sub(/^typedef struct /, "", type)
  sub(/ .*$/, "", type)
  body = text
  sub(/^[^{]*\{/, "", body)
  sub(/\}[^}]*$/, "", body)
  count = split(body, parts, ";")
  for (i = 1; i <= count; i++) {
    gsub(/^ +| +$/, "", parts[i])
    if (parts[i] != "") print_members(type, parts[i])
  }
  printf "  printf(\"%s has %%zu bytes\\n\", sizeof(%s));\n", type, type
}

function print_enum(text,   parts, count, i, name) {
  sub(/^[^{]*\{/, "", text)
  sub(/\}.*$/, "", text)
  count = split(text, parts, ",")
  for (i = 1; i <= count; i++) {
    name = parts[i]
    sub(/=.*$/, "", name)
    gsub(/ /, "", name)
    if (name != "") printf "  printf(\"%s is %%d\\n\", (int)%s);\n", name, name
  }
}

BEGIN { print "#include <stdio.h>\n#include <yawara/yawara.h>\nint main(void) {" }
/^#/ { in_directive = /\\$/; next }
in_directive { in_directive = /\\$/; next }
/^(extern "C" \{|\})$/ { next }
{
  sub(/\/\/.*$/, "")
  statement = statement " " $0
  open += gsub(/\{/, "{") - gsub(/\}/, "}")
  if (open > 0 || statement !~ /; *$/) next
  gsub(/[ \t]+/, " ", statement)
  gsub(/^ | $/, "", statement)
  if (statement ~ /^typedef struct [a-z0-9_]+ \{/) print_struct(statement)
  else if (statement ~ /^typedef enum /) print_enum(statement)
  else if (statement != ";") print_text(statement)
  statement = ""
}
END { print "  return 0;\n}" }
