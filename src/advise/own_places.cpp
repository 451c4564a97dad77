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
constexpr std::size_t kMaxOthers = 3;

/// Also of two functions on one line: a generator expression and what it stands in.
bool same_line(const LineNode& a, const LineNode& b) { return a.place() == b.place(); }

/// "file" and "function" of "file(line): function".
std::pair<std::string_view, std::string_view> function_of(const LineNode& node) {
  const std::string_view line = node.line;
  const std::size_t open = line.rfind('(', line.rfind("): "));
  if (open == std::string_view::npos) return {line, {}};
  return {line.substr(0, open), line.substr(line.find("): ", open) + 3)};
}

bool is_part(std::int64_t of, std::int64_t whole, double least) {
  return static_cast<double>(of) >= least * static_cast<double>(whole);
}

std::vector<CostOfLine> dearest_first(const auto& lines) {
  std::vector<CostOfLine> sorted;
  for (const auto& [name, line] : lines) sorted.push_back(line);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const CostOfLine& a, const CostOfLine& b) { return a.cost > b.cost; });
  return sorted;
}

/// A rank's lines, as a tree.
class Tree {
 public:
  Tree(const Evidence& e, std::int64_t LineNode::* cost)
      : all_(e.reports().lines.nodes),
        nodes_(e.mine(all_, "Lines by caller")),
        cost_(cost),
        own_(all_.size(), 0) {
    for (const LineNode* node : nodes_) {
      own_[index(*node)] += node->*cost_;
      if (node->parent >= 0) own_[static_cast<std::size_t>(node->parent)] -= node->*cost_;
    }
  }

  const std::vector<const LineNode*>& nodes() const { return nodes_; }
  const LineNode* parent(const LineNode& node) const {
    return node.parent < 0 ? nullptr : &all_[static_cast<std::size_t>(node.parent)];
  }
  std::int64_t all(const LineNode& node) const { return node.*cost_; }
  /// Of the cost, what no line below the node holds.
  std::int64_t own(const LineNode& node) const { return own_[index(node)]; }
  std::int64_t whole() const {
    std::int64_t sum = 0;
    for (const LineNode* node : nodes_) sum += own(*node);
    return sum;
  }
  bool is_below(const LineNode& node, const LineNode& line) const {
    const LineNode* at = &node;
    while (at != nullptr && at != &line) at = parent(*at);
    return at != nullptr;
  }
  /// The dearest line called by `node`, or by none for nullptr.
  const LineNode* dearest_below(const LineNode* node) const {
    const LineNode* dearest = nullptr;
    for (const LineNode* child : nodes_)
      if (parent(*child) == node && (dearest == nullptr || child->*cost_ > dearest->*cost_)) dearest = child;
    return dearest;
  }
  /// Own costs by `name_of(node)`, each with its dearest line, of the nodes that are `wanted`, dearest first.
  std::vector<CostOfLine> own_costs(auto name_of, auto wanted) const {
    std::map<decltype(name_of(*nodes_.front())), CostOfLine> lines;
    for (const LineNode* node : nodes_) {
      if (!wanted(*node)) continue;
      auto& [line, cost] = lines[name_of(*node)];
      if (line == nullptr || own(*node) > own(*line)) line = node;
      cost += own(*node);
    }
    return dearest_first(lines);
  }
  /// Those of lines, over all callers.
  std::vector<CostOfLine> own_costs_of_lines(auto wanted) const {
    return own_costs([](const LineNode& node) { return node.place(); }, wanted);
  }

 private:
  std::size_t index(const LineNode& node) const { return static_cast<std::size_t>(&node - all_.data()); }

  const std::vector<LineNode>& all_;
  std::vector<const LineNode*> nodes_;
  std::int64_t LineNode::* cost_;
  Column<std::int64_t> own_;
};

/// The outermost line around `node` that calls an nn.Module, or else the line that calls it.
const LineNode* caller_of(const Tree& tree, const LineNode& node) {
  const LineNode* caller = tree.parent(node);
  for (const LineNode* at = caller; at != nullptr; at = tree.parent(*at))
    if (at->calls_module) caller = at;
  return caller;
}

