// compiler/backends/cuda/image/image.cpp - reads logs of `ptxas -v`:
//
//   ptxas info    : Compiling entry function 'accumulate' for 'sm_90'
//   ptxas info    : Function properties for accumulate
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 80 registers, used 1 barriers, 2048 bytes smem

#include "compiler/backends/cuda/image/image.h"

#include <algorithm>
#include <charconv>

namespace tilefold::cuda {
namespace {

/// Returns the number before `words`; 0 where they are missing.
std::int32_t number_before(std::string_view line, std::string_view words) {
    const std::size_t end = line.find(words);
    if (end == std::string_view::npos || end == 0)
        return 0;
    std::size_t start = end;
    while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9')
        --start;
    std::int32_t number = 0;
    std::from_chars(line.data() + start, line.data() + end, number);
    return number;
}

/// Returns what stands in quotes after `words`.
std::string quoted_after(std::string_view line, std::string_view words) {
    const std::size_t at = line.find(words);
    if (at == std::string_view::npos)
        return {};
    const std::size_t start = line.find('\'', at),
                      end = line.find('\'', start + 1);
    if (start == std::string_view::npos || end == std::string_view::npos)
        return {};
    return std::string(line.substr(start + 1, end - start - 1));
}

} // namespace

std::vector<Resources> read_resources(std::string_view log) {
    std::vector<Resources> kernels;
    while (!log.empty()) {
        const std::size_t end = std::min(log.find('\n'), log.size());
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(std::min(end + 1, log.size()));
        std::string name = quoted_after(line, "Compiling entry function ");
        if (!name.empty()) {
            kernels.push_back({});
            kernels.back().kernel = std::move(name);
        }
        if (kernels.empty())
            continue;
        Resources& last = kernels.back();
        if (line.find(" bytes stack frame") != std::string_view::npos) {
            last.stack_bytes = number_before(line, " bytes stack frame");
            last.spill_stores = number_before(line, " bytes spill stores");
            last.spill_loads = number_before(line, " bytes spill loads");
        }
        if (line.find(" registers") != std::string_view::npos) {
            last.registers = number_before(line, " registers");
            last.shared_bytes = number_before(line, " bytes smem");
        }
    }
    return kernels;
}

const Resources* Image::resources_of(std::string_view kernel) const {
    const auto place = std::ranges::find(resources, kernel, &Resources::kernel);
    return place == resources.end() ? nullptr : &*place;
}

} // namespace tilefold::cuda
