// compiler/backends/llvm/matmul/amx_tiles.cpp - products of matrices by AMX.
// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1,
// chapter 18.

#include "compiler/backends/llvm/matmul/amx_tiles.h"
#include "compiler/backends/cpu/lower/bf16_operands.h"
#include "compiler/backends/llvm/lanes/words.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

constexpr int side = 16;      ///< rows of a block, and its words in a row
constexpr int row_bytes = 64; ///< of a block
/// The unit's eight registers hold a square of sums, two blocks of A and two
/// of B.
constexpr int first_a = 4, first_b = 6;
/// After so many steps sums go back to memory, so that what B has of them
/// stays in the first cache.
constexpr std::int64_t part = 8;

/// Returns the bytes from row to row of B.
std::int64_t stride_of(const TileProduct& product) {
    return product.vectors * row_bytes;
}

/// Returns the bytes from row to row of C.
std::int64_t sums_stride_of(const TileProduct& product) {
    return product.c_stride ? product.c_stride : stride_of(product);
}

/// Returns where the sums of row `row` + m of C lie.
Value* sums_at(const Lanes& lanes, const TileProduct& product, Value* row,
               int m, int vector) {
    return lanes.byte_offset(
        lanes.at(product.c, row, m, sums_stride_of(product)),
        vector * row_bytes);
}

class Product {
public:
    Product(const Lanes& lanes, const TileProduct& product)
        : lanes_(lanes), b_(lanes.b), product_(product) {}

    void write() {
        Value* zero = lanes_.constant(0);
        if (product_.most_steps <= part)
            return write_part(zero, product_.steps, product_.starts);
        Value* first = lanes_.b.CreateBinaryIntrinsic(
            llvm::Intrinsic::smin, lanes_.constant(part), product_.steps);
        write_part(zero, first, product_.starts);
        lanes_.loop(
            first, product_.steps, lanes_.constant(part), [&](Value* from) {
                Value* to = b_.CreateAdd(from, lanes_.constant(part));
                write_part(from,
                           b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to,
                                                    product_.steps),
                           false);
            });
    }

private:
    void write_part(Value* from, Value* to, bool starts) {
        lanes_.loop(lanes_.constant(0), product_.rows,
                    lanes_.constant(2 * side), [&](Value* row) {
                        for (int n = 0; n < product_.vectors; n += 2)
                            write_square(row, n, from, to, starts);
                    });
    }

    /// Writes a square: two blocks of rows from `row` on by two vectors from
    /// `n` on.
    void write_square(Value* row, int n, Value* from, Value* to, bool starts) {
        const int wide = std::min(2, product_.vectors - n);
        each_block(wide, [&](int m, int v) {
            if (starts)
                b_.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {},
                                   {number(2 * m + v)});
            else
                load(2 * m + v, sums(row, m, n + v), sums_stride_of(product_));
        });
        lanes_.loop(from, to, lanes_.constant(1), [&](Value* step) {
            for (const auto& factors : product_.factors)
                add(factors, row, n, wide, step);
        });
        each_block(wide, [&](int m, int v) {
            b_.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                               {number(2 * m + v), sums(row, m, n + v),
                                lanes_.constant(sums_stride_of(product_))});
        });
    }

    void add(const TileProduct::Factors& factors, Value* row, int n, int wide,
             Value* step) {
        for (int m = 0; m < 2; ++m) {
            Value* place =
                lanes_.at(factors.a, row, m * side, product_.a_stride);
            load(first_a + m, lanes_.at(place, step, 0, 4 * product_.depth),
                 product_.a_stride);
        }
        for (Value* matrix : factors.b) {
            Value* place = lanes_.at(matrix, step, 0, product_.b_step);
            for (int v = 0; v < wide; ++v)
                load(first_b + v,
                     lanes_.byte_offset(place, (n + v) * row_bytes), stride());
            each_block(wide, [&](int m, int v) {
                b_.CreateIntrinsic(product_.exact
                                       ? llvm::Intrinsic::x86_tdpbsud
                                       : llvm::Intrinsic::x86_tdpbf16ps,
                                   {},
                                   {number(2 * m + v), number(first_a + m),
                                    number(first_b + v)});
            });
        }
    }

    template <class Body> void each_block(int wide, Body body) {
        for (int m = 0; m < 2; ++m)
            for (int v = 0; v < wide; ++v)
                body(m, v);
    }

    void load(int block, Value* place, std::int64_t stride) {
        b_.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                           {number(block), place, lanes_.constant(stride)});
    }
    Value* number(int block) { return b_.getInt8(std::uint8_t(block)); }
    std::int64_t stride() const { return stride_of(product_); }
    Value* sums(Value* row, int m, int vector) {
        return sums_at(lanes_, product_, row, m * side, vector);
    }

    const Lanes& lanes_;
    llvm::IRBuilder<>& b_;
    const TileProduct& product_;
};

