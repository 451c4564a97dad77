#include "record/events/function_events.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "record/device/format.h"
#include "record/events/execution_trace.h"
#include "record/events/function_averages.h"
#include "record/signature.h"

namespace stepscope::record {
namespace {

/// A recording of one segment per thread; a tick is 1 ns, and the recording begins at tick 1000.
class Made {
 public:
  Made& thread(std::uint32_t id, std::uint64_t torch_thread) {
    close();
    head_ = {0, kUnitBytes, id, 0, torch_thread, {}};
    ids_ = 0;
    return *this;
  }
  std::uint32_t text(const std::string& bytes, Type type = Type::text) {
    const std::size_t size = (kTextBytes + bytes.size() + 1 + 7) & ~std::size_t{7};
    Text text{
        {type, static_cast<std::uint16_t>(size / 8), ++ids_}, static_cast<std::uint32_t>(bytes.size()), {}};
    std::string told(reinterpret_cast<const char*>(&text), kTextBytes);
    told += bytes;
    told.resize(size);
    records_ += told;
    return ids_;
  }
  /// `from` and `to` are ns from the recording's begin.
  Made& op(const std::string& name, std::uint64_t from, std::uint64_t to, std::uint8_t scope = 0,
           std::uint8_t flags = 0, std::int64_t sequence = -1, std::uint64_t forward_thread = 0,
           const std::string& signature = "") {
    SequencedOp op{};
    op.type = Type::op;
    op.value = text(name);
    op.signature = signature.empty() ? 0 : text(signature, Type::signature);
    op.begin = 1000 + from;
    op.end = 1000 + to;
    op.scope = scope;
    op.flags = static_cast<std::uint8_t>(flags | (sequence >= 0 ? kHasSequence : 0));
    op.sequence = sequence;
    op.forward_thread = forward_thread;
    op.units = sequence >= 0 ? sizeof(SequencedOp) / 8 : sizeof(Op) / 8;
    records_.append(reinterpret_cast<const char*>(&op), op.units * std::size_t{8});
    return *this;
  }
  Made& memory(std::uint64_t at, std::int64_t bytes, std::uint32_t device_type = 0) {
    Memory memory{};
    memory.type = Type::memory;
    memory.units = sizeof memory / 8;
    memory.tick = 1000 + at;
    memory.bytes = bytes;
    memory.value = device_type;
    records_.append(reinterpret_cast<const char*>(&memory), sizeof memory);
    return *this;
  }
  /// Device times are on the monotonic clock, which is at 1000 when the recording begins.
  template <class R>
  Made& device(R record, Type type) {
    record.type = type;
    record.units = sizeof record / 8;
    records_.append(reinterpret_cast<const char*>(&record), sizeof record);
    return *this;
  }
  Made& call(const std::string& name, std::int64_t from, std::int64_t to, std::uint32_t thread,
             std::uint32_t correlation) {
    ApiCall call{};
    call.value = text(name);
    call.begin = 1000 + from;
    call.end = 1000 + to;
    call.thread = thread;
    call.correlation = correlation;
    return device(call, Type::api_call);
  }
  Made& kernel(const std::string& name, std::int64_t from, std::int64_t to, std::uint32_t stream,
               std::uint32_t correlation) {
    Kernel kernel{};
    kernel.value = text(name);
    kernel.begin = 1000 + from;
    kernel.end = 1000 + to;
    kernel.stream = stream;
    kernel.correlation = correlation;
    return device(kernel, Type::kernel);
  }
  std::string file() {
    close();
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    header.header_bytes = kHeaderBytes;
    header.unit_bytes = kUnitBytes;
    header.unit_limit = header.claimed = segments_;
    header.begin = {1000, 1000, 1'700'000'000'000'001'000};
    header.end = {2000, 2000, 1'700'000'000'000'002'000};
    std::string file(kHeaderBytes, '\0');
    std::memcpy(file.data(), static_cast<const void*>(&header), sizeof header);
    return file + body_;
  }

