# SPDX-License-Identifier: BSD-2-Clause
"""Models whose states are compressed: Runge-Kutta steps of fourth order, and their adjoints.

A model has the state `q`, the right side of dq/dt, its transposed derivative, and an objective of the last state whose
derivative starts the adjoint. The gradient is that of the first state; of the wave, which is linear, that of the square of its speed."""
import numpy as np


def east(a):
    return np.roll(a, -1, -1)


def west(a):
    return np.roll(a, 1, -1)


def north(a):
    return np.roll(a, -1, -2)


def south(a):
    return np.roll(a, 1, -2)


def laplacian(a):
    return east(a) + west(a) + north(a) + south(a) - 4 * a


def dx(a):
    return 0.5 * (east(a) - west(a))


def dy(a):
    return 0.5 * (north(a) - south(a))


class Model:
    def seed(self):
        """dJ/dq of the last state; J = |q|^2 / 2."""
        return self.q.copy()

    def step(self, again=None):
        q, dt = self.q, self.dt
        k1 = self.slope(q)
        k2 = self.slope(q + 0.5 * dt * k1)
        k3 = self.slope(q + 0.5 * dt * k2)
        k4 = self.slope(q + dt * k3)
        q += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def undo(self):
        self.dt = -self.dt
        self.step()
        self.dt = -self.dt

    def step_back(self, adjoint, gradient):
        """adjoint of q(k + 1) -> that of q(k), where q holds q(k); adds to the gradient of parameters."""
        q, dt = self.q, self.dt
        k1 = self.slope(q)
        q2 = q + 0.5 * dt * k1
        k2 = self.slope(q2)
        q3 = q + 0.5 * dt * k2
        q4 = q + dt * self.slope(q3)
        a4 = self.transposed(q4, dt / 6 * adjoint, gradient)
        a3 = self.transposed(q3, dt / 3 * adjoint + dt * a4, gradient)
        a2 = self.transposed(q2, dt / 3 * adjoint + 0.5 * dt * a3, gradient)
        a1 = self.transposed(q, dt / 6 * adjoint + 0.5 * dt * a2, gradient)
        adjoint += a1 + a2 + a3 + a4


