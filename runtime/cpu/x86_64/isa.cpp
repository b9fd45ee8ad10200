// runtime/cpu/x86_64/isa.cpp - asks the processor (and, through XGETBV, the
// operating system) which instruction sets may be used.

#include "runtime/cpu/isa.h"

#include "runtime/cpu/architecture.h"

#include <array>
#include <cpuid.h>
#include <initializer_list>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

namespace tilefold::cpu {

/// Linux lets a process use AMX once it has asked to: registers of 8 KiB then
/// belong to its threads. It refuses where a signal's stack is too small.
static bool blocks_are_allowed() {
    static const bool allowed = [] {
        constexpr long request = 0x1023, tile_data = 18; // ARCH_REQ_XCOMP_PERM
        return __builtin_cpu_supports("amx-tile") &&
               __builtin_cpu_supports("amx-int8") &&
               __builtin_cpu_supports("amx-bf16") &&
               syscall(SYS_arch_prctl, request, tile_data) == 0;
    }();
    return allowed;
}

bool is_of_this_architecture(const IsaRow& row) {
    return std::string_view(row.triple).starts_with("x86_64-");
}

bool runs(Isa isa) {
    switch (isa) {
    case Isa::X86_64_V3:
        return __builtin_cpu_supports("x86-64-v3");
    case Isa::X86_64_V4:
        return __builtin_cpu_supports("x86-64-v4");
    case Isa::X86_64_V4_VNNI:
        return __builtin_cpu_supports("x86-64-v4") &&
               __builtin_cpu_supports("avx512vnni");
    case Isa::X86_64_V4_BF16:
    case Isa::Zen4:
    case Isa::Zen5:
        return runs(Isa::X86_64_V4_VNNI) &&
               __builtin_cpu_supports("avx512bf16");
    case Isa::X86_64_V4_AMX:
        return runs(Isa::X86_64_V4_BF16) && blocks_are_allowed();
    case Isa::AArch64:
        return false;
    }
    return false;
}

namespace {

struct Model {
    unsigned family = 0, model = 0, stepping = 0;
};

std::optional<Model> model_of_processor() {
    unsigned word = 0, unused = 0;
    if (__get_cpuid(1, &word, &unused, &unused, &unused) == 0)
        return std::nullopt;
    return Model{(word >> 8 & 15) + (word >> 20 & 255),
                 (word >> 4 & 15) | (word >> 12 & 240), word & 15};
}

bool is_amd(unsigned family) {
    const std::optional<Model> model = model_of_processor();
    return __builtin_cpu_is("amd") && model && model->family == family;
}

} // namespace

/// Two products of bf16 cost as much as one fma on Zen 4 and 5, but three on
/// Sapphire Rapids: scores of 64 components at 1.15 G pairs/s against 2.03.
bool pays(const IsaRow& row) {
    constexpr unsigned zen3_and_4 = 25, zen5 = 26; // Zen 3 has no AVX-512
    switch (row.ports) {
    case Ports::DoublePumped:
        return is_amd(zen3_and_4);
    case Ports::Separate:
        return is_amd(zen5);
    case Ports::Shared:
        return !row.bf16 || row.blocks || __builtin_cpu_is("amd");
    }
    return false;
}

std::string processor() {
    std::array<unsigned, 4> word{};
    const auto ask = [&](unsigned leaf) {
        return __get_cpuid(leaf, &word[0], &word[1], &word[2], &word[3]) != 0;
    };
    std::string text;
    const auto append = [&](std::initializer_list<unsigned> registers) {
        for (unsigned part : registers)
            for (int shift = 0; shift < 32; shift += 8)
                if (const char letter = char(part >> shift); letter != 0)
                    text += letter;
    };
    if (ask(0))
        append({word[1], word[3], word[2]});
    if (const std::optional<Model> model = model_of_processor())
        text += " " + std::to_string(model->family) + "/" +
                std::to_string(model->model) + "/" +
                std::to_string(model->stepping) + " ";
    for (unsigned leaf = 0x80000002; leaf <= 0x80000004 && ask(leaf); ++leaf)
        append({word[0], word[1], word[2], word[3]});
    return text;
}

} // namespace tilefold::cpu
