// tests/runtime/test_devices.cpp - arrays of devices in the C++ interface, as
// far as no driver is needed.

#include "tests/runtime/session_fixture.h"

#include "runtime/schedule/device_backend.h"

namespace tilefold::test {
namespace {

class DevicesTest : public SessionTest {
protected:
    DevicesTest() {
        Options options;
        options.cache_directory = "";
        options.cuda_driver = "/no/libcuda.so.1";
        options.nvrtc = "/no/libnvrtc.so";
        session.emplace(options);
    }
    static NamedView on(std::string_view name, const Values<float>& values,
                        Location location) {
        NamedView argument = named(name, values);
        argument.view.location = location;
        return argument;
    }

    std::optional<Session> session;
    Values<float> x{{5, 3}}, y{{6, 3}}, l{Extents{}};
    const Location card = Location::cuda(0), other = Location::cuda(1);
};

TEST_F(DevicesTest, AreNamedAsOthersDo) {
    EXPECT_EQ(spelling_of(Location{}), "the CPU");
    EXPECT_EQ(spelling_of(Location::cuda(3)), "cuda:3");
}

TEST_F(DevicesTest, HoldAllArraysOnAnAxis) {
    const Formula formula = session->formula("sum_j x_i·y_j");
    EXPECT_EQ(message_of([&] {
                  formula.bind(std::vector{on("x", x, card), named("y", y)});
              }),
              "'y' is on the CPU, the other arrays on cuda:0\nmove it there "
              "first; arrays are never moved silently");
    EXPECT_EQ(
        message_of([&] {
            formula.bind(std::vector{on("x", x, card), on("y", y, other)});
        }),
        "'y' is on cuda:1, the other arrays on cuda:0\nmove it there first; "
        "arrays are never moved silently");
}

TEST_F(DevicesTest, AreOpenedWhenAnArrayIsOnOne) {
    const Formula formula = session->formula("sum_j x_i·y_j l");
    const std::vector there{on("x", x, card), on("y", y, card), named("l", l)};
    EXPECT_EQ(message_of([&] { formula.bind(there); }),
              "no NVIDIA driver: /no/libcuda.so.1 could not be loaded\ninstall "
              "the driver, or pass arrays of the CPU without devices=");
    EXPECT_EQ(formula({named("x", x), named("y", y), named("l", l)}).shape[0],
              5);
}

TEST_F(DevicesTest, NeedNotBeThereToBeExplained) {
    const Formula formula = session->formula("sum_j exp(-|x_i - y_j|²)");
    const std::vector<ExplainSection> stages = formula.explain_for_gpu(
        std::vector{named("x", x), named("y", y)}, "sm_90");
    std::vector<std::string> names;
    for (const ExplainSection& stage : stages)
        names.push_back(stage.name);
    const std::vector<std::string> wanted = {"reading",
                                             "ast",
                                             "ir",
                                             "canonical ir",
                                             "split by axes",
                                             "CUDA plan",
                                             "lowered kernel",
                                             "CUDA C++",
                                             "registers",
                                             "expected on an H200"};
    EXPECT_EQ(names, wanted);
    EXPECT_EQ(stages[8].text.substr(0, 60),
              "not compiled: the compiler for GPUs, NVRTC, was not found in");
    EXPECT_EQ(session->describe_gpus()[0],
              "none: no NVIDIA driver: /no/libcuda.so.1 could not be loaded");
}

} // namespace
} // namespace tilefold::test
