#include <gtest/gtest.h>

#include <random>
#include <string>

#include "record/device/format.h"
#include "record/device/links.h"
#include "record/device/occupancy.h"
#include "record/device/words.h"
#include "record/recording.h"
#include "record/recording_for_test.h"
#include "record/text/kineto_text.h"

namespace stepscope::record {
namespace {

DeviceAttributes v100() {
  DeviceAttributes device{};
  device.multiprocessors = 80;
  device.warp_threads = 32;
  device.warps_per_multiprocessor = 64;
  device.blocks_per_multiprocessor = 32;
  device.registers_per_multiprocessor = 65536;
  device.shared_per_multiprocessor = 98304;
  device.compute_major = 7;
  return device;
}

Kernel kernel_of(std::uint32_t grid, std::uint32_t block, std::uint32_t registers, std::uint32_t shared) {
  Kernel kernel{};
  kernel.grid[0] = grid;
  kernel.block[0] = block;
  kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  kernel.registers = registers;
  kernel.dynamic_shared = shared;
  return kernel;
}

// Kernels of a V100, with the occupancy that Kineto recorded for them.
TEST(RecordedOccupancy, AsKinetoHasIt) {
  struct Case {
    std::uint32_t grid, block, registers, shared;
    std::int64_t percent;
  };
  for (const Case& c : {Case{424, 128, 30, 0, 33}, Case{224, 128, 122, 12288, 17}, Case{288, 128, 16, 0, 22},
                        Case{56, 512, 40, 0, 17}, Case{304, 256, 57, 16384, 47}})
    EXPECT_EQ(occupancy_of(kernel_of(c.grid, c.block, c.registers, c.shared), v100()).percent, c.percent)
        << c.grid;
  const Occupancy occupancy = occupancy_of(kernel_of(424, 128, 30, 0), v100());
  EXPECT_FLOAT_EQ(static_cast<float>(occupancy.blocks_per_multiprocessor), 5.3F);
  EXPECT_FLOAT_EQ(static_cast<float>(occupancy.warps_per_multiprocessor), 21.2F);
}

// 122 registers per thread: 3,904 per warp, rounded up to 4,096; each quarter of the 65,536 registers holds 4
// warps, so 16 warps fit: 4 blocks of 4. 12,288 bytes: 8 blocks in 98,304. 16 warps per block: 4 blocks in 64
// warps. 1,025 threads exceed the maximum of a block.
TEST(RecordedOccupancy, ResidentBlocksByHand) {
  EXPECT_EQ(resident_blocks(kernel_of(1, 128, 122, 12288), v100()), 4U);
  EXPECT_EQ(resident_blocks(kernel_of(1, 128, 16, 12288), v100()), 8U);
  EXPECT_EQ(resident_blocks(kernel_of(1, 512, 16, 0), v100()), 4U);
  EXPECT_EQ(resident_blocks(kernel_of(1, 32, 16, 0), v100()), 32U);
  EXPECT_EQ(resident_blocks(kernel_of(1, 1025, 16, 0), v100()), 0U);
  EXPECT_EQ(resident_blocks(kernel_of(1, 128, 16, 0), DeviceAttributes{}), 0U);
  DeviceAttributes a100 = v100();
  a100.compute_major = 8;
  a100.shared_per_multiprocessor = 167936;
  EXPECT_EQ(resident_blocks(kernel_of(1, 128, 16, 81920), a100), 2U);  // plus 1,024 reserved per block
}

// Thread 1: op 10 [0, 100] holds annotation 20 [10, 60], which holds op 11 [20, 40]. Thread 2: op 12.
TEST(RecordedLinks, TheInnermostOpAndAnnotation) {
  std::vector<HostRange> ranges = {{1, 20, 40, 11}, {1, 10, 60, 20, 0}, {1, 0, 100, 10}, {2, 0, 100, 12}};
  DeviceLinks links;
  links.add({1, 1, 24, 30});
  links.add({2, 1, 45, 50});
  links.add({3, 1, 70, 80});
  links.add({4, 2, 25, 35});
  links.add({5, 1, 150, 160});
  links.join(ranges);
  const auto op = [&](std::uint32_t correlation) { return links.find(correlation, 1000)->op; };
  EXPECT_EQ(op(1), 11);
  EXPECT_EQ(op(2), 10);
  EXPECT_EQ(op(3), 10);
  EXPECT_EQ(op(4), 12);
  EXPECT_EQ(op(5), 0);
  EXPECT_EQ(links.find(1, 1000)->annotation, 0);
  EXPECT_EQ(links.find(2, 1000)->annotation, 0);
  EXPECT_EQ(links.find(3, 1000)->annotation, -1);
  EXPECT_EQ(links.annotations().at(0).id, 20);
  EXPECT_EQ(links.find(6, 1000), nullptr);
}

// Correlation 7 three times; the call added last is a driver call inside a runtime call.
TEST(RecordedLinks, ANumberThatComesRound) {
  std::vector<HostRange> none;
  DeviceLinks links;
  links.add({7, 1, 500, 600});
  links.add({7, 1, 100, 200});
  links.add({7, 1, 520, 580});
  links.join(none);
  EXPECT_EQ(links.find(7, 400)->begin_ns, 100);
  EXPECT_EQ(links.find(7, 50)->begin_ns, 100);  // the work seems to begin before its call: the clocks are off
  EXPECT_EQ(links.find(7, 900)->begin_ns, 520);
  EXPECT_EQ(links.find(7, 400)->flow(), 7);
  EXPECT_EQ(links.find(7, 900)->flow(), (std::int64_t{1} << 32) + 7);
  EXPECT_EQ(links.find(7, 510)->flow(), (std::int64_t{1} << 32) + 7);
}

// Thread 1: op 10 [0, 100] holds op 11 [20, 40]. Thread 2: op 12.
TEST(RecordedLinks, TheOpThatMadeANode) {
  std::vector<HostRange> ranges = {{1, 20, 40, 11}, {1, 0, 100, 10}, {2, 0, 100, 12}, {1, 200, 210, 13}};
  DeviceLinks links;
  links.take(
      {{1, 30, 5, 0}, {2, 30, 6, 0}, {1, 50, 7, 0}, {1, 150, 8, 0}, {1, 205, 20, 5}, {1, 206, 21, 20}});
  EXPECT_TRUE(links.makes_nodes({1, 20, 40, 11}));
  EXPECT_TRUE(links.makes_nodes({1, 150, 150, 0}));
  EXPECT_FALSE(links.makes_nodes({1, 51, 149, 0}));
  EXPECT_FALSE(links.makes_nodes({2, 31, 40, 0}));
  links.join(ranges);
  EXPECT_EQ(links.maker_of(5), 11);
  EXPECT_EQ(links.maker_of(6), 12);
  EXPECT_EQ(links.maker_of(7), 10);
  EXPECT_EQ(links.maker_of(20), 11);  // a copy, made inside op 13
  EXPECT_EQ(links.maker_of(21), 11);  // a copy of the copy
  EXPECT_EQ(links.maker_of(8), 0);
  EXPECT_NE(links.made(8), nullptr);  // outside of ops
  EXPECT_EQ(links.made(9), nullptr);  // not recorded
}

TEST(RecordedNames, AsKinetoHasThem) {
  EXPECT_EQ(demangled("_ZN2at6kernelEPfi"), "at::kernel(float*, int)");
  EXPECT_EQ(demangled("ampere_sgemm"), "ampere_sgemm");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(overhead_name(1), "Driver Compiler");
  EXPECT_EQ(overhead_name(7U << 16), "Activity Buffer Request");
  EXPECT_EQ(overhead_name(77U << 16), "Unknown");
  EXPECT_EQ(overhead_name(3), "Unknown");
  EXPECT_EQ(wait_name(9), "Unknown Sync");
  Memcpy copy{};
  copy.kind = 200;
  copy.from = 2;
  copy.to = 250;
  EXPECT_EQ(copy_name(copy), "Memcpy <unknown> (Pinned -> Unknown)");
}

template <class R>
void put_record(std::string& out, R record, Type type) {
  record.type = type;
  record.units = sizeof record / 8;
  put_bytes(out, record);
}

/// A recording with one device record of each type.
std::string made_recording(DeviceClock clock) {
  std::string records;
  DeviceSession session{};
  session.value = static_cast<std::uint32_t>(clock);
  session.library_version = 28;
  put_record(records, session, Type::device_session);
  DeviceClockPair pair{};
  pair.library_ns = 5'000;
  pair.monotonic_ns = 2'000;
  put_record(records, pair, Type::device_clock);
  DeviceAttributes device = v100();
  put_record(records, device, Type::device_attributes);
  put_record(records, DeviceContext{{Type::device_context, 0, 1}, 0, 0}, Type::device_context);
  Kernel kernel = kernel_of(424, 128, 30, 0);
  kernel.begin = 6'000;
  kernel.end = 9'000;
  kernel.context = 1;
  kernel.stream = 7;
  kernel.correlation = 5;
  put_record(records, kernel, Type::kernel);
  Memcpy copy{};
  copy.begin = 9'000;
  copy.end = 9'500;
  copy.correlation = 6;
  put_record(records, copy, Type::memcpy);
  Memset fill{};
  fill.begin = 9'600;
  fill.end = 9'700;
  put_record(records, fill, Type::memset);
  ApiCall call{};
  call.begin = 5'000;
  call.end = 5'500;
  call.thread = 9;
  call.correlation = 5;
  put_record(records, call, Type::api_call);
  Synchronization wait{};
  wait.begin = 9'700;
  wait.end = 9'800;
  wait.context = 1;
  wait.value = 1;
  put_record(records, wait, Type::synchronization);
  put_record(records, EventRecord{}, Type::event_record);
  put_record(records, Overhead{{}, 9'700, 9'800}, Type::overhead);
  put_record(records, DeviceCounts{{}, 1, 2, 3, 4}, Type::device_counts);
  return recording_for_test(records);
}

std::string text_of(const std::string& file) {
  const auto recording = Recording::open(file);
  std::string text;
  if (recording.ok())
    write_kineto(*recording, [&](std::string_view piece) {
      text += piece;
      return true;
    });
  return text;
}

TEST(RecordedDevices, AKernelAsKinetoWritesIt) {
  const std::string text = text_of(made_recording(DeviceClock::monotonic));
  EXPECT_NE(text.find(R"("dur": 3.000, "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, )"
                      R"("correlation": 5, "registers per thread": 30, "shared memory": 0, )"
                      R"("blocks per SM": 5.300000, "warps per SM": 21.200001, )"
                      R"("est. achieved occupancy %": 33, "grid": [424, 1, 1], "block": [128, 1, 1]}})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("cat": "ac2g", "name": "ac2g", "pid": 7, "tid": 9)"), std::string::npos) << text;
}

// 6,000 on the library's clock is 3,000 on the monotonic clock; the call is 1,000 ns earlier.
TEST(RecordedDevices, TimesOfTheLibrarysClock) {
  const auto base = Recording::open(made_recording(DeviceClock::library));
  ASSERT_TRUE(base.ok());
  const std::string monotonic = text_of(made_recording(DeviceClock::monotonic));
  const std::string library = text_of(made_recording(DeviceClock::library));
  const auto time_of = [](const std::string& text, const std::string& category) {
    const std::size_t at = text.find("\"ts\": ", text.find("\"cat\": \"" + category + "\""));
    return std::stod(text.substr(at + 6));
  };
  EXPECT_NEAR(time_of(monotonic, "kernel") - time_of(library, "kernel"), 3.0, 0.01);
  EXPECT_NEAR(time_of(library, "kernel") - time_of(library, "cuda_runtime"), 1.0, 0.01);
}

TEST(RecordedDevices, WhatWasLostIsSaid) {
  const std::string file = made_recording(DeviceClock::monotonic);
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(recording->notes().size(), 4U);
}

TEST(RecordedDevices, NothingInThemIsBelieved) {
  std::mt19937 random(11);
  for (const DeviceClock clock : {DeviceClock::monotonic, DeviceClock::library}) {
    const std::string whole = made_recording(clock);
    for (std::size_t cut = kHeaderBytes; cut < whole.size(); ++cut) (void)text_of(whole.substr(0, cut));
    for (int round = 0; round < 3000; ++round) {
      std::string file = whole;
      for (int change = 0; change < 6; ++change)
        file[kHeaderBytes + random() % (whole.size() - kHeaderBytes)] = static_cast<char>(random());
      (void)text_of(file);
    }
  }
}

}  // namespace
}  // namespace stepscope::record
