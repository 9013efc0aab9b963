#!/usr/bin/env python3
"""How the time of an iteration should fall with the number of GPUs: a model of measured kernel rates and of the cost of links.

    benchmarks/scaling.py                                  the tables of docs/scaling.md
    benchmarks/scaling.py --check docs/scaling.md          exit code 1 if the document has other tables; with those of runs on two GPUs
    benchmarks/scaling.py --latency 2 --bandwidth 25       another network: microseconds, GB/s of a GPU

    t(P) = max(interior, exchange) + edges + reductions(P),   exchange = latency + bytes / bandwidth,   reductions = a + b log2(P / 2)

Kernel rates come from the records that ship with hone, rates of meshes from runs of the programs on one GPU. docs/scaling.md says where the other
numbers come from.
"""
import argparse
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "tuning_db" / "records" / "nvidia_h200.json"
RUNS = {card: ROOT / "benchmarks" / "results" / card.lower() / name for card, name in (("H100", "ranks.csv"), ("H200", "scaling.csv"))}

# Measured on two H200 of one host, in seconds and bytes per second: a kernel that stores 8 bytes into the neighbour's memory, launch included (the
# shortest time of a kernel or a message here); 64 MiB by such a kernel in 191 us; an all-reduce of 1 to 1024 doubles by NCCL.
KERNEL_SECONDS = 3.6e-6
LINK_LATENCY = 3.6e-6
LINK_BANDWIDTH = (64 << 20) / (191e-6 - 3.6e-6)
ALL_REDUCE = 17e-6
# A gathering: values of both GPUs stored into the memory of each, with flags; measured on two H100.
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
    """A cube of cells that was measured on one GPU: the time of an iteration, what it sends and what it sums."""

    def __init__(self, name, seconds, cells, face_bytes, layers, exchanges, reductions, granule, launches, repeated=0.0):
        self.name = name
        self.own_cells = cells  # of one GPU in weak runs; strong runs have 64 times as many in all
        self.cell_seconds = seconds / cells
        self.face_bytes = face_bytes  # bytes that cross a cut per cell of it in an iteration, one way
        self.layers = layers  # of cells along a cut that are computed separately from the interior
        self.exchanges = exchanges
        self.reductions = reductions
        self.granule = granule  # least number of cells of a rank across a cut
        self.launches = launches  # additional launches on several ranks
        self.repeated = repeated  # layers of cells along a cut that both sides compute

    def seconds(self, cells, ranks, network, planes):
        """Time of an iteration on a cube of this many cells in all, cut into cubes or along one axis into planes; and its limit. None: it cannot be cut."""
        own = cells / ranks
        cut_axes = 1 if planes else min(3, math.log2(ranks))
        edge = cells ** (1 / 3) / ranks if planes else own ** (1 / 3)  # of a block, across a cut
        compute = own * self.cell_seconds
        if ranks == 1:
            return compute, "interior"
        if edge < self.granule:
            return None, "cells"
        # A block has two faces along each axis that is cut; both are sent at the same time, each way, over one link.
        face_bytes = own / edge * self.face_bytes * 2 * cut_axes
        local = ranks <= network.gpus_of_host
        latency, bandwidth = (LINK_LATENCY, LINK_BANDWIDTH) if local else (network.latency, network.bandwidth)
        exchange = self.exchanges * latency + face_bytes / bandwidth
        repeated = 2 * cut_axes * self.repeated / edge * compute
        edges = min(1.0, 2 * cut_axes * self.layers / edge) * compute
        launches = self.launches * KERNEL_SECONDS
        interior = compute - edges
        hops = math.log2(ranks / 2)
        reductions = self.reductions * (ALL_REDUCE + (0 if local else network.latency * hops))
        total = max(interior, exchange) + edges + repeated + launches + reductions
        parts = {
            "interior": interior + edges,
            "exchange": max(0.0, exchange - interior),
            "reductions": reductions,
            "launches": launches,
            "repeated work": repeated,
        }
        return total, max(parts, key=parts.get)


# maxwell, order 3, f32: each cut cell sends two triangles of ten nodes with six fields, in each of five stages; two of a cell's six elements are at
# the cut. hydro, Q2-Q1: two layers of nodes, four per face of a zone, with three components, in each iteration of conjugate gradients.
TRACE_BYTES = 2 * 10 * 6 * 4
STAGES = 5
NODE_BYTES = 2 * 4 * 3 * 8
SOLVES, ITERATIONS = 2, 40  # per step of hydro: 39.9 in the runs on one GPU


def applications(records):
    cells = 512**3
    f64 = {"precision": "f64", "nx": 512, "ny": 512, "nz": 512}
    poisson = {"coefficients": "axis", "boundary": "dirichlet", **f64}
    halves = [seconds_of(records, "poisson7", kernel=kernel, **poisson) for kernel in ("direction", "residual")]
    wave = seconds_of(records, "acoustics_staggered", kernel="step", dimension=3, order=8, precision="f32", absorbing="none", nx=512, ny=512, nz=512)
    sweep = seconds_of(records, "gauss_seidel_27", stencil="constant", **f64)
    times = times_of("H200")
    iterations = SOLVES * ITERATIONS
    return [
        Application("Poisson, polynomial, f64", sum(halves), cells, 2 * 8, 1, 2, 2, 8, launches=4),
        Application("acoustics 3D, order 8, f32", wave, cells, (7 + 4) * 4, 11, 1, 0, 7, launches=2),
        Application("Gauss-Seidel sweep, constant, f64", sweep, cells, 8, 1, 1, 0, 2, launches=2),
        Application("Maxwell of order 3, f32", alone(times, "maxwell_3_f32"), 41**3, STAGES * TRACE_BYTES, 1 / 3, STAGES, 0, 1, launches=2 * STAGES),
        Application("hydro 3D, Q2-Q1, f64", alone(times, "hydro_64"), 64**3, iterations * NODE_BYTES, 0, iterations, 2 * iterations + 1, 3, 0, 0.5),
    ]


