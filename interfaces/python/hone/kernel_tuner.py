"""`tune_kernel` as Kernel Tuner has it, on hone: the same arguments describe a kernel folder, which hone tunes, verifies and keeps the results of."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import os
import pathlib
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import Session
from .progress import ProgressLine

_AXES = "xyz"
_USUAL_THREADS = (256, 1, 1)  # of a block, where no tunable says otherwise
_SCALARS = {"int32": "int", "uint32": "unsigned", "int64": "long long", "float32": "float", "float64": "double"}
_ARRAYS = {"float32": "float", "float64": "double", "int32": "int"}
_STRATEGIES = {
    "brute_force": "exhaustive",
    "random_sample": "random",
    "genetic_algorithm": "genetic",
    "simulated_annealing": "annealing",
    "dual_annealing": "annealing",
    "bayes_opt": "surrogate",
    "mls": "local_search",
    "ordered_greedy_mls": "local_search",
    "greedy_mls": "local_search",
    "greedy_ils": "local_search",
}
_OURS = ("surrogate", "local_search", "annealing", "genetic", "random", "exhaustive")
_WITHOUT_EFFECT = ("iterations", "cache", "platform", "log", "verbose")  # what hone decides, keeps or tells by itself
_MOST_LISTED = 4096  # configurations of the tunables that a function as restriction asks for


def tune_kernel(
    kernel_name: str,
    kernel_source: Union[str, "os.PathLike[str]"],
    problem_size: Union[int, str, Sequence[Union[int, str]]],
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Optional[Sequence[Any]] = None,
    atol: float = 1e-6,
    *,
    lang: Optional[str] = None,
    device: Union[int, str, None] = None,
    smem_args: Optional[Mapping[str, Any]] = None,
    block_size_names: Optional[Sequence[str]] = None,
    strategy: Optional[str] = None,
    strategy_options: Optional[Mapping[str, Any]] = None,
    objective: str = "time",
    quiet: bool = False,
    folder: Union[str, "os.PathLike[str]", None] = None,
    database: Union[str, "os.PathLike[str]", None] = None,
    seed: int = 0,
    **others: Any,
) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
    """Tunes a CUDA, C or C++ kernel, described as for Kernel Tuner's function of this name, and keeps the result.

    `kernel_source` is a file or the text itself; tunables are macros in it, with `grid_size_x`, `block_size_x` and `kernel_tuner`. `arguments` are
    arrays and numbers of NumPy, in the kernel's order. `answer` has the expected array for each that the kernel writes, and None for the others;
    unlike Kernel Tuner's, it must be given: hone times nothing that it did not verify, within `atol` plus 1e-5 of the answer's largest value;
    integers have to be equal.
    `restrictions` are expressions, or functions of the parameters. Budgets are max_fevals and time_limit (seconds) of `strategy_options`; without
    them a minute. `strategy` is one of hone's, or Kernel Tuner's name for the like; without it hone's default.

    Gives `(results, env)`: a dict for each candidate that could be measured, its parameters and `time` in milliseconds, and a dict with `problem`,
    `folder`, `device_name` and `best`. `hone.Session(kernels=env["folder"]).kernel(env["problem"])` is the tuned kernel. `folder` is where source,
    data and description are written, by default below this user's data. docs/use-from-python.md has what differs. Raises TypeError or ValueError for
    what hone cannot do as it is asked.
    """
    unknown = [name for name, value in others.items() if name not in _WITHOUT_EFFECT and value not in (None, False)]
    if unknown:
        raise TypeError(f"tune_kernel: hone does not know {', '.join(sorted(unknown))}; see docs/use-from-python.md for what stands in its place")
    source = _text_of(kernel_source)
    target = _target_of(source, lang)
    if not str(kernel_name).isidentifier():
        raise ValueError(f"kernel_name: {kernel_name} is not a plain name; add a function to the source that calls the instance of the template")
    if answer is None:
        raise ValueError("answer: it is None, and hone times only what it verified; give the expected array of each output, and None for the others")
    if len(answer) != len(arguments):
        raise ValueError(f"answer: it has {len(answer)} elements, and there are {len(arguments)} arguments; give None for those that are not written")
    place = pathlib.Path(folder) if folder is not None else _users_folder() / kernel_name
    place.mkdir(parents=True, exist_ok=True)
    sizes = [problem_size] if isinstance(problem_size, (int, str, numpy.integer)) else list(problem_size)
    names = list(block_size_names or ()) or [f"block_size_{axis}" for axis in _AXES]
    names += [f"block_size_{axis}" for axis in _AXES[len(names) :]]
    described, precision, largest = _arguments(arguments, answer, place)
    grid, block = _grid(sizes, (grid_div_x, grid_div_y, grid_div_z), names, tune_params), [_threads(i, names, tune_params) for i in range(3)]
    rules = [_rule(one, tune_params) for one in _listed(restrictions)]
    kernel: Dict[str, Any] = {
        "source": "kernel.cu" if target == "cuda" else "kernel.cpp",
        "tunables": [{"name": name, "values": _values(name, values)} for name, values in tune_params.items()],
        "derived": [{"name": f"grid_size_{axis}", "value": grid[i]} for i, axis in enumerate(_AXES)]
        + [{"name": name, "value": block[i]} for i, name in enumerate(names) if name not in tune_params],
        "constraints": [rule for rule in rules if rule],
    }
    if target == "cuda":
        launch: Dict[str, Any] = {"entry": kernel_name, "grid": grid, "block": block}
        if smem_args:
            launch["shared_bytes"] = _expression("smem_args['size']", smem_args["size"])
        kernel["launches"] = [launch]
    else:
        kernel["entry"] = kernel_name
    description = {
        "name": kernel_name,
        "summary": f"{kernel_name}, handed over by tune_kernel",
        "wrapped": True,
        "parameters": [{"name": "precision", "words": [precision], "default": precision}]
        + [
            {"name": f"problem_size_{_AXES[i]}", "from": int(size), "to": int(size), "default": int(size)}
            for i, size in enumerate(sizes)
            if not isinstance(size, str)
        ],
        "arguments": described,
        target: kernel,
        "counts": {"operations": 0},
        "reference": {"stored": True},
        "tolerance": {"value": atol + 1e-5 * largest, "reason": "atol, and 1e-5 of the answer's largest value"},
    }
    (place / kernel["source"]).write_text(source, encoding="utf-8")
    (place / "family.json").write_text(json.dumps(description, indent=1), encoding="utf-8")
    options = dict(strategy_options or {})
    return _tuned(place, _device(device, target), database, tune_params, kernel_name, options, _strategy(strategy), objective, seed, quiet)


def _tuned(place, device, database, tune_params, name, options, strategy, objective, seed, quiet):  # noqa: ANN001, ANN202
    seconds, evaluations = float(options.get("time_limit", 0)), int(options.get("max_fevals", 0))
    line = None if quiet else ProgressLine(seconds, evaluations)
    kernels = [folder for folder in os.environ.get("HONE_KERNELS", "").split(":") if folder]
    with Session(device, database=database, kernels=[*kernels, place]) as session:
        try:
            best = session.tune(name, seconds, evaluations, strategy=strategy, objective=objective, seed=seed, progress=line)
        finally:
            if line is not None:
                line.end()
        results = [_result(entry, tune_params) for entry in session.journal(name)["entries"] if _is_measured(entry)]
        return results, {"device_name": session.name, "problem": session.kernel(name).problem, "folder": str(place), "best": dict(best)}


def _is_measured(entry: Mapping[str, Any]) -> bool:
    return entry["event"] == "candidate" and entry["outcome"]["status"] == "measured"


def _result(entry: Mapping[str, Any], tune_params: Mapping[str, Sequence[Any]]) -> Dict[str, Any]:
    """The parameters' values as the caller gave them, and the time."""
    config = dict(part.split("=", 1) for part in entry["config"].split(","))
    named = {name: next(value for value in values if _plain(value) == config[name]) for name, values in tune_params.items()}
    return {**named, "time": 1e3 * entry["outcome"]["step"]["median"]}


