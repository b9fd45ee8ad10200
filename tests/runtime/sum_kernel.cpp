// tests/runtime/sum_kernel.cpp - see sum_kernel.h.

#include "tests/runtime/sum_kernel.h"

#include "runtime/cpu/float_mode.h"
#include TILEFOLD_MACHINE_HEADER // of this architecture

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilefold::test {

void Witness::reset() {
    std::lock_guard lock(mutex);
    threads.clear();
    complaints.clear();
    prepared = 0;
    accumulated = 0;
    microseconds = 0;
    rendezvous = 0;
}

void Witness::met_thread() {
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
}

void Witness::complain(const std::string& what) {
    std::lock_guard lock(mutex);
    complaints.insert(what);
}

Witness& witness() {
    static Witness shared;
    return shared;
}

double pair_term(double x, double y) {
    return 1 / (1 + std::abs(x - y));
}

namespace {

constexpr std::int64_t row_multiple = 16, row_block = 64, panel = 32;
constexpr std::int64_t scratch_bytes = 256;

void expect(bool holds, const char* what) {
    if (!holds)
        witness().complain(what);
}

void check_mode() {
    const cpu::FloatMode kernels;
    expect((kernels.callers() & machine::mode_bits) ==
               cpu::kernels_float_mode(),
           "floating-point mode");
}

void check_accumulate(std::int64_t i0, std::int64_t i1, std::int64_t j0,
                      const double* state, std::int64_t stride, char* scratch) {
    check_mode();
    expect(j0 % panel == 0, "columns cut inside a panel");
    expect(i1 - i0 <= row_block, "more rows than a block");
    expect(stride % row_multiple == 0, "state stride");
    expect(stride >= i1 - i0, "state shorter than the rows");
    expect(reinterpret_cast<std::uintptr_t>(state) % 64 == 0, "state address");
    expect(reinterpret_cast<std::uintptr_t>(scratch) % 64 == 0,
           "scratch address");
    std::memset(scratch, 0xff, scratch_bytes);
}

void wait_as_asked() {
    Witness& w = witness();
    if (int wait = w.microseconds)
        std::this_thread::sleep_for(std::chrono::microseconds(wait));
    auto here = [&] {
        std::lock_guard lock(w.mutex);
        return int(w.threads.size());
    };
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (here() < w.rendezvous && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
}

/// Writes whole vectors of rows as compiled kernels do, the last ones with
/// garbage.
void spoil_beyond(double* state, std::int64_t stride, std::int64_t slots,
                  std::int64_t rows) {
    std::int64_t end = (rows + row_multiple - 1) / row_multiple * row_multiple;
    for (std::int64_t s = 0; s < slots; ++s)
        for (std::int64_t r = rows; r < end; ++r)
            state[s * stride + r] = std::numeric_limits<double>::quiet_NaN();
}

double read(const tilefold_kernel_call* call, int operand, std::int64_t point,
            std::int64_t component = 0) {
    const tilefold_kernel_operand& from = call->operands[operand];
    double value = 0;
    std::memcpy(&value,
                from.base + point * from.stride + component * from.component,
                sizeof value);
    return value;
}

std::int64_t row(const tilefold_kernel_call* call, std::int64_t i) {
    return call->row_index ? call->row_index[i] : i;
}
std::int64_t column(const tilefold_kernel_call* call, std::int64_t j) {
    return call->column_index ? call->column_index[j] : j;
}

template <class T>
void write(const tilefold_kernel_call* call, std::int64_t i, std::int64_t j,
           std::int64_t component, T value) {
    char* to = call->out + i * call->out_row + j * call->out_column +
               component * call->out_component;
    T before{};
    if (call->accumulate)
        std::memcpy(&before, to, sizeof before);
    value += before;
    std::memcpy(to, &value, sizeof value);
}

void prepare(tilefold_kernel_call* call) {
    check_mode();
    ++witness().prepared;
    call->constants[0] = read(call, operand_p, 0);
}

void init(const tilefold_kernel_call* call, double* state,
          std::int64_t stride) {
    std::memset(state, 0, std::size_t(call->width * stride) * 8);
}

void accumulate(const tilefold_kernel_call* call, std::int64_t i0,
                std::int64_t i1, std::int64_t j0, std::int64_t j1,
                double* state, std::int64_t stride, char* scratch) {
    witness().met_thread();
    ++witness().accumulated;
    wait_as_asked();
    check_accumulate(i0, i1, j0, state, stride, scratch);
    for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = j0; j < j1; ++j) {
            double term = call->constants[0] *
                          pair_term(read(call, operand_x, row(call, i)),
                                    read(call, operand_y, column(call, j)));
            for (std::int64_t e = 0; e < call->width; ++e)
                state[e * stride + i - i0] +=
                    term * read(call, operand_b, column(call, j), e);
        }
    spoil_beyond(state, stride, call->width, i1 - i0);
}

void merge(const tilefold_kernel_call* call, double* into, const double* from,
           std::int64_t stride, std::int64_t rows) {
    check_mode();
    for (std::int64_t e = 0; e < call->width; ++e)
        for (std::int64_t r = 0; r < rows; ++r)
            into[e * stride + r] += from[e * stride + r];
}

void finalise(const tilefold_kernel_call* call, std::int64_t i0,
              std::int64_t i1, const double* state, std::int64_t stride,
              char*) {
    check_mode();
    for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t e = 0; e < call->width; ++e)
            write(call, i, 0, e, state[e * stride + i - i0]);
}

void zip(const tilefold_kernel_call* call, std::int64_t k0, std::int64_t k1,
         char*) {
    check_mode();
    witness().met_thread();
    for (std::int64_t k = k0; k < k1; ++k)
        write(call, k, 0, 0,
              call->constants[0] *
                  pair_term(read(call, operand_x, row(call, k)),
                            read(call, operand_y, column(call, k))));
}

void dense(const tilefold_kernel_call* call, std::int64_t i0, std::int64_t i1,
           std::int64_t j0, std::int64_t j1, char*) {
    check_mode();
    for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = j0; j < j1; ++j)
            write(call, i, j, 0,
                  call->constants[0] *
                      pair_term(read(call, operand_x, row(call, i)),
                                read(call, operand_y, column(call, j))));
}

