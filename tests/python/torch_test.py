# SPDX-License-Identifier: BSD-2-Clause
"""The example with PyTorch: its gradient has the bits of torch's own backward."""
import os
import sys

import anadrome
import pytest
import torch

sys.path.insert(0, os.path.join(os.environ["ANADROME_TEST_SOURCES"], "examples", "python"))
import loop_torch  # noqa: E402


@pytest.mark.parametrize("steps", [0, 1, 60])
def test_the_gradient_is_that_of_torch(steps, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored, own = (loop_torch.gradient(5000, steps, memory) for memory in ("256KiB", None))
    assert stored[0] == own[0]
    for mine, theirs in zip(stored[1:], own[1:]):
        assert (mine is None and theirs is None) or torch.equal(mine, theirs)


def test_states_go_to_disk(tmp_path):
    x = torch.rand(5000, dtype=torch.float64, requires_grad=True)
    with anadrome.Store(memory="256KiB", directory=tmp_path) as store:
        loop_torch.StoredLoop.apply(store, lambda x: 0.5 * x, 60, x).sum().backward()
        assert store.statistics().bytes_read > 0
    assert torch.equal(x.grad, torch.full_like(x, 0.5**60))
