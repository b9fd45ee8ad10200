// python_bindings/bind_options.cpp - tilefold.Options.
#include "python_bindings/session_handle.h"
#include "python_bindings/text_caster.h"
#include "python_bindings/traverse.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/environment.h"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <string>

namespace tilefold::python {

namespace {

using Text = std::optional<std::string>;
/// As given: nanobind makes optional strings where nothing may be thrown.
using GivenText = std::optional<nb::str>;

Text copy_of(const GivenText& given) {
    if (!given)
        return std::nullopt;
    return nb::cast<std::string>(*given);
}

Isa isa_of(const std::string& text) {
    Isa isa{};
    if (!parse_isa(text, isa))
        fail(Code::UnknownTarget, {text, isa_spellings()});
    return isa;
}

/// Of a finite number that is not negative; text is none.
std::optional<double> tolerance_of(const nb::object& given) {
    if (given.is_none())
        return std::nullopt;
    const bool converts = PyNumber_Check(given.ptr()) != 0;
    const double number = converts ? PyFloat_AsDouble(given.ptr()) : -1;
    PyErr_Clear();
    if (!(std::isfinite(number) && number >= 0))
        fail(Code::BadOption, {"tolerance", nb::repr(given).c_str(),
                               "pass a number that is at least 0, such as "
                               "1e-6"});
    return number;
}

void set_options(OptionsHandle* self, std::optional<int> threads,
                 const GivenText& cache_directory,
                 std::optional<std::int64_t> cache_size, const GivenText& isa,
                 std::optional<bool> log, const GivenText& plan,
                 std::optional<bool> tune, nb::object progress,
                 nb::object stream, const GivenText& cuda_driver,
                 const GivenText& nvrtc, const nb::object& tolerance,
                 const GivenText& devices,
                 std::optional<std::int64_t> device_bytes) {
    if (threads && *threads < 1)
        fail(Code::BadOption,
             {"threads", std::to_string(*threads), "pass a positive number"});
    if (cache_size && *cache_size < 0)
        fail(Code::BadOption, {"cache_size", std::to_string(*cache_size),
                               "pass a number of bytes"});
    new (self) OptionsHandle;
    self->options.threads = threads;
    self->options.cache_directory = copy_of(cache_directory);
    self->options.cache_size = cache_size;
    if (isa)
        self->options.isa = isa_of(*copy_of(isa));
    self->options.log = log;
    if (plan)
        self->options.plan = parse_plan(*copy_of(plan));
    self->options.tune = tune;
    self->options.cuda_driver = copy_of(cuda_driver);
    self->options.nvrtc = copy_of(nvrtc);
    self->options.tolerance = tolerance_of(tolerance);
    self->options.devices = copy_of(devices);
    if (self->options.devices)
        parse_devices(*self->options.devices);
    self->options.device_bytes = device_bytes;
    self->progress = std::move(progress);
    self->stream = std::move(stream);
}

Text isa_text(const OptionsHandle& self) {
    if (!self.options.isa)
        return std::nullopt;
    return std::string(spelling_of(*self.options.isa));
}

Text plan_text(const OptionsHandle& self) {
    if (!self.options.plan)
        return std::nullopt;
    return print(*self.options.plan);
}

template <class Value>
void put(nb::dict& settings, const char* name,
         const std::optional<Value>& value) {
    if (value)
        settings[name] = *value;
}

/// What was set and is text or a number, by the keywords of the constructor.
nb::dict settings_of(const OptionsHandle& self) {
    const Options& options = self.options;
    nb::dict settings;
    put(settings, "threads", options.threads);
    put(settings, "cache_directory", options.cache_directory);
    put(settings, "cache_size", options.cache_size);
    put(settings, "isa", isa_text(self));
    put(settings, "log", options.log);
    put(settings, "plan", plan_text(self));
    put(settings, "tune", options.tune);
    put(settings, "cuda_driver", options.cuda_driver);
    put(settings, "nvrtc", options.nvrtc);
    put(settings, "tolerance", options.tolerance);
    put(settings, "devices", options.devices);
    put(settings, "device_bytes", options.device_bytes);
    return settings;
}

std::string repr(const OptionsHandle& self) {
    std::string text;
    for (const auto [name, value] : settings_of(self))
        text += (text.empty() ? "" : ", ") + nb::cast<std::string>(name) + "=" +
                nb::repr(value).c_str();
    return "tilefold.Options(" + text + ")";
}

/// A call of the class, which takes keywords only.
nb::tuple reduce_to_settings(const OptionsHandle& self) {
    nb::dict settings = settings_of(self);
    if (self.progress.is_valid())
        settings["progress"] = self.progress;
    if (self.stream.is_valid())
        settings["stream"] = self.stream;
    const nb::object partial =
        nb::module_::import_("functools")
            .attr("partial")(nb::type<OptionsHandle>(), **settings);
    return nb::make_tuple(partial, nb::tuple());
}

constexpr const char* class_doc =
    "Settings of a `Session`, or of one call (`options=`).\n\n"
    "What is left out comes from the environment, else from the default:\n\n"
    "threads: TILEFOLD_NUM_THREADS, else the cores this process may use.\n"
    "cache_directory: TILEFOLD_CACHE_DIR, else tilefold/ in the XDG cache\n"
    "    directory; may begin with ~; \"\" keeps kernels in memory only.\n"
    "cache_size: TILEFOLD_CACHE_SIZE in bytes, else 1 GiB.\n"
    "isa: TILEFOLD_ISA, else the best of this processor;\n"
    "    \"x86-64-v3\", \"x86-64-v4\", \"x86-64-v4-vnni\",\n"
    "    \"x86-64-v4-bf16\", \"znver4\", \"znver5\" or \"x86-64-v4-amx\";\n"
    "    \"aarch64\" for `explain` alone.\n"
    "log: TILEFOLD_LOG; True writes a line for each compile to stderr.\n"
    "plan: forces the loops; the text that `explain` prints.\n"
    "tune: TILEFOLD_TUNE; True times the plans that the cost model likes\n"
    "    best, once for a formula and dtypes (0.1 s or so, from a million\n"
    "    pairs on), and keeps the fastest in the cache.\n"
    "progress: called as progress(done, total), in pairs of points, about\n"
    "    every 50 ms of a long run; returning False cancels it.\n"
    "stream: of a GPU, for one call: a stream of PyTorch or CuPy, or its\n"
    "    number; else the one that is current in the arrays' library.\n"
    "cuda_driver: TILEFOLD_CUDA_DRIVER, else \"libcuda.so.1\": NVIDIA's\n"
    "    driver, opened when an array on a GPU is first met.\n"
    "nvrtc: TILEFOLD_NVRTC, the path of NVIDIA's compiler; else it is\n"
    "    looked for: loaded by another library, a Python package, conda's,\n"
    "    CUDA_HOME's, the system's.\n"
    "tolerance: TILEFOLD_TOLERANCE, else 0, which is float32's own rounding:\n"
    "    the error that products of float32 vectors may have, relative to\n"
    "    |x| |y| for an inner product, to |x|² + |y|² of centred points for a\n"
    "    squared distance, to its terms for a sum of vectors. A typical\n"
    "    error: the worst is four times as large. From 2e-7 on a squared\n"
    "    distance may be |x|² + |y|² - 2 x·y, which is NaN where a coordinate\n"
    "    is infinite, and factors may have 16 bits from 3.2e-6 on (bf16x3),\n"
    "    for AMX and a GPU's tensor cores to multiply long ones; there, 22\n"
    "    bits from 1e-7 on (tf32x3), and 8 from 4e-3 on (bf16x1). Weights of\n"
    "    a softmax of bfloat16 values keep 16 bits then, and 8 from 4e-3 on.\n"
    "    `explain` tells which. Without effect on float64.\n"
    "devices: TILEFOLD_DEVICES, else \"\", the CPU: where calls whose arrays\n"
    "    are in the host's memory are computed; \"cuda:0\",\n"
    "    \"cuda:0,cuda:1\" together, \"cuda\" for all there are. Arrays go\n"
    "    there in pieces, while the ones before are computed, and results\n"
    "    come back: neither has to fit a GPU's memory.\n"
    "device_bytes: TILEFOLD_DEVICE_BYTES, else 256 MiB, of each such GPU.\n\n"
    "Picklable, where the progress callback is. Raises `ArgumentError` for a\n"
    "value that is not one of these.";

} // namespace

void bind_options(nb::module_& module) {
    nb::class_<OptionsHandle>(module, "Options",
                              nb::type_slots(collected_slots<OptionsHandle>),
                              nb::is_weak_referenceable(), class_doc)
        .def("__init__", &set_options, nb::kw_only(),
             nb::arg("threads") = nb::none(),
             nb::arg("cache_directory") = nb::none(),
             nb::arg("cache_size") = nb::none(), nb::arg("isa") = nb::none(),
             nb::arg("log") = nb::none(), nb::arg("plan") = nb::none(),
             nb::arg("tune") = nb::none(), nb::arg("progress") = nb::none(),
             nb::arg("stream") = nb::none(),
             nb::arg("cuda_driver") = nb::none(), nb::arg("nvrtc") = nb::none(),
             nb::arg("tolerance") = nb::none(), nb::arg("devices") = nb::none(),
             nb::arg("device_bytes") = nb::none(),
             nb::sig("def __init__(self, *, threads: int | None = None, "
                     "cache_directory: str | None = None, "
                     "cache_size: int | None = None, isa: str | None = None, "
                     "log: bool | None = None, plan: str | None = None, "
                     "tune: bool | None = None, "
                     "progress: typing.Callable[[float, float], object] | "
                     "None = None, stream: typing.Any = None, "
                     "cuda_driver: str | None = None, "
                     "nvrtc: str | None = None, "
                     "tolerance: float | None = None, "
                     "devices: str | None = None, "
                     "device_bytes: int | None = None) -> None"))
        .def_prop_ro("threads",
                     [](const OptionsHandle& o) { return o.options.threads; })
        .def_prop_ro(
            "cache_directory",
            [](const OptionsHandle& o) { return o.options.cache_directory; })
        .def_prop_ro(
            "cache_size",
            [](const OptionsHandle& o) { return o.options.cache_size; })
        .def_prop_ro("isa", &isa_text)
        .def_prop_ro("log",
                     [](const OptionsHandle& o) { return o.options.log; })
        .def_prop_ro("plan", &plan_text)
        .def_prop_ro("tune",
                     [](const OptionsHandle& o) { return o.options.tune; })
        .def_prop_ro(
            "cuda_driver",
            [](const OptionsHandle& o) { return o.options.cuda_driver; })
        .def_prop_ro("nvrtc",
                     [](const OptionsHandle& o) { return o.options.nvrtc; })
        .def_prop_ro("tolerance",
                     [](const OptionsHandle& o) { return o.options.tolerance; })
        .def_prop_ro("devices",
                     [](const OptionsHandle& o) { return o.options.devices; })
        .def_prop_ro(
            "device_bytes",
            [](const OptionsHandle& o) { return o.options.device_bytes; })
        .def("__repr__", &repr)
        .def("__reduce__", &reduce_to_settings,
             nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

} // namespace tilefold::python
