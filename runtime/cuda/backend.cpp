// runtime/cuda/backend.cpp - what is opened when, and what is kept.
//
// The driver and each device are opened by the first array on it, NVRTC by the
// first kernel that is not in memory: its version is part of a kernel's name.

#include "runtime/cuda/backend.h"

#include "compiler/backends/cuda/image/explain.h"
#include "compiler/backends/cuda/image/gather.h"
#include "compiler/backends/cuda/plan/choose_plan.h"
#include "compiler/ir/text.h"
#include "formulas/diagnostic.h"
#include "runtime/cache/cache.h"
#include "runtime/cuda/host_run.h"
#include "runtime/cuda/images.h"
#include "runtime/cuda/job.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tilefold::cuda {
namespace {

using Streamed = CUstream;

Streamed handle_of(Stream stream) {
    return static_cast<Streamed>(stream);
}

/// An image of a program, in a device.
class Kernel final : public DeviceKernel {
public:
    Kernel(const Device& device, Image image)
        : module(device, std::move(image)) {}

    const Module module;
};

/// A program's kernels in a device, by plan: each is made by the first call of
/// sizes that it is for.
class Kernels final : public DeviceKernel {
public:
    using Make = std::function<DeviceKernelPointer(const Plan&)>;

    Kernels(const Plans& plans, std::size_t literals, Make make)
        : literals(literals), plans_(plans), make_(std::move(make)) {}

    const Module& module_for(const tilefold::Job& job) const {
        const Plan& plan =
            plans_.of({job.rows, job.columns, job.batches->count()});
        const std::lock_guard lock(mutex_);
        DeviceKernelPointer& made = &plan == &plans_.many ? many_ : few_;
        if (!made)
            made = make_(plan);
        return static_cast<const Kernel&>(*made).module;
    }

    const std::size_t literals;

private:
    const Plans plans_;
    const Make make_;
    mutable std::mutex mutex_;
    mutable DeviceKernelPointer many_, few_;
};

class GatherKernel final : public DeviceKernel {
public:
    GatherKernel(const Device& device, Image image)
        : module(device, std::move(image), names) {}

    const Module module;

private:
    static constexpr const char* names[] = {"gather"};
};

class Memory final : public DeviceMemory {
public:
    explicit Memory(StreamMemory memory) : memory_(std::move(memory)) {}
    char* data() const override { return memory_.data(); }
    void let_wait(Stream other) const override {
        memory_.let_wait(handle_of(other));
    }

private:
    StreamMemory memory_;
};

GatherType type_of(DType dtype) {
    switch (dtype) {
    case DType::F32:
        return gather_f32;
    case DType::F64:
        return gather_f64;
    case DType::I64:
    case DType::U64: // the bits of one
        return gather_i64;
    case DType::Bool:
        return gather_bool;
    case DType::F16:
    case DType::BF16:
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::U8:
    case DType::U16:
    case DType::U32:
        break;
    }
    internal_error("no result is " + std::string(spelling_of(dtype)));
}

GatherAxes axes_of(const std::vector<StridedReduction::Axis>& axes) {
    static_assert(StridedReduction::most_axes == gather_axes);
    if (axes.size() > StridedReduction::most_axes)
        fail(
            tilefold::Code::CudaCannot,
            {"arrays of " + std::to_string(axes.size()) +
                 " dimensions that are added up",
             "reshape them to " + std::to_string(StridedReduction::most_axes)});
    GatherAxes made{};
    made.count = 1;
    made.axes = std::int64_t(axes.size());
    for (std::size_t d = 0; d < axes.size(); ++d) {
        made.count *= axes[d].extent;
        made.extent[d] = axes[d].extent;
        made.stride[d] = axes[d].stride;
    }
    return made;
}

class Backend final : public DeviceBackend {
public:
    Backend(const Options& options, const std::vector<std::string>& folders,
            DeviceCounters& counters)
        : driver_path_(*options.cuda_driver),
          images_(options, folders, counters), counters_(counters) {}

    DeviceKernelPointer kernel(int number, const Program& program,
                               std::int64_t width, double tolerance,
                               std::string_view formula) override {
        const Plans plans =
            choose_plans(program.graph(), width_block_of(width), tolerance,
                         has_tensor_cores(device(number).major()));
        return std::make_shared<const Kernels>(
            plans, program.graph().literals.size(),
            [this, number, graph = program.graph(),
             formula = std::string(formula)](const Plan& plan) {
                return kernel_of(number, graph, plan, formula);
            });
    }

