// runtime/cpu/environment.cpp - the environment, read when a Session begins.

#include "runtime/cpu/environment.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/isa.h"
#include "runtime/system/system.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tilefold {
namespace {

/// The names of the options' variables, by option.
namespace variable_of {
#define OPTION(name, scope, type, python, variable, doc)                       \
    [[maybe_unused]] constexpr const char* name = variable;
#include "runtime/core/options.def"
} // namespace variable_of

/// The variable's value; none where unset or empty. A set-uid program has none:
/// who starts it chooses neither the libraries that it opens nor its cache.
std::optional<std::string> variable(const char* name) {
    const char* value = system::environment_variable(name);
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

/// A path as shells read it: ~ and ~/… are at home.
std::optional<std::string> expanded(std::optional<std::string> path) {
    const bool at_home = path && (*path == "~" || path->starts_with("~/"));
    if (const auto home = at_home ? variable("HOME") : std::nullopt)
        path->replace(0, 1, *home);
    return path;
}

std::optional<std::int64_t>
number_variable(const char* name, std::int64_t least, const char* cure) {
    std::optional<std::string> text = variable(name);
    if (!text)
        return std::nullopt;
    std::int64_t number = 0;
    auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() ||
        number < least)
        fail(Code::BadOption, {name, "'" + *text + "'", cure});
    return number;
}

double tolerance_of(const Options& given) {
    const char* name = variable_of::tolerance;
    constexpr const char* cure = "give a number that is at least 0, such as "
                                 "1e-6";
    double tolerance = given.tolerance.value_or(0);
    if (given.tolerance) {
        if (!(std::isfinite(tolerance) && tolerance >= 0)) {
            char spelled[32];
            std::snprintf(spelled, sizeof spelled, "%g", tolerance);
            fail(Code::BadOption, {"tolerance", spelled, cure});
        }
    } else if (const auto text = variable(name)) {
        const auto [end, error] = std::from_chars(
            text->data(), text->data() + text->size(), tolerance);
        if (error != std::errc() || end != text->data() + text->size() ||
            !(std::isfinite(tolerance) && tolerance >= 0))
            fail(Code::BadOption, {name, "'" + *text + "'", cure});
    }
    return tolerance;
}

std::int64_t device_bytes(const Options& given) {
    constexpr std::int64_t least = 1 << 16, usual = 256 << 20;
    const char* cure = "give a number of bytes from 65536 on";
    const std::int64_t bytes =
        given.device_bytes
            ? *given.device_bytes
            : number_variable(variable_of::device_bytes, least, cure)
                  .value_or(usual);
    if (bytes < least)
        fail(Code::BadOption, {"device_bytes", std::to_string(bytes), cure});
    return bytes;
}

void check_segment(const Options& given) {
    if (given.segment && *given.segment < 1)
        fail(Code::BadOption, {"segment", std::to_string(*given.segment),
                               "give a number of points from 1 on"});
}

bool flag_variable(const char* name) {
    std::optional<std::string> text = variable(name);
    if (!text || *text == "0")
        return false;
    if (*text != "1")
        fail(Code::BadOption, {name, "'" + *text + "'", "set it to 0 or 1"});
    return true;
}

/// The first number of OMP_NUM_THREADS, of the outermost level; none where it
/// is unset or unreadable, which OpenMP ignores as well.
std::optional<int> threads_of_openmp() {
    const std::optional<std::string> text = variable("OMP_NUM_THREADS");
    if (!text)
        return std::nullopt;
    const std::size_t blank =
        std::min(text->find_first_not_of(" \t"), text->size());
    int threads = 0;
    const auto [end, error] = std::from_chars(
        text->data() + blank, text->data() + text->size(), threads);
    return error == std::errc() && threads > 0 ? std::optional(threads)
                                               : std::nullopt;
}

int threads_of(const std::optional<int>& given) {
    constexpr int most = 4096;
    const char* cure = "give a number of threads from 1 to 4096";
    std::int64_t threads = 0;
    if (given)
        threads = *given;
    else if (auto set = number_variable(variable_of::threads, 1, cure))
        threads = *set;
    else {
        const int processors = system::usable_processors();
        threads =
            std::min(threads_of_openmp().value_or(processors), processors);
    }
    if (threads < 1 || threads > most)
        fail(Code::BadOption, {"threads", std::to_string(threads), cure});
    return int(threads);
}

/// Set but empty means memory only, as does a machine without a home.
std::string cache_directory() {
    if (const char* set =
            system::environment_variable(variable_of::cache_directory))
        return set;
    auto absolute = [](const std::optional<std::string>& path) {
        return path && path->front() == '/';
    };
    if (auto xdg = variable("XDG_CACHE_HOME"); absolute(xdg))
        return *xdg + "/tilefold";
    if (auto home = variable("HOME"); absolute(home))
        return *home + "/.cache/tilefold";
    return {};
}

std::int64_t cache_size(const Options& given) {
    constexpr std::int64_t gibibyte = std::int64_t(1) << 30;
    const char* cure = "give a number of bytes";
    std::int64_t bytes = given.cache_size
                             ? *given.cache_size
                             : number_variable(variable_of::cache_size, 0, cure)
                                   .value_or(gibibyte);
    if (bytes < 0)
        fail(Code::BadOption, {"cache_size", std::to_string(bytes), cure});
    return bytes;
}

std::string isa_of(const Options& given) {
    if (given.isa)
        return *given.isa;
    if (const auto text = variable(variable_of::isa))
        return std::string(spelling_of(cpu::isa_named(*text)));
    const std::optional<Isa> best = cpu::host_isa();
    if (!best)
        fail(Code::UnsupportedTarget,
             {std::string(spelling_of(cpu::least_isa())),
              "use a processor with AVX2, BMI2 and FMA: Intel's of 2013 and "
              "later, AMD's of 2015 and later"});
    return std::string(spelling_of(*best));
}

} // namespace