 private:
  void close() {
    if (records_.empty()) return;
    head_.committed = static_cast<std::uint32_t>(sizeof head_ + records_.size());
    std::string segment(reinterpret_cast<const char*>(&head_), sizeof head_);
    segment += records_;
    segment.resize(kUnitBytes);
    body_ += segment;
    records_.clear();
    ++segments_;
  }
  struct PlainHead {
    std::uint32_t committed, bytes, thread, unused;
    std::uint64_t torch_thread;
    char name[16];
  };
  static_assert(sizeof(PlainHead) == sizeof(SegmentHeader));
  PlainHead head_{};
  std::string records_, body_;
  std::uint32_t ids_ = 0, segments_ = 0;
};

FunctionEvents events_of(const std::string& file) {
  const auto recording = Recording::open(file);
  if (!recording) return {};
  const Recording* const all[] = {&*recording};
  return function_events(all);
}

std::string name(const FunctionEvents& e, std::size_t i) {
  return e.texts[static_cast<std::size_t>(e.name[i])];
}

std::string all_names(const FunctionEvents& e) {
  std::string out;
  for (std::size_t i = 0; i < e.size(); ++i) out += (i > 0 ? " " : "") + name(e, i);
  return out;
}

std::string tensor(std::initializer_list<std::int64_t> sizes) {
  std::string out = {static_cast<char>(Input::tensor), 6, static_cast<char>(sizes.size()), 0};
  for (const std::int64_t size : sizes) out.append(reinterpret_cast<const char*>(&size), sizeof size);
  return out;
}

// outer [0, 100) holds a [10, 40) and b [50, 90). c [60, 95) begins in b and ends after it, so it is a child
// of outer.
TEST(FunctionEvents, NestByBeginAndEnd) {
  const auto e = events_of(
      Made().thread(7, 1).op("a", 10, 40).op("b", 50, 90).op("c", 60, 95).op("outer", 0, 100).file());
  EXPECT_EQ(all_names(e), "outer a b c");
  EXPECT_EQ(e.parent, (std::vector<std::int64_t>{-1, 0, 0, 0}));
  EXPECT_EQ(e.self_ns, (std::vector<std::int64_t>{100 - 30 - 40 - 35, 30, 40, 35}));
  EXPECT_EQ(e.thread, (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST(FunctionEvents, ThreadsAndAsynchronousEventsDoNotNest) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .op("elsewhere", 5, 200, 0, kAsync)
                               .op("inner", 10, 20)
                               .op("outer", 0, 100)
                               .thread(8, 0)
                               .op("other", 10, 30)
                               .file());
  EXPECT_EQ(all_names(e), "outer elsewhere other inner");
  EXPECT_EQ(e.parent, (std::vector<std::int64_t>{-1, -1, -1, 0}));
  EXPECT_EQ(e.is_async, (std::vector<std::int64_t>{0, 1, 0, 0}));
  EXPECT_EQ(e.self_ns, (std::vector<std::int64_t>{90, 0, 20, 10}));
  EXPECT_EQ(e.thread[2], 8);  // PyTorch has no number for it
}

// Of ops that end at the same instant, the one written later is the outer.
TEST(FunctionEvents, EqualTimesNestInTheOrderOfTheirEnds) {
  const auto e = events_of(Made().thread(7, 1).op("in", 10, 20).op("out", 10, 20).file());
  EXPECT_EQ(all_names(e), "out in");
  EXPECT_EQ(e.parent, (std::vector<std::int64_t>{-1, 0}));
}

// x(x(x(y z))) is one x with two children; x(x x) stays.
TEST(FunctionEvents, AnOnlyChildOfItsParentsNameGoes) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .op("y", 10, 20)
                               .op("z", 30, 40)
                               .op("x", 4, 50)
                               .op("x", 2, 60)
                               .op("x", 0, 70)
                               .op("x", 110, 120)
                               .op("x", 130, 140)
                               .op("x", 100, 200)
                               .file());
  EXPECT_EQ(all_names(e), "x y z x x x");
  EXPECT_EQ(e.parent, (std::vector<std::int64_t>{-1, 0, 0, -1, 3, 3}));
  EXPECT_EQ(e.self_ns[0], 50);
  EXPECT_EQ(e.self_ns[3], 80);
}

TEST(FunctionEvents, StepsAreOneNameAndUtilitiesNone) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .op("profiler::_record_function_enter_new", 1, 2)
                               .op("ProfilerStep#0", 0, 10, kUserScope)
                               .op("aten::is_leaf", 12, 13)
                               .op("ProfilerStep#1", 11, 20, kUserScope)
                               .file());
  EXPECT_EQ(all_names(e), "ProfilerStep* ProfilerStep*");
  EXPECT_EQ(e.texts[static_cast<std::size_t>(e.trace_name[1])], "ProfilerStep#1");
}

// In both: 64 B, and 8 B at inner's end. In outer: -16 B of another thread. 4 B of a device; 3 B outside.
TEST(FunctionEvents, MemoryIsThatBetweenTheTwoEnds) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .memory(15, 64)
                               .memory(20, 8)
                               .memory(18, 4, 1)
                               .op("inner", 10, 20)
                               .op("outer", 0, 100)
                               .memory(300, 3)
                               .thread(8, 2)
                               .memory(50, -16)
                               .file());
  EXPECT_EQ(all_names(e), "outer inner [memory]");
  EXPECT_EQ(e.cpu_bytes, (std::vector<std::int64_t>{56, 72, 3}));
  EXPECT_EQ(e.self_cpu_bytes, (std::vector<std::int64_t>{-16, 72, 3}));
  EXPECT_EQ(e.device_bytes, (std::vector<std::int64_t>{4, 4, 0}));
  EXPECT_EQ(e.self_device_bytes, (std::vector<std::int64_t>{0, 4, 0}));
}

