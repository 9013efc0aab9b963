#!/usr/bin/env python3
"""The problems of the benchmarks that a card has no record of: what it runs there was tuned for another size, or is predicted.

    benchmarks/unrecorded.py build/release/bin nvidia_h200     one a line, as arguments of `hone tune`; exit code 1 where there are any

Programs that name their problems (`--problems`) are asked.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ("acoustics_staggered", "batched", "corner_force", "csr_spmv", "dg_stage", "dg_volume", "fe_mass", "gauss_seidel_27", "poisson7", "poisson_solver")


def problems(folder, program):
    asked = subprocess.run(
        [folder / f"{program}_benchmark", "--problems"], check=True, capture_output=True, text=True, env={**os.environ, "HONE_DEVICE": "cuda"}
    )
    return asked.stdout.splitlines()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    records = json.loads((ROOT / "tuning_db" / "records" / f"{sys.argv[2]}.json").read_text(encoding="utf-8"))["records"]
    known = {" ".join([r["problem"]["family"]] + [f"{name}={value}" for name, value in r["problem"]["parameters"].items()]) for r in records}
    missing = [p for program in PROGRAMS for p in problems(pathlib.Path(sys.argv[1]), program) if p not in known]
    for problem in dict.fromkeys(missing):
        print(problem)
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
