"""The notebooks of python/examples run from the first cell to the last."""

import os
import pathlib

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_runs_to_its_end(path):
    program = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
    if not (program.parent / "attend-train").exists():
        pytest.skip("this build has no attend-train")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "a notebook is kept without what it printed"
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3")
    client.execute(env=os.environ | {"ATTEND_PROGRAM": str(program)})
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "are right" in printed