class Wave(Model):
    """Pressure and its rate, in layers of different speeds; the objective is that of a line of receivers."""
    dt, of_parameters = 0.5, True

    def __init__(self, side):
        y, x = np.mgrid[0:side, 0:side] / side
        self.speed = 0.3 + 0.5 * np.floor(5 * y) / 5
        self.q = np.array([np.exp(-800 * ((x - 0.5) ** 2 + (y - 0.25) ** 2)), np.zeros((side, side))])

    def slope(self, q):
        return np.array([q[1], self.speed * laplacian(q[0])])

    def transposed(self, q, a, gradient):
        gradient += a[1] * laplacian(q[0])
        return np.array([laplacian(self.speed * a[1]), a[0]])

    def seed(self):
        adjoint = np.zeros_like(self.q)
        adjoint[0, self.q.shape[1] // 10] = self.q[0, self.q.shape[1] // 10]
        return adjoint


class ShallowWater(Model):
    """Height and momentum; a hill of water that runs apart, with enough diffusion to be stable."""
    dt, of_parameters, g, diffusion = 0.1, False, 1.0, 0.3

    def __init__(self, side):
        y, x = np.mgrid[0:side, 0:side] / side
        height = 1 + 0.3 * np.exp(-60 * ((x - 0.4) ** 2 + (y - 0.6) ** 2)) + 0.05 * np.sin(12 * np.pi * x)
        self.q = np.array([height, np.zeros_like(x), np.zeros_like(x)])

    def slope(self, q):
        h, m, n = q
        pressure = 0.5 * self.g * h * h
        return (self.diffusion * laplacian(q) - dx(np.array([m, m * m / h + pressure, m * n / h])) -
                dy(np.array([n, m * n / h, n * n / h + pressure])))

    def transposed(self, q, a, gradient):
        h, u, v = q[0], q[1] / q[0], q[2] / q[0]
        ax, ay = dx(a), dy(a)
        c = self.g * h
        return self.diffusion * laplacian(a) + np.array([
            (c - u * u) * ax[1] - u * v * ax[2] - u * v * ay[1] + (c - v * v) * ay[2],
            ax[0] + 2 * u * ax[1] + v * ax[2] + v * ay[1],
            u * ax[2] + ay[0] + u * ay[1] + 2 * v * ay[2]])


class Burgers(Model):
    """Waves that steepen to shocks."""
    dt, of_parameters, diffusion = 0.2, False, 0.5

    def __init__(self, side):
        y, x = np.mgrid[0:side, 0:side] / side
        self.q = (0.3 + 0.5 * np.sin(4 * np.pi * x) * np.cos(2 * np.pi * y))[None]

    def slope(self, q):
        flux = 0.5 * q * q
        return self.diffusion * laplacian(q) - dx(flux) - dy(flux)

    def transposed(self, q, a, gradient):
        return self.diffusion * laplacian(a) + q * (dx(a) + dy(a))


class Lorenz96(Model):
    """Chaos: neighbours of 40 numbers and more in a ring."""
    dt, of_parameters, forcing = 0.01, False, 8.0

    def __init__(self, side):
        draw = np.random.default_rng(1)
        self.q = (self.forcing + draw.standard_normal(side * side)).reshape(1, 1, -1)
        for _ in range(300):  # onto the attractor
            self.step()

    def slope(self, q):
        return (east(q) - west(west(q))) * west(q) - q + self.forcing

    def transposed(self, q, a, gradient):
        return (west(a) * west(west(q)) - east(east(a)) * east(q) + east(a) * (east(east(q)) - west(q)) - a)


class Vorticity(Model):
    """Two-dimensional turbulence, spectral."""
    dt, of_parameters, viscosity = 0.004, False, 3e-5

    def __init__(self, side):
        wave = np.fft.fftfreq(side, 1 / side)
        wave[side // 2] = 0  # so that a derivative's transpose is its negative
        self.kx, self.ky = wave[None, : side // 2 + 1] * 1j, wave[:, None] * 1j
        full = np.fft.fftfreq(side, 1 / side)
        square = full[None, : side // 2 + 1] ** 2 + full[:, None] ** 2
        self.square, self.inverse = square, np.where(square > 0, 1 / np.maximum(square, 1), 0)
        draw = np.random.default_rng(2)
        noise = np.fft.rfft2(draw.standard_normal((side, side))) * np.exp(-((np.sqrt(square) - 10) / 4) ** 2)
        field = np.fft.irfft2(noise)
        self.q = (5 * field / np.abs(field).max())[None]

    def back(self, spectrum):
        return np.fft.irfft2(spectrum, s=self.q.shape[1:])

    def slope(self, q):
        w = np.fft.rfft2(q[0])
        stream = self.inverse * w
        u, v = self.back(self.ky * stream), -self.back(self.kx * stream)
        wx, wy = self.back(self.kx * w), self.back(self.ky * w)
        return (-u * wx - v * wy - self.viscosity * self.back(self.square * w))[None]

    def transposed(self, q, a, gradient):
        w, p = np.fft.rfft2(q[0]), -a[0]
        stream = self.inverse * w
        u, v = self.back(self.ky * stream), -self.back(self.kx * stream)
        wx, wy = self.back(self.kx * w), self.back(self.ky * w)
        spectrum = (-self.kx * np.fft.rfft2(u * p) - self.ky * np.fft.rfft2(v * p) -
                    self.inverse * (self.ky * np.fft.rfft2(p * wx) - self.kx * np.fft.rfft2(p * wy)) -
                    self.viscosity * self.square * np.fft.rfft2(a[0]))
        return self.back(spectrum)[None]


MODELS = {"wave": Wave, "shallow water": ShallowWater, "Burgers": Burgers, "Lorenz-96": Lorenz96, "vorticity": Vorticity}
