// python_bindings/ffi/solve_handler.cpp - see solve_handler.h.
//
// The attribute `system` is a query string:
//
//   call    the product of the kernel and `side`, as call_text.h has it
//   pair    the kernel's formula
//   side    the name of the right-hand side, among the call's arguments
//   rtol, maxiter, preconditioner, method, rank    of SolveOptions; may lack
//
// The operands are the call's arguments, and the ridge, a float32 or float64.
// The results are the solution, the residual of each column, and as int64 the
// iterations, the rank of the preconditioner and whether all columns converged.
#include "python_bindings/ffi/solve_handler.h"

#include "python_bindings/ffi/buffers.h"
#include "python_bindings/ffi/call_text.h"
#include "python_bindings/session_handle.h"
#include "python_bindings/solve_options.h"
#include "runtime/solve/kernel_solve.h"

#include <algorithm>
#include <map>

namespace tilefold::python {

namespace {

namespace ffi = xla::ffi;

struct System {
    std::shared_ptr<const FfiCall> call;
    Formula pair;
    std::string side;
    SolveOptions options;
};

System system_of(std::string_view text) {
    std::map<std::string, std::string> said;
    for (auto& [key, value] : pairs_of_query(text))
        said.emplace(std::move(key), std::move(value));
    System system{call_of_text(said.at("call")),
                  default_session()->session().formula(said.at("pair")),
                  said.at("side"),
                  {}};
    SolveOptions& options = system.options;
    options.rtol = std::stod(said.at("rtol"));
    options.preconditioner = preconditioner_named(said.at("preconditioner"));
    options.method = method_named(said.at("method"));
    if (const auto found = said.find("maxiter"); found != said.end())
        options.maxiter = std::stoll(found->second);
    if (const auto found = said.find("rank"); found != said.end())
        options.rank = std::stoll(found->second);
    return system;
}

template <class Number> Number* numbers_in(const ffi::AnyBuffer& buffer) {
    return static_cast<Number*>(buffer.untyped_data());
}

double number_of(const ffi::AnyBuffer& buffer) {
    return buffer.element_type() == ffi::F32 ? *numbers_in<float>(buffer)
                                             : *numbers_in<double>(buffer);
}

void solve(std::string_view text, const ffi::RemainingArgs& operands,
           const ffi::RemainingRets& results) {
    System system = system_of(text);
    const FfiCall& call = *system.call;
    if (operands.size() != call.names.size() + 1 || results.size() != 3)
        internal_error("a system with another number of operands");
    Arrays arrays;
    arrays.inputs.reserve(call.names.size());
    for (std::size_t k = 0; k < call.names.size(); ++k)
        arrays.add_input(call.names[k], call.declared[k], call.batch,
                         operands.get<ffi::AnyBuffer>(k).value());
    arrays.add_output(*results.get<ffi::AnyBuffer>(0).value());
    system.options.ridge =
        number_of(operands.get<ffi::AnyBuffer>(call.names.size()).value());
    check_options(system.options);
    const Extents shape =
        shape_of_kernel(system.pair, without(arrays.inputs, system.side));
    const KernelSystem kernel({call.formula, system.pair, {}}, shape,
                              arrays.inputs, system.side);
    const Solution found =
        kernel.solve(system.options, [](double, double) { return true; });
    kernel.store(found, arrays.outputs.front());
    std::ranges::copy(
        found.residuals,
        numbers_in<double>(*results.get<ffi::AnyBuffer>(1).value()));
    const std::int64_t counts[] = {found.iterations, found.rank,
                                   found.worst() == SolveStatus::Converged};
    std::ranges::copy(counts, numbers_in<std::int64_t>(
                                  *results.get<ffi::AnyBuffer>(2).value()));
}

XLA_FFI_DEFINE_HANDLER(handler,
                       ([](std::string_view text, ffi::RemainingArgs operands,
                           ffi::RemainingRets results) {
                           return guarded(
                               [&] { solve(text, operands, results); });
                       }),
                       ffi::Ffi::Bind()
                           .Attr<std::string_view>("system")
                           .RemainingArgs()
                           .RemainingRets());

} // namespace

XLA_FFI_Error* solve_on_host(XLA_FFI_CallFrame* frame) {
    return handler(frame);
}

} // namespace tilefold::python
