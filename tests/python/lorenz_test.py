# SPDX-License-Identifier: BSD-2-Clause
"""The example examples/lorenz in Python: the same arithmetic in the same order, and so the same bits as in C."""
import json
import os
import subprocess

import anadrome
import numpy as np
import pytest

STEPS = 3000
P = SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
TARGET = (5.0, 5.0, 25.0)
WEIGHT = 1.0 / STEPS
H = min(10.0 * WEIGHT, 0.005)


def slope(x, y, z):
    return SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z


def moved(u, h, k):
    return tuple(a + h * b for a, b in zip(u, k))


def stages(u):
    u2 = moved(u, 0.5 * H, slope(*u))
    u3 = moved(u, 0.5 * H, slope(*u2))
    return u2, u3, moved(u, H, slope(*u3))


def step(u):
    k1, (k2, k3, k4) = slope(*u), (slope(*each) for each in stages(u))
    return moved(u, H / 6.0, (a + 2.0 * (b + c) + d for a, b, c, d in zip(k1, k2, k3, k4)))


def slope_adjoint(u, a, total):
    (x, y, z), (p, q, r) = u, a
    total[0] += (y - x) * p
    total[1] += x * q
    total[2] -= z * r
    return (RHO - z) * q - SIGMA * p + y * r, SIGMA * p - q + x * r, -(x * q) - BETA * r


def adjoint_step(u, lam, by_p):
    u2, u3, u4 = stages(u)
    total = [0.0, 0.0, 0.0]
    sixth, third = (tuple(H / part * a for a in lam) for part in (6.0, 3.0))
    v4 = slope_adjoint(u4, sixth, total)
    v3 = slope_adjoint(u3, moved(third, H, v4), total)
    v2 = slope_adjoint(u2, moved(third, 0.5 * H, v3), total)
    v1 = slope_adjoint(u, moved(sixth, 0.5 * H, v2), total)
    change = [(a + b) + (c + d) for a, b, c, d in zip(v1, v2, v3, v4)]
    change[2] += WEIGHT
    return [a + b for a, b in zip(lam, change)], [a + b for a, b in zip(by_p, total)]


@pytest.mark.parametrize("options", [{"schedule": "store_all", "memory": "1MiB"}, {"schedule": "revolve", "memory": "2KiB"},
                                     {"schedule": "async", "interval": 7, "memory": "16KiB"}])
def test_the_gradient_has_the_bits_of_the_program_in_c(comm, directory, without_mpirun, options):
    result = directory / "c.json"
    subprocess.run([os.environ["ANADROME_TEST_LORENZ"], "--steps", str(STEPS), "--directory", directory, "--json", result, "--quiet"],
                   check=True)
    in_c = json.loads(result.read_text())
    u, z_sum = np.array([1.0, 1.0, 20.0]), 0.0
    with anadrome.Run(comm, directory=directory, **options) as run:
        run.state(u=u)
        for action in run.sweep(STEPS):
            match action:
                case anadrome.Advance(first, last):
                    state = tuple(map(float, u))
                    for _ in range(first, last):
                        if not action.again:
                            z_sum += state[2]
                        state = step(state)
                    u[:] = state
                case anadrome.Turn():
                    lam, by_p = [a - b for a, b in zip(map(float, u), TARGET)], [0.0, 0.0, 0.0]
                    of_last = 0.5 * (lam[0] * lam[0] + lam[1] * lam[1] + lam[2] * lam[2])
                case anadrome.Adjoint():
                    lam, by_p = adjoint_step(tuple(map(float, u)), lam, by_p)
    assert [in_c[f"gradient_{name}"] for name in ("x0", "y0", "z0", "sigma", "rho", "beta")] == [*lam, *by_p]
    assert in_c["objective"] == WEIGHT * z_sum + of_last
