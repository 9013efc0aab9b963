#!/usr/bin/env python3
"""A page of bars beside figures, made from a list.

    benchmarks/bars.py benchmarks/results/h100            writes bars.md from bars.csv there
    benchmarks/bars.py benchmarks/results/h100 --check    exit code 1 where bars.md is not what bars.csv gives

A row of bars.csv: section, row, bar, figure, source, cause. A figure should be at least its bar; a negative bar is the most that it may be. `source`
is a file beside the page, which has the command. A row without a figure was not measured. `cause` says why a bar is missed.
"""
import argparse
import csv
import pathlib
import sys

HEAD = (
    "# Bars and figures\n\nEvery bar of issue 19 with what this card reached: made from `bars.csv` by `benchmarks/bars.py`.\n"
    "Each file that is named has the command, the date and the configurations.\n"
)


def verdict(bar, figure):
    if not figure:
        return "not measured"
    met = float(figure) <= -float(bar) if float(bar) < 0 else float(figure) >= float(bar)
    return "met" if met else "**missed**"


def page(rows):
    lines = [HEAD]
    met = sum(verdict(row["bar"], row["figure"]) == "met" for row in rows)
    measured = sum(bool(row["figure"]) for row in rows)
    lines.append(f"{met} of {measured} that were measured are met; {len(rows) - measured} were not measured.\n")
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            lines.append(f"## {section}\n\n| | figure | bar | | what limits | measured in |\n|---|---|---|---|---|---|")
        source = f"[{row['source']}]({row['source']})" if row["source"] else ""
        lines.append(f"| {row['row']} | {row['figure']} | {row['bar'].lstrip('-')} | {verdict(row['bar'], row['figure'])} | {row['cause']} | {source} |")
        if row is rows[-1] or rows[rows.index(row) + 1]["section"] != section:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare with the page that is there")
    options = parser.parse_args()
    with open(options.folder / "bars.csv", newline="", encoding="utf-8") as file:
        text = page(list(csv.DictReader(file)))
    target = options.folder / "bars.md"
    if not options.check:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.read_text(encoding="utf-8") == text:
        return 0
    print(f"{target} is not what bars.csv gives: benchmarks/bars.py {options.folder}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
