#include "advise/own_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/say.h"
#include "report/names.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::LineNode;

constexpr int kCells = 70;  // of a line's text
constexpr std::size_t kMaxParts = 3;

bool is_module_level(const LineNode& line) { return line.line.ends_with(": <module>"); }

bool is_part(std::int64_t of, std::int64_t whole, double least) {
  return static_cast<double>(of) >= least * static_cast<double>(whole);
}

/// Whether the child, not the line that calls it, is the place.
bool belongs_to(const LineNode& child, const LineNode& line, std::int64_t LineNode::* cost) {
  if (is_part(child.*cost, line.*cost, kMostOfCost)) return true;
  const bool is_mixture = !is_part(line.*cost, line.total, kMostOfCost);
  return (is_mixture || is_module_level(line)) && is_part(child.*cost, line.*cost, kMuchOfCost);
}

/// Whether `node` is `line` or below it.
bool is_below(const std::vector<LineNode>& all, const LineNode& node, const LineNode& line) {
  const LineNode* at = &node;
  while (at != &line && at->parent >= 0) at = &all[static_cast<std::size_t>(at->parent)];
  return at == &line;
}

/// A line that several lines below `line` call, if it holds most of the cost: its first node, and the cost of
/// all. Otherwise nullptr.
std::pair<const LineNode*, std::int64_t> most_called_from_all(const std::vector<const LineNode*>& nodes,
                                                              const std::vector<LineNode>& all,
                                                              const LineNode& line,
                                                              std::int64_t LineNode::* cost) {
  std::map<std::string_view, std::pair<const LineNode*, std::int64_t>> lines;
  for (const LineNode* node : nodes) {
    if (node == &line || !is_below(all, *node, line)) continue;
    bool recursive = false;
    for (std::int64_t at = node->parent; at >= 0 && !recursive; at = all[static_cast<std::size_t>(at)].parent)
      recursive = all[static_cast<std::size_t>(at)].line == node->line;
    auto& [first, sum] = lines[node->line];
    if (first == nullptr) first = node;
    if (!recursive) sum += node->*cost;
  }
  std::pair<const LineNode*, std::int64_t> most{nullptr, 0};
  for (const auto& [name, of] : lines)
    if (of.second > most.second) most = of;
  return is_part(most.second, line.*cost, kMostOfCost) ? most : std::pair<const LineNode*, std::int64_t>{};
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

std::string OwnPlace::inside() const {
  if (model != nullptr && model != line) return ", called by " + OwnPlace{.line = model}.quoted();
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += fmt::format("{}{} {}in {}", i == 0 ? "; " : ", ", percent(report::ratio(of_parts[i], cost)),
                        i == 0 ? "of it " : "", OwnPlace{.line = parts[i]}.quoted());
  return text;
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
  OwnPlace place;
  place.line = line;
  place.cost = line->*cost;
  if (const auto [shared, sum] = most_called_from_all(nodes, all, *line, cost); shared != nullptr) {
    place.line = shared;
    place.cost = sum;
  }
  for (const analyze::LineCost* of : e.mine(e.reports().lines.lines, "Lines"))
    if (of->line == place.line->line) place.all = of;
  std::vector<const LineNode*> below;
  for (const LineNode* part : nodes) {
    if (part->parent != place.line - all.data() || !is_part(part->*cost, place.cost, kSomeOfCost)) continue;
    for (const LineNode* child = dearest_below(part - all.data());
         child != nullptr && is_part(child->*cost, part->*cost, kMostOfCost);
         child = dearest_below(part - all.data()))
      part = child;
    below.push_back(part);
  }
  std::stable_sort(below.begin(), below.end(),
                   [&](const LineNode* a, const LineNode* b) { return a->*cost > b->*cost; });
  if (below.size() > kMaxParts) below.resize(kMaxParts);
  for (const LineNode* part : below) place.of_parts.push_back(part->*cost);
  place.parts = std::move(below);
  for (const LineNode* at = place.line;; at = &all[static_cast<std::size_t>(at->parent)]) {
    if (at->calls_module) place.model = at;
    if (at->parent < 0) break;
  }
  for (const LineNode* node : nodes)
    if (is_below(all, *node, *place.line)) place.repeats = std::max(place.repeats, node->repeats);
  return place;
}

const LineNode* checkpointing_line(const Evidence& e) {
  const LineNode* most = nullptr;
  for (const LineNode* node : e.mine(e.reports().lines.nodes, "Lines by caller"))
    if (node->checkpoints && (most == nullptr || node->total > most->total)) most = node;
  return most;
}

const analyze::LineSums* line_sums(const Evidence& e) {
  const auto sums = e.mine(e.reports().lines.sums, "Sums of lines");
  return sums.empty() ? nullptr : sums.front();
}

}  // namespace stepscope::advise