def _users_folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share") / "hone" / "kernels"


def _text_of(source: Any) -> str:
    if callable(source) or not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"kernel_source: {type(source).__name__}; give the source as a text or one file's name")
    if isinstance(source, os.PathLike) or ("\n" not in source and os.path.isfile(source)):
        return pathlib.Path(source).read_text(encoding="utf-8")
    return source


def _target_of(source: str, lang: Optional[str]) -> str:
    word = (lang or ("CUDA" if "__global__" in source else "OpenCL" if "__kernel" in source else "C")).upper()
    if word in ("CUDA", "CUPY", "NVCUDA"):
        return "cuda"
    if word in ("C", "C++"):
        return "cpu"
    raise ValueError(f"lang: {word}; hone runs CUDA, C and C++")


def _device(device: Union[int, str, None], target: str) -> str:
    if device is None:
        return target
    return f"{target}:{device}" if isinstance(device, int) and target == "cuda" else target if isinstance(device, int) else device


def _strategy(name: Optional[str]) -> Optional[str]:
    if name is None or name in _OURS:
        return name
    if name not in _STRATEGIES:
        raise ValueError(f"strategy: {name}; use one of {', '.join(_OURS)}, or {', '.join(_STRATEGIES)}")
    return _STRATEGIES[name]


