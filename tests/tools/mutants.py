# tests/tools/mutants.py - the table of mutations.py.
"""The faults that mutations.py puts in, and the tests that must see them."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    fault: str
    file: str
    old: str
    new: str
    program: str
    filter: str
    needs: str = ""  #: what the processor must have to tell, of /proc/cpuinfo


_BACKEND = "compiler/backends/llvm/"
_BLOCKS = "*Generated*/Block*"
_AMX = "amx_tile"

MUTANTS = [
    Mutant(
        "a partial result is dropped in merge",
        "runtime/schedule/worker.cpp",
        "p + gap < partition_.parts; p += 2 * gap",
        "p + gap < partition_.parts - 1; p += 2 * gap",
        "test_runtime",
        "*Launch*",
    ),
    Mutant(
        "later columns are merged before earlier ones",
        "runtime/schedule/worker.cpp",
        "&call_, states + p * distance,\n"
        "                          states + (p + gap) * distance",
        "&call_, states + (p + gap) * distance,\n"
        "                          states + p * distance",
        "test_runtime",
        "*Launch*",
    ),
    Mutant(
        "a fold merges states as if they were terms",
        _BACKEND + "monoids/monoid_fold.cpp",
        "node().fold->merge, left, right)",
        "node().fold->accumulate, left, right)",
        "test_numerics",
        "*Generated*/Fold*",
    ),
    Mutant(
        "columns are sent before the last ones have been read",
        "runtime/cuda/host_run.cpp",
        "        columns.used.hold(parts_.copies);\n",
        "",
        "test_cuda",
        "HostRun*",
    ),
    Mutant(
        "columns are read before they have come",
        "runtime/cuda/host_run.cpp",
        "        columns.ready.hold(slot.stream);\n",
        "",
        "test_cuda",
        "HostRun*",
    ),
    Mutant(
        "rows are read before they have come",
        "runtime/cuda/host_run.cpp",
        "    slot.ready.hold(slot.stream);\n",
        "",
        "test_cuda",
        "HostRun*",
    ),
    Mutant(
        "pinned memory is filled while it is on its way",
        "runtime/cuda/transfer.cpp",
        "    slot.free();\n    return slot;",
        "    return slot;",
        "test_cuda",
        "HostRun*",
    ),
    Mutant(
        "a graph reads numbers that went with their call",
        "runtime/cuda/capture.cpp",
        "        from = kept_by(graph, driver, from, bytes, what);\n",
        "        kept_by(graph, driver, from, bytes, what);\n",
        "test_cuda",
        "FakeDriver*",
    ),
    Mutant(
        "a piece of columns meets the first segment",
        "runtime/cuda/run.cpp",
        "call_.first_segment = columns.first / call_.segment;",
        "call_.first_segment = 0;",
        "test_cuda",
        "HostRun*",
    ),
    Mutant(
        "a piece of rows has the numbers of the first rows",
        "runtime/cuda/host_arrays.cpp",
        "made.first_row = piece.rows.first;",
        "made.first_row = 0;",
        "test_cuda",
        "HostRun*",
    ),
    Mutant(
        "sums by blocks start from what was there",
        _BACKEND + "matmul/amx_tiles.cpp",
        "return write_part(zero, product_.steps, product_.starts);",
        "return write_part(zero, product_.steps, false);",
        "test_numerics",
        _BLOCKS,
        _AMX,
    ),
    Mutant(
        "a weight of a block loses its lesser bits",
        _BACKEND + "matmul/value_matmul.cpp",
        "    for (int part = 0; part < weight_parts; ++part)\n"
        "        all_parts",
        "    for (int part = 0; part + 2 < weight_parts; ++part)\n"
        "        all_parts",
        "test_numerics",
        _BLOCKS,
        _AMX,
    ),
    Mutant(
        "words of a block end in what was there",
        _BACKEND + "pack/word_load.cpp",
        "k < of.padded(); ++k)",
        "k < of.words(); ++k)",
        "test_numerics",
        _BLOCKS,
        _AMX,
    ),
    Mutant(
        "the lesser part of a column is left out",
        _BACKEND + "matmul/bf16_splits.cpp",
        "{lesser_columns, {of_rows}}",
        "{of_columns, {of_rows}}",
        "test_numerics",
        _BLOCKS,
        _AMX,
    ),
    Mutant(
        "squares of a tile are not turned",
        _BACKEND + "pack/pack.cpp",
        "lanes.transpose(square);",
        "",
        "test_numerics",
        "*Generated*/Long*_sum",
    ),
    Mutant(
        "the checksum of a cached kernel is not compared",
        "runtime/cache/cache_entry.cpp",
        "body.size(), checksum_size) != 0)",
        "body.size(), 0) != 0)",
        "test_runtime",
        "*DiskCache*",
    ),
    Mutant(
        "a cached kernel of another key is taken",
        "runtime/cache/disk_cache.cpp",
        "if (!entry || entry->key != key.hex())",
        "if (!entry)",
        "test_runtime",
        "*DiskCache*",
    ),
    Mutant(
        "a request to stop is not seen",
        "runtime/schedule/progress.cpp",
        "    stop_ = true;",
        "    stop_ = false;",
        "test_runtime",
        "*Launch*:*ThreadPool*",
    ),
    Mutant(
        "a batch's stride is forgotten",
        "runtime/bind/bind_job.cpp",
        "call_.batches.strides.push_back(stride);",
        "call_.batches.strides.push_back(d ? stride : 0);",
        "test_runtime",
        "*Session*:*Batch*:*Bind*",
    ),
    Mutant(
        "an out that overlaps an input is written",
        "runtime/bind/outputs.cpp",
        "written.meets(input.bytes)",
        "false",
        "test_runtime",
        "*Session*:*Bind*",
    ),
    Mutant(
        "the sums of logsumexp are not rescaled",
        _BACKEND + "monoids/monoid_exponential.cpp",
        "shrink.push_back(arithmetic.power(before, levels.back()));",
        "shrink.push_back(tile.lanes.number(graph_.real, 1));",
        "test_numerics",
        "*Generated*_logsumexp",
    ),
    Mutant(
        "merge writes beyond the last row",
        _BACKEND + "nest/reduce_nest.cpp",
        "            into.set_mask(mask);\n            from.set_mask(mask);",
        "            static_cast<void>(mask);",
        "test_numerics",
        "*Generated*_logsumexp",
    ),
    Mutant(
        "stages of a loop work on the wrong column",
        _BACKEND + "pipelining/software_pipeline.cpp",
        "step(), at_start.getInt64(std::uint64_t(stage)));",
        "step(), at_start.getInt64(std::uint64_t(stage ? stage - 1 : 0)));",
        "test_numerics",
        "*Generated*",
    ),
    Mutant(
        "the last columns of a panel are left out",
        _BACKEND + "nest/column_tiles.cpp",
        "loop(whole, to, 1);",
        "loop(whole, whole, 1);",
        "test_numerics",
        "*Generated*",
    ),
    Mutant(
        "sums of a panel start from one",
        _BACKEND + "monoids/monoid_plain.cpp",
        "tile.lanes.b.CreateStore(tile.lanes.number(partial_, identity()),",
        "tile.lanes.b.CreateStore(tile.lanes.number(partial_, 1),",
        "test_numerics",
        "*Generated*",
    ),
    Mutant(
        "merges of the K smallest confuse indices",
        _BACKEND + "monoids/monoid_k_minimum.cpp",
        "from.load(where, k));",
        "into.load(where, k));",
        "test_numerics",
        "*Generated*_*kmin",
    ),
    Mutant(
        "argmax takes the last of equal values",
        _BACKEND + "monoids/monoid_arg.cpp",
        "largest_ ? b.CreateFCmpOGT(x, best) : b.CreateFCmpOLT(x, best);",
        "largest_ ? b.CreateFCmpOGE(x, best) : b.CreateFCmpOLE(x, best);",
        "test_numerics",
        "*Generated*_argm*",
    ),
    Mutant(
        "argmax passes over NaN",
        _BACKEND + "monoids/monoid_arg.cpp",
        "better = algebra(tile.lanes).beats(x, best);",
        "better = is_better(b, x, best);",
        "test_numerics",
        "*Generated*_argm*",
    ),
    Mutant(
        "what an array contributes on its other axis is not exchanged",
        "compiler/build/derived.cpp",
        "return builder_.type(leaf).axes == axis ? adjoint",
        "return leaf != ir::no_value ? adjoint",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "reductions of all levels share a sweep",
        "compiler/passes/sweeps.cpp",
        "levels[id] += is_reduction(builder[id]);",
        "levels[id] = is_reduction(builder[id]);",
        "test_compiler",
        "Derivatives*:Sweeps*",
    ),
    Mutant(
        "points along which an adjoint is the same are not counted",
        "compiler/build/differentiate.cpp",
        "if (constant == Axes::None)",
        "if (constant != Axes::IJ)",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "a coefficient of exp2 is off in its last digits",
        _BACKEND + "lanes/exponential.cpp",
        "0x1.62e43ep-1, 0x1.ebe5b8p-3,",
        "0x1.62e44ep-1, 0x1.ebe5b8p-3,",
        "test_numerics",
        "*Exponential*",
        "avx512f",
    ),
    Mutant(
        "vectors of open width lie in one place",
        _BACKEND + "pack/pack.cpp",
        "if (operand.place.per_width)",
        "if (operand.place.per_width < 0)",
        "test_numerics",
        "*Widths*/1",
    ),
    Mutant(
        "bytes are made 16-bit numbers as if they were unsigned",
        _BACKEND + "pack/word_load.cpp",
        "return of.stored == DType::I8 ? b.CreateSExt(stored, to)",
        "return of.stored == DType::U8 ? b.CreateSExt(stored, to)",
        "test_numerics",
        "*Generated*/Narrow*",
    ),
    Mutant(
        "divisors near the largest number are not noted",
        _BACKEND + "pack/entry.cpp",
        "lanes.number(dtype, limit)",
        "lanes.number(dtype, INFINITY)",
        "test_runtime",
        "*LargeDivisors*",
    ),
    Mutant(
        "words of bf16 are of four numbers",
        _BACKEND + "matmul/amx_tiles.cpp",
        ".numbers = numbers_of_word}",
        ".numbers = 2 * numbers_of_word}",
        "test_numerics",
        "*Compiled*/Long2*",
    ),
    Mutant(
        "a cut is where the sinks are",
        "compiler/passes/narrowest_cut.cpp",
        "all.push_back(colour != boost::white_color);",
        "all.push_back(colour == boost::white_color);",
        "test_compiler",
        "Sweeps*",
    ),
]
