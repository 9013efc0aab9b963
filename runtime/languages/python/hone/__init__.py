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
import sys
from typing import Any, Callable, Optional, Union

from . import _hone
from ._hone import Argument, BoundKernel, Error, Kernel, Online

__all__ = ["Argument", "BoundKernel", "Error", "Kernel", "Online", "Session", "TuningResult"]
__version__ = _hone.version()

Progress = Callable[[dict], Any]
Path = Union[str, "os.PathLike[str]"]


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
    without it HONE_DB, this user's folder and what ships with hone are read. `cache` is the folder of compiled code. May be used from several threads,
    and in a `with` statement.
    """

    def __init__(self, device: str = "best", database: Optional[Path] = None, cache: Optional[Path] = None) -> None:
        super().__init__(device, None if database is None else os.fspath(database), None if cache is None else os.fspath(cache))

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
        line = _ProgressLine(seconds, evaluations) if progress is True else None
        listener = line or (progress or None)
        try:
            return TuningResult(self._tune(problem, seconds, evaluations, strategy, objective, only, seed, resume, listener))
        finally:
            if line is not None:
                line.end()

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


class _ProgressLine:
    """A line on standard error that is written over and over."""

    def __init__(self, seconds: float, evaluations: int) -> None:
        self.seconds, self.evaluations = seconds, evaluations

    def __call__(self, progress: dict) -> bool:
        if self.evaluations:
            part = progress["evaluations"] / self.evaluations
        else:
            part = progress["elapsed"] / (self.seconds or 60)
        done = round(20 * min(part, 1))
        best = f", best {1e3 * progress['best_seconds']:.3g} ms" if progress["best"] else ""
        what = "finals" if progress["finals"] else f"{progress['evaluations']} candidates"
        print(f"\r[{'#' * done}{'.' * (20 - done)}] {what}{best}   ", end="", file=sys.stderr, flush=True)
        return False

    def end(self) -> None:
        print(file=sys.stderr)
