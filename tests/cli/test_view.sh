#!/usr/bin/env bash
# yawara view: what it refuses, and that it serves and ends. The page itself is tested in tests/web.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

mkdir page
echo '<title>page</title>' >page/index.html
echo 'hidden' >secret.html
ln -s ../secret.html page/link.html
echo '{ "floor": true, "bodies": [ { "shape": { "box": { "size": 1 } }, "position": [0, 2, 0] } ] }' >box.json
echo '{ "bodies": [ { "shape": { "box": { "size": -1 } } } ] }' >bad.json

"$yawara" view --page page --no-open >address.txt 2>&1 &
server=$!
for _ in $(seq 100); do
  [ -s address.txt ] && break
  sleep 0.1
done
if grep -q 'without libwebsockets' address.txt; then
  pass "no libwebsockets here: skipped"
  exit 0
fi
address=$(grep -o 'http://[^ ]*' address.txt)
place=${address#http://}
host=${place%%/*}
token=/${place#*/}

# answers NAME "PATTERN" PATH: the answer to a request matches.
answers() {
  local said
  exec 3<>"/dev/tcp/127.0.0.1/${host#*:}"
  printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$3" "$host" >&3
  said=$(timeout 5 cat <&3)
  exec 3<&-
  if grep -qE -- "$2" <<<"$said"; then pass "$1"; else flunk "$1" "the answer lacks /$2/: $said"; fi
}
answers "the page is served" '^HTTP/1.1 200' "$token"
answers "with what threads need" 'cross-origin-embedder-policy: require-corp' "$token"
answers "not without the token" '^HTTP/1.1 403' /index.html
answers "no links out of its folder" '^HTTP/1.1 403' "${token}link.html"
same "it listens on this machine only" "${host%:*}" 127.0.0.1
kill -INT "$server"
wait "$server"
same "Ctrl-C ends it" "code $?" "code 0"

refuses "a file that is not there" 'there is no such file' "$yawara" view none.json --page page
refuses "a folder that is no run" 'is not a run' "$yawara" view page --page page
refuses "a page that is not there" 'is not the folder of the page' "$yawara" view box.json --page .
refuses "live without a scene" 'name a scene' "$yawara" view --live --page page
refuses "live of a bad scene" 'bad.json:1:[0-9]+: bodies\[0\]' "$yawara" view --live bad.json --page page
refuses "options of movies" 'are for movies' "$yawara" view box.json --size 64x36 --page page
refuses "options of models" 'are for models' "$yawara" view box.json --as jelly --page page
refuses "an address of somebody else" 'cannot listen at' "$yawara" view --host 192.0.2.1 --page page --no-open
finish
