// compiler/backends/llvm/portions.cpp - an image from portions that are
// compiled at the same time.

#include "compiler/backends/llvm/portions.h"

#include "compiler/backends/llvm/link.h"
#include "compiler/backends/llvm/nest.h"
#include "compiler/backends/llvm/target.h"
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

Written taken_from(ModuleWriter& writer) {
#ifndef NDEBUG
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(writer.module(), &stream))
        internal_error("emitted LLVM IR is broken: " + broken);
#endif
    return {writer.take_context(), writer.take_module(), writer.layout,
            std::move(writer.borrowed)};
}

using Object = llvm::SmallVector<char, 0>;

Object object_of(const Written& written, Isa isa) {
    const auto machine = make_machine(isa);
    optimise(*written.module, *machine, isa);
    return emit_object(*written.module, *machine);
}

/// Objects of functions that kernels share, by their LLVM IR: a process meets
/// few, again and again, and each is a tenth of what a small kernel takes.
class KnownObjects {
public:
    Object object_of(const Written& written, Isa isa) {
        const std::string key =
            std::string(spelling_of(isa)) + text_of(*written.module);
        {
            std::lock_guard lock(mutex_);
            if (const auto known = objects_.find(key); known != objects_.end())
                return known->second;
        }
        Object made = llvm_backend::object_of(written, isa);
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

/// work(0) … work(count - 1), on as many threads as help.
template <class Work>
void each_at_once(const tilefold_helpers& helpers, std::size_t count,
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
    if (helpers.together)
        helpers.together(helpers.owner, std::int32_t(count) - 1, share,
                         &shared);
    else
        share(&shared);
    for (const auto& error : shared.errors)
        if (error)
            std::rethrow_exception(error);
}

/// Each portion notes what its own functions need.
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

} // namespace

Written write(const ir::Graph& graph, const Plan& plan, Portion portion) {
    ModuleWriter writer(graph, plan, portion);
    if (writer.has_rest)
        write_prepare(writer);
    switch (plan.nest) {
    case Nest::Reduce:
        write_reduce_nest(writer);
        break;
    case Nest::Rows:
        write_rows_nest(writer);
        break;
    case Nest::Values:
        write_values_nest(writer);
        break;
    }
    return taken_from(writer);
}

Artifact make_image(const ir::Graph& graph, const Plan& plan,
                    const tilefold_helpers& helpers) {
    static KnownObjects known;
    // The longest first.
    std::vector<Written> portions;
    portions.push_back(write(graph, plan, Portion::Pairs));
    portions.push_back(write(graph, plan, Portion::Rest));
    Borrowed borrowed = portions[0].borrowed;
    borrowed.merge(portions[1].borrowed);
    for (const auto& [name, write_function] : borrowed) {
        ModuleWriter writer(graph, plan, Portion::Shared);
        write_function(writer);
        portions.push_back(taken_from(writer));
    }
    if (plan.stage)
        without_scheduling(*portions.front().context);
    for (const Written& portion : std::span(portions).subspan(1))
        without_strength_reduction(*portion.context);
    std::vector<Object> objects(portions.size());
    each_at_once(helpers, portions.size(), [&](std::size_t k) {
        objects[k] = k < 2 ? object_of(portions[k], plan.isa)
                           : known.object_of(portions[k], plan.isa);
    });
    Image image; // what others call, first
    for (std::size_t k = objects.size(); k-- > 0;)
        link_flat(objects[k], image);
    Artifact artifact;
    artifact.layout = portions.front().layout;
    for (const Written& portion : portions)
        artifact.layout = joined(artifact.layout, portion.layout);
    artifact.entries = entries_of(image);
    artifact.code = std::move(image.code);
    return artifact;
}

} // namespace tilefold::llvm_backend
