// runtime/cuda/module.cpp - loading images, and launching their kernels.

#include "runtime/cuda/module.h"

#include "formulas/diagnostic.h"
#include "runtime/cuda/capture.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tilefold::cuda {
namespace {

std::vector<const char*> kernels_of(const Shape& shape) {
    std::vector<const char*> kernels = {"prepare"};
    if (shape.reduces)
        kernels.insert(kernels.end(), {"accumulate", "finish"});
    else
        kernels.insert(kernels.end(), {"zip", "dense"});
    if (shape.folds_rows)
        kernels.push_back("merge_states");
    return kernels;
}

} // namespace

Module::Module(const Device& device, Image image)
    : Module(device, image, kernels_of(image.shape)) {}

Module::Module(const Device& device, Image image,
               std::span<const char* const> kernels)
    : device_(device), image_(std::move(image)) {
    const Device::Current current(device);
    const Driver& driver = device.driver();
    const BesideCaptures beside(driver);
    for (const auto& code : image_.codes)
        driver.check(driver.cuModuleLoadData(
                         &loaded_.handles.emplace_back(nullptr), code.data()),
                     ("a kernel for " + image_.architecture).c_str());
    for (const char* kernel : kernels)
        find(kernel);
}

Module::Loaded::~Loaded() {
    device.give_back([&] {
        for (CUmodule handle : handles)
            if (handle)
                device.driver().cuModuleUnload(handle);
    });
}

void Module::find(const char* kernel) {
    const Driver& driver = device_.driver();
    Kernel found;
    const std::size_t program =
        Source::program_of(kernel, loaded_.handles.size());
    driver.check(driver.cuModuleGetFunction(
                     &found.function, loaded_.handles.at(program), kernel),
                 kernel);
    if (Source::takes_shared(kernel))
        found.shared_bytes = unsigned(image_.shape.shared_bytes);
    if (found.shared_bytes > common_shared)
        driver.check(driver.cuFuncSetAttribute(
                         found.function,
                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                         int(found.shared_bytes)),
                     ("blocks with " + std::to_string(found.shared_bytes) +
                      " bytes of shared memory")
                         .c_str());
    int blocks = 0;
    driver.check(
        driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, found.function, image_.plan.threads, found.shared_bytes),
        kernel);
    found.resident = std::int64_t(std::max(blocks, 1)) *
                     std::max(device_.multiprocessors(), 1);
    kernels_.emplace(kernel, found);
}

void Module::launch(const char* kernel, Grid grid, void* argument,
                    CUstream stream) const {
    if (grid.x <= 0 || grid.y <= 0 || grid.z <= 0)
        return;
    const auto found = kernels_.find(std::string_view(kernel));
    if (found == kernels_.end())
        internal_error(std::string("no kernel ") + kernel);
    if (grid.strides)
        grid.x = std::min(grid.x, found->second.resident);
    constexpr std::int64_t most_in_x = 0x7fffffff;
    if (grid.x > most_in_x || grid.y > most_blocks || grid.z > most_blocks)
        internal_error("a grid that no device takes");
    void* arguments[] = {argument};
    const Driver& driver = device_.driver();
    driver.check(driver.cuLaunchKernel(
                     found->second.function, unsigned(grid.x), unsigned(grid.y),
                     unsigned(grid.z), unsigned(image_.plan.threads), 1, 1,
                     found->second.shared_bytes, stream, arguments, nullptr),
                 kernel);
}

} // namespace tilefold::cuda
