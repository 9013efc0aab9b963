#!/usr/bin/env python3
"""All benchmarks of a card as tables, benchmarks/results/<card>/all-benchmarks.md, made from the CSV files in the same folder.

    benchmarks/tables.py benchmarks/results/h200            writes the page
    benchmarks/tables.py benchmarks/results/h200 --check    exit code 1 if the page does not match the files
    benchmarks/tables.py benchmarks/results/h200 --from RESULTS [--report build/release/bin/benchmark_report]
                                                            first makes the files from the results of `benchmarks/measure RESULTS bench`
"""
import argparse
import csv
import json
import math
import pathlib
import re
import subprocess
import sys

GRADES = r"\b(exact|measured|nearest_size|predicted|same_architecture|other_architecture|none)\b"
HEAD = """# All benchmarks

What a reader learns here: for every problem of the benchmarks, the time of hone's tuned kernel, how
close it comes to the card's limit, and how many times as fast it is as its rival. Above each table
stand the rival, the geometric mean of the ratios and the lowest one.

- Percentages are of the lower of two ceilings, which each process measured first: the bandwidth of
  a copy and the rate of plain multiply-adds. {session}
- A ratio above 1 means that hone's kernel is faster.
- "Found" says how the look-up found each kernel of hone's own, first ours, then its rivals: `exact`
  (tuned for this problem), `measured`, `nearest_size`, `same_architecture`, `predicted`,
  `other_architecture` or `none`.
- `*` marks a ratio with a kernel that was not tuned for its problem on this card. Means do not
  include such ratios.

Made by `benchmarks/tables.py` from the CSV files in this folder, which have more columns and the
configurations.
"""
# Title, files, columns (heading, column of the file), the ratio to summarise, and what a reader must know.
TABLES = [
    (
        "gauss_seidel_27",
        ["gauss_seidel_27"],
        [("% of ceiling", "%ceiling"), ("G updates/s", "ns/updates"), ("plain kernel, ratio", "rival/ours")],
        "rival/ours",
        "The rival, for constant stencils, is a plain kernel with the best of ten block shapes.",
    ),
    (
        "dg_volume",
        ["dg_volume", "dg_volume_others"],
        [("% of ceiling", "%ceiling"), ("TFLOP/s", "GFLOP/s"), ("cuBLAS route, ratio", "rival/ours")],
        "rival/ours",
        "The rival is one cuBLAS GEMM of the stacked operator with all fields, followed by a chain-rule kernel.",
    ),
    (
        "dg_stage",
        ["dg_stage", "dg_stage_others"],
        [("% of ceiling", "%ceiling"), ("TFLOP/s", "GFLOP/s"), ("three kernels, ratio", "rival/ours"), ("cuBLAS route, ratio", "cublas/ours")],
        "rival/ours",
        "One rival is three kernels, `dg_volume`, `dg_surface` and `dg_rk`, each tuned on its own.",
    ),
    (
        "acoustics_staggered",
        ["acoustics_staggered", "acoustics_staggered_f64"],
        [
            ("% of ceiling", "%ceiling"),
            ("% of one pass per step", "one_pass_%copy"),
            ("two sweeps, ratio", "sweeps/ours"),
            ("plain kernels, ratio", "rival/ours"),
        ],
        "rival/ours",
        "The rivals are plain kernels with the best of eight block shapes, and two tuned sweeps. `levels` is the number of time steps in one pass.",
    ),
    (
        "poisson7",
        ["poisson7"],
        [("% of ceiling", "%ceiling"), ("direction", "direction_%ceiling"), ("residual", "residual_%ceiling"), ("plain kernel, ratio", "rival/ours")],
        "rival/ours",
        "The rival is a plain kernel with the best of eight block shapes, and a separate dot product.",
    ),
    (
        "The Poisson solver",
        ["poisson_solver", "poisson_solver_512"],
        [
            ("PPCG, ms per iteration", "ppcg_ms/iteration"),
            ("% of ceiling", "ppcg_%ceiling"),
            ("... scalar coefficients", "ppcg_scalar_ms/iteration"),
            ("CG", "cg_ms/iteration"),
            ("cuSPARSE's CG", "cusparse_ms/iteration"),
            ("PPCG, s to 1e-8", "ppcg_seconds"),
            ("cuSPARSE, s", "cusparse_seconds"),
            ("ratio", "cusparse/ppcg"),
        ],
        None,
        "PPCG is conjugate gradients with the polynomial preconditioner. The rival is conjugate gradients with cuSPARSE's and cuBLAS's products.",
    ),
    (
        "batched_gemm, batched_gemv",
        ["batched"],
        [("% of ceiling", "%ceiling"), ("TFLOP/s", "GFLOP/s"), ("cuBLAS, ratio", "rival/ours")],
        "rival/ours",
        "The rival is cuBLAS's strided batched product. The table has 14 shapes of high-order hydrodynamics, and of 200 random shapes the ten with the "
        "lowest ratio.",
    ),
    (
        "csr_spmv",
        ["csr_spmv"],
        [("% of ceiling", "%ceiling"), ("GB/s", "GB/s"), ("cuSPARSE, ratio", "rival/ours")],
        "rival/ours",
        "Products with mass matrices of high-order finite elements. The rival is cuSPARSE with cuBLAS's dot products.",
    ),
    (
        "fe_mass",
        ["fe_mass"],
        [("% of ceiling", "%ceiling"), ("G unknowns/s", "GDOF/s"), ("`csr_spmv`, ratio", "rival/ours"), ("bytes of rows over ours", "bytes_of_rows")],
        "rival/ours",
        "Mass products without the matrix. The rival is `csr_spmv` with the assembled matrix.",
    ),
    (
        "corner_force",
        ["corner_force"],
        [
            ("best form, % of ceiling", "%ceiling"),
            *((form, f"{form}_%ceiling") for form in ("streamed", "teams", "layered", "whole", "force", "separate", "on_the_fly", "paper")),
            ("paper's kernels, ratio", "paper/ours"),
        ],
        "paper/ours",
        "The table has the percentage of every form. `paper` is the published kernels.",
    ),
    (
        "hydro",
        ["hydro"],
        [
            ("processors, ms per step", "cpu_ms/step"),
            ("GPU", "gpu_ms/step"),
            ("both", "both_ms/step"),
            ("share of the GPU, %", "both_share_%"),
            ("GPU over processors", "gpu_speed_up"),
            ("GPU's power, W", "gpu_watts_device"),
        ],
        None,
        "Whole time steps of Sedov's blast, on the processors, on the GPU, and on both.",
    ),
    (
        "Predictions",
        ["prediction_sample"],
        [("predicted over tuned", "predicted/tuned"), ("nearest over tuned", "nearest/tuned"), ("safe over tuned", "safe/tuned")],
        "predicted/tuned",
        "The rate of a predicted configuration over the tuned one, for shipped problems as if neither they nor other sizes of them had been tuned. "
        "The table has the ten lowest.",
    ),
    ("Host buffers", ["buffers"], [("GB/s", "bytes_per_second")], None, "Bandwidth of uploads and downloads of a padded and a plain grid."),
    ("The framework's own cost", ["framework", "c_lookup"], [("ratio", "ratio")], None, "Measured on the processor of that machine."),
]
POOREST = {"batched": (re.compile("^random"), "rival/ours", 10), "prediction_sample": (re.compile(""), "predicted/tuned", 10)}
SCALES = {"GFLOP/s": 1e-3, "bytes_per_second": 1e-9}


