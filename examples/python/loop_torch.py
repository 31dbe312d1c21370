#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A time loop of PyTorch whose states are in a store: the gradient of torch's own backward, in a memory that does
not grow with the steps.

    loop_torch.py [CELLS] [STEPS] [MEMORY]
"""
import sys

import anadrome
import torch


class StoredLoop(torch.autograd.Function):
    """x_n of x_{k+1} = step(x_k, *parameters). On the way forward torch keeps nothing: each x_k goes to the store.
    On the way back each step runs once more, alone, with torch's graph of that step."""

    @staticmethod
    def forward(ctx, store, step, steps, x, *parameters):
        ctx.store, ctx.step, ctx.steps = store, step, steps
        ctx.save_for_backward(*parameters)
        for k in range(steps):
            store[k] = x.numpy()
            x = step(x, *parameters)
        return x.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, lam):
        parameters = [p.detach().requires_grad_() for p in ctx.saved_tensors]
        gradients = []
        for k in reversed(range(ctx.steps)):
            x = torch.from_numpy(ctx.store[k]).requires_grad_()
            del ctx.store[k]
            with torch.enable_grad():
                then = ctx.step(x, *parameters)
            lam, *parts = torch.autograd.grad(then, (x, *parameters), lam)
            gradients = [a + b for a, b in zip(gradients, parts)] or list(parts)
        return None, None, None, lam, *(gradients or [None] * len(parameters))


def step(x, diffusivity, reaction):
    flow = diffusivity * (x.roll(-1) - x)
    return x + flow - flow.roll(1) + reaction * (x - x**3)


def gradient(cells, steps, memory=None):
    """J = 1/2 |x_n|^2 and its gradient; with torch's own graph of all steps if there is no memory for a store."""
    torch.manual_seed(1)
    x_0 = torch.rand(cells, dtype=torch.float64, requires_grad=True)
    diffusivity = (0.2 * torch.rand(cells, dtype=torch.float64)).requires_grad_()
    reaction = torch.tensor(0.01, dtype=torch.float64, requires_grad=True)
    if memory is None:
        x = x_0
        for _ in range(steps):
            x = step(x, diffusivity, reaction)
        J = 0.5 * (x * x).sum()
        J.backward()
    else:
        with anadrome.Store(memory=memory, name="loop_torch") as store:
            x = StoredLoop.apply(store, step, steps, x_0, diffusivity, reaction)
            J = 0.5 * (x * x).sum()
            J.backward()
    return J.item(), x_0.grad, diffusivity.grad, reaction.grad


if __name__ == "__main__":
    cells, steps = (int(word) for word in (sys.argv[1:3] or ("20000", "200")))
    stored = gradient(cells, steps, sys.argv[3] if len(sys.argv) > 3 else "4MiB")
    print(f"J = {stored[0]:.17g}, dJ/dreaction = {stored[3].item():.17g}")
    print(f"states: {steps * cells * 8 / 2**20:.3g} MiB")
