// compiler/backends/llvm/matmul/lower_bound_filter.cpp - bounds of squared
// distances.

#include "compiler/backends/llvm/matmul/lower_bound_filter.h"

#include "compiler/backends/llvm/matmul/bf16_splits.h"

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// A factor for what is found by a few roundings and only has to be no
/// smaller.
constexpr double upwards = 1 + 0x1p-10;
/// What a dtype allows.
struct Accuracy {
    double unit; ///< of roundings of sums
    /// Products below the normal numbers are lost: so much of a thousand.
    double lost;
};
Accuracy accuracy_of(DType dtype) {
    return dtype == DType::F64 ? Accuracy{0x1p-52, 0x1p-1012}
                               : Accuracy{0x1p-23, 0x1p-116};
}
/// x - c is rounded by no more than so much of |x - c|.
double rounding_of(DType dtype) {
    return 2 * accuracy_of(dtype).unit;
}

Value* root(const Lanes& lanes, Value* x) {
    return lanes.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
}

Value* scaled(const Lanes& lanes, Value* x, double factor) {
    return lanes.b.CreateFMul(x, llvm::ConstantFP::get(x->getType(), factor));
}

/// Returns a bound of the roundings of sums of so many terms, and of the few
/// operations around them.
double roundings(std::int64_t terms, DType dtype) {
    return double(terms + 16) * accuracy_of(dtype).unit;
}

} // namespace

/// Sums up |x'|² and |x - c - x'|² of numbers that come one after another.
class LowerBoundFilter::Norms {
public:
    explicit Norms(const Lanes& lanes)
        : lanes_(lanes), type_(lanes.type(lanes.real())),
          square_at_(lanes.variable(type_)), error_at_(lanes.variable(type_)) {
        Value* zero = llvm::Constant::getNullValue(type_);
        lanes_.b.CreateStore(zero, square_at_);
        lanes_.b.CreateStore(zero, error_at_);
    }
    /// Adds a number that is kept as it is.
    void add_exact(Value* x) { add(square_at_, x); }
    /// Adds a number and returns the bits of the nearest bf16.
    Value* add_nearest(Value* x) {
        const NearestBf16 nearest(lanes_, x);
        Value* rest = lanes_.b.CreateFSub(x, nearest.value);
        add(square_at_, nearest.value);
        add(error_at_, rest);
        return nearest.bits;
    }
    Value* square() const { return lanes_.b.CreateLoad(type_, square_at_); }
    Value* error() const { return lanes_.b.CreateLoad(type_, error_at_); }
    /// Returns a length no smaller than |x'|, from |x'|².
    static Value* length_of(const Lanes& lanes, Value* square) {
        return scaled(lanes, root(lanes, square), upwards);
    }
    /// Returns an error no smaller than |x - c - x'| and the rounding of x -
    /// c.
    static Value* error_of(const Lanes& lanes, Value* error, Value* length) {
        return lanes.b.CreateFAdd(
            length_of(lanes, error),
            scaled(lanes, length, rounding_of(lanes.real())));
    }

private:
    void add(Value* at, Value* x) {
        lanes_.b.CreateStore(lanes_.fma(x, x, lanes_.b.CreateLoad(type_, at)),
                             at);
    }
    const Lanes& lanes_;
    llvm::Type* type_;
    Value *square_at_, *error_at_;
};

Value* LowerBoundFilter::row_words(const Lanes& lanes, Value* scratch,
                                   Value* row) const {
    const std::int64_t vectors = writer_.plan.row_vectors;
    Value* tile =
        lanes.b.CreateUDiv(row, lanes.constant(vectors * writer_.plan.lanes));
    return lanes.at(lanes.byte_offset(scratch, filter_->row_words), tile, 0,
                    filter_->steps * filter_->depth * vectors *
                        filter_->vector_bytes);
}

Value* LowerBoundFilter::row_part(const Lanes& lanes, Value* scratch,
                                  Value* row, int r, RowPart part) const {
    const std::int64_t vectors = writer_.plan.row_vectors;
    Value* tile =
        lanes.b.CreateUDiv(row, lanes.constant(vectors * writer_.plan.lanes));
    return lanes.byte_offset(
        lanes.at(lanes.byte_offset(scratch, filter_->row_parts), tile, 0,
                 Filter::parts_of_row * vectors * filter_->vector_bytes),
        (part * vectors + r) * filter_->vector_bytes);
}

