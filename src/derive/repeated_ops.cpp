#include "derive/repeated_ops.h"

#include <array>
#include <optional>

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::size_t kMaxUnit = 8;
constexpr std::int64_t kMinRounds = 10;

/// The operators below one range so far. For each unit length: how many of the latest operators equal the
/// operator one unit earlier.
class ChildCalls {
 public:
  explicit ChildCalls(Row parent) : parent_(parent) { rows_.fill(kNoRow); }
  Row parent() const { return parent_; }

  /// Adds an operator and returns the run that it ended, if any. An operator with `repeats` false ends every
  /// run.
  std::optional<RepeatedOps> add(const EventTable& e, Row row, bool repeats) {
    std::optional<RepeatedOps> ended;
    for (std::size_t unit = 1; unit <= kMaxUnit; ++unit) {
      const Row before = rows_[(count_ + kMaxUnit - unit) % kMaxUnit];
      if (repeats && before != kNoRow && e.name[before] == e.name[row]) {
        if (equal_[unit - 1]++ == 0) first_[unit - 1] = before;
        continue;
      }
      if (!ended) ended = run(unit);
      equal_[unit - 1] = 0;
    }
    // A run of one operator is not also a run of pairs.
    if (ended) equal_.fill(0);
    rows_[count_++ % kMaxUnit] = row;
    last_ = row;
    return ended;
  }
  std::optional<RepeatedOps> finish() const {
    for (std::size_t unit = 1; unit <= kMaxUnit; ++unit)
      if (auto last = run(unit)) return last;
    return std::nullopt;
  }

 private:
  /// `first_` is the first operator of the run's first round.
  std::optional<RepeatedOps> run(std::size_t unit) const {
    const std::int64_t times = equal_[unit - 1] / static_cast<std::int64_t>(unit) + 1;
    if (times < kMinRounds) return std::nullopt;
    return RepeatedOps{first_[unit - 1], last_, parent_, static_cast<std::uint32_t>(unit), times};
  }

  Row parent_, last_ = kNoRow;
  std::size_t count_ = 0;
  std::array<Row, kMaxUnit> rows_{}, first_{};  // the latest rows; by unit: first operator of the run
  std::array<std::int64_t, kMaxUnit> equal_{};  // by unit: latest operators equal to the one a unit earlier
};

}  // namespace

std::vector<RepeatedOps> repeated_ops(const trace::Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_built_in(trace.strings,
                               [](std::string_view name) { return name.starts_with("<built-in"); });
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  std::vector<RepeatedOps> found;
  std::vector<ChildCalls> open;
  const auto close = [&] {
    if (const auto run = open.back().finish()) found.push_back(*run);
    open.pop_back();
  };
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::host) continue;
    for (Row row = track.begin; row < track.end; ++row) {
      if (e.kind[row] != Kind::op) continue;
      Row parent = e.parent[row];
      while (parent != kNoRow && e.kind[parent] == Kind::python && is_built_in(e.name[parent]))
        parent = e.parent[parent];
      while (!open.empty() && open.back().parent() != parent && open.back().parent() != kNoRow &&
             e.end[open.back().parent()] <= e.start[row])
        close();
      if (open.empty() || open.back().parent() != parent) open.emplace_back(parent);
      if (const auto run = open.back().add(e, row, !is_node(e.name[row]))) found.push_back(*run);
    }
    while (!open.empty()) close();
  }
  return found;
}

}  // namespace stepscope::derive