/// A line, or one of a function's, whoever calls it.
bool is_at(const OwnPlace& place, const LineNode& node) {
  return place.what == OwnPlace::What::function ? function_of(node) == function_of(*place.line)
                                                : same_line(node, *place.line);
}

/// A call of main() at the script's top level says nothing about what it calls.
bool is_whole_program(const Evidence& e, const LineNode& node) {
  return node.line.ends_with(": <module>") && e.share(node.total) >= kWholeProgram;
}

/// What the place costs by the line that `caller_of` names for each of its calls, dearest first.
std::vector<CostOfLine> costs_of_callers(const Evidence& e, const Tree& tree, const OwnPlace& place,
                                         auto caller_of) {
  std::map<std::string_view, CostOfLine> lines;
  for (const LineNode* node : tree.nodes()) {
    if (!is_at(place, *node)) continue;
    const LineNode* caller = caller_of(*node);
    if (caller == nullptr || same_line(*caller, *node) || is_whole_program(e, *caller)) continue;
    auto& [line, cost] = lines[caller->place()];
    line = caller;
    cost += place.what == OwnPlace::What::call ? tree.all(*node) : tree.own(*node);
  }
  return dearest_first(lines);
}

std::vector<CostOfLine> callers_of(const Evidence& e, const Tree& tree, const OwnPlace& place) {
  std::vector<CostOfLine> callers =
      costs_of_callers(e, tree, place, [&](const LineNode& node) { return caller_of(tree, node); });
  std::erase_if(callers, [&](const CostOfLine& of) { return !is_part(of.cost, place.cost, kSomeOfCost); });
  if (callers.size() > kMaxOthers) callers.resize(kMaxOthers);
  return callers;
}

/// The line right above the place in most of its calls, if `callers` has only one, further up.
const LineNode* nearest_caller_of(const Evidence& e, const Tree& tree, const OwnPlace& place) {
  if (place.callers.size() != 1) return nullptr;
  const std::vector<CostOfLine> nearest =
      costs_of_callers(e, tree, place, [&](const LineNode& node) { return tree.parent(node); });
  const bool is_another = !nearest.empty() && is_part(nearest.front().cost, place.cost, kMostOfCost) &&
                          !same_line(*nearest.front().line, *place.callers.front().line);
  return is_another ? nearest.front().line : nullptr;
}

/// `lines` without `line`, if any, as far as each holds kSomeOfCost of `cost`.
std::vector<CostOfLine> others_of(const std::vector<CostOfLine>& lines, const LineNode* line,
                                  std::int64_t cost) {
  std::vector<CostOfLine> others;
  for (const CostOfLine& other : lines)
    if ((line == nullptr || !same_line(*other.line, *line)) && others.size() < kMaxOthers &&
        is_part(other.cost, cost, kSomeOfCost))
      others.push_back(other);
  return others;
}

/// The deepest line that holds most of the cost with what it calls.
const LineNode* deepest(const Tree& tree, std::int64_t LineNode::* cost) {
  const LineNode* line = tree.dearest_below(nullptr);
  const LineNode* child = line;
  while (child != nullptr && is_part(child->*cost, line->*cost, kMostOfCost)) {
    line = child;
    child = tree.dearest_below(line);
  }
  return line;
}

}  // namespace

std::string OwnPlace::spoken() const {
  if (what != What::function) return placed(line->line);
  const auto [file, function] = function_of(*line);
  return fmt::format("{}() in {}", function, file);
}

std::string quoted_line(std::string_view line, std::string_view text) {
  std::string quoted = placed(line);
  if (!text.empty()) quoted += fmt::format(", `{}`", report::short_name(text, kCells));
  return quoted;
}

std::string OwnPlace::quoted() const {
  return what == What::function ? spoken() : quoted_line(line->line, line->text);
}

