"""The Python package on the processor. What kernels compute is compared with formulas in NumPy that share nothing with hone."""

import json
import pathlib
import signal
import threading

import numpy
import pytest

import hone

CELLS = 40
WAVES = f"acoustics_staggered kernel=step dimension=2 order=4 media=scalar precision=f64 nx={CELLS} ny={CELLS - 7}"
SMALL = "gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=9 nz=11"


@pytest.fixture
def session():
    with hone.Session("cpu") as opened:
        yield opened


def zeros(kernel):
    return {argument.name: numpy.zeros(argument.extents, argument.dtype) for argument in kernel.arguments}


def waves(kernel, seed):
    """Random fields with the cells' part of each, as views, and the kernel bound to go forth and back."""
    arrays = zeros(kernel)
    p = kernel.arguments[0]
    row, column = divmod(p.origin, p.strides[0])
    inner = numpy.s_[row : row + CELLS - 7, column : column + CELLS]
    random = numpy.random.default_rng(seed)
    for name in ("p", "u", "v"):
        arrays[name][inner] = random.uniform(-1, 1, (CELLS - 7, CELLS))
    arrays["kappa"][...], arrays["b"][...] = 0.45, 0.4
    now = [arrays[name] for name in ("p", "u", "v")]
    after = [arrays[name] for name in ("p_next", "u_next", "v_next")]
    media = [arrays["kappa"], arrays["b"]]
    return arrays, inner, kernel.bind(*now, *media, *after), kernel.bind(*after, *media, *now)


def difference(a, axis):
    """9/8 (a[i] - a[i-1]) - 1/24 (a[i+1] - a[i-2]), in place i of the axis."""
    return 9 / 8 * (a - numpy.roll(a, 1, axis)) - 1 / 24 * (numpy.roll(a, -1, axis) - numpy.roll(a, 2, axis))


def expected(arrays, inner, steps):
    """The same steps with NumPy. Around the cells there is more padding than a step reads, so that it does not matter where `roll` wraps."""
    p, u, v = (numpy.pad(arrays[name][inner], 8) for name in ("p", "u", "v"))
    cells = numpy.s_[8:-8, 8:-8]
    for _ in range(steps):
        faces_u, faces_v = u - 0.4 * difference(p, 1), v - 0.4 * difference(p, 0)
        next_p = p - 0.45 * (difference(numpy.roll(faces_u, -1, 1), 1) + difference(numpy.roll(faces_v, -1, 0), 0))
        for field, new in ((p, next_p), (u, faces_u), (v, faces_v)):
            field[cells] = new[cells]
    return p[cells]


def test_steps_on_numpy_arrays_in_place(session):
    seed = numpy.random.SeedSequence().entropy
    kernel = session.kernel(WAVES)
    arrays, inner, forth, back = waves(kernel, seed)
    reference = expected(arrays, inner, 10)
    for _ in range(5):
        forth.launch()
        back.launch()
    session.synchronise()
    numpy.testing.assert_allclose(arrays["p"][inner], reference, rtol=0, atol=40 * 10 * 2.3e-16 * 10, err_msg=f"seed {seed}")


def test_steps_over_parts_of_the_range(session):
    seed = numpy.random.SeedSequence().entropy
    kernel = session.kernel(WAVES)
    assert (kernel.range, kernel.range_unit) == (CELLS - 7, "rows or planes")
    arrays, inner, forth, _ = waves(kernel, seed)
    reference = expected(arrays, inner, 1)
    middle = seed % kernel.range
    forth.launch(0, middle)
    forth.launch(middle, kernel.range)
    numpy.testing.assert_allclose(arrays["p_next"][inner], reference, rtol=0, atol=40 * 2.3e-15, err_msg=f"seed {seed}")
    with pytest.raises(hone.Error, match="stay within"):
        forth.launch(0, kernel.range + 1)
    with pytest.raises(ValueError, match="both first and last"):
        forth.launch(first=2)


def test_a_kernel_describes_itself(session):
    kernel = session.kernel(SMALL)
    assert kernel.problem.startswith(SMALL) and "vector_bytes=" in kernel.configuration
    assert kernel.grade in ("exact", "measured", "nearest_size", "same_architecture", "predicted", "other_architecture", "none")
    assert 'extern "C"' in kernel.source and kernel.bytes > 0 and not kernel.plain_loops
    u, f, stencil = kernel.arguments
    assert (u.name, u.access, u.dtype) == ("u", "inout", "float32") and (f.access, stencil.count) == ("in", 27)
    assert numpy.prod(u.extents) == u.count
    assert "u" in repr(u) and SMALL in repr(kernel)


def test_integers_are_int32(session):
    kernel = session.kernel("csr_spmv precision=f64 rows=100 entries=1000")
    types = {argument.name: argument.dtype for argument in kernel.arguments}
    assert types["column_indices"] == types["row_starts"] == "int32" and types["values"] == "float64"