def rows_of(folder, files):
    rows = []
    for file in files:
        path = folder / f"{file}.csv"
        if path.exists():
            with open(path, newline="", encoding="utf-8") as text:
                rows += [dict(row, file=file) for row in csv.DictReader(text)]
    return rows


def value(row, column):
    """The figure of a column as a number and its mark, or nothing."""
    for name in (column, column + "*"):
        if row.get(name):
            return float(row[name]) * SCALES.get(column, 1), name[len(column) :]
    return None


def shown(row, column):
    found = value(row, column)
    if found is None:
        return ""
    number, mark = found
    if column == "ns/updates":
        number = 1 / number
    return f"{number:.0f}{mark}" if abs(number) >= 1000 else f"{number:.3g}{mark}"


def time(row):
    seconds = float(row["real_time"]) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[row["time_unit"]]
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def words_of(name):
    """A row's name as words without a value and parameters."""
    words = name.split()
    return " ".join(w for w in words if "=" not in w), dict(w.split("=", 1) for w in words if "=" in w)


def found(row):
    return ", ".join(re.findall(GRADES, row.get("label", ""))) or "-"


def summary(rows, ratio):
    """Geometric mean and lowest of the unmarked ratios, by what the rows' names begin with."""
    groups = {}
    for row in rows:
        figure = value(row, ratio)
        if figure and not figure[1]:
            groups.setdefault(row["name"].split("/")[0] if "/batched" in row["name"] else "all", []).append(figure[0])
    lines = []
    for name, ratios in groups.items():
        mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
        lines.append(f"{'' if name == 'all' else name + ': '}{len(ratios)} ratios, {mean:.3g} in the geometric mean, {min(ratios):.3g} at the lowest")
    marked = sum(bool(figure and figure[1]) for figure in (value(row, ratio) for row in rows))
    if marked:
        lines.append(f"{marked} marked")
    return "; ".join(lines) + "." if lines else ""