// The forward op runs in f, called by main. The backward op with its sequence number, on thread 2, and the
// ops inside it get its stack.
TEST(FunctionEvents, StacksAreOfPythonCallsAndBackwardHasThoseOfForward) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .op("fwd", 20, 30, 0, 0, 5)
                               .op("a.py(1): f", 10, 40, 100)
                               .op("loss", 50, 60)
                               .op("torch/autograd/__init__.py(9): backward", 45, 70, 100)
                               .op("a.py(9): <module>", 0, 90, 100)
                               .thread(8, 2)
                               .op("inside", 110, 120)
                               .op("bwd", 100, 130, kBackwardScope, 0, 5, 1)
                               .op("alone", 140, 150, kBackwardScope, 0, 6, 1)
                               .file());
  EXPECT_EQ(all_names(e), "fwd loss bwd inside alone");
  std::vector<std::string> stacks;
  for (const std::int64_t stack : e.stack) {
    std::string text;
    for (const std::int64_t frame : e.stacks[static_cast<std::size_t>(stack)])
      text += e.texts[static_cast<std::size_t>(frame)] + ";";
    stacks.push_back(text);
  }
  const std::string forward = "a.py(1): f;a.py(9): <module>;";
  EXPECT_EQ(stacks, (std::vector<std::string>{forward, "a.py(9): <module>;", forward, forward, ""}));
  EXPECT_EQ(e.forward_thread[2], 1);
}

TEST(FunctionEvents, RecordingsFollowEachOther) {
  const std::string file = Made().thread(7, 1).op("in", 10, 20).op("out", 0, 30).file();
  const auto first = Recording::open(file), second = Recording::open(file);
  const Recording* const all[] = {&*first, &*second};
  const auto e = function_events(all);
  EXPECT_EQ(all_names(e), "out in out in");
  EXPECT_EQ(e.parent, (std::vector<std::int64_t>{-1, 0, -1, 2}));
  EXPECT_EQ(e.self_ns, (std::vector<std::int64_t>{20, 10, 20, 10}));
}

/// A step on thread 7 with two ops: mm launched two kernels, copy_ a copy. A third launch is outside the
/// step. Thread 99 wrote the device records.
Made a_step_with_a_device() {
  Made made;
  made.thread(7, 1)
      .op("aten::mm", 10, 40)
      .op("aten::copy_", 50, 90)
      .op("step", 0, 100, kUserScope)
      .memory(120, 64)
      .thread(99, 0)
      .device(DeviceSession{}, Type::device_session)
      .kernel("_Z4gemmPf", 30, 130, 7, 1)
      .kernel("after", 130, 150, 7, 1)
      .kernel("alone", 300, 310, 7, 3)
      .kernel("unmeasured", -1000, -1000, 7, 1)
      .call("cudaLaunchKernel", 15, 20, 7, 1)
      .call("cudaMemcpyAsync", 60, 65, 7, 2)
      .call("cudaLaunchKernel", 150, 160, 7, 3);
  Memcpy copy{};
  copy.begin = 1200;
  copy.end = 1230;
  copy.stream = 9;
  copy.correlation = 2;
  copy.kind = 1;
  copy.from = 1;
  copy.to = 3;
  return made.device(copy, Type::memcpy);
}

