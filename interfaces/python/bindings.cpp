// The module hone._hone: the C interface with Python's arrays, texts and errors. What an
// application sees is in hone/__init__.py.
#include <fmt/format.h>
#include <hone.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

PyObject* hone_error = nullptr;  // hone.Error

[[noreturn]] void raise(PyObject* type, const std::string& text) {
    PyErr_SetString(type, text.c_str());
    throw nb::python_error();
}

// Raises what a failed call has to say: ValueError for a wrong argument, MemoryError, else
// hone.Error.
void require(hone_status status) {
    if (status == HONE_OK) return;
    if (status == HONE_NO_MEMORY) raise(PyExc_MemoryError, hone_last_error());
    raise(status == HONE_BAD_ARGUMENT || status == HONE_BAD_HANDLE ? PyExc_ValueError : hone_error, hone_last_error());
}

// The same of a call that takes long: other Python threads run meanwhile.
template <typename Call>
void require_released(const Call& call) {
    hone_status status = HONE_OK;
    {
        const nb::gil_scoped_release released;
        status = call();
    }
    require(status);
}

// The text that a call writes, which is freed. Other Python threads run meanwhile.
template <typename Call>
std::string taken(const Call& call) {
    char* text = nullptr;
    require_released([&] { return call(&text); });
    std::string copy = text;
    hone_text_free(text);
    return copy;
}

void* stream_of(std::uintptr_t stream) {
    return reinterpret_cast<void*>(stream);  // NOLINT(performance-no-int-to-ptr): Python's libraries give streams as numbers
}

// C's texts end at a zero character, which Python's may hold: what stands behind it would be
// dropped unseen. Needs the interpreter's lock.
const char* c_text(const std::string& text) {
    if (const std::size_t at = text.find('\0'); at != std::string::npos)
        raise(PyExc_ValueError, fmt::format("a text has a zero character at place {}; remove it", at));
    return text.c_str();
}

const char* text_or_null(const std::optional<std::string>& text) {
    return text ? c_text(*text) : nullptr;
}

template <typename Structure>
Structure sized() {
    Structure structure{};
    structure.size = sizeof structure;
    return structure;
}

// ---- Arrays of other libraries ----

struct Argument {
    std::string name, shape, help, dtype, access;
    std::int32_t type = 0;
    std::int64_t count = 0, origin = 0;
    int alignment = 0;
    std::vector<std::int64_t> strides, extents;
};

// An array of another library as the C interface takes it, and what keeps it alive.
struct Described {
    hone_array array{};
    nb::object owner;
};

struct Contents {
    std::uintptr_t data = 0;
    std::string dtype;                         // "float32", ...
    std::vector<std::int64_t> shape, strides;  // in elements
    std::int32_t place = HONE_ANYWHERE;
    int device = 0;
};

