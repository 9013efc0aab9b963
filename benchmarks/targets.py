#!/usr/bin/env python3
"""The page of targets and what was reached, benchmarks/results/targets.md, made from targets.csv there and from the records that ship.

    benchmarks/targets.py            writes the page
    benchmarks/targets.py --check    exit code 1 if the page does not match the list and the records

A row of targets.csv: section, row, target, record, h100, h200, source, cause. A figure should be at least its target; a negative target is the most
that the figure may be. `record` names a shipped record by family and parameters: if a card has that record and the row has no figure for this card,
the figure is the record's percentage of its ceiling. `source` is a page beside this one that has the command. `cause` says why a target is missed.
The column "one session" comes from the newest run of all benchmarks (<card>/all-benchmarks.md), from its CSV files.
"""
import argparse
import csv
import json
import pathlib
import re
import sys

from tables import rows_of, value

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = RESULTS / "targets.md"
CARDS = {"h100": ROOT / "tuning_db" / "records" / "nvidia_h100_80gb_hbm3.json", "h200": ROOT / "tuning_db" / "records" / "nvidia_h200.json"}
HEAD = """# Targets and what was reached

What a reader learns here: for each kind of kernel, how close it comes to the limit of the hardware
or how much faster it is than its rival, whether that meets its target (**met**), and, if not, what
limits it.

The targets were set in issue 19. Figures are from an NVIDIA H100 (80 GB HBM3, copy 3.0 TB/s) and an
H200 (copy 4.2 TB/s). Percentages are of the row's ceiling, memory bandwidth or arithmetic. A figure
with a date comes from a record that ships; `hone show` prints its configuration. The other figures
were measured as the page in the last column says. "One session" is the figure of the same row in
the run of [all benchmarks]({card}/all-benchmarks.md) on an {CARD}, {day}. There `*` marks a ratio
with a kernel that was not tuned for its problem; such a ratio meets no target.

In the causes, "instead of" compares an experiment with the kernel as it is. LIFT and D are the
operators of a discontinuous Galerkin stage.

Made by `benchmarks/targets.py` from `targets.csv` and the shipped records.
"""


def of_record(records, words):
    """Percentage and date of the newest record with these parameters that knows its ceiling."""
    family, *parameters = words.split()
    wanted = dict(parameter.split("=") for parameter in parameters)
    found = [
        record
        for record in records
        if record["problem"]["family"] == family
        and "ceiling" in record
        and all(str(record["problem"]["parameters"].get(name)) == value for name, value in wanted.items())
    ]
    if not found:
        return "", ""
    newest = max(found, key=lambda record: (record["date"][:10], record["ceiling"]["fraction"]))
    return f"{100 * newest['ceiling']['fraction']:.1f}", newest["date"][:10]


EQUATIONS = {"Maxwell": "maxwell_3d", "acoustics": "acoustics_3d", "2D": "maxwell_2d_tm"}


def place_of(row):
    """Where the run of all benchmarks has the figure of a row: files, words of the row's name, column, and the column to divide by."""
    stage = re.fullmatch(r"(Maxwell|acoustics|2D) (f\d\d), N = (\d+)", row["row"])
    if row["section"].endswith("times three kernels") and stage:
        return ["dg_stage", "dg_stage_others"], {f"equation={EQUATIONS[stage[1]]}", f"precision={stage[2]}", f"order={stage[3]}"}, "rival/ours", None
    sweeps = re.fullmatch(r"acoustic step 3D, order 16, (f\d\d), sweeps or one pass", row["row"])
    if sweeps:
        words = {"kernel=step", "levels=1", "dimension=3", "order=16", f"precision={sweeps[1]}"}
        return ["acoustics_staggered", "acoustics_staggered_f64"], words, "%ceiling", "sweeps/ours"
    step = re.fullmatch(r"hydro, ms per step, 3D Q(\d)-Q\d, (\d+)\^3", row["row"])
    if step:
        return ["hydro"], {f"order={step[1]}", f"zones={step[2]}x{step[2]}x{step[2]}"}, "gpu_ms/step", None
    family, *words = row["record"].split() or [""]
    words = {word for word in words if word not in ("arithmetic=strict", "result=products")}
    column = "%ceiling"
    for half in ("direction", "residual"):
        if f"kernel={half}" in words:
            words, column = words - {f"kernel={half}"} | {"kernel=direction+residual"}, f"{half}_%ceiling"
    return [family, f"{family}_others"], words, column, None