def table(folder, title, files, columns, ratio, note):
    rows = rows_of(folder, files)
    if not rows:
        return ""
    total = summary(rows, ratio) if ratio else ""
    pattern, by, count = POOREST.get(files[0], (None, None, 0))
    if pattern:
        some = sorted((r for r in rows if pattern.search(r["name"]) and value(r, by)), key=lambda r: value(r, by)[0])[:count]
        rows = [r for r in rows if not pattern.search(r["name"])] + some
    names = [words_of(row["name"]) for row in rows]
    keys = list(dict.fromkeys(key for _, parameters in names for key in parameters))
    varying = [key for key in keys if len({parameters.get(key, "") for _, parameters in names}) > 1]
    plain = len({word for word, _ in names}) > 1
    columns = [(heading, column) for heading, column in columns if any(shown(row, column) for row in rows)]
    grades = any(found(row) != "-" for row in rows)
    heads = (["row"] if plain else []) + varying + ["time"] + [heading for heading, _ in columns] + (["found"] if grades else [])
    lines = [f"\n## {title}\n", " ".join(part for part in (note, total) if part) + "\n", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row, (word, parameters) in zip(rows, names):
        cells = ([word] if plain else []) + [parameters.get(key, "") for key in varying] + [time(row)]
        cells += [shown(row, column) for _, column in columns] + ([found(row)] if grades else [])
        lines.append(f"| {' | '.join(cells)} |")
    return wrapped("\n".join(lines)) + "\n"


def wrapped(text):
    """Prose in lines of at most 100 columns; tables and headings as they are."""
    lines = []
    for line in text.split("\n"):
        while len(line) > 100 and not line.startswith(("|", "#")):
            cut = line.rfind(" ", 0, 101)
            lines.append(line[:cut])
            line = line[cut + 1 :]
        lines.append(line)
    return "\n".join(lines)


def page(folder):
    runs = {row["run"]: row for row in rows_of(folder, ["contexts"])}
    used = [runs[file] for _, files, *_ in TABLES for file in files if file in runs and (folder / f"{file}.csv").exists()]
    dates = sorted({row["date"][:10] for row in used})
    copies = sorted(float(row["ceiling_copy_GB/s"]) for row in used if row.get("ceiling_copy_GB/s"))
    devices = sorted({row["device"].split(" sm_")[0] for row in used if "sm_" in row["device"]})
    session = f"{', '.join(devices)}, {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, copies {copies[0]:.0f} to {copies[-1]:.0f} GB/s." if used else ""
    return wrapped(HEAD.format(session=session)) + "".join(table(folder, *of) for of in TABLES)


def take(folder, results, report):
    """Makes the files of the folder from the JSON of a run."""
    files = [results / f"{file}.json" for _, files, *_ in TABLES for file in files]
    files = [file for file in files if file.exists()]
    for file in files:
        text = file.read_text(encoding="utf-8").rstrip().rstrip(",")
        try:
            json.loads(text)
        except json.JSONDecodeError:  # the run was ended while it wrote: use what is complete
            text = text[: text.rfind("}") + 1] + "]}"
        whole = results / f"{file.stem}.whole.json"
        whole.write_text(text, encoding="utf-8")
        made = subprocess.run([report, "table", whole], check=True, capture_output=True, text=True).stdout
        (folder / f"{file.stem}.csv").write_text(made, encoding="utf-8")
        whole.replace(file)
    kept = rows_of(folder, ["contexts"])
    made = list(csv.DictReader(subprocess.run([report, "context", *files], check=True, capture_output=True, text=True).stdout.splitlines()))
    kept = [row for row in kept if row["run"] not in {new["run"] for new in made}] + made
    with open(folder / "contexts.csv", "w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, fieldnames=made[0].keys(), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(kept, key=lambda row: row["run"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare with the page that is there")
    parser.add_argument("--from", dest="results", type=pathlib.Path, help="the folder of a run of benchmarks/measure")
    parser.add_argument("--report", default="build/release/bin/benchmark_report", help="the program that makes tables from JSON")
    options = parser.parse_args()
    if options.results:
        take(options.folder, options.results, options.report)
    text = page(options.folder)
    file = options.folder / "all-benchmarks.md"
    if not options.check:
        file.write_text(text, encoding="utf-8")
        return 0
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return 0
    print(f"{file} does not match the files beside it: run benchmarks/tables.py {options.folder}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