    void run(const DeviceKernel& kernel, const tilefold::Job& job,
             std::span<const Bytes> on_host, Stream stream) override {
        const auto& own = static_cast<const Kernels&>(kernel);
        cuda::run(own.module_for(job), job, own.literals, on_host,
                  handle_of(stream));
    }

    void run_from_host(std::span<const DeviceKernelPointer> kernels,
                       const Program& program, const tilefold::Job& job,
                       std::span<const Bytes> on_host, std::int64_t budget,
                       const Poll& poll) override;

    int devices() override { return driver().devices(); }

    DeviceMemoryPointer allocate(int device, std::size_t bytes, Stream stream,
                                 const char* what, const char* cure) override {
        const Device& on = this->device(device);
        const Device::Current current(on);
        return std::make_unique<Memory>(
            StreamMemory(on, bytes, handle_of(stream), what, cure));
    }

    void gather(int device, const StridedReduction& gathering,
                Stream stream) override {
        GatherCall call{};
        call.from = gathering.from;
        call.to = gathering.to;
        call.kept = axes_of(gathering.kept);
        call.summed = axes_of(gathering.summed);
        call.written = axes_of(gathering.written);
        call.from_type = type_of(gathering.from_dtype);
        call.to_type = type_of(gathering.to_dtype);
        call.accumulate = gathering.accumulate;
        const DeviceKernelPointer kernel = gather_kernel(device);
        const Device::Current current(this->device(device));
        const std::int64_t threads = gather_plan().threads;
        static_cast<const GatherKernel&>(*kernel).module.launch(
            "gather",
            {.x = (call.written.count + threads - 1) / threads,
             .strides = true},
            &call, handle_of(stream));
    }

    void finish(int device, Stream stream) override {
        const Device& on = this->device(device);
        const Device::Current current(on);
        on.driver().check(on.driver().cuStreamSynchronize(handle_of(stream)),
                          "to finish");
    }

    std::vector<ExplainSection> explain(const Program& program,
                                        std::int64_t width, double tolerance,
                                        std::string_view architecture) override;
    std::vector<std::string> describe() override;

private:
    DeviceKernelPointer kernel_of(int number, const ir::Graph& graph,
                                  const Plan& plan, std::string_view formula) {
        return find(
            number, formula, ir::print(graph, ir::Names::Numbers), print(plan),
            [&](const Capability& of) {
                return images_.compiler().compile(graph, plan, of.major,
                                                  of.minor);
            },
            [](const Device& on, Image image) {
                return std::make_shared<const Kernel>(on, std::move(image));
            });
    }

    const Driver& driver() {
        const std::lock_guard lock(mutex_);
        if (!driver_)
            driver_.emplace(driver_path_);
        return *driver_;
    }

    const Device& device(int number) {
        const Driver& driver = this->driver();
        const std::lock_guard lock(mutex_);
        auto& device = devices_[number];
        if (!device)
            device = std::make_unique<Device>(driver, number);
        return *device;
    }

    /// Takes a context that no call uses.
    std::unique_ptr<DeviceContext> take_station(int number) {
        const Device& on = device(number);
        {
            const std::lock_guard lock(mutex_);
            if (auto& kept = stations_[number])
                return std::exchange(kept, nullptr);
        }
        return std::make_unique<DeviceContext>(on);
    }
    void keep_station(int number, std::unique_ptr<DeviceContext> station) {
        const std::lock_guard lock(mutex_);
        stations_[number] = std::move(station);
    }

    static Plan gather_plan() {
        Plan plan;
        plan.threads = 256;
        return plan;
    }

    DeviceKernelPointer gather_kernel(int device) {
        return find(
            device, "sums of results", "gather", print(gather_plan()),
            [&](const Capability& of) {
                return images_.compiler().compile(emit_gather(gather_plan()),
                                                  gather_plan(), of.major,
                                                  of.minor);
            },
            [](const Device& on, Image image) {
                return std::make_shared<const GatherKernel>(on,
                                                            std::move(image));
            });
    }

