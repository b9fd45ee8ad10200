// tests/cuda/measure_slots.cpp - writes function_slots.csv: what each function
// of float32 and float64 takes of a card, counted from the machine code that
// NVRTC makes for sm_90; a minute. No card is needed.
//
//   measure_slots [function …] > rows

#include "tests/cuda/function_slots.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

namespace tilefold::tests {
namespace {

void measure(std::span<char*> names) {
    cuda::Nvrtc nvrtc({package_folders(), {}, false});
    AddedTurns added(nvrtc);
    std::puts("function,dtype,least,most,special,wide,pairs");
    for (const PairFunction& function : pair_functions())
        for (const DType dtype : {DType::F32, DType::F64}) {
            const auto is_named = [&](std::string_view name) {
                return name == function.name;
            };
            if (!names.empty() && std::ranges::none_of(names, is_named))
                continue;
            const Turn turn = added.of(function, dtype);
            std::printf(
                "%s,%s,%d,%d,%d,%d,%.3g\n", std::string(function.name).c_str(),
                dtype == DType::F32 ? "float32" : "float64",
                turn.shortest.issued, turn.longest.issued, turn.longest.special,
                turn.longest.wide, rate_of(turn.longest, dtype));
            std::fflush(stdout);
        }
}

} // namespace
} // namespace tilefold::tests

int main(int count, char** words) {
    try {
        tilefold::tests::measure(
            std::span(words, std::size_t(count)).subspan(1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "measure_slots: %s\n", error.what());
        return 1;
    }
}
