"""The notebook runs from top to bottom, and shows what it says."""

import json
import pathlib

import hone

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"


def test_the_notebook_runs(monkeypatch):
    monkeypatch.chdir(FOLDER)
    cells = json.loads((FOLDER / "tune_a_kernel.ipynb").read_text(encoding="utf-8"))["cells"]
    names = {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, "it is kept without what it printed"
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)  # pylint: disable=exec-used
    importance = names["importance"]
    assert isinstance(importance, hone.Importance) and "<svg" in importance._repr_svg_()
    assert len(names["journal"]) > 1