@pytest.mark.parametrize(
    "change, error, says",
    [
        (lambda u: u.astype("float64"), TypeError, r"array 0 \(u\).*float64; give float32"),
        (lambda u: u.astype(complex), TypeError, r"array 0 \(u\).*complex128"),
        (lambda u: u.ravel()[:-1], ValueError, r"array 0 \(u\).*elements; give"),
        (lambda u: numpy.repeat(u, 2, axis=2)[:, :, ::2], ValueError, r"array 0 \(u\).*not contiguous"),
        (lambda u: numpy.asfortranarray(u), ValueError, r"array 0 \(u\).*not contiguous"),
        (lambda u: "u", TypeError, r"array 0 \(u\).*str is not an array"),
        (lambda u: None, TypeError, r"array 0 \(u\).*NoneType is not an array"),
    ],
)
def test_a_wrong_array_is_refused_by_name(session, change, error, says):
    kernel = session.kernel(SMALL)
    u, f, stencil = zeros(kernel).values()
    with pytest.raises(error, match=says):
        kernel.bind(change(u), f, stencil)


def test_arrays_that_cannot_be_written_overlap_or_lie_elsewhere_are_refused(session):
    kernel = session.kernel(SMALL)
    u, f, stencil = zeros(kernel).values()
    with pytest.raises(ValueError, match="overlaps"):
        kernel.bind(u, u, stencil)
    with pytest.raises(ValueError, match="2 arrays; give 3: u, f, stencil"):
        kernel.bind(u, f)
    f.flags.writeable = False
    kernel.bind(u, f, stencil)  # which steps only read
    u.flags.writeable = False
    with pytest.raises(ValueError, match=r"array 0 \(u\).*read-only"):
        kernel.bind(u, f, stencil)

    class OnGpu:
        __cuda_array_interface__ = {"typestr": "<f4", "shape": u.shape, "data": (4096, False), "strides": None, "version": 3}

    with pytest.raises(ValueError, match=r"array 0 \(u\).*memory of a CUDA device"):
        kernel.bind(OnGpu(), f, stencil)


def test_any_library_with_dlpack_will_do(session):
    class Exported:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    kernel = session.kernel(SMALL)
    seed = numpy.random.SeedSequence().entropy
    random = numpy.random.default_rng(seed)
    ours = [random.uniform(-1, 1, a.extents).astype(a.dtype) for a in kernel.arguments]
    theirs = [array.copy() for array in ours]
    kernel.bind(*ours).run(1)
    kernel.bind(*(Exported(array) for array in theirs)).run(1)
    assert not numpy.array_equal(ours[0], numpy.zeros_like(ours[0]))
    numpy.testing.assert_array_equal(ours[0], theirs[0], err_msg=f"seed {seed}")


def test_a_bound_kernel_keeps_its_arrays_and_its_session():
    kernel = hone.Session("cpu").kernel(SMALL)
    bound = kernel.bind(*zeros(kernel).values())
    del kernel
    bound.run(3)
    bound.close()
    with pytest.raises(ValueError, match="bound kernel is closed"):
        bound.launch()


def test_what_is_closed_says_so(session):
    other = hone.Session("cpu")
    kernel = other.kernel(SMALL)
    bound = kernel.bind(*zeros(kernel).values())
    other.close()
    bound.run(1)
    for use in (lambda: other.kernel(SMALL), lambda: kernel.configuration, lambda: other.close(), lambda: other.records()):
        with pytest.raises(ValueError, match="session is closed"):
            use()


def test_errors_say_what_to_do(session, tmp_path):
    with pytest.raises(hone.Error, match="did you mean gauss_seidel_27"):
        session.kernel("gauss_seidel_28")
    with pytest.raises(hone.Error, match="not a folder"):
        hone.Session("cpu", database=tmp_path / "absent")
    with pytest.raises(hone.Error, match="gpux"):
        hone.Session("gpux")
    with pytest.raises(ValueError, match="options->seconds is -1"):
        session.tune(SMALL, seconds=-1)


def test_a_zero_character_is_refused(session):
    for text in ("poisson7\0", "\0", "gauss_seidel_27 stencil=constant\0 precision=f32"):
        with pytest.raises(ValueError, match="zero character at place"):
            session.kernel(text)
    with pytest.raises(ValueError, match="zero character"):
        hone.Session("cpu\0")


