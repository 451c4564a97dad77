#include "lanes/ask/links.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace stepscope::lanes {

using trace::EventTable;
using trace::kNoRow;
using trace::Row;

struct Links::OfRank {
  std::once_flag made;
  std::optional<derive::CapturedOps> captured;
  std::vector<derive::NodeOf> nodes;
  std::vector<derive::Arrow> arrows;
};

namespace {

/// True for `row` itself too. False if more ranges lie between than operators call each other through.
bool is_inside(const EventTable& e, Row row, Row around) {
  constexpr int kMaxBetween = 1'000;
  if (row == kNoRow || e.track[row] != e.track[around]) return false;
  for (int between = 0; row != kNoRow && row > around && between < kMaxBetween; ++between)
    row = e.parent[row];
  return row == around;
}

}  // namespace

class Links::Gathering {
 public:
  Gathering(const Links& links, std::size_t rank, Row row)
      : links_(links), rank_(rank), row_(row), e_(links.run_.trace.ranks[rank].events) {}

  std::vector<Link> take() && {
    const OfRank& known = links_.known(rank_);
    device_work(*known.captured);
    passes(known.nodes);
    collective();
    flows(known.arrows);
    return std::move(out_);
  }

 private:
  void add(std::string_view what, std::size_t rank, Row row) {
    if (row != kNoRow && (rank != rank_ || row != row_) && seen_.emplace(rank, row).second)
      out_.push_back({what, rank, row});
  }

  void device_work(const derive::CapturedOps& captured) {
    add("launched by", rank_, e_.launch[row_]);
    add("op", rank_, is_device_work(e_.kind[row_]) ? captured.or_launcher(row_) : e_.op[row_]);
    if (!is_host_range(e_.kind[row_])) return;
    for (const Row device : links_.run_.trace.ranks[rank_].device_rows())
      if (e_.launch[device] == row_ || e_.op[device] == row_) add("launches", rank_, device);
  }

  void passes(const std::vector<derive::NodeOf>& nodes) {
    if (e_.kind[row_] != trace::Kind::op) return;
    for (const derive::NodeOf& of : nodes) {
      if (is_inside(e_, row_, of.node)) add("forward", rank_, of.maker);
      if (is_inside(e_, of.maker, row_)) add("backward", rank_, of.node);
    }
  }

  void collective() {
    const auto& own = links_.collectives_[rank_];
    const auto found = std::lower_bound(own.begin(), own.end(), std::pair(row_, std::uint32_t{0}));
    if (found == own.end() || found->first != row_) return;
    const derive::Alignment& all = links_.run_.alignment;
    for (const derive::Member& member : all.members(all.matches.instances[found->second]))
      add("same collective", member.rank, all.row(member).row);
  }

  void flows(const std::vector<derive::Arrow>& arrows) {
    for (const derive::Arrow& arrow : arrows) {
      if (arrow.from == row_) add("flow", rank_, arrow.to);
      if (arrow.to == row_) add("flow", rank_, arrow.from);
    }
  }

  const Links& links_;
  const std::size_t rank_;
  const Row row_;
  const EventTable& e_;
  std::vector<Link> out_;
  std::set<std::pair<std::size_t, Row>> seen_;
};

Links::Links(const Run& run)
    : run_(run),
      ranks_(std::make_unique<OfRank[]>(run.trace.ranks.size())),
      collectives_(run.trace.ranks.size()) {
  const derive::Alignment& all = run.alignment;
  for (std::uint32_t i = 0; i < all.matches.instances.size(); ++i)
    for (const derive::Member& member : all.members(all.matches.instances[i]))
      collectives_[member.rank].emplace_back(all.row(member).row, i);
  for (auto& of_rank : collectives_) std::sort(of_rank.begin(), of_rank.end());
}

Links::~Links() = default;

const Links::OfRank& Links::known(std::size_t rank) const {
  OfRank& of = ranks_[rank];
  std::call_once(of.made, [&] {
    const trace::Rank& its = run_.trace.ranks[rank];
    of.captured.emplace(run_.trace, its);
    of.nodes = derive::nodes_with_makers(run_.trace, its);
    of.arrows = derive::arrows_of(its).arrows;
  });
  return of;
}

std::vector<Link> Links::of(std::size_t rank, Row row) const { return Gathering(*this, rank, row).take(); }

}  // namespace stepscope::lanes
