// compiler/backends/llvm/image/compilation_units.cpp - an image from units
// that are compiled at the same time.

#include "compiler/backends/llvm/image/compilation_units.h"

#include "compiler/backends/llvm/image/link.h"
#include "compiler/backends/llvm/image/target.h"
#include "compiler/backends/llvm/nest/nest.h"
#include "formulas/diagnostic.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <unordered_map>

namespace tilefold::llvm_backend {
namespace {

/// Throws TooLarge where the module has too many instructions.
void check_size(const llvm::Module& module) {
    std::size_t instructions = 0;
    for (const llvm::Function& function : module)
        instructions += function.getInstructionCount();
    if (instructions > tilefold_most_instructions)
        throw TooLarge();
}

/// Takes what was written from the writer. Throws TooLarge; the writer is
/// empty then, too.
Written taken_from(ModuleWriter& writer, const tilefold_caller& caller) {
#ifndef NDEBUG
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(writer.module(), &stream))
        internal_error("emitted LLVM IR is broken: " + broken);
#endif
    Written written{std::make_unique<PassGate>(caller), writer.take_context(),
                    writer.take_module(), writer.layout,
                    std::move(writer.borrowed)};
    written.context->setOptPassGate(*written.gate);
    unless_early([&] { check_size(*written.module); }, written.module,
                 written.context);
    return written;
}

using Object = llvm::SmallVector<char, 0>;

Object object_of(const Written& written, Isa isa,
                 const tilefold_caller& caller) {
    auto machine = make_machine(isa);
    return unless_early(
        [&] {
            optimise(*written.module, *machine, isa, caller);
            return emit_object(*written.module, *machine);
        },
        machine);
}

/// Keeps the objects of functions that kernels share, by their LLVM IR: a
/// process meets few, again and again, and each is a tenth of what a small
/// kernel takes.
class KnownObjects {
public:
    Object object_of(const Written& written, Isa isa,
                     const tilefold_caller& caller) {
        const std::string key =
            std::string(spelling_of(isa)) + text_of(*written.module);
        {
            std::lock_guard lock(mutex_);
            if (const auto known = objects_.find(key); known != objects_.end())
                return known->second;
        }
        Object made = llvm_backend::object_of(written, isa, caller);
        std::lock_guard lock(mutex_);
        if (objects_.size() >= most)
            objects_.clear();
        objects_.emplace(key, made);
        return made;
    }

private:
    static constexpr std::size_t most = 256; // some 8 KiB each
    std::mutex mutex_;
    std::unordered_map<std::string, Object> objects_;
};

/// Calls work(0) … work(count - 1), on as many threads as help.
template <class Work>
void each_at_once(const tilefold_caller& caller, std::size_t count,
                  const Work& work) {
    struct Shared {
        const Work& work;
        std::vector<std::exception_ptr> errors;
        std::atomic<std::size_t> next = 0;
    } shared{work, std::vector<std::exception_ptr>(count)};
    const auto share = [](void* context) {
        auto& its = *static_cast<Shared*>(context);
        while (true) {
            const std::size_t k = its.next++;
            if (k >= its.errors.size())
                return;
            try {
                its.work(k);
            } catch (...) {
                its.errors[k] = std::current_exception();
            }
        }
    };
    if (caller.together)
        caller.together(caller.owner, std::int32_t(count) - 1, share, &shared);
    else
        share(&shared);
    for (const auto& error : shared.errors)
        if (error)
            std::rethrow_exception(error);
}

/// Joins two layouts, since each unit notes what its own functions need.
Layout joined(Layout layout, const Layout& other) {
    layout.scratch = std::max(layout.scratch, other.scratch);
    layout.scratch_per_width =
        std::max(layout.scratch_per_width, other.scratch_per_width);
    layout.uses_functions |= other.uses_functions;
    return layout;
}

Entries entries_of(const Image& image) {
    Entries entries;
    visit_entries(entries, [&](const char* name, std::uint64_t& at) {
        const auto found = image.functions.find(name);
        if (found != image.functions.end())
            at = found->second;
    });
    return entries;
}

void write_entries(ModuleWriter& writer) {
    if (writer.has_rest)
        write_prepare(writer);
    switch (writer.plan.nest) {
    case Nest::Reduce:
        return write_reduce_nest(writer);
    case Nest::SinglePanel:
        return write_rows_nest(writer);
    case Nest::Values:
        return write_values_nest(writer);
    }
}

} // namespace

Written write(const ir::Graph& graph, const Plan& plan,
              const LoweredKernel& kernel, CompilationUnit unit,
              const tilefold_caller& caller) {
    go_on(caller);
    ModuleWriter writer(graph, plan, kernel, unit);
    try {
        write_entries(writer);
    } catch (const EndsEarly&) {
        writer.take_module().reset();
        writer.take_context().reset();
        throw;
    }
    return taken_from(writer, caller);
}

namespace {

/// Writes the units that know all of their functions, the longest first,
/// then those that they borrow.
void write_all(const ir::Graph& graph, const Plan& plan,
               const tilefold_caller& caller, std::vector<Written>& units) {
    const LoweredKernel kernel = lower(graph, plan);
    units.push_back(write(graph, plan, kernel, CompilationUnit::Pairs, caller));
    units.push_back(write(graph, plan, kernel, CompilationUnit::Rest, caller));
    Borrowed borrowed = units[0].borrowed;
    borrowed.merge(units[1].borrowed);
    for (const auto& [name, write_function] : borrowed) {
        ModuleWriter writer(graph, plan, kernel, CompilationUnit::Shared);
        write_function(writer);
        units.push_back(taken_from(writer, caller));
    }
    if (plan.min_stage_cycles)
        units.front().gate->leave_out(scheduling);
    for (const Written& unit : std::span(units).subspan(1))
        unit.gate->leave_out(strength_reduction);
}

Artifact linked(std::span<const Written> units,
                std::span<const Object> objects) {
    Image image; // what others call, first
    for (std::size_t k = objects.size(); k-- > 0;)
        link_flat(objects[k], image);
    Artifact artifact;
    artifact.layout = units.front().layout;
    for (const Written& unit : units)
        artifact.layout = joined(artifact.layout, unit.layout);
    artifact.entries = entries_of(image);
    artifact.code = std::move(image.code);
    return artifact;
}

} // namespace

Artifact make_image(const ir::Graph& graph, const Plan& plan,
                    const tilefold_caller& caller) {
    static KnownObjects known;
    std::vector<Written> units;
    const auto compile = [&] {
        write_all(graph, plan, caller, units);
        std::vector<Object> objects(units.size());
        each_at_once(caller, units.size(), [&](std::size_t k) {
            objects[k] = k < 2 ? object_of(units[k], plan.isa, caller)
                               : known.object_of(units[k], plan.isa, caller);
        });
        return linked(units, objects);
    };
    try {
        return compile();
    } catch (const EndsEarly&) {
        units.clear(); // nothing is under way in them
        throw;
    }
}

} // namespace tilefold::llvm_backend
