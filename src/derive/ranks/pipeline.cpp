#include "derive/ranks/pipeline.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace stepscope::derive {
namespace {

using Step = std::int64_t;
using Number = std::int64_t;  // of a rank

/// One rank's messages by step, in order of their ends.
std::map<Step, std::vector<const CollectiveRow*>> messages_of(const std::vector<CollectiveRow>& rows) {
  std::map<Step, std::vector<const CollectiveRow*>> steps;
  for (const CollectiveRow& row : rows)
    if (row.peer >= 0 && row.step >= 0) steps[row.step].push_back(&row);
  for (auto& [step, messages] : steps)
    std::stable_sort(messages.begin(), messages.end(),
                     [](const CollectiveRow* a, const CollectiveRow* b) { return a->end < b->end; });
  return steps;
}

/// Counts the largest messages in the given direction; all messages, if their number is not a multiple of
/// that.
std::int64_t count(std::span<const CollectiveRow* const> messages, Number peer, bool sends) {
  std::int64_t all = 0, largest = 0, bytes = -1;
  for (const CollectiveRow* m : messages) {
    if (m->peer != peer || m->sends != sends) continue;
    ++all;
    if (m->bytes > bytes) bytes = m->bytes, largest = 0;
    largest += m->bytes == bytes;
  }
  return largest > 0 && all % largest == 0 ? largest : all;
}

class StageFinder {
 public:
  explicit StageFinder(const Collectives& collectives)
      : numbers_(collectives.numbers), stages_(numbers_.size()) {
    for (std::size_t r = 0; r < numbers_.size(); ++r) {
      messages_.push_back(messages_of(collectives.rows[r]));
      vote(r);
    }
  }

  std::vector<Stage> run() {
    link();
    std::int32_t pipelines = 0;
    for (const Number head : heads()) {
      bool closed = false;
      const std::vector<Number> chain = chain_from(head, closed);
      if (chain.size() < 2) continue;
      for (std::size_t r = 0; r < numbers_.size(); ++r) {
        const auto at = std::find(chain.begin(), chain.end(), numbers_[r]);
        if (at == chain.end()) continue;
        stages_[r].pipeline = pipelines;
        stages_[r].number = static_cast<std::int32_t>(at - chain.begin());
        stages_[r].stages = std::ssize(chain);
      }
      count_passes(chain, closed, pipelines++);
    }
    return std::move(stages_);
  }

 private:
  void vote(std::size_t r) {
    for (const auto& [step, messages] : messages_[r]) {
      first_sent_[numbers_[r]] += messages.front()->sends ? 1 : -1;
      std::set<Number> seen;
      for (const CollectiveRow* m : messages)
        if (m->peer != numbers_[r] && seen.insert(m->peer).second)
          m->sends ? ++forward_[{numbers_[r], m->peer}] : ++forward_[{m->peer, numbers_[r]}];
    }
  }
  void link() {
    for (const auto& [ends, votes] : forward_) {
      const auto back = forward_.find({ends.second, ends.first});
      if (back != forward_.end() && back->second >= votes) continue;
      next_[ends.first].push_back(ends.second);
      before_[ends.second].push_back(ends.first);
    }
  }
  /// Possible starts of chains: ranks that receive nothing forward; and in rings, ranks that send first.
  std::vector<Number> heads() const {
    std::vector<Number> heads;
    for (const auto& [number, next] : next_)
      if (!before_.contains(number)) heads.push_back(number);
    for (const auto& [number, votes] : first_sent_)
      if (votes > 0 && next_.contains(number) && before_.contains(number)) heads.push_back(number);
    return heads;
  }
  /// Empty if the chain branches, or is a ring in which several ranks send first.
  std::vector<Number> chain_from(Number head, bool& closed) const {
    std::vector<Number> chain = {head};
    for (auto next = next_.find(head); next != next_.end(); next = next_.find(chain.back())) {
      const Number to = next->second.front();
      if (next->second.size() > 1 || before_.at(to).size() > 1) return {};
      closed = to == head;
      if (closed) break;
      const auto sent = first_sent_.find(to);
      if (chain.size() > next_.size() || (sent != first_sent_.end() && sent->second > 0)) return {};
      chain.push_back(to);
    }
    return before_.contains(head) && !closed ? std::vector<Number>{} : chain;
  }

  void count_passes(const std::vector<Number>& chain, bool closed, std::int32_t pipeline) {
    std::map<Step, std::int64_t> wrapped;  // messages from the last stage to the first, as recorded by either
    for (std::size_t r = 0; closed && r < stages_.size(); ++r) {
      const bool first = numbers_[r] == chain.front(), last = numbers_[r] == chain.back();
      if (!first && !last) continue;
      for (const auto& [step, messages] : messages_[r])
        wrapped[step] = std::max(wrapped[step], count(messages, first ? chain.back() : chain.front(), last));
    }
    for (std::size_t r = 0; r < stages_.size(); ++r) {
      if (stages_[r].pipeline != pipeline) continue;
      const auto stage = static_cast<std::size_t>(stages_[r].number);
      for (const auto& [step, messages] : messages_[r]) {
        const std::int64_t all = count(messages, chain[stage == 0 ? 1 : stage - 1], stage == 0);
        const std::int64_t once = all - wrapped[step];
        const bool whole = once > 0 && all % once == 0;
        stages_[r].passes[step] = {whole ? once : all, whole ? all / once : 1};
      }
    }
  }

  const std::vector<Number>& numbers_;
  std::vector<Stage> stages_;
  std::vector<std::map<Step, std::vector<const CollectiveRow*>>> messages_;  // by rank
  std::map<std::pair<Number, Number>, std::int64_t> forward_;  // steps whose first message went this way
  std::map<Number, std::int64_t> first_sent_;  // steps that began with a send, minus the others
  std::map<Number, std::vector<Number>> next_, before_;
};

}  // namespace

std::vector<Stage> stages_of(const Collectives& collectives) {
  if (collectives.numbers.empty()) return std::vector<Stage>(collectives.rows.size());
  return StageFinder(collectives).run();
}

double ideal_bubble(std::int64_t stages, const Passes& passes) {
  const auto others = static_cast<double>(stages - 1);
  return others / (static_cast<double>(passes.chunks) * static_cast<double>(passes.micro_batches) + others);
}

timeline::Time uneven_cost(std::span<const timeline::Time> work, const Passes& passes) {
  const auto n = static_cast<double>(passes.chunks * passes.micro_batches);
  if (work.empty() || n < 1) return 0;
  const double sum = std::accumulate(work.begin(), work.end(), 0.0);
  const double beyond = static_cast<double>(*std::max_element(work.begin(), work.end())) -
                        sum / static_cast<double>(work.size());
  return static_cast<timeline::Time>((n - 1) / n * beyond);
}

}  // namespace stepscope::derive
