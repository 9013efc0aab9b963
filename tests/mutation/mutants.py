"""Changes sources in small ways, one at a time, and counts how many of the changes their own tests notice.

    mutants.py BUILD SAMPLE SEED [FILE...]

BUILD is a build folder of hone with its libraries, SAMPLE the number of mutants of each file, SEED that of the random choice, FILE (all of TESTS by
default) for example generator/scale. A mutant is written into a folder of its own and compiled there; its object comes before those of the libraries in
the linker's list. Prints each mutant that survived. Fails where the tests do not pass without a change.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time

# The pure sources, and what tests each.
TESTS = {
    "foundation/text": ["foundation/text_test"],
    "foundation/value": ["foundation/value_test"],
    "foundation/json": ["foundation/json_test"],
    "foundation/python_expression": ["foundation/python_expression_test"],
    "generator/search_space": ["generator/search_space_test"],
    "generator/render": ["generator/render_test"],
    "generator/tidy": ["generator/tidy_test"],
    "generator/scale": ["generator/scale_test"],
    "generator/residency": ["generator/residency_test"],
    "generator/members": ["generator/members_test"],
    "generator/families/poisson7/reference": ["generator/families/poisson7/family_test"],
    "generator/families/gauss_seidel_27/reference": ["generator/families/gauss_seidel_27/family_test"],
    "tuner/statistics": ["tuner/statistics_test"],
    "tuner/finals": ["tuner/finals_test"],
    "tuner/objective": ["tuner/objective_test"],
    "tuning_db/record": ["tuning_db/record_test", "tuning_db/test_families"],
    "tuning_db/database": ["tuning_db/database_test", "tuning_db/database_marks_test", "tuning_db/test_families"],
    "tuning_db/prediction": ["tuning_db/prediction_test", "tuning_db/test_families"],
}
QUICK = "--gtest_filter=-Slow*:*/Slow*:Gpu*:*/Gpu*"
MOST_MEMORY = 4 << 30  # bytes: a loop that no longer ends may fill it

# What is replaced by what. Blanks on both sides tell operators from templates, pointers and signs.
EXCHANGED = [
    (r"(?<= )<=(?= )", ["<"]), (r"(?<= )>=(?= )", [">"]), (r"(?<= )<(?= )", ["<="]), (r"(?<= )>(?= )", [">="]),
    (r"(?<= )==(?= )", ["!="]), (r"(?<= )!=(?= )", ["=="]), (r"(?<= )&&(?= )", ["||"]), (r"(?<= )\|\|(?= )", ["&&"]),
    (r"(?<=[\w)\]] )\+(?= )", ["-"]), (r"(?<=[\w)\]] )-(?= )", ["+"]), (r"(?<=[\w)\]] )\*(?= )", ["/"]),
    (r"(?<=[\w)\]] )[/%](?= )", ["*"]), (r"(?<= )\+=(?= )", ["-="]), (r"(?<= )-=(?= )", ["+="]),
    (r"(?<![\w.'\"])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.'])", ["({} + 1)", "({} - 1)"]),
    (r"\bstd::min\b", ["std::max"]), (r"\bstd::max\b", ["std::min"]), (r"\bmin_element\b", ["max_element"]), (r"\bmax_element\b", ["min_element"]),
    (r"\blower_bound\b", ["upper_bound"]), (r"\bupper_bound\b", ["lower_bound"]), (r"\ball_of\b", ["any_of"]), (r"\bany_of\b", ["all_of"]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"\b(?:continue|break);", [";"]),
]
STATEMENT = re.compile(r"^ *(?:else )?(?:[+-]{2}\w|[\w.>\[\]()-]+(?: [+*/-]?= |\(|\+\+|--|\.)).*;$")  # no declaration: those have two words before = or (


def without_words(line):
    """The line with blanks for comments, strings and characters."""
    hidden = re.sub(r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])*\'', lambda found: '"' + " " * (len(found[0]) - 2) + '"', line)
    return re.sub(r"//.*", lambda found: " " * len(found[0]), hidden)


def closing(code, begin):
    """Where the bracket at `begin` is closed on the same line, or -1."""
    depth = 0
    for place in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return -1


def mutants_of(text):
    """(line number, new line) of all mutants."""
    found = []
    for number, line in enumerate(text.split("\n")):
        code = without_words(line)
        if code.lstrip().startswith(("#", "namespace", "template", "using", "static_assert")):
            continue
        for pattern, others in EXCHANGED:
            for place in re.finditer(pattern, code):
                found += [(number, line[: place.start()] + other.format(place[0]) + line[place.end() :]) for other in others]
        for place in re.finditer(r"\bif (?:constexpr )?\(", code):
            end = closing(code, place.end() - 1)
            if end > 0 and not re.search(r";| = ", code[place.end() : end]):
                found.append((number, f"{line[: place.end()]}!({line[place.end() : end]}){line[end:]}"))
        if STATEMENT.match(code) and not code.lstrip().startswith("return"):
            found.append((number, line[: len(line) - len(line.lstrip())] + ("else ;" if code.lstrip().startswith("else ") else ";")))
    return found


class Builder:
    """Compiles and links as the build folder does."""

    def __init__(self, root, build, work):
        self.root, self.build, self.work = root, build, work
        entries = json.loads(subprocess.run(["ninja", "-C", build, "-t", "compdb"], check=True, capture_output=True, text=True).stdout)
        self.commands = {entry["file"]: shlex.split(entry["command"].replace("\\\"", "\"")) for entry in entries if entry["file"].endswith(".cpp")}
        # Sources that are compiled in groups, by the file that includes them.
        self.group = {}
        for file in build.glob("unity/*.cpp"):
            self.group.update({name: str(file) for name in re.findall(r'#include "(.*)"', file.read_text())})

    def compile(self, name, file, output):
        """Compiles `file` as the source `name` is. Whether that went well."""
        command = self.commands[self.group.get(name, str(self.root / name))]
        words = command[next(place for place, word in enumerate(command) if word.endswith(("c++", "g++", "clang++")) and "=" not in word) :]
        for option in ("-MT", "-MF", "-o", "-c"):
            place = words.index(option)
            words = words[:place] + words[place + 2 :]
        words = [word for word in words if word != "-MD"] + ["-w", "-o", str(output), "-c", str(file)]
        return subprocess.run(words, cwd=self.build, capture_output=True).returncode == 0

    def link(self, target, objects, output):
        """Links as the test program `target` is, of these objects; the first one's functions replace those of the libraries."""
        line = subprocess.run(["ninja", "-C", self.build, "-t", "commands", f"bin/{target}"], check=True, capture_output=True, text=True).stdout
        command = next(part for part in line.strip().split("\n")[-1].split(" && ") if f" -o bin/{target} " in part)
        words = [word for word in shlex.split(command) if not word.endswith(".o")]
        place = words.index("-o")
        words = words[:place] + ["-Wl,-z,muldefs"] + [str(one) for one in objects] + ["-o", str(output)] + words[place + 2 :]
        return subprocess.run(words, cwd=self.build, capture_output=True).returncode == 0


