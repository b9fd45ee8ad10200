// compiler/backends/cuda/plan/pair_cost.h - what a pair takes of a card.
#pragma once

namespace tilefold::cuda {

/// The limits of a card. Numbers are those of a multiprocessor and a clock
/// where nothing else is said.
struct Card {
    const char* name = "H200";
    double multiprocessors = 132, hertz = 1.98e9;
    double instructions = 128; ///< lanes that issue one
    double special = 16, wide = 64;
    double tensor = 32; ///< of m16n8k16 of 16 bits, and of m16n8k8 of tf32
    /// The share of these that `mma.sync` reaches: 62% on an H100, by Luo et
    /// al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture
    /// (2024).
    double tensor_share = 0.62;
    double bytes = 4.8e12; ///< of its memory, a second
    double shared = 128;   ///< bytes of shared memory
};

/// What one pair of points takes.
struct PairCost {
    double single = 0;  ///< instructions of the formula
    double special = 0; ///< of these, the special function unit's
    double wide = 0;    ///< of these, of the unit for double
    double tensor = 0;  ///< of these, of tensor cores
    /// Instructions that bring columns to and from shared memory, that make
    /// factors of fewer bits, and that loops take.
    double overhead = 0;
    double bytes = 0;  ///< of memory, of results or of points, for each pair
    double shared = 0; ///< bytes of shared memory that tensor cores multiply

    /// Returns how many pairs a second a card can compute: with the overhead,
    /// or by the formula's own instructions alone.
    double rate(const Card& card, bool with_overhead) const;
};

} // namespace tilefold::cuda