def _arguments(arguments: Sequence[Any], answer: Sequence[Any], place: pathlib.Path) -> Tuple[List[Dict[str, Any]], str, float]:
    """The arguments as a family.json lists them, their data written; the precision of their numbers; the largest number among the answers."""
    described: List[Dict[str, Any]] = []
    kinds = set()
    largest = 0.0
    for i, (one, expected) in enumerate(zip(arguments, answer)):
        where = f"arguments[{i}]"
        array = _on_host(one)
        if array.ndim == 0:
            if array.dtype.name not in _SCALARS:
                raise TypeError(f"{where}: its type is {array.dtype}; give one of {', '.join(_SCALARS)}")
            described.append({"name": f"argument_{i}", "type": _SCALARS[array.dtype.name], "value": array.item()})
            continue
        if array.dtype.name not in _ARRAYS:
            raise TypeError(f"{where}: its dtype is {array.dtype}; hone takes {', '.join(_ARRAYS)}")
        kinds.add(array.dtype.name)
        if array.size == 0:
            raise ValueError(f"{where}: it is empty; leave it out, or give it an element")
        entry: Dict[str, Any] = {
            "name": f"argument_{i}",
            "access": "in" if expected is None else "inout",
            "extents": [int(extent) for extent in array.shape],
            "fill": {"file": f"argument_{i}.bin"},
        }
        (place / f"argument_{i}.bin").write_bytes(array.tobytes())
        if expected is not None:
            wanted = _on_host(expected)
            if wanted.size != array.size:
                raise ValueError(f"answer[{i}]: it has {wanted.size} elements, and {where} has {array.size}")
            told, wanted = wanted, numpy.ascontiguousarray(wanted, array.dtype)
            if array.dtype.name == "int32" and not numpy.array_equal(told.ravel(), wanted.ravel()):
                raise ValueError(f"answer[{i}]: not all of its values are 32-bit integers, as those of {where} are")
            if not numpy.isfinite(wanted).all():
                raise ValueError(f"answer[{i}]: not all of its values are finite; give data whose results are")
            (place / f"answer_{i}.bin").write_bytes(wanted.tobytes())
            entry["expected"] = f"answer_{i}.bin"
            if array.dtype.name != "int32":  # integers have to be right
                largest = max(largest, float(numpy.abs(wanted).max()))
        entry["type"] = _ARRAYS[array.dtype.name]
        described.append(entry)
    if all(expected is None for expected in answer):
        raise ValueError("answer: all of it is None; give the expected array of each output")
    return described, "f64" if "float64" in kinds and "float32" not in kinds else "f32", largest


def _on_host(one: Any) -> numpy.ndarray:
    if hasattr(one, "get") and hasattr(one, "__cuda_array_interface__"):  # CuPy
        one = one.get()
    if hasattr(one, "detach"):  # PyTorch
        one = one.detach().cpu().numpy()
    if isinstance(one, bool) or not (isinstance(one, (int, float)) or hasattr(one, "dtype")):
        raise TypeError(f"arguments: {type(one).__name__} is neither an array nor a number; give those of NumPy")
    if isinstance(one, int):
        return numpy.asarray(one, numpy.int32)
    return numpy.asarray(one, order="C")


def _values(name: str, values: Sequence[Any]) -> List[Union[int, str]]:
    found: List[Union[int, str]] = []
    for value in values:
        plain = value.item() if isinstance(value, numpy.generic) else value
        if isinstance(plain, bool):
            plain = int(plain)
        if isinstance(plain, float) and plain.is_integer():
            plain = int(plain)
        if not isinstance(plain, int) and not (isinstance(plain, str) and plain.replace("_", "").isalnum()):
            raise ValueError(f"tune_params['{name}']: {value!r}; hone's tunables have whole numbers, or words of letters, digits and _")
        if plain not in found:
            found.append(plain)
    if len({isinstance(value, str) for value in found}) > 1:
        found = [str(value) for value in found]
    return found