TEST(FunctionEvents, AnOpHasTheTimeOfWhatItStarted) {
  const auto e = events_of(a_step_with_a_device().file());
  EXPECT_EQ(all_names(e),
            "step aten::mm cudaLaunchKernel step gemm(float*) aten::copy_ cudaMemcpyAsync [memory] after "
            "cudaLaunchKernel step Memcpy HtoD (Pageable -> Device) alone");
  using Column = std::vector<std::int64_t>;
  EXPECT_EQ(e.parent, (Column{-1, 0, 1, -1, -1, 0, 5, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(e.launcher, (Column{-1, -1, -1, -1, 1, -1, -1, -1, 1, -1, -1, 5, -1}));
  EXPECT_EQ(e.self_ns, (Column{30, 25, 5, 0, 0, 35, 5, 0, 0, 10, 0, 0, 0}));
  EXPECT_EQ(e.device_ns, (Column{150, 120, 0, 122, 100, 30, 0, 0, 20, 0, 32, 30, 10}));
  EXPECT_EQ(e.self_device_ns, (Column{0, 120, 0, 122, 100, 30, 0, 0, 20, 0, 32, 30, 10}));
  EXPECT_EQ(e.device, (Column{-1, -1, -1, 0, 0, -1, -1, -1, 0, -1, 0, 0, 0}));
  EXPECT_EQ(e.stream, (Column{-1, -1, -1, 7, 7, -1, -1, -1, 7, -1, 9, 9, 7}));
  EXPECT_EQ(e.thread, (Column{1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(e.begin_ns[3], 29);  // the step on stream 7: begins 1 ns before the first work in it
  EXPECT_TRUE(e.has_devices);
  EXPECT_FALSE(events_of(Made().thread(7, 1).op("in", 10, 20).file()).has_devices);
}

TEST(FunctionEvents, TheKernelOfAnOnlyChildIsItsParents) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .op("x", 5, 50)
                               .op("x", 2, 60)
                               .memory(1, 8)
                               .thread(99, 0)
                               .kernel("k", 30, 130, 7, 1)
                               .call("launch", 15, 20, 7, 1)
                               .file());
  EXPECT_EQ(all_names(e), "[memory] x launch k");
  EXPECT_EQ(e.launcher, (std::vector<std::int64_t>{-1, -1, -1, 1}));
  EXPECT_EQ(e.device_ns, (std::vector<std::int64_t>{0, 100, 0, 100}));
}

TEST(FunctionAverages, HostAndDeviceAreTwoGroups) {
  const auto e = events_of(a_step_with_a_device().file());
  const auto a = function_averages(e, {}, {});
  std::string names;
  for (const std::int64_t first : a.first) names += name(e, static_cast<std::size_t>(first)) + ";";
  EXPECT_EQ(names,
            "step;aten::mm;cudaLaunchKernel;step;gemm(float*);aten::copy_;cudaMemcpyAsync;[memory];after;"
            "Memcpy HtoD (Pageable -> Device);alone;");
  using Column = std::vector<std::int64_t>;
  EXPECT_EQ(a.count, (Column{1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(a.total_ns, (Column{100, 30, 15, 0, 0, 40, 5, 0, 0, 0, 0}));
  EXPECT_EQ(a.device_ns, (Column{150, 120, 0, 154, 100, 30, 0, 0, 20, 30, 10}));
  EXPECT_EQ(a.self_device_ns, (Column{0, 120, 0, 154, 100, 30, 0, 0, 20, 30, 10}));
}

TEST(FunctionAverages, ByNameShapesAndStack) {
  const auto e = events_of(Made()
                               .thread(7, 1)
                               .op("mm", 10, 20, 0, 0, -1, 0, tensor({2, 3}))
                               .op("a.py(1): f", 5, 25, 100)
                               .op("mm", 30, 50, 0, 0, -1, 0, tensor({2, 3}))
                               .op("mm", 60, 65, 0, 0, -1, 0, tensor({4, 3}))
                               .op("mm", 70, 71, kUserScope)
                               .file());
  const std::vector<std::int64_t> flops = {100, 100, 7, 0};
  const auto plain = function_averages(e, flops, {});
  EXPECT_EQ(plain.count, (std::vector<std::int64_t>{3, 1}));  // ranges and ops are separate groups
  EXPECT_EQ(plain.total_ns, (std::vector<std::int64_t>{35, 1}));
  EXPECT_EQ(plain.flops, (std::vector<std::int64_t>{207, 0}));
  EXPECT_EQ(function_averages(e, {}, {.by_shapes = true}).count, (std::vector<std::int64_t>{2, 1, 1}));
  const auto both = function_averages(e, flops, {.by_shapes = true, .stack_depth = 1});
  EXPECT_EQ(both.count, (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(both.first, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(FunctionEvents, NothingInTheFileIsBelieved) {
  Made made;
  made.thread(7, 1).memory(15, 64).op("in", 10, 20, 0, 0, 3, 1, tensor({2, 3})).op("f", 0, 90, 100);
  std::string whole = made.op("out", 0, 30, kUserScope)
                          .thread(8, 2)
                          .call("launch", 5, 6, 7, 1)
                          .kernel("k", 30, 130, 7, 1)
                          .file();
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string file = whole;
    for (int change = 0; change < 4; ++change) {
      const std::size_t segment = kHeaderBytes + random() % 2 * kUnitBytes;
      file[random() % 4 == 0 ? random() % 200 : segment + random() % 400] = static_cast<char>(random());
    }
    const auto e = events_of(file);
    (void)function_averages(e, {}, {.by_shapes = true, .stack_depth = 2});
    const auto recording = Recording::open(file);
    if (!recording) continue;
    write_execution_trace(*recording, "", [](std::string_view) { return true; });
  }
}

}  // namespace
}  // namespace stepscope::record