def test_many_threads_look_up_and_step(session):
    problems = [SMALL, WAVES]
    failures = []

    def work(number):
        try:
            for i in range(50):
                kernel = session.kernel(problems[(number + i) % 2])
                kernel.bind(*zeros(kernel).values()).run(1)
        except BaseException as error:  # pylint: disable=broad-except
            failures.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_tunes_and_gives_the_winner_from_then_on(session):
    told = []
    result = session.tune(SMALL, evaluations=3, seed=5, progress=told.append)
    candidates = [progress for progress in told if not progress["finals"]]
    assert [progress["evaluations"] for progress in candidates] == [1, 2, 3] and told[0]["status"] == "measured"
    assert result["evaluations"] == 3 and result["seconds"] > 0 and result.gain > 0 and not result["interrupted"]
    kernel = session.kernel(SMALL)
    assert (kernel.grade, kernel.configuration) == ("exact", result["configuration"])
    ours = [record for record in session.records(SMALL) if record["problem"]["parameters"]["nx"] == 20]
    assert [record["step_seconds"]["median"] for record in ours] == [result["seconds"]]
    assert len(session.records()) > 100, "with those that ship with hone"


def test_lists_devices_families_and_problems(session, tmp_path):
    processor = hone.devices()[-1]
    assert (processor["id"], processor["name"], processor["memory_bytes"]) == (session.device, session.name, session.memory_bytes)
    families = {family["name"]: family for family in session.families()}
    stencil = families["gauss_seidel_27"]
    assert stencil["example"].startswith("gauss_seidel_27 ") and stencil["summary"]
    precision = next(parameter for parameter in stencil["parameters"] if parameter["name"] == "precision")
    assert precision["words"] == ["f32", "f64"]
    with hone.Session("cpu", database=tmp_path) as empty:
        assert empty.problems() == []
        assert empty.kernel(SMALL).grade == "none"
        result = empty.tune(SMALL, evaluations=2, seed=5)
        (known,) = empty.problems("gauss_seidel_27")
        assert known == {"problem": empty.kernel(SMALL).problem, "grade": "exact", "seconds": result["seconds"]}
        assert empty.problems("dg_volume") == []
        with pytest.raises(hone.Error, match="did you mean gauss_seidel_27"):
            empty.problems("gauss_seidel_28")
    with pytest.raises(ValueError, match="session is closed"):
        empty.families()


def test_grades_are_the_words_of_the_commands(session):
    schema = json.loads((pathlib.Path(__file__).parents[2] / "tools" / "schema" / "output-1.schema.json").read_text())
    words = schema["$defs"]["lookup"]["properties"]["matches"]["items"]["properties"]["grade"]["enum"]
    assert {problem["grade"] for problem in session.problems()} | {session.kernel(SMALL).grade} <= set(words)
    assert all(f"'{word}'" in hone.Kernel.grade.__doc__ for word in words)


def test_records_come_as_a_frame(session):
    pandas = pytest.importorskip("pandas", reason="pandas is not here")
    frame = session.records(frame=True)
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(session.records())
    assert frame["step_seconds.median"].min() > 0


def test_a_callback_ends_the_run_or_raises(session):
    result = session.tune(SMALL, evaluations=100, progress=lambda progress: progress["evaluations"] == 2)
    assert result["interrupted"] and result["evaluations"] == 2

    def fail(progress):
        raise RuntimeError("enough of " + progress["configuration"])

    with pytest.raises(RuntimeError, match="enough of"):
        session.tune(SMALL, evaluations=100, progress=fail)


def test_ctrl_c_ends_the_run(session):
    pressed = threading.Event()

    def interrupt():
        signal.raise_signal(signal.SIGINT)
        pressed.set()

    # From another thread, as a terminal's comes between two calls. That thread may come late, and with kernels of an earlier run in the cache the run may be
    # over by then: so the run waits, and Ctrl-C comes in the second call at the latest.
    def press(progress):
        if progress["evaluations"] == 1:
            threading.Thread(target=interrupt).start()
        else:
            pressed.wait()

    with pytest.raises(KeyboardInterrupt):
        session.tune(SMALL, evaluations=1000, progress=press)


def test_shows_progress(session, capfd):
    session.tune(SMALL, evaluations=1, progress=True)
    assert "[####################]" in capfd.readouterr().err


def test_steps_while_it_tunes(session):
    kernel = session.kernel(SMALL)
    arrays = list(zeros(kernel).values())
    online = session.online(SMALL, *arrays, bound=0.1, verify_reduced=True)
    for _ in range(20):
        online.step()
    report = online.report()
    assert report["steps"] == 20 and report["configuration"] in report["text"]
    assert report["verified_on"] == ""  # so small a problem is verified at its own size
    online.finish()
    online.close()
    with pytest.raises(ValueError, match="online tuner is closed"):
        online.step()


def test_replays_measured_spaces():
    space = pathlib.Path(__file__).parents[1] / "spaces" / "gauss_seidel_27_constant_f32.space.gz"
    document = hone.simulate(space, strategy="random,surrogate", repetitions=2, evaluations=10)
    replayed = document["spaces"][0]
    assert replayed["configurations"] == 499 and {one["strategy"].split(",")[0] for one in replayed["strategies"]} >= {"random", "surrogate"}
    with pytest.raises(hone.Error, match="absent.space"):
        hone.simulate("absent.space")
