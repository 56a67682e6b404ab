# SPDX-License-Identifier: MIT
"""Materials: plain words, whose stiffness follows the size of the body, and measured ones."""
import math

from . import stance as standing

GRAVITY = 9.81

# Word: density (kg/m^3), stiffness (modulus over weight per area), Poisson's ratio, damping, yield
# (strain), factors of damping in match and in fem, whether it moves for long, how many times as stiff
# as standing takes (stance.py), methods. As `yawara new --as`.
WORDS = {
    "jelly": (1000, 40, 0.4, 0.8, 0, 0.15, 0.84, True, 6, "match frames fem plastic"),
    "rubber": (1000, 250, 0.45, 0.4, 0, 80, 1, True, 10, "match frames fem plastic"),
    "foam": (30, 80, 0.2, 0.5, 0, 16, 3.2, False, 6, "match frames fem plastic"),
    "toy": (1000, 1000, 0.4, 1, 0, 160, 1, True, 30, "match frames fem plastic"),
    "clay": (1800, 100, 0.4, 8, 0.02, 8, 1, False, 6, "plastic fem match frames"),
    "cloth": (400, 100, 0.3, 2, 0, 1, 1, False, 0, "slender"),
}
# match has Poisson's ratio 0: a floor that holds its foot does not keep it from sagging.
MATCH_STIFFNESS = 1.2
# Legs thinner than this share of the longest side are a tet thick: so many times as stiff in match.
MATCH_LEGS = 1.7
THIN_LEGS = 0.04

# Name: Young's modulus (Pa), Poisson's ratio, density (kg/m^3). As docs/materials.md.
NAMED = {
    "fat": (3.25e3, 0.49, 920), "gelatin": (1e4, 0.49, 1030), "soft_tissue": (1.2e4, 0.49, 1060),
    "foam": (2.8e4, 0.33, 30), "soft_silicone": (6.9e4, 0.49, 1070),
    "silicone": (1.32e6, 0.49, 1030), "rubber": (1.5e6, 0.49, 950), "cork": (1.6e7, 0.05, 170),
    "polyethylene": (7.6e8, 0.42, 950), "nylon": (2.8e9, 0.39, 1140),
    "wood": (1.08e10, 0.37, 450), "aluminium": (7e10, 0.33, 2700), "steel": (2.05e11, 0.29, 7850),
}

# As yawara new --as (starter.c): what needs more than TWO_LEGS to keep its centre above its feet gets
# so many times that, and what does not stand at all so much that it falls as a whole; above LEGS it stands on legs, which particles farther apart than half of their
# thickness cannot hold, and moves this share of its mass to small tets of fem, more if it yields.
TWO_LEGS = 30
LEANS = 15
FALLING = 300
LEGS = 10
LEG_PARTICLES = 2
LEG_MASS = 0.02
DULL_LEG_MASS = 0.05

# What yields bears this many times its own weight.
YIELD_LOADS = 3
# Of plastic bodies: affordable particles, their usual and least distance.
MOST_PARTICLES = 5000
USUAL_SPACING = 1 / 24
FINEST_SPACING = 1 / 100

METHODS = ("match", "frames", "fem", "plastic")


def _number(value):
    return float(f"{value:.6g}")


def own(modulus, ratio, density, method, diagonal):
    """Settings of a method, and the density, for a material given in numbers."""
    if method == "match":
        return {"stiffness": _number(modulus / (density * GRAVITY * diagonal))}, density
    return {"youngs_modulus": _number(modulus), "poissons_ratio": _number(ratio)}, density


def named(name, method, diagonal):
    """The same for a measured material."""
    return own(*NAMED[name][:2], NAMED[name][2], method, diagonal)


def particle_spacing(volume):
    """Distance of particles for a longest side of 1; 0: the usual one."""
    spacing = USUAL_SPACING
    while volume < MOST_PARTICLES * spacing ** 3 and spacing > FINEST_SPACING:
        spacing *= 0.98
    return spacing if volume > 0 and spacing < USUAL_SPACING else 0


def _strength(name, method, legs):
    """Stiffness and yield strain of a word, or what the legs of a body ask for if that is more."""
    stiffness, yield_strain, hold = WORDS[name][1], WORDS[name][4], WORDS[name][8]
    spacing = particle_spacing(legs.volume) or USUAL_SPACING
    thin = legs.stiffness > LEGS and legs.thickness < LEG_PARTICLES * spacing
    if method == "plastic" and thin:
        return stiffness, yield_strain  # they fold whatever they are made of
    stiffness = max(stiffness, hold * (min(legs.stiffness, FALLING) if legs.falls else legs.stiffness))
    if not legs.falls and legs.lean > TWO_LEGS:
        stiffness = max(stiffness, LEANS * legs.lean)
    return stiffness, max(yield_strain, YIELD_LOADS * legs.stress / stiffness) if yield_strain else 0


def word(name, method, length, diagonal, stance=standing.Stance()):
    """The same for a plain word. length: longest side of the body, m; diagonal: of its box; stance:
    what stance.measure says of it."""
    density, _, ratio, damping, _, in_match, in_fem, lasting, _, _ = WORDS[name]
    stiffness, yield_strain = _strength(name, method, stance)
    rate = math.sqrt(GRAVITY / length)
    modulus = stiffness * density * GRAVITY * length
    if method == "match":
        frail = stance.stiffness > LEGS and stance.thickness < THIN_LEGS
        firmer = MATCH_STIFFNESS * (MATCH_LEGS if frail else 1)
        settings = {"youngs_modulus": _number(firmer * modulus),
                    "damping": _number(in_match * damping * rate)}
        return settings, density
    settings = {"youngs_modulus": _number(modulus), "poissons_ratio": ratio}
    if method == "plastic":
        settings.update({"yield_stress": _number(yield_strain * modulus)} if yield_strain
                        else {"flow": "elastic"})
        spacing = particle_spacing(stance.volume)
        if spacing > 0:
            settings["spacing"] = _number(spacing * length)
    elif method == "fem":
        settings.update({"mass_damping": _number(in_fem * damping * rate)})
        if stance.stiffness > LEGS:
            settings["mass_scaling"] = DULL_LEG_MASS if yield_strain else LEG_MASS
        if yield_strain:
            settings.update({"yield": _number(yield_strain), "creep": 100})
    else:
        settings["damping"] = _number(damping * rate)
        if method == "frames" and lasting:
            settings["solver"] = "bdf2"
    return settings, density


def settings(choice, method, length, diagonal, modulus=1e5, ratio=0.3, density=1000,
             stance=standing.Stance()):
    """Settings and density of a choice of the panel: "word:jelly", "named:steel" or "own"."""
    kind, _, name = choice.partition(":")
    if kind == "word":
        return word(name, method, length, diagonal, stance)
    if kind == "named":
        return named(name, method, diagonal)
    return own(modulus, ratio, density, method, diagonal)


def damping_key(method):
    """The method's key for a decay rate, 1/s; None if it has none."""
    return {"fem": "mass_damping", "plastic": None}.get(method, "damping")
