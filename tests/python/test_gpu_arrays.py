"""Arrays of a GPU, on a driver and a compiler that only play one (tests/runtime/cuda/fake_driver): what lies on a "device" there is host memory, which
shows where the package hands addresses, places and streams over. It runs no kernels."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "runtime" / "cuda" / "fake_driver"

# In a process of its own, which has no other driver.
PROGRAM = '''
import gc
import sys

import numpy

import hone

PROBLEM = "gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=9 nz=11"


class CudaArray:
    """What CuPy and PyTorch offer of an array."""

    def __init__(self, array, device=0, read_only=False, strides=None, typestr=None):
        self.array, self.device = array, device
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": typestr or array.dtype.str,
            "data": (array.ctypes.data, read_only),
            "strides": strides,
            "version": 3,
        }


def refused(error, says, *arrays):
    try:
        kernel.bind(*arrays)
    except error as found:
        assert all(word in str(found) for word in says), found
        return
    raise AssertionError(f"accepted, and should say {says}")


def aligned(argument):
    memory = numpy.zeros(argument.count * 4 + 256, numpy.uint8)
    begin = -memory.ctypes.data % 256
    return memory[begin : begin + argument.count * 4].view(numpy.float32).reshape(argument.extents)


session = hone.Session("cuda:0")
assert session.device == "cuda:0", session.device
kernel = session.kernel(PROBLEM)
host = [aligned(argument) for argument in kernel.arguments]
u, f, stencil = [CudaArray(array) for array in host]

bound = kernel.bind(u, f, stencil)
bound.launch(stream=0)
session.synchronise()
owners = [sys.getrefcount(one) for one in (u, f, stencil)]
bound.close()
assert [sys.getrefcount(one) for one in (u, f, stencil)] == [count - 1 for count in owners], "a bound kernel keeps its arrays, and lets go of them"

name = "array 0 (u)"
refused(ValueError, [name, "host memory"], host[0], f, stencil)
refused(TypeError, [name, "float64; give float32"], CudaArray(host[0].astype("float64")), f, stencil)
refused(ValueError, [name, "not contiguous"], CudaArray(host[0], strides=tuple(2 * s for s in host[0].strides)), f, stencil)
refused(ValueError, [name, "elements; give"], CudaArray(host[0][1:]), f, stencil)
refused(ValueError, [name, "read-only"], CudaArray(host[0], read_only=True), f, stencil)
kernel.bind(u, CudaArray(host[1], read_only=True), stencil)
freed = CudaArray(host[0])
freed.__cuda_array_interface__["data"] = (0, False)
refused(ValueError, [name, "null"], freed, f, stencil)


class Second:
    id = 1


class SecondOfTorch:
    index = 1


for device in (1, Second(), SecondOfTorch()):
    refused(ValueError, [name, "cuda:1", "move it"], CudaArray(host[0], device=device), f, stencil)
session.close()
print("done")
'''


@pytest.fixture(scope="module")
def fake_gpu(tmp_path_factory):
    """A folder with the libraries that HONE_CUDA_LIBRARIES names."""
    folder = tmp_path_factory.mktemp("fake_cuda")
    for source, library in (("fake_driver", "libcuda.so.1"), ("fake_nvrtc", "libnvrtc.so.13"), ("fake_nvml", "libnvidia-ml.so.1")):
        command = ["c++", "-std=c++20", "-shared", "-fPIC", f"-I{ROOT}", str(SOURCES / f"{source}.cpp"), "-o", str(folder / library)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except OSError as missing:
            pytest.skip(f"c++, which the fake driver is compiled by, is not here: {missing}")
    return folder


def test_arrays_of_a_gpu(fake_gpu, tmp_path, monkeypatch):
    monkeypatch.setenv("HONE_CUDA_LIBRARIES", str(fake_gpu))
    monkeypatch.setenv("HONE_CACHE", str(tmp_path / "cache"))
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
