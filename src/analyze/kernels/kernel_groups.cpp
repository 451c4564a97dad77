#include "analyze/kernels/kernel_groups.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/key_hash.h"
#include "derive/captured_ops.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using trace::ArgReader;
using trace::Rank;
using trace::Row;

struct GroupHash {
  std::size_t operator()(const KernelKey& key) const {
    return hash_of_all(process_hash_seed(), key.name, key.op, key.grid, key.block, key.registers,
                       key.shared_memory);
  }
};

class Groups {
 public:
  Groups(const trace::Trace& trace, const Rank& rank, KernelsBy by)
      : trace_(trace),
        rank_(rank),
        by_(by),
        captured_(trace, rank),
        grid_(trace, rank, "grid"),
        block_(trace, rank, "block"),
        registers_(trace, rank, "registers per thread"),
        shared_memory_(trace, rank, "shared memory"),
        blocks_per_sm_(trace, rank, "blocks per SM"),
        occupancy_(trace, rank, "est. achieved occupancy %"),
        by_name_(trace.strings.size(), kUnseen) {}

  void add(Row row) {
    const std::int64_t duration = rank_.events.duration(row);
    KernelGroup& group = groups_[group_of(row)];
    group.durations.push_back(duration);
    report::add_to(group.total, duration);
    const std::optional<double> blocks = blocks_per_sm_.real(row);
    group.blocks_per_sm.add(blocks, duration);
    if (blocks && *blocks >= 0 && *blocks < 1) report::add_to(group.small, duration);
    std::optional<double> occupancy = occupancy_.real(row);
    if (occupancy) occupancy = std::min(*occupancy / 100, 1.0);
    group.occupancy.add(occupancy, duration);
  }

  /// Longest total first.
  std::vector<KernelGroup> sorted() && {
    std::sort(groups_.begin(), groups_.end(), [&](const KernelGroup& a, const KernelGroup& b) {
      if (a.total != b.total) return a.total > b.total;
      return texts(a.key) < texts(b.key);
    });
    return std::move(groups_);
  }

 private:
  static constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  using Texts = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                           std::int64_t, std::int64_t>;

  Texts texts(const KernelKey& key) const {
    return {trace_.text(key.name),  trace_.text(key.op), trace_.text(key.grid),
            trace_.text(key.block), key.registers,       key.shared_memory};
  }

  std::uint32_t group_of(Row row) {
    KernelKey key{rank_.events.name[row]};
    std::uint32_t* slot = nullptr;
    if (by_ == KernelsBy::properties) {
      const Row op = captured_.or_launcher(row);
      key = {key.name,
             op == trace::kNoRow ? trace::kEmptyString : rank_.events.name[op],
             grid_.id(row),
             block_.id(row),
             registers_.integer_or(row, kNoInt),
             shared_memory_.integer_or(row, kNoInt)};
      slot = &by_key_.try_emplace(key, kUnseen).first->second;
    } else {
      slot = &by_name_[key.name];
    }
    if (*slot == kUnseen) {
      *slot = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({key, {}, 0, 0, {}, {}});
    }
    return *slot;
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  KernelsBy by_;
  derive::CapturedOps captured_;
  ArgReader grid_, block_, registers_, shared_memory_, blocks_per_sm_, occupancy_;
  std::vector<std::uint32_t> by_name_;
  std::unordered_map<KernelKey, std::uint32_t, GroupHash> by_key_;
  std::vector<KernelGroup> groups_;
};

}  // namespace

std::vector<KernelGroup> kernel_groups(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                                       KernelsBy by) {
  Groups groups(trace, rank, by);
  for (const Row row : rank.device_rows())
    if (rank.events.kind[row] == trace::Kind::kernel && choice.includes(rank, row)) groups.add(row);
  return std::move(groups).sorted();
}

}  // namespace stepscope::analyze
