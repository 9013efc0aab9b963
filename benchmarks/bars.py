#!/usr/bin/env python3
"""The page of bars beside figures, benchmarks/results/bars.md, made from bars.csv there and from the records that ship.

    benchmarks/bars.py            writes the page
    benchmarks/bars.py --check    exit code 1 where the page is not what list and records give

A row of bars.csv: section, row, bar, record, h100, h200, source, cause. A figure should be at least its bar; a negative bar is the most that it may be.
`record` names a shipped record by family and parameters: where a card has it and the row has no figure of its own for this card, the figure is the
record's percentage of its ceiling. `source` is a file beside the page, which has the command. `cause` says why a bar is missed.
"""
import argparse
import csv
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "benchmarks" / "results" / "bars.md"
CARDS = {"h100": ROOT / "tuning_db" / "records" / "nvidia_h100_80gb_hbm3.json", "h200": ROOT / "tuning_db" / "records" / "nvidia_h200.json"}
HEAD = """# Bars and figures

Every bar of issue 19 with what an NVIDIA H100 (80 GB HBM3, copy 3.0 TB/s) and an H200 (copy 4.2
TB/s) reached. Made by `benchmarks/bars.py` from `bars.csv` and the records that ship. A figure that
comes from a record says so by its date; `hone show` prints the configuration. The others are
measured as the file says that is named. Percentages are of the row's ceiling, memory or arithmetic.
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


def met(bar, figure):
    return float(figure) <= -float(bar) if float(bar) < 0 else float(figure) >= float(bar)


def page(rows, records):
    lines = [HEAD]
    counts = {card: [0, 0] for card in CARDS}
    body = []
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            body.append(f"\n## {section}\n\n| | bar | H100 | H200 | what limits | measured in |\n|---|---|---|---|---|---|")
        cells = []
        for card in CARDS:
            figure, date = row[card], ""
            if not figure and row["record"]:
                figure, date = of_record(records[card], row["record"])
            if figure:
                counts[card][1] += 1
                counts[card][0] += met(row["bar"], figure)
            cells.append(" ".join(word for word in (figure, "**met**" if figure and met(row["bar"], figure) else "", f"({date})" if date else "") if word))
        at_most = "at most " if float(row["bar"]) < 0 else ""
        source = f"[{row['source']}]({row['source']})" if row["source"] else ""
        body.append(f"| {row['row']} | {at_most}{row['bar'].lstrip('-')} | {cells[0]} | {cells[1]} | {row['cause']} | {source} |")
    lines.append("\n".join(f"{card.upper()}: {count[0]} of the {count[1]} that were measured are met, of {len(rows)}." for card, count in counts.items()))
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
    print(f"{PAGE} is not what its list and the records give: run benchmarks/bars.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
