#include "analyze/steps/step_outliers.h"

#include <algorithm>

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::Rank;
using trace::Row;

constexpr std::size_t kMinSteps = 3, kOpsShown = 5;
constexpr std::int64_t kMinExcess = 1'000'000;  // ns

std::int64_t total(const StepParts& s) { return s.span.span.length(); }

/// The step in the middle by length; of two, the shorter.
const StepParts& median_step(const std::vector<StepParts>& steps) {
  std::vector<const StepParts*> by_length;
  for (const StepParts& s : steps) by_length.push_back(&s);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const StepParts* a, const StepParts* b) { return total(*a) < total(*b); });
  return *by_length[(by_length.size() - 1) / 2];
}

/// Host ranges that reach into each step, by its index; of those steps that are wanted.
std::vector<std::vector<Row>> ranges_in(const Rank& rank, const std::vector<bool>& wanted) {
  const trace::EventTable& e = rank.events;
  std::vector<std::vector<Row>> rows(wanted.size());
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row])) continue;
    const auto after =
        std::upper_bound(rank.steps.begin(), rank.steps.end(), e.start[row],
                         [](std::int64_t time, const trace::Step& step) { return time < step.start; });
    auto step = static_cast<std::size_t>(after - rank.steps.begin());
    for (step -= step > 0; step < wanted.size() && rank.steps[step].start < e.end[row]; ++step)
      if (wanted[step] && e.start[row] < rank.steps[step].end) rows[step].push_back(row);
  }
  return rows;
}

/// Self time by name of the host ranges between the begin and the end of a step's mark, the mark itself
/// aside.
std::vector<std::int64_t> host_self(const trace::Trace& trace, const Rank& rank, const trace::Step& step,
                                    const std::vector<Row>& ranges) {
  const trace::EventTable& e = rank.events;
  std::vector<std::int64_t> self(trace.strings.size());
  for (const Row row : ranges) {
    const std::int64_t inside = timeline::overlap({e.start[row], e.end[row]}, {step.start, step.end});
    if (row != step.row) self[e.name[row]] += inside;
    if (const Row parent = e.parent[row]; parent != trace::kNoRow && parent != step.row)
      self[e.name[parent]] -= inside;
  }
  return self;
}

class Rows {
 public:
  Rows(report::Table& table, const Rank& rank, const trace::Step& step)
      : table_(table), rank_(rank), step_(step) {}
  void add(const char* lane, std::string_view what, std::int64_t time, std::int64_t usual) {
    if (table_.column("rank") != nullptr) ints("rank").push_back(rank_.rank);
    texts("step").push_back(std::to_string(step_.number));
    texts("lane").emplace_back(lane);
    texts("what").emplace_back(what);
    ints("time").push_back(time);
    ints("median_step_time").push_back(usual);
    ints("growth").push_back(time - usual);
  }

 private:
  template <class Values>
  Values& values(std::string_view name) {
    for (report::Column& column : table_.columns)
      if (column.name == name) return std::get<Values>(column.values);
    CHECK(false);
    std::abort();
  }
  report::Ints& ints(std::string_view name) { return values<report::Ints>(name); }
  report::Texts& texts(std::string_view name) { return values<report::Texts>(name); }

  report::Table& table_;
  const Rank& rank_;
  const trace::Step& step_;
};

void add_roles(Rows& rows, const StepParts& slow, const StepParts& usual,
               std::span<const char* const> roles) {
  rows.add("step", "total", total(slow), total(usual));
  std::vector<std::size_t> order(roles.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slow.parts[a] - usual.parts[a] > slow.parts[b] - usual.parts[b];
  });
  for (std::size_t i : order)
    if (slow.parts[i] - usual.parts[i] > (total(slow) - total(usual)) / 20)
      rows.add("step", roles[i], slow.parts[i], usual.parts[i]);
}

void add_ops(Rows& rows, const trace::Trace& trace, const std::vector<std::int64_t>& slow_self,
             const std::vector<std::int64_t>& usual_self) {
  std::vector<trace::StringId> names;
  for (trace::StringId name = 0; name < slow_self.size(); ++name)
    if (slow_self[name] > usual_self[name]) names.push_back(name);
  const auto grew_more = [&](trace::StringId a, trace::StringId b) {
    const std::int64_t x = slow_self[a] - usual_self[a], y = slow_self[b] - usual_self[b];
    return x != y ? x > y : trace.text(a) < trace.text(b);
  };
  const auto shown = names.begin() + static_cast<std::ptrdiff_t>(std::min(kOpsShown, names.size()));
  std::partial_sort(names.begin(), shown, names.end(), grew_more);
  for (auto name = names.begin(); name != shown; ++name)
    rows.add("host", trace.text(*name), slow_self[*name], usual_self[*name]);
}

}  // namespace

report::Table outlier_table(const trace::Trace& trace) {
  report::Table table{"Outlier steps: what grew against the median step", report::Shape::table, {}};
  const RankColumn rank(table, trace);
  table.texts("step");
  table.texts("lane");
  table.texts("what");
  table.ints("time", Unit::ns);
  table.ints("median_step_time", Unit::ns);
  table.ints("growth", Unit::ns);
  return table;
}

void add_outliers(report::Table& table, const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                  const std::vector<StepParts>& steps, std::span<const char* const> roles) {
  std::vector<StepParts> whole;
  for (const StepParts& s : steps)
    if (!s.span.partial) whole.push_back(s);
  if (whole.size() < kMinSteps) return;
  const StepParts usual = median_step(whole);
  std::erase_if(whole, [&, usual_length = total(usual)](const StepParts& s) {
    const std::int64_t excess = total(s) - usual_length;
    return !choice.includes(rank.steps[s.span.index]) || excess < kMinExcess ||
           5 * static_cast<double>(excess) < static_cast<double>(usual_length);
  });
  if (whole.empty()) return;
  std::vector<bool> wanted(rank.steps.size());
  for (const StepParts& s : whole) wanted[s.span.index] = true;
  wanted[usual.span.index] = true;
  const std::vector<std::vector<Row>> ranges = ranges_in(rank, wanted);
  const auto self_of = [&](std::size_t step) {
    return host_self(trace, rank, rank.steps[step], ranges[step]);
  };
  const std::vector<std::int64_t> usual_self = self_of(usual.span.index);
  for (const StepParts& s : whole) {
    Rows rows(table, rank, rank.steps[s.span.index]);
    add_roles(rows, s, usual, roles);
    add_ops(rows, trace, self_of(s.span.index), usual_self);
  }
}

}  // namespace stepscope::analyze