/// The first row, without what is no finite number, and zeros.
void LowerBoundFilter::keep_centre(Entry& entry, const Pack& rows,
                                   Value* scratch) const {
    const Lanes& lanes = entry.lanes;
    Value* zero = lanes.constant(0);
    Value* centre = lanes.byte_offset(scratch, filter_->centre);
    const auto store = [&](Value* k, Value* x) {
        lanes.b.CreateAlignedStore(x, lanes.at(centre, k, 0, size()),
                                   alignment());
    };
    llvm::Type* number = number_type(lanes);
    Value* none = llvm::Constant::getNullValue(number);
    lanes.loop(zero, lanes.constant(filter_->components), lanes.constant(1),
               [&](Value* k) {
                   Value* x = lanes.b.CreateLoad(
                       number, rows.address(lanes, scratch, filter_->row,
                                            {0, k}, zero));
                   Value* is_finite =
                       lanes.b.CreateFCmpOEQ(lanes.b.CreateFSub(x, x), none);
                   store(k, lanes.b.CreateSelect(is_finite, x, none));
               });
    lanes.loop(lanes.constant(filter_->components),
               lanes.constant(filter_->numbers), lanes.constant(1),
               [&](Value* k) { store(k, none); });
}

/// Words of all rows of a tile lie side by side.
void LowerBoundFilter::keep_words(Entry& entry, const Pack& rows, Value* tile,
                                  int r, Norms& norms, Value* scratch) const {
    const Lanes& lanes = entry.lanes;
    auto& b = entry.b;
    const std::int64_t vectors = writer_.plan.row_vectors;
    Value* centre = lanes.byte_offset(scratch, filter_->centre);
    Value* point = b.CreateAdd(tile, lanes.constant(r * lanes.width()));
    const auto number = [&](Value* k) {
        Value* x = lanes.load(
            real(), rows.address(lanes, scratch, filter_->row, {0, k}, point));
        return b.CreateFSub(
            x, lanes.broadcast(real(), lanes.at(centre, k, 0, size())));
    };
    Value* to = lanes.byte_offset(row_words(lanes, scratch, tile),
                                  r * filter_->vector_bytes);
    const auto store = [&](Value* word, Value* lanes_of_word) {
        lanes.store(lanes_of_word,
                    lanes.at(to, word, 0, vectors * filter_->vector_bytes));
    };
    if (!filter_->of_bf16) {
        lanes.loop(lanes.constant(0), lanes.constant(filter_->components),
                   lanes.constant(1), [&](Value* k) {
                       Value* x = number(k);
                       norms.add_exact(x);
                       store(k, x);
                   });
        return;
    }
    const auto bits = [&](Value* k) { return norms.add_nearest(number(k)); };
    Value* whole = lanes.constant(filter_->components / numbers_of_word);
    lanes.loop(lanes.constant(0), whole, lanes.constant(1), [&](Value* w) {
        Value* even = b.CreateMul(w, lanes.constant(numbers_of_word));
        Value* first = bits(even);
        store(w, words_of(lanes, first,
                          bits(b.CreateAdd(even, lanes.constant(1)))));
    });
    Value* none = llvm::Constant::getNullValue(lanes.type(DType::I32));
    lanes.loop(whole, lanes.constant(filter_->steps * filter_->depth),
               lanes.constant(1), [&](Value* w) { store(w, none); });
    if (filter_->components % numbers_of_word) {
        Value* last = bits(lanes.constant(filter_->components - 1));
        store(whole, b.CreateZExt(last, none->getType()));
    }
}

void LowerBoundFilter::keep_rows(Entry& entry, const Pack& rows, Value* count,
                                 Value* scratch) const {
    if (!exists())
        return;
    keep_centre(entry, rows, scratch);
    const Lanes& lanes = entry.lanes;
    const std::int64_t vectors = writer_.plan.row_vectors;
    const auto keep = [&](Value* tile, int r) {
        Norms norms(lanes);
        keep_words(entry, rows, tile, r, norms, scratch);
        Value* length = Norms::length_of(lanes, norms.square());
        lanes.store(norms.square(), row_part(lanes, scratch, tile, r, square));
        lanes.store(length, row_part(lanes, scratch, tile, r,
                                     LowerBoundFilter::length));
        lanes.store(Norms::error_of(lanes, norms.error(), length),
                    row_part(lanes, scratch, tile, r, error));
    };
    lanes.loop(lanes.constant(0), count,
               lanes.constant(vectors * lanes.width()), [&](Value* tile) {
                   for (int r = 0; r < vectors; ++r)
                       keep(tile, r);
               });
}

void LowerBoundFilter::keep_numbers(const Lanes& lanes, Norms& norms, Value* x,
                                    Value* to, Value* k) const {
    if (filter_->of_bf16)
        return void(lanes.b.CreateAlignedStore(
            norms.add_nearest(x), lanes.at(to, k, 0, 2),
            llvm::Align(std::uint64_t(filter_->vector_bytes / 2))));
    norms.add_exact(x);
    lanes.store(x, lanes.at(to, k, 0, size()));
}