class Run:
    """A problem that was measured on one GPU and on several, cut along its slowest axis (benchmarks/ranks scaling); members as above."""

    def __init__(self, launches, cells, face, layers, exchanges, reductions, repeated=0.0):
        self.launches = launches
        self.cells = cells  # along the axis that is cut
        self.face = face  # bytes, one way
        self.layers = layers
        self.exchanges = exchanges
        self.reductions = reductions
        self.repeated = repeated

    def seconds(self, alone, gpus):
        """Time on this number of GPUs, from the time on one: of a rank in the middle, which has two cuts if there are more than two ranks."""
        cuts = min(2, gpus - 1)
        exchange = self.exchanges * LINK_LATENCY + cuts * self.face / LINK_BANDWIDTH
        layer = alone / self.cells
        edges = cuts * self.layers * layer
        apart = edges + cuts * (self.repeated * layer + self.launches * KERNEL_SECONDS) + self.reductions * GATHERING
        return max(alone / gpus - edges, exchange) + apart


MEASURED = {
    "poisson_256": Run(4, 256, 256**2 * 2 * 8, 1, 2, 2),
    "poisson_512": Run(4, 512, 512**2 * 2 * 8, 1, 2, 2),
    "acoustics_2d_8192": Run(2, 8192, 8192 * 11 * 4, 11, 1, 0),
    "acoustics_3d_512": Run(2, 512, 512**2 * 11 * 4, 11, 1, 0),
    "maxwell_3_f32": Run(2 * STAGES, 41, 41**2 * STAGES * TRACE_BYTES, 1 / 3, STAGES, 0),
    "hydro_64": Run(0, 64, 64**2 * SOLVES * ITERATIONS * NODE_BYTES, 0, SOLVES * ITERATIONS, 2 * SOLVES * ITERATIONS + 1, 0.5),
}


def times_of(card):
    """Milliseconds of a step by number of GPUs, the fastest of each session: {(row, session, GPUs): time}."""
    times = {}
    for line in RUNS[card].read_text().splitlines()[1:]:
        name, gpus, way, milliseconds, *_, session = line.split(",")
        if way not in ("separate", "stores"):
            key = name, session, int(gpus)
            times[key] = min(times.get(key, math.inf), float(milliseconds))
    return times


def alone(times, name):
    """Seconds of a step on one GPU, in the fastest session."""
    return 1e-3 * min(time for (row_name, _, gpus), time in times.items() if row_name == name and gpus == 1)


def runs_table():
    """Measured speed-ups for every number of GPUs, and those that the model predicts from the time on one GPU in the same session."""
    measured = {card: times_of(card) for card in RUNS}
    counts = sorted({gpus for times in measured.values() for name, _, gpus in times if gpus > 1 and name in MEASURED})
    heads = ["", ""] + [head for gpus in counts for head in ("one GPU, ms", f"{gpus} GPUs, ms", "speed-up", "by the model")]
    lines = [row(heads), row(["---"] * len(heads))]
    for card, times in measured.items():
        for name, run in MEASURED.items():
            cells = []
            for gpus in counts:
                # Both times are from the session that was fastest on this number of GPUs.
                pairs = [(time, key[1]) for key, time in times.items() if key[0] == name and key[2] == gpus and (name, key[1], 1) in times]
                if not pairs:
                    cells += ["-"] * 4
                    continue
                time, session = min(pairs)
                one = times[name, session, 1]
                predicted = one / (1e3 * run.seconds(one * 1e-3, gpus))
                cells += [f"{one:.3g}", f"{time:.3g}", f"{one / time:.2f}", f"{predicted:.2f}"]
            if set(cells) != {"-"}:
                lines.append(row([card, f"`{name}`"] + cells))
    return "\n".join(lines) + "\n"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def tables(network):
    records = json.loads(RECORDS.read_text())["records"]
    lines = []
    for title, planes, times in (
        ("weak: as much on each GPU, cubes", False, lambda ranks: ranks),
        ("strong: 64 times as much in all, cubes", False, lambda ranks: 64),
        ("strong: 64 times as much in all, planes", True, lambda ranks: 64),
    ):
        lines += [row([title] + [f"{ranks:,}" for ranks in COUNTS]), row(["---"] * (len(COUNTS) + 1))]
        for application in applications(records):
            cells = []
            for ranks in COUNTS:
                total = float(times(ranks) * application.own_cells)
                seconds, binds = application.seconds(total, ranks, network, planes)
                ideal = total / ranks * application.cell_seconds
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
    parser.add_argument("--check", type=pathlib.Path, help="a document that must contain the tables")
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
            sys.exit(f"{options.check} lacks these tables:\n{text}")


if __name__ == "__main__":
    main()
