// tests/cuda/loaded.h - formulas as images that the fake driver loads.
#pragma once

#include "runtime/cuda/module.h"
#include "tests/cuda/cases.h"
#include "tests/cuda/fake_driver.h"
#include "tests/cuda/host_module.h"
#include "tests/cuda/kernel_run.h"

#include <string>
#include <utility>

#include <dlfcn.h>

namespace tilefold::tests {

inline FakeDriver& fake() {
    static void* library = dlopen(TILEFOLD_FAKE_DRIVER, RTLD_NOW);
    return *static_cast<FakeDriver*>(dlsym(library, "tilefold_fake_driver"));
}

/// Launches the graph that was captured; a status.
inline int replay() {
    static void* library = dlopen(TILEFOLD_FAKE_DRIVER, RTLD_NOW);
    return reinterpret_cast<int (*)()>(
        dlsym(library, "tilefold_fake_replay"))();
}
inline void destroy_graph() {
    static void* library = dlopen(TILEFOLD_FAKE_DRIVER, RTLD_NOW);
    reinterpret_cast<void (*)()>(
        dlsym(library, "tilefold_fake_destroy_graph"))();
}

/// A formula compiled for the host, as an image that the fake driver loads.
class Loaded {
public:
    Loaded(std::string_view formula, std::string_view arguments,
           std::int32_t width = 1)
        : Loaded(cuda_case("", formula, arguments), width) {}
    explicit Loaded(CudaCase of, std::int32_t width = 1)
        : case_(std::move(of)), kernels_(kernels_of(case_, width)),
          host_({kernels_}) {
        image_.shape = kernels_.emitted.shape;
        image_.plan = kernels_.plan;
        image_.architecture = "sm_90";
        const std::string text = host_.image_of(0);
        const auto* bytes = reinterpret_cast<const std::byte*>(text.c_str());
        image_.codes = {{bytes, bytes + text.size() + 1}};
    }

    const cuda::Image& image() const { return image_; }
    const ir::Graph& graph() const { return case_.graph; }
    std::size_t place_of(std::string_view name) const {
        return *ir::find_argument(case_.graph, name);
    }

private:
    static HostKernels kernels_of(CudaCase& of, std::int32_t width) {
        of.width = width;
        return small_kernels(of);
    }

    CudaCase case_;
    HostKernels kernels_;
    HostModule host_;
    cuda::Image image_;
};

} // namespace tilefold::tests
