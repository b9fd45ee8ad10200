// tests/cuda/test_driver.cpp - the launch code against a fake driver: what
// kernels are given, in which order, and every way in which it fails.

#include "compiler/backends/cuda/plan/plan_segments.h"
#include "runtime/cuda/run.h"
#include "tests/compiler/support.h"
#include "tests/cuda/loaded.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilefold::tests {
namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::vector<float> all;
    for (std::size_t k = 0; k < count; ++k)
        all.push_back(float((k * 37 + seed * 11) % 101) / 101);
    return all;
}

cuda::DeviceOperand operand(const std::vector<float>& array,
                            std::int64_t components) {
    constexpr std::int64_t size = sizeof(float);
    cuda::DeviceOperand made;
    made.data = reinterpret_cast<const char*>(array.data());
    made.stride = components * size;
    made.component = size;
    return made;
}

constexpr std::int64_t rows = 70, columns = 300;

double weight(const float* x, const float* y, double l) {
    double squared = 0;
    for (int d = 0; d < 3; ++d)
        squared += (double(x[d]) - y[d]) * (double(x[d]) - y[d]);
    return std::exp(-squared / (2 * l * l));
}

class FakeDriverTest : public testing::Test {
protected:
    void SetUp() override { fake() = FakeDriver(); }
    void TearDown() override {
        EXPECT_EQ(fake().used, 0);
        EXPECT_EQ(fake().contexts, 0);
    }

    /// `job` of x, y and l, completed by what differs.
    cuda::Job job_of(const Loaded& loaded) {
        operands_.assign(loaded.graph().arguments.size(), {});
        const auto set = [&](const char* name, cuda::DeviceOperand made) {
            if (ir::find_argument(loaded.graph(), name))
                operands_[loaded.place_of(name)] = made;
        };
        set("x", operand(x_, 3));
        set("y", operand(y_, 3));
        set("b", operand(b_, width_));
        cuda::DeviceOperand length;
        length.data = reinterpret_cast<const char*>(&l_);
        length.host_bytes = sizeof l_;
        set("l", length);
        cuda::Job job;
        job.operands = operands_;
        job.literals = loaded.graph().literals;
        job.rows = rows;
        job.columns = columns;
        job.width = width_;
        job.out = reinterpret_cast<char*>(out_.data());
        job.out_component = sizeof(float);
        job.out_row = std::int64_t(sizeof(float)) * width_;
        return job;
    }

    std::int64_t width_ = 1;
    double l_ = 0.4;
    std::vector<float> x_ = numbers(3 * rows, 1), y_ = numbers(3 * columns, 2),
                       b_ = numbers(40 * columns, 3);
    std::vector<float> out_ = std::vector<float>(rows * columns, NAN);
    std::vector<cuda::DeviceOperand> operands_;
    const cuda::Driver driver_{TILEFOLD_FAKE_DRIVER};
    const cuda::Device device_{driver_, 0};
};

TEST_F(FakeDriverTest, SumsOverColumnsOnTheCallersStream) {
    width_ = 40;
    const Loaded loaded("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                        "x f32[3], y f32[3], b f32[9], l f64", 40);
    auto* stream = reinterpret_cast<CUstream>(this);
    {
        const cuda::Module module(device_, loaded.image());
        cuda::run(module, job_of(loaded), stream);
    }
    EXPECT_EQ(fake().stream, this);
    EXPECT_LE(fake().largest_grid, 4u); // 2 blocks on 2 multiprocessors
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t e = 0; e < 40; ++e) {
            double sum = 0;
            for (std::int64_t j = 0; j < columns; ++j)
                sum += weight(&x_[std::size_t(3 * i)], &y_[std::size_t(3 * j)],
                              l_) *
                       b_[std::size_t(40 * j + e)];
            EXPECT_NEAR(out_[std::size_t(40 * i + e)], sum, 2e-6 * sum + 1e-9);
        }
}