std::string OwnPlace::callee() const {
  if (all == nullptr || all->calls.empty() || 2 * line->self < line->total) return "";
  return ", in " + report::short_name(placed(all->calls), 60);
}

std::string OwnPlace::called_by() const {
  if (nearest_caller != nullptr)
    return fmt::format(", called by {}, from {}", OwnPlace{.line = nearest_caller}.quoted(),
                       OwnPlace{.line = callers.front().line}.quoted());
  std::string text;
  for (const CostOfLine& caller : callers) {
    text += text.empty() ? ", called " : ", ";
    if (callers.size() > 1) text += percent(report::ratio(caller.cost, cost)) + " ";
    text += "by " + OwnPlace{.line = caller.line}.quoted();
  }
  return text;
}

std::string OwnPlace::rest(std::int64_t steps) const {
  std::string text;
  for (const CostOfLine& other : others)
    text += fmt::format("{}{} in {}",
                        !text.empty()        ? ", "
                        : what == What::line ? "; "
                                             : "; of it ",
                        ns(other.cost / steps), OwnPlace{.line = other.line}.quoted());
  return text;
}

std::optional<OwnPlace> dearest_place(const Evidence& e, std::int64_t LineNode::* cost) {
  const Tree tree(e, cost);
  const std::int64_t whole = tree.whole();
  if (whole <= 0) return std::nullopt;
  const auto all = [](const LineNode&) { return true; };
  const std::vector<CostOfLine> lines = tree.own_costs_of_lines(all);
  const LineNode* call = deepest(tree, cost);
  // A call that does this and nothing else, and is not the whole program.
  const bool is_part_of_program = is_part(call->*cost, whole, kMostOfCost) &&
                                  is_part(call->*cost, call->total, kMostOfCost) &&
                                  e.share(call->*cost) < kWholeProgram;
  const bool does_little = !is_part(tree.own(*call), call->*cost, kMostOfCost);
  const CostOfLine function = tree.own_costs(function_of, all).front();
  // Another function, whose lines together hold clearly more than the dearest line.
  const bool function_holds_more = function_of(*function.line) != function_of(*lines.front().line) &&
                                   is_part(function.cost, lines.front().cost, kClearlyMore);
  OwnPlace place;
  if (is_part(lines.front().cost, whole, kMuchOfCost) && !(is_part_of_program && does_little) &&
      !function_holds_more) {
    place.line = lines.front().line;
    place.cost = lines.front().cost;
    place.others = others_of(lines, place.line, whole);
  } else if (is_part(function.cost, whole, kMuchOfCost) &&
             (tree.parent(*function.line) != call || cost == &LineNode::loading)) {
    place.what = OwnPlace::What::function;
    place.line = function.line;
    place.cost = function.cost;
    const auto its_own = [&](const LineNode& node) { return is_at(place, node); };
    place.others = others_of(tree.own_costs_of_lines(its_own), nullptr, place.cost);
  } else {
    place.what = OwnPlace::What::call;
    place.line = call;
    place.cost = place.line->*cost;
    const auto below = [&](const LineNode& node) { return tree.is_below(node, *call); };
    place.others = others_of(tree.own_costs_of_lines(below), place.line, place.cost);
  }
  place.in_function = place.cost;
  if (place.what == OwnPlace::What::line)
    for (const CostOfLine& other : place.others)
      if (function_of(*other.line) == function_of(*place.line)) place.in_function += other.cost;
  place.callers = callers_of(e, tree, place);
  place.nearest_caller = nearest_caller_of(e, tree, place);
  for (const LineNode* node : tree.nodes()) {
    const bool is_call = place.what == OwnPlace::What::call;
    if (is_call ? !tree.is_below(*node, *place.line) : !is_at(place, *node)) continue;
    place.repeats = std::max(place.repeats, node->repeats);
  }
  for (const analyze::LineCost* of : e.mine(e.reports().lines.lines, "Lines"))
    if (of->line == place.line->line) place.all = of;
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