std::string name_of(const nb::dlpack::dtype& type) {
    constexpr std::array kinds{"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    return type.lanes == 1 && type.code < kinds.size() ? fmt::format("{}{}", kinds[type.code], type.bits) : "of a kind that hone does not know";
}

[[noreturn]] void refuse_read_only(const std::string& where) {
    raise(PyExc_ValueError, where + ": the array is read-only, and steps write it; give a writable one");
}

// The index of the device that an array says it lies on, as CuPy (device.id), Numba and PyTorch
// (device.index) do; -1 where it does not.
int device_of(nb::handle object) {
    if (!nb::hasattr(object, "device")) return -1;
    nb::object device = object.attr("device");
    for (const char* member : {"id", "index"})
        if (nb::hasattr(device, member)) device = device.attr(member);
    int index = -1;
    return nb::try_cast(device, index) ? index : -1;
}

// Arrays on a GPU that are offered by the older of the two protocols alone.
std::optional<Contents> cuda_interface(nb::handle object, const std::string& where, bool written) {
    if (!nb::hasattr(object, "__cuda_array_interface__")) return std::nullopt;
    const auto given = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
    const auto code = nb::cast<std::string>(given["typestr"]);
    Contents contents;
    const auto data = nb::cast<nb::tuple>(given["data"]);
    contents.data = nb::cast<std::uintptr_t>(data[0]);
    if (written && nb::cast<bool>(data[1])) refuse_read_only(where);
    contents.dtype = code == "<f4" ? "float32" : code == "<f8" ? "float64" : code == "<i4" ? "int32" : code;
    contents.shape = nb::cast<std::vector<std::int64_t>>(given["shape"]);
    contents.place = HONE_CUDA;
    contents.device = device_of(object);  // the protocol does not say
    const std::int64_t bytes = contents.dtype == "float64" ? 8 : 4;
    if (given.contains("strides") && !given["strides"].is_none())
        for (const std::int64_t stride : nb::cast<std::vector<std::int64_t>>(given["strides"])) contents.strides.push_back(stride / bytes);
    return contents;
}

template <typename Array>
Contents contents_of(const Array& array) {
    Contents contents;
    contents.data = reinterpret_cast<std::uintptr_t>(array.data());
    contents.dtype = name_of(array.dtype());
    contents.shape.assign(array.shape_ptr(), array.shape_ptr() + array.ndim());
    contents.strides.assign(array.stride_ptr(), array.stride_ptr() + array.ndim());
    const int type = array.device_type();
    if (type == nb::device::cpu::value || type == nb::device::cuda_host::value) contents.place = HONE_HOST;
    if (type == nb::device::cuda::value) contents.place = HONE_CUDA;
    contents.device = array.device_id();
    return contents;
}

// Where an array's memory is, by the buffer protocol or DLPack, else by CUDA's array interface.
// `where` and `written` are for the error.
Contents contents_of(nb::handle object, const std::string& where, bool written) {
    if (nb::ndarray<> array; nb::try_cast(object, array, false)) return contents_of(array);
    if (nb::ndarray<nb::ro> array; nb::try_cast(object, array, false)) {
        if (!written) return contents_of(array);
        refuse_read_only(where);
    }
    if (auto contents = cuda_interface(object, where, written)) return *contents;
    raise(PyExc_TypeError, fmt::format("{}: {} is not an array; give one of NumPy, CuPy, PyTorch or another library with DLPack", where,
                                       nb::cast<std::string>(object.type().attr("__name__"))));
}

Described described(nb::handle object, const Argument& argument, const std::string& where, int device) {
    const Contents contents = contents_of(object, where, argument.access != "in");
    if (contents.dtype != argument.dtype) raise(PyExc_TypeError, fmt::format("{}: its dtype is {}; give {}", where, contents.dtype, argument.dtype));
    std::int64_t count = 1;
    bool dense = true;
    for (std::size_t i = contents.shape.size(); i-- > 0;) {
        dense = dense && (contents.strides.empty() || contents.shape[i] <= 1 || contents.strides[i] == count);
        count *= contents.shape[i];
    }
    if (!dense)
        raise(PyExc_ValueError,
              where + ": it is not contiguous with the last index fastest; give a contiguous array (numpy.ascontiguousarray copies)");
    if (contents.place == HONE_CUDA && contents.device >= 0 && contents.device != device)
        raise(PyExc_ValueError,
              fmt::format("{}: it lies on cuda:{}, and the session on device {}; move it, or open a session there", where, contents.device, device));
    return {{stream_of(contents.data), count, argument.type, contents.place}, nb::borrow(object)};
}

// ---- Handles ----

// A handle that is still open.
template <typename Handle>
Handle* open(Handle* handle, const char* noun) {
    if (handle == nullptr) raise(PyExc_ValueError, fmt::format("the {} is closed; use it before that, or make another", noun));
    return handle;
}

// A session that is closed once: by its user, or when nothing of Python's needs it any more.
struct OpenSession {
    hone_session* handle = nullptr;
    int device = 0;
    hone_session* get() const { return open(handle, "session"); }
    ~OpenSession() {
        if (handle != nullptr) hone_session_close(handle);
    }
};

class Online {
  public:
    Online(std::shared_ptr<OpenSession> session, const std::string& problem, const std::vector<Described>& arrays, double bound, bool verify_reduced);
    ~Online() {
        if (handle_ != nullptr) hone_online_close(handle_);
    }
    Online(const Online&) = delete;
    Online& operator=(const Online&) = delete;

    void step(std::uintptr_t stream) {
        hone_online* const handle = open(handle_, "online tuner");
        require_released([&] { return hone_online_step(handle, stream_of(stream)); });
    }
    void prepare(std::uintptr_t stream) {
        hone_online* const handle = open(handle_, "online tuner");
        require_released([&] { return hone_online_prepare(handle, stream_of(stream)); });
    }
    void finish() {
        hone_online* const handle = open(handle_, "online tuner");
        require_released([&] { return hone_online_finish(handle); });
    }
    nb::dict report() {
        auto info = sized<hone_online_info>();
        require(hone_online_describe(open(handle_, "online tuner"), &info));
        nb::dict report;
        report["configuration"] = info.configuration;
        report["state"] = info.state;
        report["text"] = info.report;
        report["first_seconds"] = info.first_seconds;
        report["seconds"] = info.seconds;
        report["steps"] = info.steps;
        report["evaluations"] = info.evaluations;
        report["adopted"] = info.adopted;
        report["verified_on"] = info.verified_on;
        return report;
    }
    void close() {
        hone_online* const handle = open(handle_, "online tuner");
        require_released([&] { return hone_online_close(handle); });
        handle_ = nullptr;
        owners_.clear();
    }

  private:
    std::shared_ptr<OpenSession> session_;
    std::vector<nb::object> owners_;
    hone_online* handle_ = nullptr;
};

class BoundKernel {
  public:
    BoundKernel(std::shared_ptr<OpenSession> session, hone_kernel* kernel, const std::vector<Described>& arrays, std::uintptr_t stream)
        : session_(std::move(session)) {
        std::vector<hone_array> given;
        for (const Described& array : arrays) {
            given.push_back(array.array);
            owners_.push_back(array.owner);
        }
        require_released(
            [&] { return hone_kernel_bind(kernel, given.data(), static_cast<std::int32_t>(given.size()), stream_of(stream), &handle_); });
    }
    ~BoundKernel() {
        if (handle_ != nullptr) hone_bound_close(handle_);
    }
    BoundKernel(const BoundKernel&) = delete;
    BoundKernel& operator=(const BoundKernel&) = delete;

    void launch(std::optional<std::int64_t> first, std::optional<std::int64_t> last, std::uintptr_t stream) {
        if (first.has_value() != last.has_value()) raise(PyExc_ValueError, "launch: give both first and last, or neither");
        hone_bound* const handle = open(handle_, noun);
        require_released(
            [&] { return first ? hone_bound_launch_range(handle, *first, *last, stream_of(stream)) : hone_bound_launch(handle, stream_of(stream)); });
    }
    void run(std::int64_t steps, std::uintptr_t stream) {
        hone_bound* const handle = open(handle_, noun);
        require_released([&] { return hone_bound_run(handle, steps, stream_of(stream)); });
    }
    void prepare(std::uintptr_t stream) {
        hone_bound* const handle = open(handle_, noun);
        require_released([&] { return hone_bound_prepare(handle, stream_of(stream)); });
    }
    void close() {
        require(hone_bound_close(open(handle_, noun)));
        handle_ = nullptr;
        owners_.clear();
    }

  private:
    std::shared_ptr<OpenSession> session_;
    static constexpr const char* noun = "bound kernel";
    std::vector<nb::object> owners_;
    hone_bound* handle_ = nullptr;
};

std::vector<Described> described_all(const std::vector<Argument>& arguments, const nb::args& arrays, const std::string& problem, int device) {
    if (arrays.size() != arguments.size()) {
        std::string names;
        for (const Argument& argument : arguments) names += (names.empty() ? "" : ", ") + argument.name;
        raise(PyExc_ValueError, fmt::format("arrays of {}: {} arrays; give {}: {}", problem, arrays.size(), arguments.size(), names));
    }
    std::vector<Described> all;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        all.push_back(described(arrays[i], arguments[i], fmt::format("array {} ({}) of {}", i, arguments[i].name, problem), device));
    return all;
}

class Kernel {
  public:
    Kernel(std::shared_ptr<OpenSession> session, const std::string& problem) : session_(std::move(session)) {
        hone_session* const handle = session_->get();
        const char* const words = c_text(problem);
        require_released([&] { return hone_session_kernel(handle, words, &handle_); });
        const hone_kernel_info info = this->info();
        for (std::int32_t i = 0; i < info.arguments; ++i) arguments_.push_back(argument(i));
    }

    hone_kernel_info info() const {
        auto info = sized<hone_kernel_info>();
        session_->get();  // with which kernels end
        require(hone_kernel_describe(handle_, &info));
        return info;
    }
    const std::vector<Argument>& arguments() const { return arguments_; }
    std::string grade() const { return hone_grade_text(info().grade); }
    std::unique_ptr<BoundKernel> bind(const nb::args& arrays, std::uintptr_t stream) const {
        return std::make_unique<BoundKernel>(session_, handle_, described_all(arguments_, arrays, info().problem, session_->device), stream);
    }

  private:
    Argument argument(std::int32_t index) const {
        constexpr std::array types{"", "float32", "float64", "int32"};
        constexpr std::array accesses{"", "in", "out", "inout"};
        auto found = sized<hone_argument>();
        require(hone_kernel_argument(handle_, index, &found));
        Argument argument{found.name,
                          found.shape,
                          found.help,
                          types.at(static_cast<std::size_t>(found.type)),
                          accesses.at(static_cast<std::size_t>(found.access)),
                          found.type,
                          found.count,
                          found.origin,
                          found.alignment,
                          {},
                          {}};
        argument.strides.assign(found.strides, found.strides + found.indices);
        std::int64_t whole = found.count;
        for (const std::int64_t stride : argument.strides) {
            argument.extents.push_back(stride > 0 ? whole / stride : 0);
            whole = stride;
        }
        return argument;
    }

    std::shared_ptr<OpenSession> session_;
    hone_kernel* handle_ = nullptr;
    std::vector<Argument> arguments_;
};

Online::Online(std::shared_ptr<OpenSession> session, const std::string& problem, const std::vector<Described>& arrays, double bound,
               bool verify_reduced)
    : session_(std::move(session)) {
    std::vector<hone_array> given;
    for (const Described& array : arrays) {
        given.push_back(array.array);
        owners_.push_back(array.owner);
    }
    auto options = sized<hone_online_options>();
    options.bound = bound;
    options.verify_reduced = verify_reduced ? 1 : 0;
    hone_session* const handle = session_->get();
    const char* const words = c_text(problem);
    require_released([&] { return hone_online_open(handle, words, given.data(), static_cast<std::int32_t>(given.size()), &options, &handle_); });
}

// ---- Sessions ----

// A Python function that is told of candidates. What it raises ends the run, and is raised again
// when that has ended.
struct Listener {
    nb::object function;
    std::exception_ptr raised;

    static int progress(const hone_progress* told, void* data) {
        auto& self = *static_cast<Listener*>(data);
        const nb::gil_scoped_acquire acquired;
        try {
            nb::dict progress;
            progress["configuration"] = told->configuration;
            progress["status"] = told->status;
            progress["seconds"] = told->seconds;
            progress["best"] = told->best;
            progress["best_seconds"] = told->best_seconds;
            progress["elapsed"] = told->elapsed;
            progress["members"] = told->members;
            progress["evaluations"] = told->evaluations;
            progress["finals"] = told->finals != 0;
            return !self.function.is_none() && nb::cast<bool>(nb::bool_(self.function(progress))) ? 1 : 0;
        } catch (...) {
            self.raised = std::current_exception();
            return 1;
        }
    }
    // Ctrl-C comes to Python, which asks for it between its own instructions only.
    static int interrupted(void* data) {
        auto& self = *static_cast<Listener*>(data);
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() == 0) return 0;
        self.raised = std::make_exception_ptr(nb::python_error());
        return 1;
    }
};

