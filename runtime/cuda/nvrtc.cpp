// runtime/cuda/nvrtc.cpp - finds NVRTC and talks to it in plain C.

#include "runtime/cuda/nvrtc.h"

#include "compiler/backends/cuda/plan/choose_plan.h"
#include "formulas/diagnostic.h"
#include "runtime/cuda/shared_library.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>

namespace tilefold::cuda {
namespace {

/// Versions whose names are known, newest first.
constexpr const char* versions[] = {"13", "12"};
/// Within a folder for packages, by version.
constexpr const char* wheels[] = {"/nvidia/cu13/lib", "/nvidia/cuda_nvrtc/lib"};
/// Older ones do not know __grid_constant__ kernels of C++17.
constexpr int oldest_version = 12;

using NvrtcProgram = struct _nvrtcProgram*;
constexpr int success = 0;

std::string soname(const char* version) {
    return std::string("libnvrtc.so.") + version;
}

/// NVRTC opens its builtins by their bare name, which a wheel does not have on
/// the linker's path: opened before, they are found.
void open_builtins(const std::string& folder) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libnvrtc-builtins.so"))
            SharedLibrary::open(entry.path().string());
    }
}

SharedLibrary open_in(const std::string& folder) {
    for (const char* version : versions) {
        const std::string path = folder + "/" + soname(version);
        std::error_code error;
        if (!std::filesystem::exists(path, error))
            continue;
        open_builtins(folder);
        if (SharedLibrary library = SharedLibrary::open(path))
            return library;
    }
    return {};
}

SharedLibrary open_by_name(bool loaded) {
    for (const char* version : versions)
        if (SharedLibrary library =
                SharedLibrary::open(soname(version), loaded))
            return library;
    return {};
}

SharedLibrary search(const NvrtcPaths& paths) {
    if (!paths.file.empty()) {
        open_builtins(std::filesystem::path(paths.file).parent_path());
        return SharedLibrary::open(paths.file);
    }
    if (paths.system)
        if (SharedLibrary library = open_by_name(true))
            return library;
    for (const std::string& folder : paths.packages)
        for (const char* wheel : wheels)
            if (SharedLibrary library = open_in(folder + wheel))
                return library;
    for (const std::string& folder : paths.folders)
        if (SharedLibrary library = open_in(folder))
            return library;
    return paths.system ? open_by_name(false) : SharedLibrary();
}

std::string listed(const NvrtcPaths& paths) {
    if (!paths.file.empty())
        return paths.file;
    std::string text;
    for (const auto* list : {&paths.packages, &paths.folders})
        for (const std::string& folder : *list)
            text += (text.empty() ? "" : ", ") + folder;
    return text.empty() ? "the linker's folders" : text;
}

} // namespace

struct Nvrtc::Library {
    SharedLibrary file;
    int major = 0, minor = 0;
    std::vector<int> architectures; ///< 80, 90 …, ascending
    int (*create)(NvrtcProgram*, const char*, const char*, int,
                  const char* const*, const char* const*) = nullptr;
    int (*compile)(NvrtcProgram, int, const char* const*) = nullptr;
    int (*destroy)(NvrtcProgram*) = nullptr;
    int (*log_size)(NvrtcProgram, std::size_t*) = nullptr;
    int (*log)(NvrtcProgram, char*) = nullptr;
    int (*cubin_size)(NvrtcProgram, std::size_t*) = nullptr;
    int (*cubin)(NvrtcProgram, char*) = nullptr;
    int (*ptx_size)(NvrtcProgram, std::size_t*) = nullptr;
    int (*ptx)(NvrtcProgram, char*) = nullptr;
    int (*get_version)(int*, int*) = nullptr;
    int (*count_architectures)(int*) = nullptr;
    int (*get_architectures)(int*) = nullptr;

    bool find_functions() {
        return file.find("nvrtcCreateProgram", create) &&
               file.find("nvrtcCompileProgram", compile) &&
               file.find("nvrtcDestroyProgram", destroy) &&
               file.find("nvrtcGetProgramLogSize", log_size) &&
               file.find("nvrtcGetProgramLog", log) &&
               file.find("nvrtcGetCUBINSize", cubin_size) &&
               file.find("nvrtcGetCUBIN", cubin) &&
               file.find("nvrtcGetPTXSize", ptx_size) &&
               file.find("nvrtcGetPTX", ptx) &&
               file.find("nvrtcVersion", get_version) &&
               file.find("nvrtcGetNumSupportedArchs", count_architectures) &&
               file.find("nvrtcGetSupportedArchs", get_architectures);
    }

    void look_around() {
        get_version(&major, &minor);
        int count = 0;
        count_architectures(&count);
        architectures.resize(std::size_t(count));
        get_architectures(architectures.data());
        std::ranges::sort(architectures);
    }
};

