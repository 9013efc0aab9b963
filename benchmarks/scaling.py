#!/usr/bin/env python3
"""How an iteration's time should fall with the number of GPUs: a model of measured kernel rates and of what links cost.

    benchmarks/scaling.py                                  the tables of docs/scaling.md
    benchmarks/scaling.py --check docs/scaling.md          exit code 1 where the document has others; with those of runs on two GPUs
    benchmarks/scaling.py --latency 2 --bandwidth 25       another network: microseconds, GB/s of a GPU

    t(P) = max(interior, exchange) + edges + reductions(P),   exchange = latency + bytes / bandwidth,   reductions = a + b log2(P / 2)

Kernel rates come from the records that ship with hone. docs/scaling.md says where the other numbers come from.
"""
import argparse
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "tuning_db" / "records" / "nvidia_h200.json"
RUNS = {card: ROOT / "benchmarks" / "results" / card.lower() / name for card, name in (("H100", "ranks.csv"), ("H200", "scaling.csv"))}

# Measured on two H200 of one host, in seconds and bytes a second: a kernel that stores 8 bytes into the neighbour's memory, launch included, which is
# the least that a kernel or a message takes here; 64 MiB by such a kernel in 191 us; an all-reduce of 1 to 1024 doubles by NCCL.
KERNEL_SECONDS = 3.6e-6
LINK_LATENCY = 3.6e-6
LINK_BANDWIDTH = (64 << 20) / (191e-6 - 3.6e-6)
ALL_REDUCE = 17e-6
# Of words of both GPUs in the memory of each, by stores and flags; measured on two H100.
GATHERING = 12e-6
COUNTS = (1, 2, 8, 64, 512, 4096, 10000)


def seconds_of(records, family, **wanted):
    """Median of the one record that has these parameters."""
    found = [
        record["step_seconds"]["median"]
        for record in records
        if "purpose" not in record
        and record["problem"]["family"] == family
        and all(record["problem"]["parameters"].get(name) == value for name, value in wanted.items())
    ]
    if len(found) != 1:
        sys.exit(f"{RECORDS}: {len(found)} records of {family} with {wanted}; the model needs one")
    return found[0]


class Application:
    """A cube of 512^3 cells that one device's record measured: what an iteration of it takes, sends and adds up."""

    def __init__(self, name, kernel_seconds, layers, word, exchanges, reductions, granule):
        self.name = name
        self.cell_seconds = sum(kernel_seconds) / 512**3
        self.kernels = len(kernel_seconds)
        self.layers = layers  # of one word a cell that cross a cut in an iteration, one way
        self.word = word
        self.exchanges = exchanges
        self.reductions = reductions
        self.granule = granule  # planes that a rank has at least

    def seconds(self, cells, ranks, network, planes):
        """Of an iteration on a cube of so many cells in all, cut into cubes or along one axis into planes; and what binds. None: it cannot be cut."""
        own = cells / ranks
        cut_axes = 1 if planes else min(3, math.log2(ranks))
        edge = cells ** (1 / 3) / ranks if planes else own ** (1 / 3)  # of a block, across a cut
        compute = own * self.cell_seconds
        if ranks == 1:
            return compute, "interior"
        if edge < self.granule:
            return None, "cells"
        # A block has two faces along each axis that is cut; they travel at the same time, each way, over one link.
        face_bytes = own / edge * self.layers * self.word * 2 * cut_axes
        local = ranks <= network.gpus_of_host
        latency, bandwidth = (LINK_LATENCY, LINK_BANDWIDTH) if local else (network.latency, network.bandwidth)
        exchange = self.exchanges * latency + face_bytes / bandwidth
        layers_at_once = self.layers / max(self.exchanges, 1)
        edges = min(1.0, 2 * cut_axes * layers_at_once / edge) * compute
        # Edges and interior are launches of their own.
        launches = 2 * self.kernels * KERNEL_SECONDS
        interior = compute - edges
        hops = math.log2(ranks / 2)
        reductions = self.reductions * (ALL_REDUCE + (0 if local else network.latency * hops))
        total = max(interior, exchange) + edges + launches + reductions
        parts = {"interior": interior + edges, "exchange": max(0.0, exchange - interior), "reductions": reductions, "launches": launches}
        return total, max(parts, key=parts.get)


def applications(records):
    f64 = {"precision": "f64", "nx": 512, "ny": 512, "nz": 512}
    poisson = {"coefficients": "axis", "boundary": "dirichlet", **f64}
    halves = [seconds_of(records, "poisson7", kernel=kernel, **poisson) for kernel in ("direction", "residual")]
    wave = seconds_of(records, "acoustics_staggered", kernel="step", dimension=3, order=8, precision="f32", absorbing="none", nx=512, ny=512, nz=512)
    sweep = seconds_of(records, "gauss_seidel_27", stencil="constant", **f64)
    return [
        Application("Poisson, polynomial, f64", halves, 2, 8, 2, 2, 8),
        Application("acoustics 3D, order 8, f32", [wave], 7 + 4, 4, 1, 0, 7),
        Application("Gauss-Seidel sweep, constant, f64", [sweep], 1, 8, 1, 0, 2),
    ]