/// Words of a column are neighbours.
void LowerBoundFilter::keep_columns(Entry& entry, const Pack& columns,
                                    Value* count, Value* scratch) const {
    if (!exists())
        return;
    const Lanes& lanes = entry.lanes;
    auto& b = entry.b;
    Value* centre = lanes.byte_offset(scratch, filter_->centre);
    Value* most = lanes.variable(number_type(lanes)); // the largest |y'|²
    Value* zero = llvm::Constant::getNullValue(lanes.type(real()));
    b.CreateStore(llvm::ConstantFP::get(number_type(lanes), 0), most);
    const auto keep = [&](Value* point) {
        Norms norms(lanes);
        Value* to = lanes.at(lanes.byte_offset(scratch, filter_->column_words),
                             point, 0, filter_->stride);
        lanes.loop(lanes.constant(0), lanes.constant(filter_->numbers),
                   lanes.constant(lanes.width()), [&](Value* k) {
                       Value* there = lanes.first_lanes(
                           b.CreateSub(lanes.constant(filter_->components), k));
                       Value* place = columns.address(
                           lanes, scratch, filter_->column, {0, k}, point);
                       Value* x = b.CreateMaskedLoad(lanes.type(real()), place,
                                                     alignment(), there, zero);
                       x = b.CreateFSub(
                           x,
                           lanes.load(real(), lanes.at(centre, k, 0, size())));
                       keep_numbers(lanes, norms, x, to, k);
                   });
        const auto sum = [&](Value* squares) {
            auto* all = b.CreateFAddReduce(
                llvm::ConstantFP::getNegativeZero(number_type(lanes)), squares);
            all->setHasAllowReassoc(true); // only a bound is made of it
            return all;
        };
        Value* square = sum(norms.square());
        const auto store = [&](Value* x, std::int64_t offset) {
            b.CreateAlignedStore(
                x,
                lanes.at(lanes.byte_offset(scratch, offset), point, 0, size()),
                alignment());
        };
        Value* before = b.CreateLoad(number_type(lanes), most);
        b.CreateStore(
            b.CreateSelect(b.CreateFCmpOGT(square, before), square, before),
            most);
        if (!filter_->of_bf16)
            return store(scaled(lanes, square, -0.5), filter_->column_squares);
        Value* error = Norms::error_of(lanes, sum(norms.error()),
                                       Norms::length_of(lanes, square));
        store(error, filter_->column_errors);
        store(scaled(lanes, b.CreateFSub(square, b.CreateFMul(error, error)),
                     0.5),
              filter_->column_squares);
    };
    lanes.loop(lanes.constant(0), count, lanes.constant(1), keep);
    b.CreateAlignedStore(
        Norms::length_of(lanes, b.CreateLoad(number_type(lanes), most)),
        lanes.byte_offset(scratch, filter_->longest), alignment());
}

void LowerBoundFilter::each_column(const Entry& entry, Value* row, Value* first,
                                   Value* end,
                                   const std::vector<Limits>& limits,
                                   Value* scratch, const Take& take) const {
    const Lanes& lanes = entry.lanes;
    auto& b = lanes.b;
    if (filter_->of_bf16) {
        multiply(lanes, row, first, end, scratch);
        lanes.loop(first, end, lanes.constant(1), [&](Value* column) {
            for (std::size_t r = 0; r < limits.size(); ++r)
                take(column, int(r),
                     passes(lanes, limits[r], int(r), first, column, scratch));
        });
        return;
    }
    Value* together = lanes.constant(writer_.plan.columns);
    Value* whole = b.CreateAdd(
        first,
        b.CreateMul(b.CreateSDiv(b.CreateSub(end, first), together), together));
    const auto columns = [&](Value* from, Value* to, int count) {
        lanes.loop(from, to, lanes.constant(count), [&](Value* column) {
            const std::vector<Value*> sums =
                sums_of(lanes, row, column, count, scratch);
            for (int j = 0; j < count; ++j)
                for (std::size_t r = 0; r < limits.size(); ++r)
                    take(b.CreateAdd(column, lanes.constant(j)), int(r),
                         b.CreateFCmpUGE(
                             sums[std::size_t(j) * limits.size() + r],
                             limits[r].least));
        });
    };
    columns(first, whole, writer_.plan.columns);
    columns(whole, end, 1);
}