Options normalised(Options given) {
    if (given.isa)
        given.isa = std::string(spelling_of(cpu::isa_named(*given.isa)));
    if (given.plan)
        given.plan = print(parse_plan(*given.plan));
    if (given.devices)
        parse_devices(*given.devices);
    return given;
}

Options resolve(const Options& given) {
    Options resolved = normalised(given);
    resolved.threads = threads_of(given.threads);
    resolved.cache_directory =
        expanded(given.cache_directory.value_or(cache_directory()));
    resolved.cache_size = cache_size(given);
    if (!given.cache_key_file)
        resolved.cache_key_file =
            variable(variable_of::cache_key_file).value_or("");
    resolved.cache_key_file = expanded(resolved.cache_key_file);
    resolved.isa = isa_of(resolved);
    if (!given.log)
        resolved.log = flag_variable(variable_of::log);
    if (!given.tune)
        resolved.tune = flag_variable(variable_of::tune);
    resolved.untrusted = given.untrusted.value_or(false);
    if (!given.cuda_driver)
        resolved.cuda_driver =
            variable(variable_of::cuda_driver).value_or("libcuda.so.1");
    resolved.cuda_driver = expanded(resolved.cuda_driver);
    if (!given.nvrtc)
        resolved.nvrtc = variable(variable_of::nvrtc);
    resolved.nvrtc = expanded(resolved.nvrtc);
    resolved.tolerance = tolerance_of(given);
    if (!given.devices)
        resolved.devices = variable(variable_of::devices).value_or("");
    parse_devices(*resolved.devices);
    resolved.device_bytes = device_bytes(given);
    check_segment(given);
    return resolved;
}

std::vector<int> parse_devices(std::string_view text) {
    constexpr std::string_view all = "cuda", one = "cuda:";
    if (text == all)
        return {every_device};
    std::vector<int> numbers;
    for (std::string_view left = text; !left.empty();) {
        const std::string_view name = left.substr(0, left.find(','));
        int number = -1;
        const char* last = name.data() + name.size();
        if (name.starts_with(one)) {
            const auto [end, error] =
                std::from_chars(name.data() + one.size(), last, number);
            if (error != std::errc() || end != last)
                number = -1;
        }
        if (number < 0 || std::ranges::count(numbers, number) ||
            left.size() == name.size() + 1)
            fail(Code::BadOption,
                 {"devices", "'" + std::string(text) + "'",
                  "write \"cuda:0\", \"cuda:0,cuda:1\", \"cuda\" for all, or "
                  "\"\" for the CPU"});
        numbers.push_back(number);
        left.remove_prefix(std::min(name.size() + 1, left.size()));
    }
    return numbers;
}

std::optional<std::string> llvm_library() {
    return variable("TILEFOLD_LLVM");
}

std::vector<std::string> library_folders() {
    std::vector<std::string> folders;
    for (const auto& [name, folder] :
         {std::pair("CONDA_PREFIX", "/lib"), std::pair("CUDA_HOME", "/lib64"),
          std::pair("CUDA_PATH", "/lib64")})
        if (const auto set = variable(name))
            folders.push_back(*set + folder);
    return folders;
}

int default_threads() {
    return threads_of(std::nullopt);
}

bool perf_map_wanted() {
    return flag_variable("TILEFOLD_PERF_MAP");
}

} // namespace tilefold