def _plain(value: Any) -> str:
    return str(_values("", [value])[0])


def _expression(where: str, value: Any) -> Union[int, str]:
    if callable(value):
        raise ValueError(f"{where}: it is a function; write it as an expression of the tunables, '2 * block_size_x'")
    return str(value) if isinstance(value, str) else int(value)


def _threads(i: int, names: Sequence[str], tune_params: Mapping[str, Any]) -> Union[int, str]:
    return names[i] if names[i] in tune_params else _USUAL_THREADS[i]


def _grid(sizes: Sequence[Any], divisors: Sequence[Any], names: Sequence[str], tune_params: Mapping[str, Any]) -> List[Union[int, str]]:
    """Blocks along each axis: the problem's size over the product of the divisors, rounded up; without divisors over the block's size."""
    grid: List[Union[int, str]] = []
    for i, axis in enumerate(_AXES):
        if i >= len(sizes):
            grid.append(1)
            continue
        divisor = divisors[i]
        if divisor is None:
            divisor = [names[i]] if names[i] in tune_params else []
        parts = [_expression(f"grid_div_{axis}", one) for one in ([divisor] if isinstance(divisor, (int, str)) or callable(divisor) else divisor)]
        product = " * ".join(f"({part})" for part in parts) or "1"
        size = f"({sizes[i]})" if isinstance(sizes[i], str) else f"problem_size_{axis}"
        grid.append(f"({size} + {product} - 1) // ({product})")
    return grid


def _listed(restrictions: Any) -> List[Any]:
    if restrictions is None:
        return []
    return [restrictions] if isinstance(restrictions, str) or callable(restrictions) else list(restrictions)


class _Asks(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Known(dict):
    """The parameters of which a restriction asked for values before."""

    def __missing__(self, name: str) -> Any:
        raise _Asks(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


def _holds(function: Callable, values: Mapping[str, Any], tune_params: Mapping[str, Any]) -> bool:
    """A restriction takes a dict of all parameters, or parameters of these names."""
    wanted = list(inspect.signature(function).parameters)
    if wanted and all(name in tune_params for name in wanted):
        return bool(function(**{name: values[name] for name in wanted}))
    return bool(function(values))


def _rule(restriction: Any, tune_params: Mapping[str, Sequence[Any]]) -> Optional[Dict[str, str]]:
    """A restriction as a constraint. A function's is the list of what it allows, of those tunables that it asks for."""
    if isinstance(restriction, str):
        names = [name for name in tune_params if name in restriction]
        return {"rule": restriction, "why": ", ".join(f"{name} is {{{name}}}" for name in names) or "it is never true"}
    if not callable(restriction):
        raise TypeError(f"restrictions: {type(restriction).__name__}; give expressions as texts, or functions of the parameters")
    names: List[str] = []
    while True:
        if math.prod(len(tune_params[name]) for name in names) > _MOST_LISTED:
            raise ValueError(f"restrictions: a function asks for {', '.join(names)}, more than {_MOST_LISTED} combinations; write it as an expression")
        try:
            allowed = [
                values
                for values in itertools.product(*(tune_params[name] for name in names))
                if _holds(restriction, _Known(zip(names, values)), tune_params)
            ]
            break
        except _Asks as asked:
            if asked.name not in tune_params:
                raise ValueError(f"restrictions: a function asks for {asked.name}; the tunables are {', '.join(tune_params)}") from None
            names.append(asked.name)
    if not names:
        if allowed:
            return None
        raise ValueError("restrictions: a function allows nothing, whatever the tunables are; correct it")
    shown = [tuple(_values(name, [value])[0] for name, value in zip(names, values)) for values in allowed]
    listed = ", ".join(repr(values if len(names) > 1 else values[0]) for values in shown)
    left = f"({', '.join(names)})" if len(names) > 1 else names[0]
    return {"rule": f"{left} in [{listed}]", "why": ", ".join(f"{name} is {{{name}}}" for name in names) + ", which a restriction excludes"}
