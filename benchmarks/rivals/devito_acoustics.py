#!/usr/bin/env python3
"""A step of acoustic waves on a staggered grid by hone and by Devito, alternating in one process on the processor: medians of five.

    pip install . devito && python3 benchmarks/rivals/devito_acoustics.py --dimension 3 --cells 256 --order 4 8 16 --tune 30

Both use single precision, arrays for the media and no absorbing layer. Devito's operator is that of its own staggered examples: velocities, then
pressures, each from one of two time buffers to the other, by OpenMP; one array contains the reciprocal density, which it averages at the faces. Its
blocks are the fastest of a sweep over 30 shapes of both loop nests and then over 30 of the second, at the measured size, because its own aggressive
autotuner did not end within 40 seconds. hone's kernel is looked up, or with --tune SECONDS tuned first. Rates are in points and time steps; both
run the same number of steps, on all threads that OMP_NUM_THREADS allows, or that there are.

    python3 benchmarks/rivals/devito_acoustics.py --rival-only --order 4 --turn lock & ... --order 8 --turn lock & wait

sets up several operators in parallel and measures one after the other: the process that holds the file's lock measures. With
--beside build/release/bin/hone the kernels of that command alternate with Devito, untuned or after --tune SECONDS, each time as a
process of its own. Its clock is that of `hone tune`. The rate of that process's multiply-adds is printed next to the ratio, because
it shows whether the host runs two virtual processors on one core.
"""

import argparse
import builtins
import contextlib
import fcntl
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("DEVITO_LANGUAGE", "openmp")
os.environ.setdefault("DEVITO_LOGGING", "ERROR")


def devito_step(dimension: int, order: int, cells: int, spare: int = 0):
    """A function that takes a number of steps and gives Devito's own time for them, in seconds; and the blocks that it found. Every
    axis has `spare` cells more of halo behind it than the order asks for."""
    import devito
    import numpy

    grid = devito.Grid(shape=(cells,) * dimension, extent=(cells - 1.0,) * dimension, dtype=numpy.float32)
    space_order = (order, order, order + spare)
    p = devito.TimeFunction(name="p", grid=grid, space_order=space_order, time_order=1, staggered=devito.NODE)
    velocity = devito.VectorTimeFunction(name="v", grid=grid, space_order=space_order, time_order=1)
    kappa = devito.Function(name="kappa", grid=grid, space_order=space_order)
    b = devito.Function(name="b", grid=grid, space_order=space_order)
    random = numpy.random.default_rng(1)
    p.data[:] = random.uniform(-1, 1, p.data.shape)
    kappa.data[:] = random.uniform(0.1, 0.2, kappa.data.shape)
    b.data[:] = random.uniform(0.1, 0.2, b.data.shape)
    dt = grid.stepping_dim.spacing
    operator = devito.Operator([devito.Eq(velocity.forward, velocity - dt * b * devito.grad(p)),
                                devito.Eq(p.forward, p - dt * kappa * devito.div(velocity.forward))])
    operator.apply(time_M=0, dt=0.1, autotune=False)  # compiles it
    sizes = [parameter.name for parameter in operator.parameters if "blk" in parameter.name and parameter.name.endswith("_size")]
    nests = [[size for size in sizes if size[1] == number] for number in "01"]

    def seconds(count: int, blocks: dict) -> float:
        summary = operator.apply(time_M=count - 1, dt=0.1, autotune=False, **blocks)
        return builtins.sum(section.time for section in summary.values())

    def steps(count: int) -> float:
        if not chosen:
            sweep()
        return seconds(count, chosen)

    chosen = {}

    def sweep() -> None:
        tried = 8  # steps: twice through both time buffers and more
        axes = [[x, y] for x, y in itertools.product((2, 4, 8, 16, 32), (4, 8, 16, 32, 64, 256))] if dimension == 3 else [[x] for x in (1, 2, 4, 8, 16, 32, 64, 128)]
        shapes = [[min(length, cells) for length in shape] for shape in axes]
        for varied in (nests, nests[1:]):
            candidates = [{**chosen, **{size: length for nest in varied for size, length in zip(nest, shape)}} for shape in shapes]
            chosen.update(min(candidates, key=lambda blocks: seconds(tried, blocks)))

    return steps, chosen


def hone_step(session, problem: str):
    """The same by hone, whose passes may be of several steps; and its configuration."""
    import numpy

    kernel = session.kernel(problem)
    random = numpy.random.default_rng(1)
    arrays = []
    for argument in kernel.arguments:
        low, high = (0.1, 0.2) if argument.name[0] in "kb" else (-1, 1)
        arrays.append(random.uniform(low, high, argument.extents).astype(argument.dtype))
    bound = kernel.bind(*arrays)
    bound.run(1)

    def passes(count: int) -> float:
        begin = time.perf_counter()
        bound.run(count)
        return time.perf_counter() - begin

    return passes, f"{kernel.configuration} ({kernel.grade})"


