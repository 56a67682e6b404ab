#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs that are killed, or whose disk is full or broken, resume without a lost byte. make soak has
# more of them.
. "$(dirname "$0")/lib.sh"
faults=$(dirname "$yawara")/tests/io_faults.so
[ -n "${YW_TEST_FAST:-}" ] && kills=2 || kills=6
python3 "$root/tests/soak/kill.py" "$yawara" "$faults" $kills || failures=1
finish