def newest_session():
    """The card and the day of the newest run of all benchmarks, and its files."""
    runs = {}
    for card in CARDS:
        for row in rows_of(RESULTS / card, ["contexts"]):
            file = RESULTS / card / f"{row['run']}.csv"
            if file.exists():
                runs.setdefault((row["date"][:10], card), set()).add(row["run"])
    day, card = max(runs)
    return card, day, runs[day, card]


def accurate_over_strict(folder, files):
    """The least ratio of rates, Maxwell's first five orders."""
    rows = [row for row in rows_of(folder, files & {"dg_stage"}) if re.search("maxwell_3d order=[1-5] precision=f32", row["name"])]
    times = {row["name"]: float(row["real_time"]) for row in rows}
    ratios = [times[name.replace(" arithmetic=f32_accurate", "")] / time for name, time in times.items() if "f32_accurate" in name]
    return f"{min(ratios):.3g}" if ratios else ""


def in_session(row, folder, measured_files):
    """The figure of a row in the run of all benchmarks, with its mark; empty if it has none."""
    if row["section"].endswith("f32_accurate over strict"):
        return accurate_over_strict(folder, measured_files)
    files, words, column, divisor = place_of(row)
    for measured in rows_of(folder, [file for file in files if file in measured_files]):
        name = measured["name"].split()
        figures = [value(measured, wanted) for wanted in (column, divisor) if wanted]
        if words and words <= set(name) and "arithmetic=f32_accurate" not in name and all(figures):
            if divisor and figures[1][0] > 1:  # the other variant is slower, so this is the figure of the better one
                figures.pop()
            return f"{figures[0][0] / (figures[1][0] if figures[1:] else 1):.3g}" + "".join(mark for _, mark in figures)
    return ""


def cell(target, figure, date=""):
    return " ".join(word for word in (figure, "**met**" if figure and met(target, figure) else "", f"({date})" if date else "") if word)


def met(target, figure):
    if figure.endswith("*"):
        return False
    return float(figure) <= -float(target) if float(target) < 0 else float(figure) >= float(target)


def page(rows, records):
    card_in_session, day, files = newest_session()
    lines = [HEAD.format(card=card_in_session, CARD=card_in_session.upper(), day=day)]
    counts = {card: [0, 0] for card in [*CARDS, "one session"]}
    body = []
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            body.append(f"\n## {section}\n\n| | target | H100 | H200 | one session | cause | measured in |\n|---|---|---|---|---|---|---|")
        cells, figures = [], {}
        for card in CARDS:
            figure, date = row[card], ""
            if not figure and row["record"]:
                figure, date = of_record(records[card], row["record"])
            figures[card] = figure
            cells.append(cell(row["target"], figure, date))
        figures["one session"] = in_session(row, RESULTS / card_in_session, files)
        cells.append(cell(row["target"], figures["one session"]))
        for card, figure in figures.items():
            if figure:
                counts[card][1] += 1
                counts[card][0] += met(row["target"], figure)
        at_most = "at most " if float(row["target"]) < 0 else ""
        source = f"[{row['source']}]({row['source']})" if row["source"] else ""
        body.append(f"| {row['row']} | {at_most}{row['target'].lstrip('-')} | {' | '.join(cells)} | {row['cause']} | {source} |")
    lines.append("\n".join(f"- {card.upper() if card in CARDS else card}: {count[0]} of {count[1]} measured targets are met; there are {len(rows)} in all." for card, count in counts.items()))
    return "\n".join(lines) + "\n" + "\n".join(body) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the page that is there")
    options = parser.parse_args()
    with open(PAGE.with_suffix(".csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = page(rows, {card: json.loads(path.read_text(encoding="utf-8"))["records"] for card, path in CARDS.items()})
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE} does not match its list and the records: run benchmarks/targets.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