/// Products of bf16, of all columns of a tile.
void LowerBoundFilter::multiply(const Lanes& lanes, Value* row, Value* first,
                                Value* end, Value* scratch) const {
    const std::int64_t vectors = writer_.plan.row_vectors;
    TileProduct product;
    product.factors = {
        {lanes.at(lanes.byte_offset(scratch, filter_->column_words), first, 0,
                  filter_->stride),
         {row_words(lanes, scratch, row)}}};
    product.a_stride = filter_->stride;
    product.b_step = filter_->depth * vectors * filter_->vector_bytes;
    product.depth = filter_->depth;
    product.most_steps = filter_->steps;
    product.steps = lanes.constant(filter_->steps);
    product.c = lanes.byte_offset(scratch, filter_->products);
    product.vectors = int(vectors);
    product.rows = lanes.b.CreateSub(end, first);
    product.starts = true;
    emit_product(lanes, product);
}

/// Returns x'·y' - |y'|²/2 of some columns and the tile's rows, made a
/// component at a time.
std::vector<Value*> LowerBoundFilter::sums_of(const Lanes& lanes, Value* row,
                                              Value* column, int columns,
                                              Value* scratch) const {
    auto& b = lanes.b;
    const int vectors = writer_.plan.row_vectors;
    llvm::Type* type = lanes.type(real());
    std::vector<Value*> sums;
    Value* starts = lanes.at(
        lanes.byte_offset(scratch, filter_->column_squares), column, 0, size());
    for (int j = 0; j < columns; ++j)
        for (int r = 0; r < vectors; ++r) {
            sums.push_back(lanes.variable(type));
            b.CreateStore(
                lanes.broadcast(real(), lanes.byte_offset(starts, size() * j)),
                sums.back());
        }
    Value* x_words = row_words(lanes, scratch, row);
    Value* y_words = lanes.at(lanes.byte_offset(scratch, filter_->column_words),
                              column, 0, filter_->stride);
    const auto add = [&](Value* k) {
        Value* x_at = lanes.at(x_words, k, 0, vectors * filter_->vector_bytes);
        Value* y_at = lanes.at(y_words, k, 0, size());
        for (int j = 0; j < columns; ++j) {
            Value* y = lanes.broadcast(
                real(), lanes.byte_offset(y_at, j * filter_->stride));
            for (int r = 0; r < vectors; ++r) {
                Value* x = lanes.load(
                    real(), lanes.byte_offset(x_at, r * filter_->vector_bytes));
                Value* sum = sums[std::size_t(j * vectors + r)];
                b.CreateStore(lanes.fma(x, y, b.CreateLoad(type, sum)), sum);
            }
        }
    };
    lanes.loop(lanes.constant(0), lanes.constant(filter_->components),
               lanes.constant(1), add);
    for (Value*& sum : sums)
        sum = b.CreateLoad(type, sum);
    return sums;
}

LowerBoundFilter::Limits LowerBoundFilter::limits(const Entry& entry,
                                                  Value* row, int r,
                                                  Value* worst,
                                                  Value* scratch) const {
    const Lanes& lanes = entry.lanes;
    auto& b = lanes.b;
    const auto part = [&](RowPart which) {
        return lanes.load(real(), row_part(lanes, scratch, row, r, which));
    };
    const double rounded = roundings(filter_->components, real());
    Value* longest =
        lanes.broadcast(real(), lanes.byte_offset(scratch, filter_->longest));
    Value* near = b.CreateFAdd(scaled(lanes, root(lanes, worst), 1 + rounded),
                               part(error));
    if (!filter_->of_bf16) // e of the column, too
        near = b.CreateFAdd(near, scaled(lanes, longest, rounding_of(real())));
    Value* all = b.CreateFAdd(b.CreateFAdd(part(length), near),
                              scaled(lanes, longest, 2));
    Value* slack = b.CreateFAdd(scaled(lanes, b.CreateFMul(all, all), rounded),
                                lanes.number(real(), accuracy_of(real()).lost));
    Value* least = scaled(
        lanes, b.CreateFSub(part(square), b.CreateFMul(near, near)), 0.5);
    return {near, b.CreateFSub(least, slack)};
}

Value* LowerBoundFilter::passes(const Lanes& lanes, const Limits& limits, int r,
                                Value* first, Value* column,
                                Value* scratch) const {
    auto& b = lanes.b;
    const std::int64_t vectors = writer_.plan.row_vectors;
    const auto of_column = [&](std::int64_t offset) {
        return lanes.broadcast(
            real(),
            lanes.at(lanes.byte_offset(scratch, offset), column, 0, size()));
    };
    Value* product = lanes.load(
        real(), lanes.byte_offset(
                    lanes.at(lanes.byte_offset(scratch, filter_->products),
                             b.CreateSub(column, first), 0,
                             vectors * filter_->vector_bytes),
                    r * filter_->vector_bytes));
    Value* sum =
        lanes.fma(limits.near, of_column(filter_->column_errors), product);
    return b.CreateFCmpUGE(
        b.CreateFSub(sum, of_column(filter_->column_squares)), limits.least);
}

} // namespace tilefold::llvm_backend
