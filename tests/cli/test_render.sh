#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures and movies of runs and scenes.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
if "$yawara" render nothing 2>&1 | grep -q "libembree-dev"; then
  echo "built without Embree: no pictures to test"
  exit 0
fi
scene=$root/scenes/gallery/first.json
check "a run to look at" "$yawara" run "$scene" -o run --frames 12 -q
check "a picture of one frame" "$yawara" render run -o one.png --from 6 --to 6 --size 160x90 -q
check "that is a PNG" grep -q PNG one.png
check "numbered pictures" "$yawara" render run -o many.png --every 6 --size 160x90 -q
same "one per frame" "$(ls many_*.png | tr '\n' ' ')" "many_0000.png many_0006.png many_0012.png "
check "a scene while it is simulated" "$yawara" render "$scene" -o live.png --from 6 --to 6 --size 160x90 -q
same "shows the same" "$(md5sum <live.png)" "$(md5sum <one.png)"
check "one thread" "$yawara" render run -o single.png --from 6 --to 6 --size 160x90 -q --threads 1
same "draws the same" "$(md5sum <single.png)" "$(md5sum <one.png)"
if command -v ffmpeg >/dev/null 2>&1; then
  check "a movie" "$yawara" render run -o movie.mp4 --size 160x90 -q
  frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 movie.mp4)
  same "with all frames" "$frames" 13
fi

# Pictures that tasks share are those of one task, and are drawn once.
share() { "$yawara" render run --every 6 --size 160x90 -q "$@"; }
check "a share of the pictures" share -o film.png --task 2/2
same "is every second one" "$(ls film_pictures)" "$(printf '0006.png\npictures.txt')"
before=$(stat -c %y film_pictures/0006.png)
check "the rest, in two processes" share -o film.png --wedge 2
same "draws what is missing" "$(ls film_pictures | tr '\n' ' ')" "0000.png 0006.png 0012.png pictures.txt "
same "and nothing twice" "$before" "$(stat -c %y film_pictures/0006.png)"
same "pictures as by one task" "$(cat many_*.png | md5sum)" "$(cat film_pictures/*.png | md5sum)"
refuses "other pictures in that folder" "\"size 80x60.*Delete it|size 160x90.*Delete it" share -o film.png --task 1/2 --size 80x60
check "command lines for others" share -o listed.png --wedge 2 --list
share -o listed.png --wedge 2 --list | bash
same "that draw all of them" "$(cat many_*.png | md5sum)" "$(cat listed_pictures/*.png | md5sum)"
share -o array.png --wedge=3 --slurm >array.sh
check "a script for Slurm" grep -q -- '--array=1-3' array.sh
for i in 1 2 3; do SLURM_ARRAY_TASK_ID=$i bash array.sh; done
same "that draws all of them" "$(cat many_*.png | md5sum)" "$(cat array_pictures/*.png | md5sum)"
refuses "a scene that is shared" "is a file: run it first" "$yawara" render "$scene" -o x.png --wedge 2
refuses "lists of no tasks" "need --wedge" share -o x.png --list
refuses "shares that are none" "must be K/N" share -o x.png --task 3/2
if command -v ffmpeg >/dev/null 2>&1; then
  check "a movie by tasks" share -o shared.mp4 --wedge 2
  frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 shared.mp4)
  same "with all of their pictures" "$frames" 3
  before=$(stat -c %y shared.mp4)
  check "the same once more" share -o shared.mp4 --wedge 2
  same "is there already" "$before" "$(stat -c %y shared.mp4)"
  before=$(stat -c %y shared_pictures/0006.png)
  check "at another rate" share -o shared.mp4 --wedge 2 --fps 5
  rate=$(ffprobe -v error -show_entries stream=r_frame_rate -of csv=p=0 shared.mp4)
  same "it is made again" "$rate" 5/1
  same "of the same pictures" "$before" "$(stat -c %y shared_pictures/0006.png)"
fi

check "colours by a field" "$yawara" render "$scene" -o speed.png --from 6 --to 6 --size 160x90 -q --color-by speed
check "with a given range" "$yawara" render "$scene" -o range.png --from 6 --to 6 --size 160x90 -q --color-by speed --color-range 0:9
if cmp -s speed.png one.png || cmp -s speed.png range.png; then flunk "colours show" "the same picture"; else pass "colours show"; fi
check "a run with a field" "$yawara" run "$scene" -o fields --frames 12 -q --fields speed
check "colours of a run" "$yawara" render fields -o kept.png --from 6 --to 6 --size 160x90 -q --color-by speed
same "are those of the scene" "$(md5sum <kept.png)" "$(md5sum <speed.png)"
refuses "a field that the run has not" "run the scene again with --fields speed" "$yawara" render run -o x.png -q --color-by speed
refuses "a field that no body has" "there are: speed" "$yawara" render "$scene" -o x.png -q --color-by stress
refuses "a range that is none" "must be LOW:HIGH" "$yawara" render "$scene" -o x.png -q --color-by speed --color-range 3:1
refuses "a range without a field" "needs --color-by" "$yawara" render "$scene" -o x.png -q --color-range 0:1
refuses "a frame that is not there" "last frame" "$yawara" render run -o x.png --to 99
refuses "other values for a run" "needs another run of the scene" "$yawara" render run -o x.png --set fps=3
refuses "a size that is none" "must be WIDTHxHEIGHT" "$yawara" render run -o x.png --size big
refuses "an ending that is unknown" "x.abc" "$yawara" render run -o x.abc -q
refuses "a folder that is not there" "nowhere" "$yawara" render run -o nowhere/x.png --from 1 --to 1 -q
refuses "a folder that is no run" "run.json" "$yawara" render "$root/scenes" -o x.png
# A body that looks forwards, and the same turned around, to see whose face the camera goes around it.
python3 - <<'MODELS'
for sign, name in ((1, "front"), (-1, "back")):
    with open(name + ".obj", "w") as file:
        for n, (low, high) in enumerate((((-.3, 0, -.5), (.3, .4, .5)), ((-.2, .3, .45), (.2, .9, .8)))):
            for i in range(8):
                p = [(high if i >> k & 1 else low)[k] for k in range(3)]
                file.write("v %g %g %g\n" % (sign * p[0], p[1], sign * p[2]))
            for f in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)):
                file.write("f %d %d %d %d\n" % tuple(v + 1 + 8 * n for v in f))
MODELS
for name in front back; do
  check "a run of the $name" "$yawara" run $name.obj --as jelly -n 1 -q -o run_$name
  check "its picture" "$yawara" render run_$name -o $name.png --from 0 --to 0 --size 80x60 --samples 8 -q
done
read -r front back <<<"$(python3 "$root/tests/support/brightness.py" front.png back.png | tr '\n' ' ')"
same "the sun goes around with the camera" \
  "$(awk -v a="$front" -v b="$back" 'BEGIN {print (a / b > 0.96 && a / b < 1.04) ? "lit" : a " and " b}')" lit
check "a picture from elsewhere" "$yawara" render run_back -o side.png --from 0 --to 0 --size 80x60 --samples 8 -q --set camera.azimuth=28
check "with the sun where it is" "$yawara" render run_back -o sun.png --from 0 --to 0 --size 80x60 --samples 8 -q --set sun.direction=[1,2,1]
same "nothing is left behind" "$(find . -name '*tmp*' -o -name 'x.*' | wc -l)" 0
finish
