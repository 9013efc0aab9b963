"""What tuning left behind: journals of searches, what mattered in them, and searches replayed. Asks the `hone` program that came with the package."""

from __future__ import annotations

import html
import json
import math
import os
import pathlib
import subprocess
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _hone

Path = Union[str, "os.PathLike[str]"]


def ask_program(*words: str, kernels: Sequence[str] = ()) -> Any:
    """The JSON document that 'hone WORDS --json' prints. `kernels` are kernel folders that it shall know. Raises hone.Error with what it says."""
    package = pathlib.Path(__file__).parent
    beside = [place / "bin" / "hone" for place in (package, package.parents[2])]  # as pip installs, and as CMake does below a prefix
    program = os.environ.get("HONE_WORKER") or next((str(file) for file in beside if file.exists()), "hone")
    environment = dict(os.environ)
    if kernels:
        environment["HONE_KERNELS"] = os.pathsep.join(kernels)
    try:
        done = subprocess.run([program, *words, "--json"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as missing:
        raise _hone.Error(f"{program}: {missing}; name the hone program in HONE_WORKER") from missing
    if done.returncode != 0:
        raise _hone.Error(done.stderr.strip() or f"hone {words[0]} ended with status {done.returncode}")
    return json.loads(done.stdout)


def read_journal(file: Path) -> Dict[str, Any]:
    """A search as 'hone tune' and `Session.tune` leave it in journals/: the run's description with `entries`, a list of dicts, one for each event."""
    with open(file, encoding="utf-8") as lines:
        head, *rest = [json.loads(line) for line in lines if line.endswith("\n")]  # the last may be written just now
    if "hone_journal" not in head:
        raise _hone.Error(f"{os.fspath(file)}: it is not a journal; name one of those below journals/ in a folder of results")
    return {**head, "entries": rest}


def journal_frame(journal: Dict[str, Any]) -> Any:
    """A row for each candidate of a search as a pandas.DataFrame: a column for each tunable, `seconds` (nan where it could not be measured), `status`,
    `reason` and `elapsed`."""
    import pandas

    rows = []
    for entry in journal["entries"]:
        if entry["event"] != "candidate":
            continue
        outcome = entry["outcome"]
        row: Dict[str, Any] = {}
        for part in entry["config"].split(","):
            name, value = part.split("=", 1)
            row[name] = int(value) if value.lstrip("-").isdigit() else value
        row["seconds"] = outcome["step"]["median"] if outcome["status"] == "measured" else math.nan
        rows.append({**row, "status": outcome["status"], "reason": outcome.get("reason", ""), "elapsed": entry["elapsed"]})
    return pandas.DataFrame(rows)


def simulate(spaces: Union[Path, Sequence[Path]], *, strategy: str = "", repetitions: int = 100, evaluations: int = 400, seed: int = 1) -> Dict[str, Any]:
    """Replays measured spaces (journals of exhaustive runs, cache files of Kernel Tuner, T4 results; files or folders) to compare search strategies, as
    'hone simulate' does, and gives its document: curves and scores. `strategy` is one, several with commas, or "all"."""
    files = [spaces] if isinstance(spaces, (str, os.PathLike)) else list(spaces)
    words = ["simulate", *[os.fspath(file) for file in files], "--repetitions", str(repetitions), "--evaluations", str(evaluations), "--seed", str(seed)]
    return ask_program(*words, *(["--strategy", strategy] if strategy else []))


class Importance:
    """Which tunables mattered in a search: `effects`, the largest first, each a dict with `tunables` (one, or two that act together), `share` (the part
    of the variation of the logarithms of the times that it causes) and, of a single one, `values`: the mean time with each, as a `factor`. A notebook
    shows it as a chart; `svg()` is that chart, `frame()` a pandas.DataFrame.

    By a functional analysis of variance of the model that the default search has: `explained` is the part of the variation that the model explains
    (Hutter, Hoos and Leyton-Brown, "An efficient approach for assessing hyperparameter importance", ICML 2014)."""

    def __init__(self, problem: str, explained: Optional[float], effects: List[Dict[str, Any]]) -> None:
        self.problem, self.explained = problem, explained
        self.effects = sorted(effects, key=lambda effect: -effect["share"])

    def frame(self) -> Any:
        import pandas

        return pandas.DataFrame([{"tunables": " x ".join(effect["tunables"]), "share": effect["share"]} for effect in self.effects])

    def svg(self, most: int = 12) -> str:
        """A bar for each of the `most` largest effects."""
        row, left, width = 24, 220, 420
        shown = self.effects[:most]
        height = 44 + row * max(len(shown), 1)
        parts = [f'<text x="8" y="20" font-weight="bold">{html.escape(self.problem)}</text>']
        if not shown:
            parts.append('<text x="8" y="48">too few candidates to tell what mattered, or their times follow from none of the tunables</text>')
        for i, effect in enumerate(shown):
            y, share = 36 + row * i, effect["share"]
            name = html.escape(" x ".join(effect["tunables"]))
            parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{name}</text>')
            parts.append(f'<rect x="{left}" y="{y}" width="{max(share, 0) * width:.1f}" height="{row - 6}" fill="#2b6cb0"/>')
            parts.append(f'<text x="{left + 6 + max(share, 0) * width:.1f}" y="{y + 14}">{100 * share:.1f} %</text>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 80}" height="{height}" font-family="sans-serif" font-size="13">'
            + "".join(parts)
            + "</svg>"
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        effects = ", ".join(f"{' x '.join(effect['tunables'])} {100 * effect['share']:.1f} %" for effect in self.effects[:4])
        return f"<Importance {self.problem}: {effects or 'not known'}>"