    /// Finds a kernel in memory by image and device; else it is `compile`d or
    /// read, and `load`ed.
    template <class Compile, class Load>
    DeviceKernelPointer find(int number, std::string_view formula,
                             const std::string& graph, const std::string& plan,
                             Compile compile, Load load) {
        const Device& on = device(number);
        const Capability capability{on.major(), on.minor()};
        const Key key =
            key_of(graph, plan,
                   {spelling_of(capability), images_.compiler().version()});
        const auto make = [&] {
            DeviceKernelPointer made;
            get_image({key, formula, graph.substr(0, graph.find('\n')),
                       [&] { return compile(capability); }},
                      on,
                      [&](Image image) { made = load(on, std::move(image)); });
            return made;
        };
        const auto found =
            memory_.get(key_of(key, std::to_string(number)), make);
        counters_.memory_hits += found.was_there;
        return found.kernel;
    }

    /// Does as Images::get; where a driver refuses what a newer compiler made,
    /// that is why.
    void get_image(const Images::Request& request, const Device& on,
                   const std::function<void(Image)>& load) {
        try {
            images_.get(request, {on.major(), on.minor()}, load);
        } catch (const Error& error) {
            constexpr int a_major_version = 1000;
            const Driver& driver = on.driver();
            if (error.code() != tilefold::Code::DeviceFailed ||
                images_.compiler().major() <=
                    driver.version() / a_major_version)
                throw;
            fail(tilefold::Code::NvrtcTooNew,
                 {images_.compiler().version(), driver.spelled_version()});
        }
    }

    const std::string driver_path_;
    std::mutex mutex_; ///< of the driver, the devices and the stations
    std::optional<Driver> driver_;
    std::map<int, std::unique_ptr<Device>> devices_;
    std::map<int, std::unique_ptr<DeviceContext>>
        stations_; ///< go before devices
    Images images_;
    DeviceCounters& counters_;
    KernelCache<DeviceKernel> memory_; ///< modules go before their devices
};

/// Stations go with the calls that failed: what they still have to copy is of
/// no use.
void Backend::run_from_host(std::span<const DeviceKernelPointer> kernels,
                            const Program& program, const tilefold::Job& job,
                            std::span<const Bytes> on_host, std::int64_t budget,
                            const Poll& poll) {
    std::vector<std::unique_ptr<DeviceContext>> stations;
    std::vector<DeviceShare> sharers;
    for (const DeviceKernelPointer& kernel : kernels) {
        const Module& module =
            static_cast<const Kernels&>(*kernel).module_for(job);
        stations.push_back(take_station(module.device().number()));
        sharers.push_back({&module, stations.back().get()});
    }
    cuda::run_from_host({job, on_host, program.graph(), program.result, budget},
                        sharers, poll);
    for (std::size_t k = 0; k < stations.size(); ++k)
        keep_station(sharers[k].module->device().number(),
                     std::move(stations[k]));
}

std::vector<ExplainSection> Backend::explain(const Program& program,
                                             std::int64_t width,
                                             double tolerance,
                                             std::string_view architecture) {
    const Capability capability = parse_architecture(architecture);
    const auto& [plan, few] =
        choose_plans(program.graph(), width_block_of(width), tolerance,
                     has_tensor_cores(capability.major));
    try {
        const Image image = images_.compiler().compile(
            program.graph(), plan, capability.major, capability.minor);
        return cuda::explain(program.graph(), image.plan, few, image);
    } catch (const Error& error) {
        if (error.code() != tilefold::Code::NvrtcMissing &&
            error.code() != tilefold::Code::NvrtcTooOld)
            throw;
        return cuda::explain(program.graph(), plan, few,
                             std::string(error.what()));
    }
}

/// What `describe` says, or the first line of why not.
template <class Describe> std::string or_reason(Describe describe) {
    try {
        return describe();
    } catch (const Error& error) {
        const std::string text = error.what();
        return "none: " + text.substr(0, text.find('\n'));
    }
}

std::vector<std::string> Backend::describe() {
    const auto devices = [&] {
        std::string text;
        const Device& first = device(0);
        text = "driver for CUDA " + first.driver().spelled_version();
        for (int k = 0; k < first.driver().devices(); ++k)
            text +=
                ", cuda:" + std::to_string(k) + " " +
                spelling_of(Capability{device(k).major(), device(k).minor()});
        return text;
    };
    return {or_reason(devices),
            or_reason([&] { return images_.compiler().version(); })};
}

} // namespace

std::unique_ptr<DeviceBackend>
make_backend(const Options& options, const std::vector<std::string>& folders,
             DeviceCounters& counters) {
    return std::make_unique<Backend>(options, folders, counters);
}

} // namespace tilefold::cuda
