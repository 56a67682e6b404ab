// SPDX-License-Identifier: MIT
// A small scene with keys of every kind, to be damaged.
#ifndef YW_TESTS_SUPPORT_VARIED_SCENE_H
#define YW_TESTS_SUPPORT_VARIED_SCENE_H

static const char varied_scene[] =
    "{ // every kind of key once\n"
    "  \"name\": \"f\\u00fczz\", \"gravity\": [0, -9.81, 0], \"fps\": 30, \"duration\": 0.5,\n"
    "  \"camera\": {\"eye\": [0, 1, 5], \"target\": [0, 0, 0], \"fov\": 30},\n"
    "  \"shapes\": {\"ball\": {\"sphere\": {\"radius\": 0.5}}, \"pair\": {\"union\": {\"smooth\": "
    "0.1, \"of\": [\"ball\", {\"use\": \"ball\", \"move\": [0.4, 0, 0]}]}}},\n"
    "  \"models\": {\"m\": {\"mesh\": {\"tets\": {\"shape\": \"pair\", \"size\": 0.4}}, "
    "\"density\": 900,\n"
    "    \"match\": {\"alpha\": 0.5, \"groups\": [{\"shape\": \"ball\", \"label\": 2}]},\n"
    "    \"examples\": [{\"name\": \"t\", \"deform\": [{\"twist\": {\"degrees\": 60}}, {\"move\": "
    "[0, 0, 0.1], \"where\": \"ball\"}]}]}}, /* bodies */\n"
    "  \"bodies\": [{\"model\": \"m\", \"position\": [0, 1, 0], \"rotation\": {\"axis\": \"x\", "
    "\"degrees\": 20}, \"start_pose\": \"t\",\n"
    "    \"pins\": [{\"vertices\": [0], \"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 1, "
    "0]}], \"spring\": {\"stiffness\": 10}}],\n"
    "    \"repeat\": {\"count\": [2, 1, 1], \"spacing\": [2, 0, 0], \"jitter\": 0.1}, \"color\": "
    "\"#102030\"},\n"
    "    {\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": [1, 2, 1], \"cut\": 6}}}],\n"
    "  \"floor\": {\"height\": -1},\n"
    "  \"obstacles\": [{\"shape\": {\"box\": {\"size\": [1, 1, 1], \"rounding\": 0.1}}, \"path\": "
    "{\"keys\": [{\"time\": 0}], \"loop\": true}}]\n"
    "}\n";

#endif
