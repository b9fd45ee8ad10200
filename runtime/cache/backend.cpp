// runtime/cache/backend.cpp - opens libtilefold_llvm and talks to it in plain
// C.

#include "runtime/cache/backend.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/environment.h"
#include "runtime/system/system.h"

#include <cstdint>
#include <dlfcn.h>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <unistd.h>

namespace tilefold {
namespace {

[[noreturn]] void missing(const std::string& path, const std::string& why) {
    fail(Code::CompilerMissing, {path, why});
}

/// LLVM's initialisers end the process where they are refused memory, of which
/// they must find enough once the library's own pages are mapped. Throws
/// std::bad_alloc.
void require_memory(const std::string& path) {
    constexpr std::size_t initialisers_bytes = std::size_t(16) << 20;
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(path, unknown);
    const std::size_t library_bytes = unknown ? 0 : size;
    ::operator delete(::operator new(library_bytes + initialisers_bytes));
}

/// The first of the paths at which there is a file.
std::string existing_path() {
    const std::vector<std::string> paths = backend_paths();
    std::string others;
    for (const std::string& path : paths) {
        if (access(path.c_str(), F_OK) == 0)
            return path;
        if (&path != &paths.front())
            others += ", nor is there a " + path;
    }
    missing(paths.front(), "it is not there" + others);
}

const tilefold_llvm_backend* open_library() {
    const std::string path = existing_path();
    require_memory(path);
    // Local: neither its symbols nor LLVM's are for anybody else.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        missing(path, dlerror());
    auto* factory = reinterpret_cast<tilefold_llvm_factory*>(
        dlsym(handle, TILEFOLD_LLVM_FACTORY));
    if (!factory)
        missing(path, "it has no " TILEFOLD_LLVM_FACTORY);
    const tilefold_llvm_backend* library = factory();
    if (!library || library->abi != tilefold_llvm_abi)
        missing(path, "it belongs to another version of tilefold");
    return library;
}

/// Bytes of the library, given back with it.
class Reply {
public:
    explicit Reply(const tilefold_llvm_backend& library) : library_(library) {}
    ~Reply() {
        if (bytes.data)
            library_.release(bytes);
    }
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;

    std::string text() const { return {bytes.data, bytes.size}; }
    void require(tilefold_outcome outcome) const {
        switch (outcome) {
        case tilefold_made:
            return;
        case tilefold_failed:
            internal_error("the compiler: " + text());
        case tilefold_abandoned:
            fail(Code::Cancelled, {"a part"});
        case tilefold_too_large:
            fail(Code::KernelTooLarge,
                 {std::to_string(tilefold_most_instructions)});
        case tilefold_no_target:
            fail(Code::UnsupportedTarget,
                 {text(), "this package has code for processors of its own "
                          "kind alone: build it from source, as 'pip install "
                          ".' does in a clone"});
        case tilefold_no_memory:
            throw std::bad_alloc();
        }
    }

    tilefold_bytes bytes{nullptr, 0};

private:
    const tilefold_llvm_backend& library_;
};

/// The caller as the library knows it, which refers to this.
struct Caller {
    ThreadPool* pool; ///< null: nobody helps
    const Backend::IsAbandoned& is_abandoned;

    operator tilefold_caller() {
        const auto together = [](void* owner, std::int32_t helpers,
                                 void (*share)(void*), void* context) {
            // Nothing forks inside, so that no help is lost.
            (void)static_cast<Caller*>(owner)->pool->together(
                helpers, [=] { share(context); }, [] {});
        };
        const auto asked = [](void* owner) {
            return static_cast<Caller*>(owner)->is_abandoned();
        };
        tilefold_caller caller{this, nullptr, nullptr};
        if (pool)
            caller.together = together;
        if (is_abandoned)
            caller.is_abandoned = asked;
        return caller;
    }
};

} // namespace

std::vector<std::string> backend_paths() {
    if (const std::optional<std::string> set = llvm_library())
        return {*set};
    const std::string own =
        system::path_of_code(reinterpret_cast<const void*>(&backend_paths));
    const std::string folder = own.substr(0, own.rfind('/') + 1);
    std::vector<std::string> paths;
    for (const char* place : {"", "tilefold/", "../lib/tilefold/", "../"})
        paths.push_back(folder + place + "libtilefold_llvm.so");
    return paths;
}

const tilefold_llvm_backend& Backend::library() {
    std::lock_guard lock(mutex_);
    if (!library_)
        library_ = open_library();
    return *library_;
}

Artifact Backend::compile(const CompileRequest& request, ThreadPool& pool,
                          const IsAbandoned& is_abandoned) {
    pool.start(); // while the library is loaded
    const tilefold_llvm_backend& with = library();
    Reply reply(with);
    reply.require(with.compile(request.graph.data(), request.graph.size(),
                               request.plan.data(), request.plan.size(),
                               Caller{&pool, is_abandoned}, &reply.bytes));
    Artifact artifact;
    if (!deserialise(reinterpret_cast<const std::byte*>(reply.bytes.data),
                     reply.bytes.size, artifact))
        internal_error("the compiler's reply is no artifact");
    return artifact;
}

std::string Backend::explain(const CompileRequest& request, const char* what,
                             const IsAbandoned& is_abandoned) {
    const tilefold_llvm_backend& with = library();
    Reply reply(with);
    reply.require(with.explain(request.graph.data(), request.graph.size(),
                               request.plan.data(), request.plan.size(), what,
                               Caller{nullptr, is_abandoned}, &reply.bytes));
    return reply.text();
}

} // namespace tilefold
