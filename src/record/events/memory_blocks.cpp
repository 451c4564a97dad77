#include "record/events/memory_blocks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

namespace stepscope::record {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kNoPass = ~std::size_t{0};

enum class Place : std::uint8_t { range, op, backward, optimizer, input };

Place place_of(std::string_view name, std::uint8_t scope) {
  if (scope == kBackwardScope || name.starts_with("autograd::engine::evaluate_function: "))
    return Place::backward;
  if (name.starts_with("Optimizer.step#")) return Place::optimizer;
  if (name.starts_with("enumerate(DataLoader)#") || name.starts_with("DataLoader.")) return Place::input;
  return scope == kUserScope ? Place::range : Place::op;
}

struct Span {
  std::int64_t begin, end;
  std::int64_t order;
  std::uint32_t thread;
  Place place;
};

struct Change {
  std::int64_t at, bytes;
  std::uint64_t address;
  std::uint32_t thread;
  int device_type, device_index;
};

/// Where a block was allocated.
struct Origin {
  Place place = Place::range;
  std::int64_t op_end = -1;         ///< end of the outermost op
  std::int64_t optimizer_end = -1;  ///< end of the optimizer's step
  std::size_t pass = kNoPass;       ///< index in `BlockReader::passes_`
};

class BlockReader {
 public:
  explicit BlockReader(const Recording& recording) : recording_(recording) {}

  MemoryBlocks read() {
    for (const Segment& segment : recording_.segments()) read(segment);
    std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      return std::tie(a.begin, b.end, b.order) < std::tie(b.begin, a.end, a.order);
    });
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    auto span = spans_.begin();
    for (const Change& change : changes_) {
      for (; span != spans_.end() && span->begin <= change.at; ++span) open(*span);
      apply(change);
    }
    for (; span != spans_.end(); ++span) open(*span);
    for (std::size_t i = 0; i < origins_.size(); ++i)
      blocks_.use[i] = static_cast<std::int64_t>(
          use_of(origins_[i], blocks_.begin_ns[i], blocks_.end_ns[i] < 0 ? kNever : blocks_.end_ns[i]));
    return std::move(blocks_);
  }

 private:
  void read(const Segment& segment) {
    const Texts texts(segment);
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      if (Memory memory; record.type == Type::memory && copy_to(memory, bytes))
        changes_.push_back({recording_.times().ns(memory.tick), memory.bytes, memory.address, segment.thread,
                            memory.device_type(), memory.device_index()});
      Op op;
      if (record.type != Type::op || !copy_to(op, bytes) || op.scope >= kPythonScope ||
          (op.flags & (kAsync | kOtherThread)) != 0)
        return;
      const std::int64_t begin = recording_.times().ns(op.begin);
      spans_.push_back({begin, std::max(begin, recording_.times().ns(op.end)),
                        static_cast<std::int64_t>(spans_.size()), segment.thread,
                        place_of(texts[op.value], op.scope)});
    });
  }

  void open(const Span& span) {
    std::vector<Span>& stack = open_[span.thread];
    while (!stack.empty() && stack.back().end <= span.begin) stack.pop_back();
    const bool outermost =
        std::ranges::none_of(stack, [](const Span& around) { return around.place != Place::range; });
    const bool in_step =
        std::ranges::any_of(stack, [](const Span& around) { return around.place == Place::optimizer; });
    stack.push_back(span);
    if (span.place == Place::optimizer && !in_step) steps_.push_back({span.begin, span.end});
    if (!outermost || span.place == Place::range) return;
    if (span.place == Place::backward) {
      if (!in_pass_) passes_.push_back(span.end);
      in_pass_ = true;
      passes_.back() = std::max(passes_.back(), span.end);
    } else if (in_pass_ && span.begin >= passes_.back()) {
      in_pass_ = false;
    }
  }

  Origin origin(const Change& change) {
    Origin out;
    for (const Span& around : open_[change.thread]) {
      if (around.end < change.at) continue;
      if (around.place == Place::optimizer) out.optimizer_end = around.end;
      if ((around.place == Place::op || around.place == Place::backward) && out.op_end < 0)
        out.op_end = around.end;
      out.place = std::max(out.place, around.place);
    }
    if (out.place == Place::backward) out.pass = passes_.empty() ? kNoPass : passes_.size() - 1;
    return out;
  }

  void apply(const Change& change) {
    const auto key = std::tuple(change.device_type, change.device_index, change.address);
    const auto known = alive_.find(key);
    if (known != alive_.end()) {  // freed now, or earlier without a record of it
      blocks_.end_ns[known->second] = change.at;
      alive_.erase(known);
      if (change.bytes < 0) return;
    }
    if (change.bytes == 0) return;
    const bool before = change.bytes < 0;
    if (!before) alive_[key] = origins_.size();
    blocks_.begin_ns.push_back(before ? -1 : change.at);
    blocks_.end_ns.push_back(before ? change.at : -1);
    blocks_.address.push_back(static_cast<std::int64_t>(change.address));
    blocks_.bytes.push_back(before ? -std::max(change.bytes, -kNever) : change.bytes);
    blocks_.device_type.push_back(change.device_type);
    blocks_.device_index.push_back(change.device_index);
    blocks_.use.push_back(0);
    origins_.push_back(before ? Origin{} : origin(change));
  }

  MemoryUse use_of(const Origin& origin, std::int64_t begin, std::int64_t end) const {
    if (origin.op_end >= end) return MemoryUse::temporary;
    switch (origin.place) {
      case Place::input:
        return MemoryUse::input;
      case Place::optimizer:
        return origin.optimizer_end >= end ? MemoryUse::temporary : MemoryUse::optimizer_state;
      case Place::backward:
        return origin.pass != kNoPass && passes_[origin.pass] >= end ? MemoryUse::autograd_detail
                                                                     : MemoryUse::gradient;
      case Place::op:
        return steps_within(begin, end) < 2 ? MemoryUse::activation : MemoryUse::unknown;
      case Place::range:
        break;
    }
    return MemoryUse::unknown;
  }

  /// Number of whole optimizer steps between two instants; stops at 2.
  int steps_within(std::int64_t begin, std::int64_t end) const {
    auto step = std::ranges::lower_bound(steps_, begin, {}, &Step::begin);
    int count = 0;
    for (; step != steps_.end() && step->end <= end && count < 2; ++step) ++count;
    return count;
  }

  struct Step {
    std::int64_t begin, end;
  };

  const Recording& recording_;
  std::vector<Span> spans_;
  std::vector<Change> changes_;
  std::map<std::uint32_t, std::vector<Span>> open_;  // by thread
  std::map<std::tuple<std::int8_t, std::int8_t, std::uint64_t>, std::size_t> alive_;
  std::vector<Step> steps_;           // optimizer steps, in order of their begins
  std::vector<std::int64_t> passes_;  // ends of backward passes
  bool in_pass_ = false;
  std::vector<Origin> origins_;  // per block
  MemoryBlocks blocks_;
};

}  // namespace

MemoryBlocks memory_blocks(const Recording& recording) { return BlockReader(recording).read(); }

}  // namespace stepscope::record