// State of argmin: slot 0 the least distance, slot 1 its column.

std::int64_t* index_slot(double* state, std::int64_t stride) {
    return reinterpret_cast<std::int64_t*>(state + stride);
}

void init_argmin(const tilefold_kernel_call*, double* state,
                 std::int64_t stride) {
    for (std::int64_t r = 0; r < stride; ++r) {
        state[r] = std::numeric_limits<double>::infinity();
        index_slot(state, stride)[r] = -1;
    }
}

void accumulate_argmin(const tilefold_kernel_call* call, std::int64_t i0,
                       std::int64_t i1, std::int64_t j0, std::int64_t j1,
                       double* state, std::int64_t stride, char* scratch) {
    check_accumulate(i0, i1, j0, state, stride, scratch);
    for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = j0; j < j1; ++j) {
            double d = std::abs(read(call, operand_x, row(call, i)) -
                                read(call, operand_y, column(call, j)));
            if (d < state[i - i0]) {
                state[i - i0] = d;
                index_slot(state, stride)[i - i0] = j;
            }
        }
    spoil_beyond(state, stride, 2, i1 - i0);
}

/// Ties stay with `into`: right only if `from` covers later columns.
void merge_argmin(const tilefold_kernel_call*, double* into, const double* from,
                  std::int64_t stride, std::int64_t rows) {
    auto* indices = reinterpret_cast<const std::int64_t*>(from + stride);
    for (std::int64_t r = 0; r < rows; ++r)
        if (from[r] < into[r]) {
            into[r] = from[r];
            index_slot(into, stride)[r] = indices[r];
        }
}

void finalise_argmin(const tilefold_kernel_call* call, std::int64_t i0,
                     std::int64_t i1, const double* state, std::int64_t stride,
                     char*) {
    auto* indices = reinterpret_cast<const std::int64_t*>(state + stride);
    for (std::int64_t i = i0; i < i1; ++i)
        write(call, i, 0, 0, indices[i - i0]);
}

Kernel common(double nanoseconds) {
    Kernel kernel;
    kernel.layout.constants = 1;
    kernel.layout.scratch = scratch_bytes;
    kernel.layout.row_multiple = row_multiple;
    kernel.layout.row_block = row_block;
    kernel.layout.panel = panel;
    kernel.layout.nanoseconds = nanoseconds;
    kernel.layout.real = DType::F64;
    kernel.prepare = prepare;
    return kernel;
}

} // namespace

Kernel sum_kernel(double nanoseconds) {
    Kernel kernel = common(nanoseconds);
    kernel.layout.slots_per_width = 1;
    kernel.init = init;
    kernel.accumulate = accumulate;
    kernel.merge = merge;
    kernel.finalise = finalise;
    kernel.zip = zip;
    kernel.dense = dense;
    return kernel;
}

Kernel argmin_kernel(double nanoseconds) {
    Kernel kernel = common(nanoseconds);
    kernel.layout.slots = 2;
    kernel.init = init_argmin;
    kernel.accumulate = accumulate_argmin;
    kernel.merge = merge_argmin;
    kernel.finalise = finalise_argmin;
    return kernel;
}

} // namespace tilefold::test
