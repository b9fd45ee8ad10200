// tests/numerics/emulated_driver.cpp - runs a kernel image on the processor it
// is made for: `emulated_driver RUN RESULTS`, both files. It is all that the
// other processor needs: no runtime, no LLVM.

#include "tests/numerics/emulated.h"
#include "tests/numerics/guarded.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <sys/mman.h>

// Functions of libm by the names of the table; special ones are not here.
#define TAKES_1 double
#define TAKES_2 double, double
#define DECLARE(name, arity, symbol)                                           \
    extern "C" double libm_##name(TAKES_##arity) __asm__(symbol);
#define OF_Sleef10(name, arity, symbol) DECLARE(name, arity, symbol)
#define OF_Sleef10InDouble(name, arity, symbol) DECLARE(name, arity, symbol)
#define OF_Sleef10InRanges(name, arity, symbol) DECLARE(name, arity, symbol)
#define OF_Sleef15InDouble(name, arity, symbol) DECLARE(name, arity, symbol)
#define OF_Special(name, arity, symbol)
#define EXTERNAL(name, arity, library, symbol) OF_##library(name, arity, symbol)
#include "compiler/ir/externals.def"
#undef EXTERNAL
#undef OF_Sleef10
#undef OF_Sleef10InDouble
#undef OF_Sleef10InRanges
#undef OF_Sleef15InDouble
#undef OF_Special

namespace tilefold::test {
namespace {

// ---- functions that kernels call --------------------------------------------

constexpr int vector_bytes = 16;

/// Passed in one vector register, as the procedure call standard has it.
template <class T> struct Vector {
    typedef T type __attribute__((vector_size(vector_bytes)));
};
template <class T> using Lanes = typename Vector<T>::type;

template <class T, double (*function)(double)> Lanes<T> lanes_of(Lanes<T> x) {
    for (int k = 0; k < int(vector_bytes / sizeof(T)); ++k)
        x[k] = T(function(double(x[k])));
    return x;
}

template <class T, double (*function)(double, double)>
Lanes<T> lanes_of(Lanes<T> x, Lanes<T> y) {
    for (int k = 0; k < int(vector_bytes / sizeof(T)); ++k)
        x[k] = T(function(double(x[k]), double(y[k])));
    return x;
}

template <class Function> const void* address(Function* function) {
    return reinterpret_cast<const void*>(function);
}

#define LANES_1 Lanes<T>
#define LANES_2 Lanes<T>, Lanes<T>
#define ROW(name, arity)                                                       \
    address<Lanes<T>(LANES_##arity)>(&lanes_of<T, &libm_##name>),              \
        address(&libm_##name),
#define OF_Sleef10(name, arity) ROW(name, arity)
#define OF_Sleef10InDouble(name, arity) ROW(name, arity)
#define OF_Sleef10InRanges(name, arity) ROW(name, arity)
#define OF_Sleef15InDouble(name, arity) ROW(name, arity)
#define OF_Special(name, arity) nullptr, nullptr,

template <class T> const void* const* functions() {
    static const void* const table[] = {
#define EXTERNAL(name, arity, library, symbol) OF_##library(name, arity)
#include "compiler/ir/externals.def"
#undef EXTERNAL
    };
    return table;
}

// ---- one run ----------------------------------------------------------------

std::vector<char> read_file(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file)
        std::exit(2);
    std::fseek(file, 0, SEEK_END);
    std::vector<char> bytes(std::size_t(std::ftell(file)));
    std::rewind(file);
    if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
        std::exit(2);
    std::fclose(file);
    return bytes;
}

void write_file(const char* path, const Guarded& bytes) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file ||
        std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
        std::fclose(file) != 0)
        std::exit(2);
}

/// The parts of a file, one after the other.
class Reader {
public:
    explicit Reader(const std::vector<char>& bytes) : next_(bytes.data()) {}
    void read(void* to, std::int64_t bytes) {
        std::memcpy(to, next_, std::size_t(bytes));
        next_ += bytes;
    }

private:
    const char* next_;
};

class Runner {
public:
    explicit Runner(const std::vector<char>& file) {
        Reader from(file);
        from.read(&run_, sizeof run_);
        std::vector<EmulatedOperand> operands(std::size_t(run_.operands));
        for (EmulatedOperand& operand : operands)
            from.read(&operand, sizeof operand);
        read_code(from);
        literals_.resize(std::size_t(run_.literals));
        from.read(literals_.data(), run_.literals * 8);
        for (const EmulatedOperand& operand : operands)
            read_operand(from, operand);
        constants_.resize(std::size_t(run_.constants));
        out_ = memory(run_.out, 1);
        scratch_ = memory(run_.scratch, 64);
        fill_call();
    }

