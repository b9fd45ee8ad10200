// runtime/c/bound.cpp - bound formulas of the C interface, and calls in one
// step.

#include "runtime/c/arrays.h"
#include "runtime/c/calls.h"
#include "runtime/c/guard.h"
#include "runtime/c/managed.h"
#include "runtime/tensor/element_type.h"

#include <memory>
#include <utility>

using namespace tilefold;
using namespace tilefold::c;

tilefold_bound::tilefold_bound(Bound made) : bound(std::move(made)) {
    for (std::size_t r = 0; r < bound.results(); ++r) {
        if (bound.is_imaginary(r)) {
            results.back().is_complex = true;
            continue;
        }
        Result& result = results.emplace_back();
        result.first = r;
        result.usual = Output::of(nullptr, bound.dtype(r), bound.shape(r));
        result.type = element_type(bound.dtype(r), false);
        for (const std::int64_t stride : result.usual.strides)
            result.strides.push_back(stride /
                                     std::int64_t(size_of(bound.dtype(r))));
    }
}

namespace {

const tilefold_bound::Result& result_of(const tilefold_bound& bound,
                                        std::int64_t number) {
    require_count("result", number, std::int64_t(bound.results.size()) - 1);
    return bound.results[std::size_t(number)];
}

void require_one_result(const tilefold_bound& bound, const char* what,
                        const char* cure) {
    if (bound.results.size() != 1)
        fail(Code::SeveralResults,
             {what, std::to_string(bound.results.size()), cure});
}

struct FreeTensor {
    void operator()(DLManagedTensorVersioned* tensor) const {
        tilefold_tensor_free(tensor);
    }
};

/// Cancels a compile as `poll` cancels a run.
GoesOn goes_on_of(const Poll& poll) {
    if (!poll)
        return {};
    return [&poll] { return poll(0, 1); };
}

} // namespace

tilefold_error* tilefold_bind(const tilefold_formula* formula,
                              const tilefold_argument* arguments,
                              std::int64_t count,
                              const tilefold_bind_options* options,
                              tilefold_bound** out) noexcept {
    return guarded([&] {
        const Formula& own = handle("formula", formula).formula;
        tilefold_bound*& made = output(out);
        const BindOptions how = bind_options_of(options);
        made = new tilefold_bound(own.bind(views_of(arguments, count), how));
    });
}

void tilefold_bound_free(tilefold_bound* bound) noexcept {
    delete bound;
}

std::int64_t tilefold_bound_results(const tilefold_bound* bound) noexcept {
    return bound ? std::int64_t(bound->results.size()) : 0;
}

tilefold_error* tilefold_bound_shape(const tilefold_bound* bound,
                                     std::int64_t result, std::int32_t* axes,
                                     const std::int64_t** shape,
                                     DLDataType* type) noexcept {
    return guarded([&] {
        const tilefold_bound& own = handle("bound", bound);
        const tilefold_bound::Result& found = result_of(own, result);
        const Extents& extents = own.bound.shape(found.first);
        if (axes)
            *axes = std::int32_t(extents.size());
        if (shape)
            *shape = extents.data();
        if (type)
            *type =
                element_type(own.bound.dtype(found.first), found.is_complex);
    });
}

tilefold_error*
tilefold_bound_allocate(const tilefold_bound* bound, std::int64_t result,
                        void* stream, DLManagedTensorVersioned** out) noexcept {
    return guarded([&] {
        const tilefold_bound& own = handle("bound", bound);
        DLManagedTensorVersioned*& made = output(out);
        made = allocate(own, result_of(own, result), stream);
    });
}

tilefold_error*
tilefold_bound_run(const tilefold_bound* bound, const DLTensor* const* outs,
                   std::int64_t count,
                   const tilefold_run_options* options) noexcept {
    return guarded([&] {
        const tilefold_bound& own = handle("bound", bound);
        Outputs outputs;
        outputs.add_results(own, outs, count);
        own.bound.run(outputs.all(), run_options_of(options));
    });
}

tilefold_error* tilefold_bound_finish(const tilefold_bound* bound,
                                      void* stream) noexcept {
    return guarded([&] {
        const Bound& own = handle("bound", bound).bound;
        if (!own.location().is_host())
            own.finish(stream);
    });
}

tilefold_error* tilefold_bound_check(const tilefold_bound* bound,
                                     const DLTensor* out, std::int64_t rows,
                                     double* error) noexcept {
    return guarded([&] {
        const tilefold_bound& own = handle("bound", bound);
        double& found = required("error", error, "the address of a double");
        if (rows < 1 || rows > most_elements)
            fail(Code::BadCount,
                 {"rows", std::to_string(rows), "1 row or more"});
        require_one_result(own, "tilefold_bound_check",
                           "check the gradient by each argument alone");
        Outputs outputs;
        outputs.add_results(own, &out, 1);
        found = own.bound.check(outputs.all(), rows);
    });
}

tilefold_error* tilefold_reduce(tilefold_session* session, const char* text,
                                const tilefold_argument* arguments,
                                std::int64_t count,
                                const tilefold_run_options* options,
                                DLManagedTensorVersioned** out) noexcept {
    return guarded([&] {
        const Session& own = *handle("session", session).session;
        const std::string read = text_of("text", text);
        DLManagedTensorVersioned*& made = output(out);
        const RunOptions run = run_options_of(options);
        const tilefold_bound bound(own.formula(read).bind(
            views_of(arguments, count), {.goes_on = goes_on_of(run.poll)}));
        if (run.accumulate)
            fail(Code::AccumulateNeedsOut);
        std::unique_ptr<DLManagedTensorVersioned, FreeTensor> result(
            allocate(bound, bound.results.front(), run.stream));
        Outputs outputs;
        outputs.add(&result->dl_tensor, bound.results.front().is_complex);
        bound.bound.run(outputs.all(), run);
        made = result.release();
    });
}