class Command:
    """A problem's kernel by the hone command, as a process of its own each time: untuned, or tuned for so many seconds first."""

    def __init__(self, hone: str, problem: str, folder: str, tune: float, only: str):
        self.command = [hone, "tune", *problem.split(), "--device", "cpu", "--no-prior", "--db", folder, "--json"]
        self.choice = ["--evaluations", "1"]
        if tune:
            record = self.run(["--budget", f"{tune}s", *(["--only", only] if only else [])])["results"][0]["record"]
            self.choice = ["--evaluations", "2", "--only", ",".join(f"{name}={value}" for name, value in record["configuration"].items())]

    def run(self, choice: list) -> dict:
        return json.loads(subprocess.run([*self.command, *choice], capture_output=True, text=True, check=True, timeout=90).stdout)

    def rates(self):
        """Points and time steps a second by the command's own clock, and the multiply-adds that its process reached, in f32."""
        document = self.run([*self.choice, "--samples", "12"])
        record = document["results"][0]["record"]
        return record["counts"]["updates"] / record["step_seconds"]["median"], document["ceilings"]["fma_f32"]


def beside(hone: str, run, problems: list, tune: float, only: str, points: int, steps: int, rounds: int) -> None:
    """Prints Devito's and the command's rates of each round, and the command's multiply-adds."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {problem: Command(hone, problem, folder, tune, only) for problem in problems}
        for command in commands.values():
            command.rates()  # compiles it
        for _ in range(rounds):
            for problem, command in commands.items():
                theirs = points * steps / run(steps)
                ours, rate = command.rates()
                print(f"{problem}: Devito {theirs / 1e9:.2f}, hone {ours / 1e9:.2f} G points/s, {ours / theirs:.2f} times Devito; "
                      f"multiply-adds at {rate / 1e9:.0f} GFLOP/s", flush=True)
        for problem, command in commands.items():
            print(f"{problem}: {' '.join(command.choice)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimension", type=int, choices=(2, 3), default=3)
    parser.add_argument("--order", type=int, nargs="+", choices=(4, 8, 16), default=[4, 8, 16])
    parser.add_argument("--cells", type=int, default=256, help="along every axis")
    parser.add_argument("--levels", type=int, nargs="+", default=[1], help="time steps in one pass of hone's")
    parser.add_argument("--update", choices=("apart", "in_place"), default="apart", help="hone's steps: in place in 3D")
    parser.add_argument("--spare", type=int, default=0, help="cells of Devito's halo beyond what its order asks for: planes whose distance is no multiple of 4 KiB")
    parser.add_argument("--steps", type=int, default=48, help="that are timed at a time")
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS", help="for each of hone's kernels")
    parser.add_argument("--only", default="", metavar="LIST", help="with --beside and --tune: what of each kernel's space is searched")
    parser.add_argument("--pitch", type=int, nargs="+", default=[0], help="with --beside: values from one row to the next of hone's arrays; 0: the usual pitch")
    parser.add_argument("--database", default=None, metavar="DIR", help="of tuned results")
    parser.add_argument("--rival-only", action="store_true", help="Devito alone, without hone's Python module")
    parser.add_argument("--beside", default=None, metavar="HONE", help="with --rival-only: a command that takes turns with Devito")
    parser.add_argument("--rounds", type=int, default=7, help="of these turns")
    parser.add_argument("--turn", default=None, metavar="FILE", help="measure only while holding the lock of this file")
    options = parser.parse_args()
    points = options.cells**options.dimension
    if options.rival_only:
        session_of_hone = contextlib.nullcontext()
    else:
        import hone

        session_of_hone = hone.Session("cpu", options.database)
    with session_of_hone as session:
        for order in options.order:
            contenders = {}
            for levels in [] if session is None else options.levels:
                sides = " ".join(f"n{axis}={options.cells}" for axis in "xyz"[: options.dimension])
                problem = f"acoustics_staggered kernel=step dimension={options.dimension} order={order} levels={levels} update={options.update} precision=f32 {sides}"
                if options.tune:
                    session.tune(problem, seconds=options.tune)
                passes, configuration = hone_step(session, problem)
                contenders[f"hone, levels={levels}"] = (lambda steps, passes=passes, levels=levels: passes(steps // levels), levels, configuration)
            steps, blocks = devito_step(options.dimension, order, options.cells, options.spare)
            contenders["Devito"] = (steps, 1, blocks)
            times = {name: [] for name in contenders}
            with open(options.turn or os.devnull, "w") as turn:
                if options.turn:
                    fcntl.flock(turn, fcntl.LOCK_EX)
                if options.beside:
                    sides = " ".join(f"n{axis}={options.cells}" for axis in "xyz"[: options.dimension])
                    kernel = f"acoustics_staggered kernel=step dimension={options.dimension} order={order} update={options.update} precision=f32 {sides}"
                    beside(options.beside, steps, [f"{kernel} levels={levels} pitch={pitch}" for levels in options.levels for pitch in options.pitch], options.tune, options.only, points, options.steps, options.rounds)
                for _ in range(5):
                    for name, (run, levels, _) in contenders.items():
                        times[name].append(run(options.steps) / (options.steps // levels * levels))
            devito_time = statistics.median(times["Devito"])
            for name, (_, _, how) in contenders.items():
                median = statistics.median(times[name])
                print(f"{options.dimension}D {options.cells} order {order:2}: {name:14} {points / median / 1e9:6.2f} G points/s, "
                      f"{devito_time / median:5.2f} times Devito; {how}", flush=True)


if __name__ == "__main__":
    main()
