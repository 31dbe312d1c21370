# SPDX-License-Identifier: BSD-2-Clause
"""The notebook of the examples runs from its first cell to its last, and shows what is stored in it. On one rank."""
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TOUR = Path(os.environ["ANADROME_TEST_SOURCES"], "examples/python/tour.ipynb")


def outputs(cell):
    """What a cell shows, by kind."""
    return {kind: text for output in cell.outputs for kind, text in output.get("data", {}).items()}


def test_the_tour(directory, without_mpirun):
    notebook = nbformat.read(TOUR, as_version=4)
    stored = [outputs(cell) for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(directory)}}).execute()  # raises what a cell raises
    shown = [outputs(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert "sign" in shown[2]["text/plain"] and "step 3" in shown[2]["text/plain"]
    assert "recompute" in shown[3]["text/html"]
    assert "<svg" in shown[4]["text/html"]
    assert [set(cell) for cell in stored] == [set(cell) for cell in shown]
    assert stored[4]["text/html"] == shown[4]["text/html"]
