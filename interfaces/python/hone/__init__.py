"""Autotuned kernels for high-order and stencil codes, on NumPy, CuPy and PyTorch arrays.

    import hone, numpy

    session = hone.Session("cpu")
    kernel = session.kernel("gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96")
    u, f, stencil = arrays = [numpy.zeros(a.extents, a.dtype) for a in kernel.arguments]
    sweep = kernel.bind(*arrays)
    sweep.run(100)

What is wrong with an array raises TypeError or ValueError, what hone or the machine refuses hone.Error; either says where, what and what to do.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _hone
from ._hone import Argument, BoundKernel, Error, Kernel, Online
from .progress import ProgressLine
from .results import Importance, ask_program, journal_frame, read_journal, simulate

__all__ = [
    "Argument",
    "BoundKernel",
    "Error",
    "Importance",
    "Kernel",
    "Online",
    "Session",
    "TuningResult",
    "devices",
    "journal_frame",
    "read_journal",
    "simulate",
    "tune_kernel",
]
__version__ = _hone.version()

Progress = Callable[[dict], Any]
Path = Union[str, "os.PathLike[str]"]


def devices() -> List[Dict[str, Any]]:
    """The devices of this machine that hone can use: a dict for each with `id` (what `Session` takes), `name`, `architecture`, `memory_bytes`,
    `limits` and the other members of 'hone devices --json'."""
    return json.loads(_hone._devices_json())["devices"]


class TuningResult(dict):
    """What a tuning run found: `configuration`, `seconds` (the median of its step), `safe_seconds` (of the untuned safe configuration in the same
    run, 0 if it could not be measured), `evaluations`, `elapsed` and `interrupted`."""

    @property
    def gain(self) -> float:
        """Time of the safe configuration over time of the winner; 0 if it was not measured."""
        return self["safe_seconds"] / self["seconds"]


class Session(_hone.Session):
    """A device with the tuned results that are known for it.

    `device` is "best", "cpu", "cuda" or "cuda:1". `database` is a folder of tuned results, which must be there and is then read and written alone;
    without it HONE_DB, this user's folder and what ships with hone are read. `cache` is the folder of compiled code. `kernels` are kernel folders of your own
    (docs/your-own-kernel.md), one or several; without it those in HONE_KERNELS. `first_use` says what happens when a problem that nobody tuned is used
    first: "predicted", what other results suggest runs; "measured", several suggestions are verified and timed for `first_use_seconds`, and the best is
    kept. Without it HONE_FIRST_USE says, else "predicted". May be used from several threads, and in a `with` statement.
    """

    def __init__(
        self,
        device: str = "best",
        database: Optional[Path] = None,
        cache: Optional[Path] = None,
        kernels: Union[Path, Sequence[Path], None] = None,
        first_use: Optional[str] = None,
        first_use_seconds: float = 2,
    ) -> None:
        if kernels is None:
            folders = [folder for folder in os.environ.get("HONE_KERNELS", "").split(":") if folder]
        else:
            folders = [os.path.abspath(folder) for folder in ([kernels] if isinstance(kernels, (str, os.PathLike)) else kernels)]
        for folder in folders:
            if ":" in folder:
                raise ValueError(f"kernels: {folder} has a colon in its name; move it: folders are listed with colons between them")
        super().__init__(
            device,
            None if database is None else os.fspath(database),
            None if cache is None else os.fspath(cache),
            ":".join(folders),
            first_use,
            first_use_seconds,
        )
        self._kernels = folders

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.device}: {self.name}>"

    def tune(
        self,
        problem: str,
        seconds: float = 0,
        evaluations: int = 0,
        *,
        strategy: Optional[str] = None,
        objective: Optional[str] = None,
        only: Optional[str] = None,
        seed: int = 0,
        resume: bool = False,
        progress: Union[Progress, bool, None] = None,
    ) -> TuningResult:
        """Tunes a problem within a time or a number of candidates (neither: a minute) and keeps the result, which `kernel` gives from then on.

        `progress` is called with a dict after every candidate: `configuration`, `status` ("measured", or what became of it), `seconds`, `best`,
        `best_seconds`, `elapsed`, `members`, `evaluations`, `finals`. If it returns what is true, the run ends with the best so far; what it raises
        comes out of here. True shows a line on standard error. Ctrl-C ends the run, too; `resume` goes on with it. The other options are those of
        'hone tune'.
        """
        line = ProgressLine(seconds, evaluations) if progress is True else None
        listener = line or (progress or None)
        try:
            return TuningResult(self._tune(problem, seconds, evaluations, strategy, objective, only, seed, resume, listener))
        finally:
            if line is not None:
                line.end()

    def families(self) -> List[Dict[str, Any]]:
        """The families that the session knows, with those of its kernel folders: a dict for each with `name`, `summary`, `example` (a problem) and
        `parameters`. A parameter has a `name`, a `help` and what is allowed: `words`, or `low` and `high`."""
        return json.loads(self._families_json())["families"]

    def problems(self, family: Optional[str] = None) -> List[Dict[str, Any]]:
        """The problems with a tuned result for the session's device model, of one family or of all: a dict for each with `problem`, the `grade`
        that `kernel` gives it, and the `seconds` that its configuration took per time step when it was measured."""
        return json.loads(self._problems_json(family))["problems"]

    def records(self, problem: Optional[str] = None, frame: bool = False) -> Any:
        """The tuned results that the session knows: of a problem at all sizes, or all. A list of dicts as in the database's files
        (tuning_db/schema/), or with `frame` a pandas.DataFrame with a column for each of their members, such as step_seconds.median."""
        records = json.loads(self._records_json(problem))
        if not frame:
            return records
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("records(frame=True): pandas is not here; 'pip install pandas', or leave out frame") from missing
        return pandas.json_normalize(records)

    def journals(self, problem: Optional[str] = None) -> list:
        """The files of the searches that lie in `results`: all, or those of a problem on this device's model, the latest last."""
        files = sorted((pathlib.Path(self.results) / "journals").glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
        if problem is None:
            return files
        wanted = self.kernel(problem).problem
        return [file for file in files if (run := _head(file)).get("problem") == wanted and run["device"]["name"] == self.name]

    def journal(self, problem: str, frame: bool = False) -> Any:
        """The latest search of a problem (`read_journal`), or with `frame` a pandas.DataFrame with a row for each candidate (`journal_frame`)."""
        journal = read_journal(self._latest(problem))
        return journal_frame(journal) if frame else journal

    def importance(self, problem: str) -> Importance:
        """Which tunables mattered in the latest search of a problem. A notebook shows it as a chart."""
        document = ask_program("explain", "--journal", os.fspath(self._latest(problem)), kernels=self._kernels)
        search = document["search"]
        return Importance(document["problem"], search.get("explained"), search.get("effects", []))

    def _latest(self, problem: str) -> pathlib.Path:
        files = self.journals(problem)
        if not files:
            raise Error(f"{problem}: there is no journal of a search in {self.results}; tune it first")
        return files[-1]


def _head(file: pathlib.Path) -> dict:
    try:
        with open(file, encoding="utf-8") as lines:
            return json.loads(lines.readline())
    except (OSError, ValueError):
        return {}


from .kernel_tuner import tune_kernel  # noqa: E402  (which makes sessions)