namespace {

/// A program of NVRTC's, destroyed with this.
template <class Library> class Compilation {
public:
    Compilation(const Library& library, const std::string& source)
        : library_(library) {
        if (library.create(&program_, source.c_str(), "tilefold.cu", 0, nullptr,
                           nullptr) != success)
            internal_error("NVRTC made no program");
    }
    ~Compilation() { library_.destroy(&program_); }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// The log; an InternalError where it does not compile.
    std::string run(const std::vector<std::string>& options) {
        std::vector<const char*> texts;
        for (const std::string& option : options)
            texts.push_back(option.c_str());
        const int status =
            library_.compile(program_, int(texts.size()), texts.data());
        std::string log = text(library_.log_size, library_.log);
        if (status != success)
            internal_error("NVRTC: " + log);
        return log;
    }

    std::vector<std::byte> code(bool ptx) {
        const std::string bytes =
            ptx ? text(library_.ptx_size, library_.ptx)
                : text(library_.cubin_size, library_.cubin);
        const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
        return {data, data + bytes.size()};
    }

private:
    template <class Size, class Get> std::string text(Size size, Get get) {
        std::size_t bytes = 0;
        size(program_, &bytes);
        std::string result(bytes, '\0');
        if (bytes)
            get(program_, result.data());
        return result;
    }

    const Library& library_;
    NvrtcProgram program_ = nullptr;
};

struct Compiled {
    std::vector<std::byte> code;
    std::vector<Resources> resources;
};

/// The programs beside each other: one in this thread, and all where there is
/// no thread to be had.
template <class Library>
std::vector<Compiled>
compile_all(const Library& library, const std::vector<SourceProgram>& sources,
            const std::vector<std::string>& options, bool ptx) {
    const auto compile = [&](const SourceProgram& source) {
        std::vector<std::string> own = options;
        if (source.is_plain && library.major >= 13)
            own.emplace_back("--Ofast-compile=min");
        Compilation compilation(library, source.text);
        std::vector<Resources> resources = read_resources(compilation.run(own));
        return Compiled{compilation.code(ptx), std::move(resources)};
    };
    std::vector<std::future<Compiled>> others;
    for (std::size_t k = 1; k < sources.size(); ++k)
        others.push_back(std::async(std::launch::async | std::launch::deferred,
                                    compile, std::cref(sources[k])));
    std::vector<Compiled> all;
    all.push_back(compile(sources[0]));
    for (std::future<Compiled>& other : others)
        all.push_back(other.get());
    return all;
}

} // namespace

Nvrtc::Nvrtc(NvrtcPaths paths) : paths_(std::move(paths)) {}
Nvrtc::~Nvrtc() = default;

const Nvrtc::Library& Nvrtc::library() {
    const std::lock_guard lock(mutex_);
    if (library_)
        return *library_;
    auto found = std::make_unique<Library>();
    found->file = search(paths_);
    if (!found->file)
        fail(tilefold::Code::NvrtcMissing, {listed(paths_)});
    if (!found->find_functions())
        fail(tilefold::Code::NvrtcTooOld,
             {found->file.path(), "an unknown version"});
    found->look_around();
    if (found->major < oldest_version)
        fail(tilefold::Code::NvrtcTooOld,
             {found->file.path(), "version " + std::to_string(found->major)});
    library_ = std::move(found);
    return *library_;
}

std::string Nvrtc::version() {
    const Library& with = library();
    return "NVRTC " + std::to_string(with.major) + "." +
           std::to_string(with.minor);
}

int Nvrtc::major() {
    return library().major;
}

Image Nvrtc::compile(const Emitted& emitted, const Plan& plan, int major,
                     int minor) {
    const auto start = std::chrono::steady_clock::now();
    const Library& with = library();
    const int wanted = major * 10 + minor;
    const auto& known = with.architectures;
    if (known.empty() || wanted < known.front())
        fail(tilefold::Code::DeviceTooOld,
             {std::to_string(major) + "." + std::to_string(minor), version()});
    Image image;
    image.is_ptx = !std::ranges::count(known, wanted);
    image.architecture = image.is_ptx
                             ? "compute_" + std::to_string(known.back())
                             : "sm_" + std::to_string(wanted);
    std::vector<std::string> options = {
        "--gpu-architecture=" + image.architecture,
        "--std=c++17",
        "--frandom-seed=tilefold",
        "--diag-suppress=177", // functions that nobody calls
    };
    if (with.major >= 13)
        options.emplace_back("--minimal"); // no textures, no vector types
    if (!image.is_ptx)
        options.emplace_back("--ptxas-options=-v");
    for (Compiled& compiled :
         compile_all(with, emitted.source.programs(), options, image.is_ptx)) {
        image.codes.push_back(std::move(compiled.code));
        std::ranges::move(compiled.resources,
                          std::back_inserter(image.resources));
    }
    image.shape = emitted.shape;
    image.plan = plan;
    image.compiler = version();
    image.compile_milliseconds = std::chrono::duration<double, std::milli>(
                                     std::chrono::steady_clock::now() - start)
                                     .count();
    return image;
}

Image Nvrtc::compile(const ir::Graph& graph, Plan plan, int major, int minor) {
    for (;;) {
        Image image = compile(emit(graph, plan), plan, major, minor);
        const Resources* loop = image.resources_of("accumulate");
        if (!loop || !loop->spill_stores)
            return image;
        const auto leaner = leaner_plan(graph, plan);
        if (!leaner)
            return image;
        plan = *leaner;
    }
}

} // namespace tilefold::cuda
