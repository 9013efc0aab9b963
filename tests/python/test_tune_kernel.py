"""tune_kernel on the processor, and what it describes of CUDA kernels. The arguments are those that Kernel Tuner takes."""

import json

import numpy
import pytest

import hone

SOURCE = """
extern "C" float vector_add(float *c, float *a, const float *b, float factor, int n) {
    const int parts = (n + tile - 1) / tile;
#pragma omp parallel for schedule(layout)
    for (int part = 0; part < parts; ++part)
        for (int i = part * tile; i < n && i < (part + 1) * tile; ++i) c[i] = a[i] + factor * b[i];
    return 0;
}
"""

CUDA = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""

N = 10_007
TUNE_PARAMS = {"tile": [64, 256, 1024], "layout": ["static", "guided"]}


def vectors():
    random = numpy.random.default_rng()
    a, b = (random.uniform(-1, 1, N).astype(numpy.float32) for _ in range(2))
    return numpy.full(N, numpy.nan, numpy.float32), a, b


def tune(tmp_path, source=SOURCE, factor=1.0, **changes):
    c, a, b = vectors()
    options = {
        "restrictions": ["tile < 1024 or layout == 'static'"],
        "answer": [a.astype("float64") + 2.5 * b, None, None, None, None],
        "strategy": "brute_force",
        "strategy_options": {"max_fevals": 6, "time_limit": 20},
        "folder": tmp_path / "kernel",
        "database": tmp_path / "db",
        "quiet": True,
        **changes,
    }
    (tmp_path / "db").mkdir(exist_ok=True)
    return hone.tune_kernel("vector_add", source, N, [c, a, b, numpy.float32(2.5 * factor), numpy.int32(N)], TUNE_PARAMS, **options)


def test_tunes_a_kernel_and_keeps_it(tmp_path):
    results, env = tune(tmp_path)
    found = sorted((one["tile"], one["layout"]) for one in results)
    assert found == sorted((t, w) for t in TUNE_PARAMS["tile"] for w in TUNE_PARAMS["layout"] if t < 1024 or w == "static")
    assert all(one["time"] > 0 for one in results) and env["best"]["seconds"] > 0
    with hone.Session("cpu", database=tmp_path / "db", kernels=env["folder"]) as session:
        kernel = session.kernel(env["problem"])
        assert kernel.grade == "exact" and kernel.configuration == env["best"]["configuration"]
        c, a, b = vectors()
        kernel.bind(c, a, b).run(1)
        numpy.testing.assert_allclose(c, a.astype("float64") + 2.5 * b, rtol=0, atol=1e-6)
        frame = session.journal(env["problem"], frame=True)
        assert sorted(zip(frame["tile"], frame["layout"])) == found and (frame["status"] == "measured").all()
        importance = session.importance(env["problem"])
        assert importance.svg().startswith("<svg") and importance.svg() == importance._repr_svg_()
        assert {name for effect in importance.effects for name in effect["tunables"]} <= set(TUNE_PARAMS)


STATISTICS = """
extern "C" void statistics(const float *x, double *sum, int *positive, int rows) {
#pragma omp parallel for schedule(static, chunk)
    for (int row = 0; row < rows; ++row) {
        double all = 0;
        int count = 0;
        for (int i = 0; i < 31; ++i) { all += x[row * 31 + i]; count += x[row * 31 + i] > 0; }
        sum[row] = all;
        positive[row] = count + wrong;
    }
}
"""


def statistics(tmp_path, source):
    (tmp_path / "db").mkdir(exist_ok=True)
    x = numpy.random.default_rng().uniform(-1, 1, (77, 31)).astype(numpy.float32)
    outputs = [numpy.zeros(77), numpy.zeros(77, numpy.int32)]
    answer = [None, x.sum(axis=1, dtype=numpy.float64), (x > 0).sum(axis=1), None]
    return hone.tune_kernel("statistics", source, 77, [x, *outputs, numpy.int32(77)], {"chunk": [1, 16]}, answer=answer, quiet=True,
                            strategy_options={"max_fevals": 2}, folder=tmp_path / "kernel", database=tmp_path / "db")  # fmt: skip