class Session {
  public:
    Session(const std::string& device, const std::optional<std::string>& database, const std::optional<std::string>& cache,
            const std::optional<std::string>& kernels, const std::optional<std::string>& first_use, double first_use_seconds)
        : open_(std::make_shared<OpenSession>()) {
        auto options = sized<hone_session_options>();
        options.database = text_or_null(database);
        options.cache = text_or_null(cache);
        options.kernels = text_or_null(kernels);
        options.first_use = text_or_null(first_use);
        options.first_use_seconds = first_use_seconds;
        const char* const name = c_text(device);
        require_released([&] { return hone_session_open(name, &options, &open_->handle); });
        open_->device = info().index;
    }

    hone_session_info info() const {
        auto info = sized<hone_session_info>();
        require(hone_session_describe(open_->get(), &info));
        return info;
    }
    std::unique_ptr<Kernel> kernel(const std::string& problem) const { return std::make_unique<Kernel>(open_, problem); }
    std::unique_ptr<Online> online(const std::string& problem, const nb::args& arrays, double bound, bool verify_reduced) const {
        return std::make_unique<Online>(open_, problem, described_all(Kernel(open_, problem).arguments(), arrays, problem, open_->device), bound,
                                        verify_reduced);
    }
    void synchronise(std::uintptr_t stream) const {
        hone_session* const handle = open_->get();
        require_released([&] { return hone_session_synchronise(handle, stream_of(stream)); });
    }
    std::string records_json(const std::optional<std::string>& problem) const {
        const char* const chosen = text_or_null(problem);
        return taken([chosen, handle = open_->get()](char** json) { return hone_session_records(handle, chosen, json); });
    }
    std::string families_json() const {
        return taken([handle = open_->get()](char** json) { return hone_session_families(handle, json); });
    }
    std::string problems_json(const std::optional<std::string>& family) const {
        const char* const chosen = text_or_null(family);
        return taken([chosen, handle = open_->get()](char** json) { return hone_session_problems(handle, chosen, json); });
    }
    nb::dict tune(const std::string& problem, double seconds, std::int64_t evaluations, const std::optional<std::string>& strategy,
                  const std::optional<std::string>& objective, const std::optional<std::string>& only, std::int64_t seed, bool resume,
                  nb::object progress) const {
        Listener listener{std::move(progress), {}};
        auto options = sized<hone_tuning_options>();
        options.seconds = seconds;
        options.evaluations = evaluations;
        options.strategy = text_or_null(strategy);
        options.objective = text_or_null(objective);
        options.only = text_or_null(only);
        options.seed = seed;
        options.resume = resume ? 1 : 0;
        options.progress = Listener::progress;
        options.stop = Listener::interrupted;
        options.data = &listener;
        auto found = sized<hone_tuning_result>();
        hone_session* const handle = open_->get();
        const char* const words = c_text(problem);
        hone_status status = HONE_OK;
        {
            const nb::gil_scoped_release released;
            status = hone_session_tune(handle, words, &options, &found);
        }
        if (listener.raised) std::rethrow_exception(listener.raised);
        require(status);
        nb::dict result;
        result["configuration"] = found.configuration;
        result["seconds"] = found.seconds;
        result["safe_seconds"] = found.safe_seconds;
        result["elapsed"] = found.elapsed;
        result["evaluations"] = found.evaluations;
        result["interrupted"] = found.interrupted != 0;
        return result;
    }
    void close() const {
        require(hone_session_close(open_->get()));
        open_->handle = nullptr;
    }

