// compiler/backends/llvm/matmul/layer_products.cpp - see layer_products.h.

#include "compiler/backends/llvm/matmul/layer_products.h"

#include "compiler/backends/llvm/matmul/bf16_splits.h"

#include <vector>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Returns the words of two numbers, part by part: the bf16 nearest to each,
/// then that of the rest. Sums, shifts and masks of integers take half of what
/// the instruction for bf16 takes.
std::vector<Value*> words_by_part(const Lanes& lanes, Value* even, Value* odd) {
    auto& b = lanes.b;
    const auto splat = [&](std::uint32_t word) {
        return lanes.splat(b.getInt32(word));
    };
    Value *upper = splat(0xffff0000U), *half = splat(0x8000U);
    // Above the lower half are the bits of the nearest bf16. (A NaN may become
    // a number so, whose rest is NaN.)
    const auto raised = [&](Value* x) {
        return b.CreateAdd(b.CreateBitCast(x, half->getType()), half);
    };
    std::vector<Value*> words;
    for (int part = 0; part < splits_of_factor; ++part) {
        Value *first = raised(even), *second = raised(odd);
        words.push_back(
            b.CreateOr(b.CreateLShr(first, 16), b.CreateAnd(second, upper)));
        const auto rest = [&](Value* x, Value* bits) {
            Value* nearest = b.CreateAnd(bits, upper);
            return b.CreateFSub(x, b.CreateBitCast(nearest, x->getType()));
        };
        even = rest(even, first);
        odd = rest(odd, second);
    }
    return words;
}

/// Returns component `k` + n of row `row` of a matrix as it lies in memory.
Component element_of(const LayerProduct& product, const ir::Graph& graph,
                     const Lanes& lanes, Value* row, Value* k, int n) {
    auto& b = lanes.b;
    const std::int64_t columns = graph[product.matrix].type.columns;
    Value* width = lanes.constant(columns);
    if (product.is_transposed)
        return {n * columns, b.CreateAdd(b.CreateMul(k, width), row)};
    return {n, b.CreateAdd(b.CreateMul(row, width), k)};
}

} // namespace

void LayerProducts::keep_matrices(Entry& entry, Evaluator& values,
                                  Value* scratch) const {
    const Lanes& lanes = entry.lanes;
    auto& b = entry.b;
    for (const auto& [id, product] : products_) {
        Value* place = lanes.byte_offset(scratch, product.matrix_words);
        clear_words(lanes, place, 0,
                    splits_of_factor * product.matrix_part_bytes /
                        vector_bytes_of_bf16);
        values.each_block(product.rows, 1, [&](Component row, int) {
            Value* to = lanes.at(place, row.runtime, 0, product.words * 4);
            values.each_block(product.terms, 2, [&](Component k, int count) {
                const auto read = [&](int n) {
                    const Component at =
                        element_of(product, writer_.graph, lanes, row.runtime,
                                   k.runtime, n);
                    return lanes.as(DType::F32,
                                    values.value(product.matrix, at));
                };
                Value* odd = count > 1 ? read(1) : lanes.number(DType::F32, 0);
                const auto words = words_by_part(lanes, read(0), odd);
                for (int part = 0; part < splits_of_factor; ++part)
                    b.CreateStore(
                        b.CreateExtractElement(words[std::size_t(part)],
                                               std::uint64_t(0)),
                        lanes.byte_offset(lanes.at(to, k.runtime, 0, 2),
                                          part * product.matrix_part_bytes));
            });
        });
    }
    values.forget();
}

/// Words of a component pair of all cells lie side by side.
void LayerProducts::keep_vectors(const LayerProduct& product,
                                 const Lanes& lanes, Evaluator& values,
                                 int columns, Value* to) const {
    const int vectors = writer_.plan.row_vectors, cells = vectors * columns;
    values.run_contractions(product.vector, vectors, columns);
    values.hoist_scalars(product.vector, vectors, columns);
    values.each_block(product.terms, 2, [&](Component at, int count) {
        Value* word =
            lanes.at(to, at.runtime, 0, cells * vector_bytes_of_bf16 / 2);
        for (int j = 0; j < columns; ++j)
            for (int r = 0; r < vectors; ++r) {
                const auto read = [&](int n) {
                    return lanes.as(DType::F32,
                                    values.value(product.vector,
                                                 values.shifted(at, 1, n), r,
                                                 j));
                };
                Value* even = read(0);
                Value* odd = count > 1 ? read(1) : lanes.number(DType::F32, 0);
                const auto words = words_by_part(lanes, even, odd);
                for (int part = 0; part < splits_of_factor; ++part)
                    lanes.store(
                        words[std::size_t(part)],
                        lanes.byte_offset(word, (part * product.words * cells +
                                                 j * vectors + r) *
                                                    vector_bytes_of_bf16));
            }
    });
    const std::int64_t used = (product.terms + 1) / 2;
    for (int part = 0; part < splits_of_factor && used < product.words; ++part)
        clear_words(lanes, to, (part * product.words + used) * cells,
                    (part + 1) * product.words * cells);
}

void LayerProducts::multiply(Entry& entry, Evaluator& values, ValueId id,
                             int columns, Value* scratch, Value* sums,
                             std::int64_t stride) const {
    const Lanes& lanes = entry.lanes;
    const LayerProduct& layer = products_.at(id);
    const int cells = writer_.plan.row_vectors * columns;
    Value* matrix = lanes.byte_offset(scratch, layer.matrix_words);
    Value* vectors = lanes.byte_offset(scratch, layer.vector_words);
    keep_vectors(layer, lanes, values, columns, vectors);
    TileProduct product;
    product.factors = {
        {matrix,
         {vectors, lanes.byte_offset(vectors, layer.words * cells *
                                                  vector_bytes_of_bf16)}},
        {lanes.byte_offset(matrix, layer.matrix_part_bytes), {vectors}}};
    product.a_stride = layer.words * 4;
    product.depth = writer_.kernel.contractions.depth;
    product.b_step = product.depth * cells * vector_bytes_of_bf16;
    product.c = sums;
    product.c_stride = stride;
    product.vectors = cells;
    product.most_steps = layer.words / product.depth;
    product.steps = lanes.constant(product.most_steps);
    product.rows = lanes.constant(layer.rows);
    product.starts = true;
    emit_product(lanes, product);
}

} // namespace tilefold::llvm_backend
