#!/usr/bin/env python3
"""Lists the problems of the benchmarks for which a card has no record. Their kernels were tuned for another size, or are predicted.

    benchmarks/unrecorded.py build/release/bin nvidia_h200 [--random]    one per line, as arguments of `hone tune`; exit code 1 if there are any

It asks the programs for their problems (`--problems`). Products of random shapes test the prediction, so they get no records; they are listed only
with --random.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ("acoustics_staggered", "batched", "corner_force", "csr_spmv", "dg_stage", "dg_volume", "fe_mass", "gauss_seidel_27", "poisson7", "poisson_solver")


def problems(folder, program, random):
    fewest = ["--shapes=1"] if program == "batched" and not random else []
    asked = subprocess.run(
        [folder / f"{program}_benchmark", "--problems", *fewest], check=True, capture_output=True, text=True, env={**os.environ, "HONE_DEVICE": "cuda"}
    )
    return asked.stdout.splitlines()[: -1 if fewest else None]  # random shapes come last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="folder of the benchmarks' programs")
    parser.add_argument("model", help="file of records, without .json")
    parser.add_argument("--random", action="store_true", help="list products of random shapes, too")
    given = parser.parse_args()
    records = json.loads((ROOT / "tuning_db" / "records" / f"{given.model}.json").read_text(encoding="utf-8"))["records"]
    known = {" ".join([r["problem"]["family"]] + [f"{name}={value}" for name, value in r["problem"]["parameters"].items()]) for r in records}
    missing = [p for program in PROGRAMS for p in problems(given.programs, program, given.random) if p not in known]
    for problem in dict.fromkeys(missing):
        print(problem)
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