/// Computes a product by lanes, of words of bf16: a row of A is broadcast word
/// by word.
class LaneProduct {
public:
    LaneProduct(const Lanes& lanes, const TileProduct& product)
        : lanes_(lanes), b_(lanes.b), product_(product),
          sum_(lanes.type(DType::F32)) {}

    void write() {
        lanes_.loop(lanes_.constant(0), product_.rows, lanes_.constant(side),
                    [&](Value* row) {
                        for (int n = 0; n < product_.vectors; ++n)
                            write_rows(row, n);
                    });
    }

private:
    /// Writes 16 rows from `row` on of vector n.
    void write_rows(Value* row, int n) {
        std::vector<Value*> sums;
        for (int m = 0; m < side; ++m) {
            sums.push_back(lanes_.variable(sum_));
            b_.CreateStore(
                product_.starts
                    ? llvm::Constant::getNullValue(sum_)
                    : lanes_.load(DType::F32,
                                  sums_at(lanes_, product_, row, m, n)),
                sums.back());
        }
        lanes_.loop(lanes_.constant(0), product_.steps, lanes_.constant(1),
                    [&](Value* step) {
                        for (const auto& factors : product_.factors)
                            add(factors, row, n, step, sums);
                    });
        for (int m = 0; m < side; ++m)
            lanes_.store(b_.CreateLoad(sum_, sums[std::size_t(m)]),
                         sums_at(lanes_, product_, row, m, n));
    }

    void add(const TileProduct::Factors& factors, Value* row, int n,
             Value* step, const std::vector<Value*>& sums) {
        Value* a = lanes_.at(factors.a, row, 0, product_.a_stride);
        a = lanes_.at(a, step, 0, 4 * product_.depth);
        for (Value* matrix : factors.b) {
            Value* b = lanes_.at(matrix, step, 0, product_.b_step);
            lanes_.loop(lanes_.constant(0), lanes_.constant(product_.depth),
                        lanes_.constant(1), [&](Value* word) {
                            add_word(
                                lanes_.at(a, word, 0, 4),
                                lanes_.at(lanes_.byte_offset(b, n * row_bytes),
                                          word, 0, stride_of(product_)),
                                sums);
                        });
        }
    }

    void add_word(Value* a, Value* b, const std::vector<Value*>& sums) {
        const Words pairs{.stored = DType::BF16,
                          .other = DType::BF16,
                          .numbers = numbers_of_word};
        Value* column = lanes_.load(DType::I32, b);
        for (int m = 0; m < side; ++m) {
            Value* word = lanes_.broadcast(
                DType::I32,
                lanes_.byte_offset(a, std::int64_t(m) * product_.a_stride));
            Value* sum = sums[std::size_t(m)];
            b_.CreateStore(add_words(lanes_, pairs, b_.CreateLoad(sum_, sum),
                                     column, word),
                           sum);
        }
    }

    const Lanes& lanes_;
    llvm::IRBuilder<>& b_;
    const TileProduct& product_;
    llvm::Type* sum_;
};

} // namespace

/// Sums and rows of B are whole; rows of A are a step long, and so many rows
/// has B.
void emit_shapes(const Lanes& lanes, std::int64_t depth) {
    std::array<std::uint8_t, 64> shapes{};
    const auto set = [&](int block, std::int64_t rows, std::int64_t bytes) {
        shapes[std::size_t(16 + 2 * block)] = std::uint8_t(bytes);
        shapes[std::size_t(48 + block)] = std::uint8_t(rows);
    };
    shapes[0] = 1; // the only palette
    for (int block = 0; block < first_a; ++block)
        set(block, side, row_bytes);
    for (int k = 0; k < 2; ++k) {
        set(first_a + k, side, 4 * depth);
        set(first_b + k, depth, row_bytes);
    }
    auto& b = lanes.b;
    auto* bytes = llvm::ConstantDataArray::get(b.getContext(), shapes);
    auto* constant = new llvm::GlobalVariable(
        *b.GetInsertBlock()->getModule(), bytes->getType(), true,
        llvm::GlobalValue::PrivateLinkage, bytes, "block_shapes");
    constant->setAlignment(llvm::Align(row_bytes));
    b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {constant});
}

void emit_product(const Lanes& lanes, const TileProduct& product) {
    if (row_of(lanes.isa()).blocks)
        Product(lanes, product).write();
    else
        LaneProduct(lanes, product).write();
}

void emit_release(const Lanes& lanes) {
    lanes.b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease,
                            llvm::ArrayRef<llvm::Type*>(),
                            llvm::ArrayRef<Value*>());
}

} // namespace tilefold::llvm_backend