class Run:
    """A problem that was measured on one GPU and on two, cut along its slowest axis (benchmarks/ranks scaling): what crosses the cut, as above."""

    def __init__(self, kernels, cells, width, layers, word, exchanges, reductions):
        self.kernels = kernels  # launches of a step that go over all cells
        self.cells = cells  # along the axis that is cut
        self.face = width * layers * word  # bytes, one way
        self.layers = layers / max(exchanges, 1)
        self.exchanges = exchanges
        self.reductions = reductions

    def seconds(self, alone):
        """On two GPUs, of what takes so long on one."""
        exchange = self.exchanges * LINK_LATENCY + self.face / LINK_BANDWIDTH
        edges = self.layers / (self.cells / 2) * alone / 2
        return max(alone / 2 - edges, exchange) + edges + 2 * self.kernels * KERNEL_SECONDS + self.reductions * GATHERING


MEASURED = {
    "poisson_256": Run(2, 256, 256**2, 2, 8, 2, 2),
    "poisson_512": Run(2, 512, 512**2, 2, 8, 2, 2),
    "acoustics_2d_8192": Run(1, 8192, 8192, 7 + 4, 4, 1, 0),
    "acoustics_3d_512": Run(1, 512, 512**2, 7 + 4, 4, 1, 0),
}


def runs_table():
    """Speed-ups on two GPUs, as measured at best and by the model from the time on one."""
    lines = [row(["", "", "one GPU, ms", "two GPUs, ms", "speed-up", "by the model"]), row(["---"] * 6)]
    for card, runs in RUNS.items():
        times = {}
        for line in runs.read_text().splitlines()[1:]:
            name, gpus, way, milliseconds, *_, sitting = line.split(",")
            if way not in ("separate", "stores"):
                key = name, sitting, int(gpus)
                times[key] = min(times.get(key, math.inf), float(milliseconds))
        for name, run in MEASURED.items():
            # Of the sitting that was the fastest on two, both.
            two, sitting = min((time, key[1]) for key, time in times.items() if key[0] == name and key[2] == 2 and (name, key[1], 1) in times)
            one = times[name, sitting, 1]
            predicted = one / (1e3 * run.seconds(one * 1e-3))
            lines.append(row([card, f"`{name}`", f"{one:.3g}", f"{two:.3g}", f"{one / two:.2f}", f"{predicted:.2f}"]))
    return "\n".join(lines) + "\n"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def tables(network):
    records = json.loads(RECORDS.read_text())["records"]
    lines = []
    for title, planes, total in (
        ("weak: 512^3 cells on each GPU, cubes", False, lambda ranks: 512.0**3 * ranks),
        ("strong: 2048^3 cells in all, cubes", False, lambda ranks: 2048.0**3),
        ("strong: 2048^3 cells in all, planes", True, lambda ranks: 2048.0**3),
    ):
        lines += [row([title] + [f"{ranks:,}" for ranks in COUNTS]), row(["---"] * (len(COUNTS) + 1))]
        for application in applications(records):
            cells = []
            for ranks in COUNTS:
                seconds, binds = application.seconds(total(ranks), ranks, network, planes)
                ideal = total(ranks) / ranks * application.cell_seconds
                if seconds is None:
                    cells.append("-")
                else:
                    cells.append(f"{1e3 * seconds:.3g} ms, {100 * ideal / seconds:.0f} %" + ("" if binds == "interior" else f", {binds}"))
            lines.append(row([application.name] + cells))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=5, help="of a message between hosts, microseconds")
    parser.add_argument("--bandwidth", type=float, default=50, help="between hosts, GB/s of a GPU in each direction")
    parser.add_argument("--gpus-of-host", type=int, default=8, help="that NVLink connects")
    parser.add_argument("--check", type=pathlib.Path, help="a document that must have the tables")
    options = parser.parse_args()
    if options.latency <= 0 or options.bandwidth <= 0 or options.gpus_of_host < 1:
        parser.error("--latency, --bandwidth and --gpus-of-host must be above 0")
    options.latency *= 1e-6
    options.bandwidth *= 1e9
    texts = [tables(options), runs_table()]
    if options.check is None:
        print("\n".join(texts), end="")
        return
    for text in texts:
        if text not in options.check.read_text():
            sys.exit(f"{options.check} has not these tables:\n{text}")


if __name__ == "__main__":
    main()