/// A stream is captured, and the graph is launched once what was there at the
/// capture has gone: it reads arrays anew, but numbers as they were.
TEST_F(FakeDriverTest, ACapturedCallRunsWhenItsGraphIsLaunched) {
    const Loaded loaded("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                        "x f32[3], y f32[3], b f32, l f64");
    const Loaded other("sum_j |x_i - y_j|", "x f32[3], y f32[3]");
    auto* stream = reinterpret_cast<CUstream>(this);
    const double length = l_;
    {
        const cuda::Module module(device_, loaded.image());
        fake().captures = 1;
        cuda::run(module, job_of(loaded), stream);
        EXPECT_TRUE(std::isnan(out_[0]));
        const cuda::Module late(device_, other.image());
        const cuda::Device opened(driver_, 0);
        cuda::run(late, job_of(other), nullptr);
        fake().captures = 0;
        EXPECT_EQ(fake().refused, 0) << "loading broke the capture";
        l_ = 5;
        cuda::run(module, job_of(loaded), nullptr);
        for (const float scale : {1.f, 3.f}) {
            b_[0] = scale;
            ASSERT_EQ(replay(), 0);
            double sum = 0;
            for (std::int64_t j = 0; j < columns; ++j)
                sum += weight(&x_[0], &y_[std::size_t(3 * j)], length) *
                       b_[std::size_t(j)];
            EXPECT_NEAR(out_[0], sum, 2e-6 * sum);
        }
        EXPECT_EQ(fake().kept, 1) << "the numbers";
    }
    destroy_graph();
    EXPECT_EQ(fake().kept, 0);
}

/// Kernels of two programs, of which each is asked for its own.
TEST_F(FakeDriverTest, AsksTheProgramThatHasAKernel) {
    const Loaded loops("sum_ij exp(-|x_i - y_j|²)", "x f32[3], y f32[3]");
    cuda::Image image = loops.image();
    image.codes.push_back(image.codes[0]);
    const cuda::Module module(device_, image);
    EXPECT_EQ(fake().kernels_not_found, 0);
    const char* const absent[] = {"absent"};
    EXPECT_THROW(cuda::Module(device_, image, absent), Error);
    EXPECT_EQ(fake().kernels_not_found, 1) << "the other was asked, too";
}

TEST_F(FakeDriverTest, FoldsRows) {
    const Loaded loaded("sum_ij exp(-|x_i - y_j|²/2l²)",
                        "x f32[3], y f32[3], l f64");
    const cuda::Module module(device_, loaded.image());
    cuda::run(module, job_of(loaded), nullptr);
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            sum += weight(&x_[std::size_t(3 * i)], &y_[std::size_t(3 * j)], l_);
    EXPECT_NEAR(out_[0], sum, 1e-6 * sum);
    // prepare; accumulate, to a state for each block; finish
    EXPECT_EQ(fake().launches, 3);
}

TEST_F(FakeDriverTest, OneBlockNeedsNoSecondKernel) {
    const Loaded loaded("sum_i |x_i|²", "x f32[3]");
    const cuda::Module module(device_, loaded.image());
    cuda::Job job = job_of(loaded);
    job.columns = 1;
    cuda::run(module, job, nullptr);
    double sum = 0;
    for (float each : x_)
        sum += double(each) * double(each);
    EXPECT_NEAR(out_[0], sum, 1e-6 * sum);
    EXPECT_EQ(fake().launches, 1);
    EXPECT_EQ(fake().used, 0) << "no state was stored";
}

TEST_F(FakeDriverTest, WritesAKernelMatrixAndItsDiagonal) {
    const Loaded loaded("exp(-|x_i - y_j|²/2l²)", "x f32[3], y f32[3], l f64");
    const cuda::Module module(device_, loaded.image());
    cuda::Job job = job_of(loaded);
    job.pairs = cuda::Pairs::Dense;
    job.out_column = sizeof(float);
    job.out_row = columns * std::int64_t(sizeof(float));
    cuda::run(module, job, nullptr);
    EXPECT_NEAR(out_[5 * columns + 7], weight(&x_[15], &y_[21], l_), 1e-6);
    job.pairs = cuda::Pairs::Pairwise;
    job.out_row = sizeof(float);
    cuda::run(module, job, nullptr);
    EXPECT_NEAR(out_[9], weight(&x_[27], &y_[27], l_), 1e-6);
}

TEST_F(FakeDriverTest, RepeatsOverBatchesAndLists) {
    const Loaded loaded("sum_j exp(-|x_i - y_j|²/2l²)",
                        "x f32[3], y f32[3], l f64");
    const cuda::Module module(device_, loaded.image());
    cuda::Job job = job_of(loaded);
    const std::int64_t list[] = {4, 2};
    job.row_list = list;
    job.rows = 2;
    job.columns = columns / 3;
    job.batch[cuda::most_batch_dimensions - 1] = 3;
    operands_[loaded.place_of("y")].batch[cuda::most_batch_dimensions - 1] =
        columns * std::int64_t(sizeof(float)); // 100 points of 3
    job.out_batch[cuda::most_batch_dimensions - 1] = 2 * sizeof(float);
    cuda::run(module, job, nullptr);
    double sum = 0; // batch 1, row 2
    for (std::int64_t j = 100; j < 200; ++j)
        sum += weight(&x_[6], &y_[std::size_t(3 * j)], l_);
    EXPECT_NEAR(out_[3], sum, 1e-6 * sum);
}

TEST_F(FakeDriverTest, MeetsChosenPairsOfEachBatch) {
    Program program = program_of("sum_j exp(-|x_i - y_j|²/2l²)",
                                 "x f32[3], y f32[3], l f64", Mode::Chosen);
    const Loaded loaded(CudaCase{"", program.graph()});
    const cuda::Module module(device_, loaded.image());
    cuda::Job job = job_of(loaded);
    job.batch[cuda::most_batch_dimensions - 1] = 2;
    job.out_batch[cuda::most_batch_dimensions - 1] =
        rows * std::int64_t(sizeof(float));
    const TileList few{{{10, 60}}, {0, 2}, {{5, 6}, {250, 300}}},
        none{{}, {0}, {}};
    const TileList* const lists[] = {&few, &none};
    job.chosen = lists;
    cuda::run(module, job, nullptr);
    double sum = weight(&x_[30], &y_[15], l_); // row 10
    for (std::int64_t j = 250; j < 300; ++j)
        sum += weight(&x_[30], &y_[std::size_t(3 * j)], l_);
    EXPECT_NEAR(out_[10], sum, 1e-6 * sum);
    EXPECT_EQ(out_[9], 0);
    EXPECT_EQ(out_[60], 0);
    EXPECT_EQ(out_[rows + 10], 0);
}

TEST_F(FakeDriverTest, SaysWhatDoesNotFitIntoMemory) {
    const Loaded loaded("sum_j exp(-|x_i - y_j|²/2l²)",
                        "x f32[3], y f32[3], l f64");
    const cuda::Module module(device_, loaded.image());
    fake().memory = 100;
    EXPECT_EQ(message_of([&] { cuda::run(module, job_of(loaded), nullptr); }),
              "the reduction's state needs 1 MiB on the GPU, which could not "
              "be allocated\ncompute fewer rows at a time, or free memory of "
              "the GPU");
}

TEST_F(FakeDriverTest, RefusesAnImageOfAnotherArchitecture) {
    const Loaded loaded("sum_j x_i·y_j", "x f32[3], y f32[3]");
    fake().refuses_images = true;
    EXPECT_EQ(message_of([&] { cuda::Module(device_, loaded.image()); }),
              "the device refused a kernel for sm_90: no kernel image is "
              "available for execution on the device\nrun 'tilefold doctor'");
}

TEST_F(FakeDriverTest, AsksForTheSharedMemoryOfABlock) {
    const Loaded loaded("sum_j x_i·y_j", "x f32[16000], y f32[16000]");
    const cuda::Module module(device_, loaded.image());
    EXPECT_EQ(fake().shared, loaded.image().shape.shared_bytes);
    EXPECT_GT(fake().shared, 16000 * 4);
    fake().most_shared = 60 * 1024;
    EXPECT_EQ(message_of([&] { cuda::Module(device_, loaded.image()); }),
              "the device refused blocks with " +
                  std::to_string(loaded.image().shape.shared_bytes) +
                  " bytes of shared memory: unspecified launch failure\nrun "
                  "'tilefold doctor'");
}

/// As at the end of a process, where static objects outlive it.
TEST_F(FakeDriverTest, MayGoBeforeWhatWasTakenOfIt) {
    {
        const Loaded loaded("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                            "x f32[3], y f32[3], b f32, l f64");
        const cuda::Module module(device_, loaded.image());
        cuda::run(module, job_of(loaded), nullptr);
        EXPECT_GT(fake().used, 0) << "the parameters are kept";
        fake().gone = 1;
    }
    EXPECT_EQ(fake().used, 0);
}

std::string opening_message() {
    return message_of([] { cuda::Driver(TILEFOLD_FAKE_DRIVER); });
}

TEST_F(FakeDriverTest, SaysWhyItCannotBeUsed) {
    fake().version = 11040;
    EXPECT_EQ(
        opening_message(),
        "the NVIDIA driver is for CUDA 11.4; 12.0 is the oldest that is "
        "used\nupdate the driver, or pass arrays of the CPU without devices=");
    fake() = FakeDriver();
    fake().devices = 0;
    EXPECT_EQ(opening_message(),
              "the NVIDIA driver finds no GPU\nlook at CUDA_VISIBLE_DEVICES "
              "and nvidia-smi, or pass arrays of the CPU without devices=");
    fake() = FakeDriver();
    fake().missing = "cuMemFreeAsync";
    EXPECT_EQ(opening_message(),
              "the NVIDIA driver is for CUDA 13.0 without cuMemFreeAsync; "
              "12.0 is the oldest that is used\nupdate the driver, or pass "
              "arrays of the CPU without devices=");
    EXPECT_EQ(message_of([] { cuda::Driver("/nowhere/libcuda.so.1"); }),
              "no NVIDIA driver: /nowhere/libcuda.so.1 could not be loaded\n"
              "install the driver, or pass arrays of the CPU without devices=");
}

TEST(CudaImage, IsTheSameWhenItIsReadBack) {
    cuda::Image image;
    image.shape = {true, true, true, false, 7, 5, 2048, 3};
    image.plan = {64, cuda::Lanes::Columns, 2, 32, 8, 1};
    image.codes = {{std::byte(1), std::byte(0), std::byte(255)},
                   {std::byte(7)}};
    image.architecture = "sm_90";
    image.compiler = "NVRTC 13.0";
    image.compile_milliseconds = 41.5;
    image.resources = {{"accumulate", 80, 16, 8, 4, 2048}, {"finish", 30}};
    std::vector<std::byte> bytes = serialise(image);
    cuda::Image read;
    ASSERT_TRUE(deserialise(bytes, read));
    EXPECT_EQ(serialise(read), bytes);
    EXPECT_EQ(read.plan, image.plan);
    EXPECT_EQ(read.shape.shared_bytes, 2048);
    EXPECT_EQ(read.resources, image.resources);
    EXPECT_EQ(read.codes, image.codes);
}

TEST(CudaImage, IsNoneWhereBytesAreMissing) {
    cuda::Image image;
    image.codes = {{std::byte(1)}, {std::byte(2)}};
    const std::vector<std::byte> bytes = serialise(image);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        cuda::Image read;
        EXPECT_FALSE(deserialise(std::span(bytes).first(size), read)) << size;
    }
    std::vector<std::byte> garbled = bytes;
    garbled[8] = std::byte('x'); // the header's first
    cuda::Image read;
    EXPECT_FALSE(deserialise(garbled, read));
}

TEST(CudaSegments, AreAFunctionOfSizesAlone) {
    cuda::Plan plan; // blocks of 512 rows, tiles of 128 columns
    const auto count = [&](std::int64_t rows, std::int64_t columns) {
        return cuda::segments_of(plan, rows, 1, columns).count;
    };
    EXPECT_GE(count(1, 1'000'000), 60);
    EXPECT_EQ(count(1, 100), 1);
    EXPECT_EQ(count(0, 0), 1);
    EXPECT_EQ(cuda::segments_of(plan, 1, 1, 100).columns, 128);
    // Where there are few tasks, a segment is a tile.
    EXPECT_EQ(count(4 * 512, 4096), 32);
    EXPECT_EQ(cuda::segments_of(plan, 1, 500, 1'000'000).count,
              count(500 * 512, 1'000'000));
    plan.lanes = cuda::Lanes::Columns; // blocks of 4 rows
    plan.tile_columns = 1024;
    EXPECT_EQ(count(1000, 1000), 1);
    EXPECT_EQ(count(1, 10'000'000), 1024);
    EXPECT_EQ(count(16, 10'000'000), 256);
    EXPECT_EQ(count(1, 10'000), 10);
}

// 132 multiprocessors hold a block or more each: the last round of blocks is to
// leave few of them idle, and states are to cost little.
TEST(CudaSegments, FillACardAndAreFew) {
    cuda::Plan plan;
    plan.resident = 1;
    const auto count = [&](std::int64_t blocks, std::int64_t tiles,
                           std::int32_t state_columns) {
        plan.state_columns = state_columns;
        return cuda::segment_count(plan, blocks, tiles);
    };
    EXPECT_EQ(count(132, 1000, 10), 1);
    EXPECT_EQ(count(66, 1000, 10), 2);
    EXPECT_EQ(count(64, 256, 300), 2);
    EXPECT_EQ(count(44, 1000, 10), 3);
    // A round and a bit is cut until little of the last round is idle: of a
    // state that costs much, less often.
    EXPECT_GT(count(140, 10'000, 10), 10);
    EXPECT_LT(count(140, 10'000, 100'000), 6);
    // Many rounds need no cut; states of many rows take memory.
    EXPECT_EQ(count(132'000, 100, 1000), 1);
    EXPECT_LE(count(2000, 10'000, 10), 3);
    // Where columns are many, a tenth of a card is idle at the most.
    for (std::int64_t blocks = 4; blocks < 2000; blocks += 37) {
        const std::int64_t segments = count(blocks, 100'000, 10);
        const double rounds = double(blocks * segments) / 132;
        EXPECT_LE(std::ceil(rounds) / rounds, 1.1) << blocks;
    }
}

} // namespace
} // namespace tilefold::tests
