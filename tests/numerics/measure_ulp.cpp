// tests/numerics/measure_ulp.cpp - writes ulp.csv: every function of float32
// on all 2^32 inputs, pow and atan2 on 2^26 structured ones.
//
//   measure_ulp [--isa x86-64-v3] [--threads 2] [--every 16] [function …] >
//   rows
//
// Without names it measures every function; with --every 16, one input in 16
// and the samples of test_ulp, which scripts/test-arm64 --ulp does, since an
// emulator takes a hundred times as long. A row is printed as soon as it is
// known; put it in the place of the old one. A minute or two a function on two
// cores.

#include "tests/numerics/ulp.h"
#include "tests/numerics/ulp_samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string_view>
#include <thread>

namespace tilefold::test {
namespace {

struct Settings {
    Isa isa = Isa::X86_64_V4;
    int threads = 2;
    int every = 1;
    std::vector<std::string_view> functions;
};

/// The inputs of a domain among the bit patterns of a block; none where both
/// ends are outside, since a block is of one sign and ascends in size.
std::size_t fill(std::vector<float>& x, std::uint64_t first,
                 const Domain& domain) {
    const std::uint64_t every = std::uint64_t(domain.every);
    for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = std::bit_cast<float>(std::uint32_t(first + k * every));
    const auto is_inside = [&](float value) {
        return domain.from <= value && value <= domain.to;
    };
    if (is_inside(x.front()) && is_inside(x.back()))
        return x.size();
    const auto end = std::remove_if(x.begin(), x.end(), std::not_fn(is_inside));
    return std::size_t(end - x.begin());
}

/// What the test will try, too: around the worst input until none is worse.
Worst measure_numbers(const Domain& domain, const Settings& settings,
                      Worst worst) {
    Measured measured(domain.op, settings.isa);
    for (double before = -1; worst.ulp > before;) {
        before = worst.ulp;
        const std::vector<float> x = numbers(worst.x);
        for (std::size_t k = 0; k < x.size(); k += Measured::block)
            worst.add(measured(std::span(x).subspan(k, Measured::block), {},
                               domain, worst.ulp));
    }
    return worst;
}

/// Every `threads`-th block of bit patterns.
Worst measure_part(const Domain& domain, const Settings& settings, int part) {
    Measured measured(domain.op, settings.isa);
    std::vector<float> x(Measured::block);
    const std::uint64_t step = std::uint64_t(domain.every) * Measured::block;
    Worst worst;
    for (std::uint64_t first = std::uint64_t(part) * step;
         first < std::uint64_t(1) << 32;
         first += step * std::uint64_t(settings.threads)) {
        const std::size_t count = fill(x, first, domain);
        if (count > 0)
            worst.add(
                measured(std::span(x).first(count), {}, domain, worst.ulp));
    }
    return worst;
}

constexpr std::uint64_t all_blocks = (1 << 26) / Measured::block;

/// Blocks of pairs: at least those of test_ulp, in whose order they are.
std::uint64_t blocks_of(const Settings& settings) {
    return std::max(all_blocks / std::uint64_t(settings.every),
                    std::uint64_t(16));
}

Worst measure_samples(const Domain& domain, const Settings& settings,
                      int part) {
    Measured measured(domain.op, settings.isa);
    Worst worst;
    for (std::uint64_t k = std::uint64_t(part); k < blocks_of(settings);
         k += std::uint64_t(settings.threads)) {
        const Samples samples =
            pairs(domain.op, 67 * k % all_blocks, Measured::block);
        worst.add(measured(samples.x, samples.y, domain, worst.ulp));
    }
    return worst;
}

/// How many were tried, as the table has it.
std::string inputs_of(const Domain& domain, const Settings& settings) {
    if (ir::row_of(domain.op).arity == 1)
        return domain.every == 1 ? "all"
                                 : "1 in " + std::to_string(domain.every);
    const std::uint64_t tried = blocks_of(settings) * Measured::block;
    return "2^" + std::to_string(std::bit_width(tried) - 1);
}

void measure(const Domain& domain, const Settings& settings) {
    const bool unary = ir::row_of(domain.op).arity == 1;
    std::vector<Worst> worst(std::size_t(settings.threads));
    std::vector<std::thread> threads;
    for (int part = 0; part < settings.threads; ++part)
        threads.emplace_back([&, part] {
            worst[std::size_t(part)] =
                unary ? measure_part(domain, settings, part)
                      : measure_samples(domain, settings, part);
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const Worst& one : worst)
        worst[0].add(one);
    if (unary && domain.every > 1)
        worst[0] = measure_numbers(domain, settings, worst[0]);
    Row row;
    row.function = ir::row_of(domain.op).spelling;
    row.isa = spelling_of(settings.isa);
    row.inputs = inputs_of(domain, settings);
    row.from = domain.from;
    row.to = domain.to;
    row.ulp = std::ceil(100 * worst[0].ulp) / 100;
    row.x = worst[0].x;
    row.y = worst[0].y;
    std::printf("%s\n", print(row).c_str());
    std::fflush(stdout);
}

bool is_wanted(const Settings& settings, const Domain& domain) {
    return settings.functions.empty() ||
           std::ranges::count(settings.functions,
                              ir::row_of(domain.op).spelling) > 0;
}

} // namespace
} // namespace tilefold::test

int main(int count, char** words) {
    using namespace tilefold::test;
    Settings settings;
    for (int k = 1; k < count; ++k) {
        const std::string_view word = words[k];
        if (word == "--isa" && k + 1 < count) {
            if (!tilefold::parse_isa(words[++k], settings.isa))
                return 2;
        } else if (word == "--threads" && k + 1 < count) {
            settings.threads = std::max(1, std::atoi(words[++k]));
        } else if (word == "--every" && k + 1 < count) {
            settings.every = std::max(1, std::atoi(words[++k]));
        } else {
            settings.functions.push_back(word);
        }
    }
    for (Domain domain : unary_domains()) {
        domain.every = std::max(domain.every, settings.every);
        if (is_wanted(settings, domain))
            measure(domain, settings);
    }
    for (const Domain& domain : binary_domains())
        if (is_wanted(settings, domain))
            measure(domain, settings);
    return 0;
}
