"""Lets Kernel Tuner measure a small space with its C backend, and checks that hone reads its files and that it reads hone's.

    python exchange.py HONE FOLDER

HONE is the hone command, FOLDER an empty folder to work in. Needs the packages kernel_tuner and autotuning_methodology, and a C++ compiler. Fails with an AssertionError.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy
from autotuning_methodology.searchspace_statistics import SearchspaceStatistics
from kernel_tuner import tune_kernel
from kernel_tuner.file_utils import store_output_file

SOURCE = r"""
#include <chrono>
#define True 1
#define False 0
#define none 0
#define plain 1
extern "C" float scale(double* values, int count) {
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < ROUNDS; ++round)
        for (int i = 0; i < count; ++i) values[i] = values[i] * FACTOR + WAY;
    const auto end = std::chrono::steady_clock::now();
#if FAILS && ROUNDS == 1
#error "uses too much shared data": of failing compilations Kernel Tuner notes those that say so
#endif
    return std::chrono::duration<float, std::milli>(end - begin).count();
}
"""
# Whole numbers, numbers with a point, truth and words; a part of the space does not compile.
PARAMETERS = {"ROUNDS": [1, 2, 8], "FACTOR": [0.5, 1.0], "FAILS": [True, False], "WAY": ["none", "plain"]}
COUNT = 1000


def tune(cache, **options):
    arguments = [numpy.ones(COUNT), numpy.int32(COUNT)]
    results, _ = tune_kernel("scale", SOURCE, COUNT, arguments, PARAMETERS, lang="C", compiler="g++", cache=cache, **options)
    return results


def times(results):
    return sorted(result["time"] for result in results if isinstance(result.get("time"), float))


def hone(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == 0, f"hone {' '.join(words)}: {done.stderr}"
    return done.stdout


def check_methodology(file, members, valid, best):
    """Loads a T4 file of hone's as the community's methodology package does, with all of its keys of times."""
    keys = ["compilation", "benchmark", "runtimes", "framework", "search_algorithm", "validation"]
    space = SearchspaceStatistics("scale", "cpu", True, keys, ["time"], pathlib.Path(file), full_validate=True)
    assert space.size == members, space.size
    times = space.objective_performances["time"]  # in the unit of the file
    assert numpy.count_nonzero(~numpy.isnan(times)) == valid, times
    assert abs(numpy.nanmin(times) * 1e-3 - best) < 1e-9 * best, (times, best)
    compilation = space.objective_times["compilation"]  # in seconds
    assert 0 < numpy.nanmax(compilation) < 600, compilation


def main(program, folder):
    os.chdir(folder)
    measured = tune("cache.json")
    store_output_file("results.json", measured, PARAMETERS)
    members = 24
    failed = 4
    for file in ("cache.json", "results.json"):
        space = json.loads(hone(program, "simulate", file, "--repetitions", "2", "--strategy", "random", "--json"))["spaces"][0]
        assert space["configurations"] == members, space
        assert space["valid"] == members - failed, space
        best = min(times(measured)) * 1e-3
        assert abs(space["optimum_seconds"] - best) < 1e-9 * best, (space, best)
        hone(program, "convert", file, "--to", "kernel_tuner", "--output", "of_hone.json")
        hone(program, "convert", file, "--to", "t4", "--output", "t4_of_hone.json")
        check_methodology(os.path.abspath("t4_of_hone.json"), members, members - failed, best)
        if file == "results.json":
            continue  # T4 says nothing of the device and the size, which Kernel Tuner compares
        again = tune("of_hone.json", simulation_mode=True)
        assert len(times(again)) == members - failed, again
        for ours, theirs in zip(times(again), times(measured)):
            assert abs(ours - theirs) < 1e-9 * theirs, (ours, theirs)
    print(f"Kernel Tuner and hone agree on {members} configurations, {failed} of them invalid")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