  private:
    std::shared_ptr<OpenSession> open_;
};

}  // namespace

NB_MODULE(_hone, module) {
    module.doc() = "hone's C interface with Python's arrays, texts and errors; see the package hone";
    static const nb::exception<std::runtime_error> error(module, "Error");
    hone_error = error.ptr();
    module.def(
        "version", [] { return std::string(hone_version()); }, "The release of the library.");
    module.def("_devices_json", [] { return taken(hone_devices); });

    nb::class_<Argument>(module, "Argument", "An array that a kernel is bound to.")
        .def_ro("name", &Argument::name)
        .def_ro("shape", &Argument::shape, "In words, slowest index first: '[nz+2][ny+2][pitch]'.")
        .def_ro("extents", &Argument::extents, "The shape in numbers, as numpy.zeros takes it; padding is a part of it.")
        .def_ro("dtype", &Argument::dtype, "'float32', 'float64' or 'int32'.")
        .def_ro("access", &Argument::access, "'in', 'out' or 'inout'.")
        .def_ro("count", &Argument::count, "Elements that the array must have room for.")
        .def_ro("strides", &Argument::strides, "From one place to the next along each index, in elements.")
        .def_ro("origin", &Argument::origin, "Elements before the first that is no boundary, ghost or padding.")
        .def_ro("alignment", &Argument::alignment, "Bytes that its address must be a multiple of.")
        .def_ro("help", &Argument::help)
        .def("__repr__",
             [](const Argument& argument) { return fmt::format("<{} {}{}: {}>", argument.dtype, argument.name, argument.shape, argument.help); });

    nb::class_<BoundKernel>(module, "BoundKernel", "A kernel with arrays, which it keeps alive. Nothing is copied.")
        .def("launch", &BoundKernel::launch, "first"_a = nb::none(), "last"_a = nb::none(), "stream"_a = 0,
             "One time step, over the whole range or over [first, last). Queued on a GPU, ended on a processor.")
        .def("run", &BoundKernel::run, "steps"_a, "stream"_a = 0, "So many time steps, and waits until they have ended.")
        .def("prepare", &BoundKernel::prepare, "stream"_a = 0, "An array that steps do not write has changed: makes what comes from it again.")
        .def("close", &BoundKernel::close, "Lets go of the arrays.");

    nb::class_<Online>(module, "Online", "A kernel that is tuned while the application steps.")
        .def("step", &Online::step, "stream"_a = 0, "One time step, in place of BoundKernel.launch.")
        .def("prepare", &Online::prepare, "stream"_a = 0, "As BoundKernel.prepare.")
        .def("finish", &Online::finish, "Keeps the results and tries nothing more.")
        .def("report", &Online::report, "Where it stands: a dict with a 'text' for people.")
        .def("close", &Online::close, "Finishes, and lets go of the arrays.");

    const auto text = [](const char* hone_kernel_info::*member) {
        return [member](const Kernel& kernel) { return std::string(kernel.info().*member); };
    };
    const auto number = [](double hone_kernel_info::*member) { return [member](const Kernel& kernel) { return kernel.info().*member; }; };
    nb::class_<Kernel>(module, "Kernel", "The best kernel known for a problem.")
        .def(
            "bind", &Kernel::bind, "arrays"_a, nb::kw_only(), "stream"_a = 0,
            "Binds it to arrays in the order of its arguments: of NumPy, CuPy, PyTorch or another library, contiguous and of the right dtype. Raises "
            "TypeError or ValueError that name the array.")
        .def_prop_ro("problem", text(&hone_kernel_info::problem), "In full, with the values that were left out.")
        .def_prop_ro("configuration", text(&hone_kernel_info::configuration), "'block_x=32,block_y=8,...'")
        .def_prop_ro("grade", &Kernel::grade,
                     "How well it fits: 'exact', 'measured', 'nearest_size', 'same_architecture', 'predicted', 'other_architecture', 'none'.")
        .def_prop_ro("note", text(&hone_kernel_info::note), "What may make the configuration less fit, beside its grade.")
        .def_prop_ro("source", text(&hone_kernel_info::source), "The text that was compiled.")
        .def_prop_ro("range_unit", text(&hone_kernel_info::range_unit), "'planes', 'elements', ...")
        .def_prop_ro(
            "range", [](const Kernel& kernel) { return kernel.info().range; }, "How many of them a step runs over.")
        .def_prop_ro(
            "plain_loops", [](const Kernel& kernel) { return kernel.info().plain_loops != 0; }, "Nothing can be compiled here: plain loops run.")
        .def_prop_ro("updates", number(&hone_kernel_info::updates), "Of one time step: grid points, elements.")
        .def_prop_ro("operations", number(&hone_kernel_info::operations), "Of one time step, floating point.")
        .def_prop_ro("bytes", number(&hone_kernel_info::bytes), "Of one time step: compulsory memory traffic.")
        .def_prop_ro("arguments", &Kernel::arguments, "What `bind` takes, in order.")
        .def("__repr__", [](const Kernel& kernel) {
            return fmt::format("<Kernel {}: {} ({})>", kernel.info().problem, kernel.info().configuration, kernel.grade());
        });

    nb::class_<Session>(module, "Session")
        .def(nb::init<const std::string&, const std::optional<std::string>&, const std::optional<std::string>&, const std::optional<std::string>&,
                      const std::optional<std::string>&, double>(),
             "device"_a, "database"_a, "cache"_a, "kernels"_a, "first_use"_a, "first_use_seconds"_a)
        .def_prop_ro(
            "device", [](const Session& session) { return std::string(session.info().device); }, "'cpu', 'cuda:0'")
        .def_prop_ro(
            "name", [](const Session& session) { return std::string(session.info().name); }, "Of the device's model.")
        .def_prop_ro(
            "memory_bytes", [](const Session& session) { return session.info().memory_bytes; }, "Of the device.")
        .def_prop_ro(
            "results", [](const Session& session) { return std::string(session.info().results); },
            "The folder that tuning writes to; journals of its searches lie below, in journals/.")
        .def("kernel", &Session::kernel, "problem"_a, "The best kernel known for a problem, 'family name=value ...'.")
        .def("online", &Session::online, "problem"_a, "arrays"_a, nb::kw_only(), "bound"_a = 0.05, "verify_reduced"_a = false,
             "A kernel on these arrays that is tuned while it steps; `bound` is the part of the time that may be spent on it. With `verify_reduced` "
             "candidates of large problems run once they are right on smaller arrays, without a look at the problem's own size.")
        .def("synchronise", &Session::synchronise, "stream"_a = 0, "Waits for all that was queued on a stream.")
        .def("_records_json", &Session::records_json, "problem"_a)
        .def("_families_json", &Session::families_json)
        .def("_problems_json", &Session::problems_json, "family"_a)
        .def("_tune", &Session::tune, "problem"_a, "seconds"_a, "evaluations"_a, "strategy"_a, "objective"_a, "only"_a, "seed"_a, "resume"_a,
             "progress"_a.none())
        .def("close", &Session::close, "Ends the session; bound kernels go on until they are closed themselves.");
}
