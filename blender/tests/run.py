# SPDX-License-Identifier: MIT
"""Runs all tests in Blender: blender -b --factory-startup --python run.py [-- WORD], WORD in a test's name."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_bakes  # noqa: E402
import check_files  # noqa: E402
import check_sources  # noqa: E402
import support  # noqa: E402

word = sys.argv[sys.argv.index("--") + 1] if "--" in sys.argv else ""
runner = support.Runner()
runner.run([test for module in (check_bakes, check_sources, check_files) for test in module.TESTS
            if word in test.__name__])
shutil.rmtree(support.WORK, ignore_errors=True)
# Blender itself may end with an error of its own after the tests.
sys.stdout.flush()
os._exit(1 if runner.failed else 0)
