#include "advise/own_places.h"

#include <fmt/format.h>

#include <vector>

#include "advise/places.h"
#include "advise/rules/constants.h"
#include "report/names.h"

namespace stepscope::advise {
namespace {

using analyze::LineNode;

constexpr int kCells = 70;  // of a line's text

bool is_module_level(const LineNode& line) { return line.line.ends_with(": <module>"); }

/// Whether the child, not the line that calls it, is the place.
bool belongs_to(const LineNode& child, const LineNode& line, std::int64_t LineNode::* cost) {
  const auto part = [](std::int64_t of, std::int64_t whole, double least) {
    return static_cast<double>(of) >= least * static_cast<double>(whole);
  };
  if (part(child.*cost, line.*cost, kMostOfCost)) return true;
  const bool is_mixture = !part(line.*cost, line.total, kMostOfCost);
  return (is_mixture || is_module_level(line)) && part(child.*cost, line.*cost, kMostOfCost / 2);
}

}  // namespace

std::string OwnPlace::spoken() const { return placed(line->line); }

std::string OwnPlace::quoted() const {
  return line->text.empty() ? spoken()
                            : fmt::format("{}, `{}`", spoken(), report::short_name(line->text, kCells));
}

std::string OwnPlace::callee() const {
  if (all == nullptr || all->calls.empty() || 2 * line->self < line->total) return "";
  return ", in " + report::short_name(placed(all->calls), 60);
}

std::optional<OwnPlace> dearest_place(const Evidence& e, std::int64_t LineNode::* cost) {
  const std::vector<LineNode>& all = e.reports().lines.nodes;
  const std::vector<const LineNode*> nodes = e.mine(all, "Lines by caller");
  const auto dearest_below = [&](std::int64_t parent) {
    const LineNode* dearest = nullptr;
    for (const LineNode* node : nodes)
      if (node->parent == parent && (dearest == nullptr || node->*cost > dearest->*cost)) dearest = node;
    return dearest;
  };
  const LineNode* line = dearest_below(-1);
  if (line == nullptr || line->*cost <= 0) return std::nullopt;
  while (const LineNode* child = dearest_below(line - all.data())) {
    if (!belongs_to(*child, *line, cost)) break;
    line = child;
  }
  OwnPlace place{line, line->*cost, nullptr};
  for (const analyze::LineCost* of : e.mine(e.reports().lines.lines, "Lines"))
    if (of->line == line->line) place.all = of;
  return place;
}

const analyze::LineSums* line_sums(const Evidence& e) {
  const auto sums = e.mine(e.reports().lines.sums, "Sums of lines");
  return sums.empty() ? nullptr : sums.front();
}

}  // namespace stepscope::advise