def passes(program, limit):
    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    try:
        words = [program, QUICK, "--gtest_fail_fast", "--gtest_brief=1"]
        return subprocess.run(words, timeout=limit, env=environment, preexec_fn=bounded, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, cwd=pathlib.Path(program).parent).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Subject:
    """A source and its tests."""

    def __init__(self, builder, name):
        self.builder, self.name, self.file = builder, name, f"{name}.cpp"
        self.text = (builder.root / self.file).read_text()
        folder = pathlib.PurePath(TESTS[name][0]).parent
        self.target = "test_" + re.sub(r"^(generator/families|tuner)/.*", r"\1", str(folder)).replace("/", "_")
        self.tests = []
        self.limit = 600.0

    def prepare(self):
        """Compiles the tests, and runs them without a change."""
        for number, test in enumerate(TESTS[self.name]):
            self.tests.append(self.builder.work / f"{self.name.replace('/', '_')}_{number}.o")
            file = f"tests/{test}.cpp"
            if not self.builder.compile(file, self.builder.root / file, self.tests[-1]):
                sys.exit(f"error: {file} does not compile")
        begin = time.monotonic()
        if self.outcome(self.text) != "survived":
            sys.exit(f"error: the tests of {self.file} do not pass without a change")
        self.limit = 10 + 3 * (time.monotonic() - begin)

    def outcome(self, text):
        with tempfile.TemporaryDirectory(dir=self.builder.work) as folder:
            folder = pathlib.Path(folder)
            (folder / "mutant.cpp").write_text(text)
            if not self.builder.compile(self.file, folder / "mutant.cpp", folder / "mutant.o"):
                return "did not compile"
            if not self.builder.link(self.target, [folder / "mutant.o", *self.tests], folder / "tests"):
                return "did not compile"
            return "survived" if passes(str(folder / "tests"), self.limit) else "killed"


def main():
    build, sample, seed = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    names = sys.argv[4:] or list(TESTS)
    print(f"{sample} mutants of each file, seed {seed}", flush=True)
    chosen = random.Random(seed)
    total = {"killed": 0, "survived": 0, "did not compile": 0}
    with tempfile.TemporaryDirectory(dir=build) as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        builder = Builder(pathlib.Path(__file__).resolve().parents[2], build, pathlib.Path(work))
        subjects = [Subject(builder, name) for name in names]
        list(pool.map(Subject.prepare, subjects))
        jobs = []
        for subject in subjects:
            lines = subject.text.split("\n")
            every = mutants_of(subject.text)
            mutants = sorted(chosen.sample(every, min(sample, len(every))))
            texts = ["\n".join(lines[:number] + [line] + lines[number + 1 :]) for number, line in mutants]
            jobs.append((subject, lines, mutants, [pool.submit(subject.outcome, text) for text in texts]))
        for subject, lines, mutants, results in jobs:
            counts = dict.fromkeys(total, 0)
            for (number, line), result in zip(mutants, results):
                counts[result.result()] += 1
                if result.result() == "survived":
                    print(f"survived: {subject.file}:{number + 1}: {lines[number].strip()}\n          is now: {line.strip()}")
            print(f"--- {subject.file}: " + ", ".join(f"{count} {what}" for what, count in counts.items()), flush=True)
            total = {what: total[what] + count for what, count in counts.items()}
    compiled = total["killed"] + total["survived"]
    if compiled == 0:
        sys.exit("error: no mutant compiled")
    print(f"figures: {total['killed']} of {compiled} mutants killed ({100 * total['killed'] / compiled:.0f} %), {sample} of each file, seed {seed}")


main()