def test_results_may_be_integers_and_precisions_mix(tmp_path):
    results, env = statistics(tmp_path, STATISTICS.replace("wrong", "0"))
    assert {one["chunk"] for one in results} == {1, 16}
    with hone.Session("cpu", database=tmp_path / "db", kernels=env["folder"]) as session:
        assert [argument.dtype for argument in session.kernel(env["problem"]).arguments] == ["float32", "float64", "int32"]
    with pytest.raises(hone.Error, match="found nothing"):
        statistics(tmp_path, STATISTICS.replace("wrong", "(row == 76)"))


def test_a_wrong_kernel_is_not_timed(tmp_path):
    with pytest.raises(hone.Error, match="found nothing"):
        tune(tmp_path, factor=1.01)


@pytest.fixture
def described(tmp_path, monkeypatch):
    """What a call of tune_kernel describes, in place of tuning it."""
    devices = []
    monkeypatch.setattr("hone.kernel_tuner._tuned", lambda place, device, *rest: devices.append(device) or ([], {}))

    def describe(call):
        call()
        return json.loads((tmp_path / "kernel" / "family.json").read_text()), devices[-1]

    return describe


def test_a_function_restricts_as_an_expression_does(tmp_path, described):
    def allowed(restrictions):
        told, _ = described(lambda: tune(tmp_path, restrictions=restrictions))
        rule = told["cpu"]["constraints"][0]["rule"]
        return [(t, w) for t in TUNE_PARAMS["tile"] for w in TUNE_PARAMS["layout"] if eval(rule, {"tile": t, "layout": w})]

    by_text = allowed(["tile < 1024 or layout == 'static'"])
    assert len(by_text) == 5
    assert allowed(lambda p: p["tile"] < 1024 or p["layout"] == "static") == by_text
    assert allowed([lambda tile, layout: tile < 1024 or layout == "static"]) == by_text
    assert len(allowed(lambda p: p["tile"] > 64)) == 4


@pytest.mark.parametrize(
    "changes, error, says",
    [
        ({"answer": None}, ValueError, "answer: it is None"),
        ({"answer": [None]}, ValueError, "it has 1 elements, and there are 5 arguments"),
        ({"answer": [None] * 5}, ValueError, "all of it is None"),
        ({"answer": [numpy.zeros(3)] + [None] * 4}, ValueError, r"answer\[0\]: it has 3 elements"),
        ({"lang": "OpenCL"}, ValueError, "hone runs CUDA, C and C"),
        ({"cmem_args": {"d": 1}}, TypeError, "does not know cmem_args"),
        ({"strategy": "tarot"}, ValueError, "strategy: tarot"),
        ({"restrictions": lambda p: p["tilt"] > 1}, ValueError, "asks for tilt"),
        ({"restrictions": ["tile < 0"]}, hone.Error, "none of the first"),
        ({"restrictions": ["__import__('os').getpid() > 0"]}, hone.Error, r"constraints\[0\]"),
        ({"restrictions": ["tilt > 1"]}, hone.Error, "asks for tilt"),
        ({"source": "int nothing;\n"}, hone.Error, "vector_add"),
    ],
)
def test_says_what_it_cannot_do(tmp_path, changes, error, says):
    with pytest.raises(error, match=says):
        tune(tmp_path, **changes)


def test_describes_a_cuda_kernel_as_kernel_tuner_launches_it(tmp_path, described):
    """The launch is Kernel Tuner's: the problem's size over the product of the divisors, rounded up, in blocks of block_size_x."""
    c, a, b = vectors()
    told, device = described(
        lambda: hone.tune_kernel(
            "vector_add",
            CUDA,
            N,
            [c, a, b, numpy.int32(N)],
            {"block_size_x": [2048, 64, 128], "points": [1, 2]},
            grid_div_x=["block_size_x", "points"],
            restrictions=["block_size_x <= 1024"],
            answer=[a + b, None, None, None],
            folder=tmp_path / "kernel",
            device=1,
        )
    )
    assert device == "cuda:1"
    launch = told["cuda"]["launches"][0]
    assert eval(launch["grid"][0], {"block_size_x": 64, "points": 2, "problem_size_x": N}) == -(-N // 128) and launch["grid"][1:] == [1, 1]
    assert launch["block"] == ["block_size_x", 1, 1]
    assert told["cuda"]["constraints"][0]["rule"] == "block_size_x <= 1024" and "safe" not in told["cuda"], "hone finds the first that is allowed"
    assert [one["access"] for one in told["arguments"][:3]] == ["inout", "in", "in"]
    assert told["arguments"][3] == {"name": "argument_3", "type": "int", "value": N}