    const Guarded& results() {
        entry<tilefold_kernel_prepare>(run_.prepare)(&call_);
        switch (run_.work) {
        case EmulatedWork::Reduce:
            reduce();
            break;
        case EmulatedWork::Pairwise:
            entry<tilefold_kernel_zip>(run_.zip)(&call_, 0, run_.rows,
                                                 scratch_->data());
            break;
        case EmulatedWork::Dense:
            entry<tilefold_kernel_dense>(run_.dense)(
                &call_, 0, run_.rows, 0, run_.columns, scratch_->data());
            break;
        }
        return *out_;
    }

private:
    std::unique_ptr<Guarded> memory(std::int64_t bytes,
                                    std::size_t alignment) const {
        return std::make_unique<Guarded>(
            std::size_t(bytes), run_.flush_back ? Flush::Back : Flush::Front,
            alignment);
    }
    std::unique_ptr<Guarded> state() const {
        return memory(run_.slots * run_.stride * 8, 64);
    }
    static double* doubles(const std::unique_ptr<Guarded>& memory) {
        return reinterpret_cast<double*>(memory->data());
    }
    template <class Function> Function* entry(std::uint64_t offset) const {
        return reinterpret_cast<Function*>(code_ + offset);
    }

    void read_code(Reader& from) {
        void* pages =
            mmap(nullptr, std::size_t(run_.code), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            std::exit(2);
        code_ = static_cast<char*>(pages);
        from.read(code_, run_.code);
        mprotect(pages, std::size_t(run_.code), PROT_READ | PROT_EXEC);
        __builtin___clear_cache(code_, code_ + run_.code);
    }

    void read_operand(Reader& from, const EmulatedOperand& operand) {
        arrays_.push_back(memory(operand.bytes, 1));
        from.read(arrays_.back()->data(), operand.bytes);
        operands_.push_back({arrays_.back()->data(), operand.stride,
                             operand.component, operand.column});
    }

    void fill_call() {
        call_.operands = operands_.data();
        call_.literals = literals_.data();
        call_.constants = constants_.data();
        call_.rows = run_.rows;
        call_.columns = run_.columns;
        call_.width = run_.width;
        call_.functions =
            run_.is_single ? functions<float>() : functions<double>();
        call_.out = out_->data();
        call_.out_row = run_.out_row;
        call_.out_column = run_.out_column;
        call_.out_component = run_.out_component;
        call_.tiles = tiles_;
        call_.left_range = &left_range_;
    }

    void accumulate(std::int64_t i0, std::int64_t i1, std::int64_t j0,
                    std::int64_t j1, double* state) {
        for (std::int64_t j = j0; j < j1; j += run_.call_columns)
            entry<tilefold_kernel_accumulate>(run_.accumulate)(
                &call_, i0, i1, j, std::min(j1, j + run_.call_columns), state,
                run_.stride, scratch_->data());
    }

    void merge(double* into, const double* from, std::int64_t rows) {
        entry<tilefold_kernel_merge>(run_.merge)(&call_, into, from,
                                                 run_.stride, rows);
    }

    void fold(double* state, std::int64_t left) {
        if (run_.fold != ~std::uint64_t(0))
            return entry<tilefold_kernel_fold>(run_.fold)(&call_, state,
                                                          run_.stride, left);
        while (left > 1) {
            const std::int64_t half = (left + 1) / 2;
            merge(state, state + half, left - half);
            left = half;
        }
    }

    void finalise(std::int64_t i0, std::int64_t i1, const double* state) {
        entry<tilefold_kernel_finalise>(run_.finalise)(
            &call_, i0, i1, state, run_.stride, scratch_->data());
    }

    /// The state of rows [i0, i1), from segments of the columns.
    void reduce_block(std::int64_t i0, std::int64_t i1, double* whole) {
        auto* init = entry<tilefold_kernel_init>(run_.init);
        init(&call_, whole, run_.stride);
        for (std::int64_t j = 0; j < run_.columns; j += run_.segment) {
            const std::unique_ptr<Guarded> part = state();
            init(&call_, doubles(part), run_.stride);
            accumulate(i0, i1, j, std::min(run_.columns, j + run_.segment),
                       doubles(part));
            merge(whole, doubles(part), i1 - i0);
        }
    }

    void reduce() {
        const std::unique_ptr<Guarded> whole = state(), folded = state();
        entry<tilefold_kernel_init>(run_.init)(&call_, doubles(folded),
                                               run_.stride);
        for (std::int64_t i0 = 0; i0 < std::max<std::int64_t>(run_.rows, 1);
             i0 += run_.row_block) {
            const std::int64_t i1 = std::min(run_.rows, i0 + run_.row_block);
            reduce_block(i0, i1, doubles(whole));
            if (!run_.folds_rows) {
                finalise(i0, i1, doubles(whole));
                continue;
            }
            fold(doubles(whole), i1 - i0);
            merge(doubles(folded), doubles(whole), 1);
        }
        if (run_.folds_rows)
            finalise(0, 1, doubles(folded));
    }

    EmulatedRun run_;
    char* code_ = nullptr;
    std::vector<double> literals_, constants_;
    std::vector<std::unique_ptr<Guarded>> arrays_;
    std::vector<tilefold_kernel_operand> operands_;
    std::unique_ptr<Guarded> out_, scratch_;
    std::int64_t tiles_[2] = {0, 0}, left_range_ = 0;
    tilefold_kernel_call call_{};
};

} // namespace
} // namespace tilefold::test

int main(int count, char** arguments) {
    if (count != 3)
        return 2;
    tilefold::test::Runner runner(tilefold::test::read_file(arguments[1]));
    tilefold::test::write_file(arguments[2], runner.results());
}
