#include "compare/step_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/units.h"

namespace stepscope::compare {
namespace {

std::vector<double> summed(const std::vector<Leaf>& leaves, const std::vector<std::size_t>& indices,
                           std::size_t samples) {
  std::vector<double> out(samples);
  for (const std::size_t i : indices)
    for (std::size_t s = 0; s < samples; ++s) out[s] += leaves[i].time[s];
  return out;
}

double calls(const std::vector<Leaf>& leaves, const std::vector<std::size_t>& indices) {
  double sum = 0;
  for (const std::size_t i : indices) sum += leaves[i].calls;
  return sum;
}

/// The class of work of all leaves; "" if they differ.
std::string_view shared_class(const std::vector<const Leaf*>& leaves) {
  for (const Leaf* leaf : leaves)
    if (leaf->work_class != leaves.front()->work_class) return "";
  return name_of_class(leaves.front()->work_class);
}

/// The kernel; "x → y" if the sides have one each; "matrix: 3 → 2 kernels" if there are several.
std::string kernel_of(const std::vector<Leaf>& a, const std::vector<Leaf>& b, const Match& match) {
  std::vector<const Leaf*> all;
  for (const std::size_t i : match.a) all.push_back(&a[i]);
  for (const std::size_t i : match.b) all.push_back(&b[i]);
  const std::string &first = all.front()->kernel, &last = all.back()->kernel;
  const bool alike = std::all_of(all.begin(), all.end(), [&](const Leaf* l) { return l->kernel == first; });
  if (alike) return first;
  if (match.a.size() == 1 && match.b.size() == 1) return first + " → " + last;
  const std::string_view work_class = shared_class(all);
  return fmt::format("{}{} → {} kernels", work_class.empty() ? "" : fmt::format("{}: ", work_class),
                     match.a.size(), match.b.size());
}

std::string common_op(const Leaf& a, const Leaf& b) {
  std::size_t same = 0;
  while (same < a.op.size() && same < b.op.size() && a.op[same] == b.op[same]) ++same;
  return joined(a.op, same);
}

void name_row(Row& row, const std::vector<Leaf>& a, const std::vector<Leaf>& b) {
  const Leaf* of_a = row.match.a.empty() ? nullptr : &a[row.match.a.front()];
  const Leaf* of_b = row.match.b.empty() ? nullptr : &b[row.match.b.front()];
  const Leaf& any = of_b != nullptr ? *of_b : *of_a;
  row.module = of_a != nullptr && of_a->module == any.module ? of_a->module : any.module;
  const bool same_path = of_a == nullptr || of_b == nullptr || row.match.way != Way::ancestor;
  row.op = same_path ? joined(any.op) : common_op(*of_a, *of_b);
  row.kernel = kernel_of(a, b, row.match);
}

/// Whether a row is on one side only by chance: host work that fits into gaps of the device.
bool by_chance(const Row& row, const Leaf& leaf) {
  return !leaf.device && row.time.state == State::within_noise;
}

State state_of(const Row& row, const std::vector<Leaf>& a, const std::vector<Leaf>& b) {
  const bool on_a = !row.match.a.empty(), on_b = !row.match.b.empty();
  if (on_a != on_b) {
    if (by_chance(row, on_a ? a[row.match.a.front()] : b[row.match.b.front()])) return State::within_noise;
    return on_b ? State::appeared : State::gone;
  }
  if (row.match.way == Way::moved) return State::moved;
  return differs_in_kind(row.match.way) ? State::other_way : row.time.state;
}

std::string percent(double ratio) { return fmt::format("{:.1f} %", 100 * std::abs(ratio - 1)); }

std::string interval_of(const RatioChange& step) {
  const auto word = [](double ratio) { return ratio < 1 ? "faster" : "slower"; };
  if (step.high <= 1) return fmt::format("{:.1f} to {} faster", 100 * (1 - step.high), percent(step.low));
  if (step.low >= 1) return fmt::format("{:.1f} to {} slower", 100 * (step.low - 1), percent(step.high));
  return fmt::format("{} {} to {} {}", percent(step.low), word(step.low), percent(step.high),
                     word(step.high));
}

std::string steps_of(const RatioChange& step) {
  return step.steps_a == 1 && step.steps_b == 1 ? "1 step each"
                                                : fmt::format("{} and {} steps", step.steps_a, step.steps_b);
}

/// What is known of the change. Nothing is said to be equal unless a small change would have been seen.
std::string verdict(const RatioChange& step) {
  if (step.changed())
    return fmt::format("B is {} {} per step", percent(step.ratio), step.ratio < 1 ? "faster" : "slower");
  const std::string seen = fmt::format("a change of {:.1f} % would have been seen", 100 * step.seen());
  if (step.narrow()) return "B is as fast as A within noise; " + seen;
  const std::string why = step.known() ? "only " + seen : step.unknown();
  return fmt::format("Cannot tell whether B is faster or slower: {}; {}", why, step.advice());
}

/// The step and the parts that take time on a side.
std::vector<Part> parts_of(const Recording& a, const Recording& b, const RatioChange& step) {
  const double base = step.means.mean_a;
  Part whole{"step", {base, step.means.mean_b, base * (step.low - 1), base * (step.high - 1)}};
  whole.time.state = step.changed() ? State::changed
                     : step.known() ? State::within_noise
                                    : State::unknown_noise;
  std::vector<Part> parts = {whole};
  for (std::size_t p = 0; p < std::min(a.parts.size(), b.parts.size()); ++p) {
    const std::vector<double>&of_a = a.parts[p].time, &of_b = b.parts[p].time;
    if (mean_of(of_a) > 0 || mean_of(of_b) > 0)
      parts.push_back({a.parts[p].name(), row_change(of_a, of_b, base)});
  }
  return parts;
}

void note_marks(std::vector<std::string>& notes, const char* side, const CountedSteps& counted) {
  if (!counted.marked)
    notes.push_back(fmt::format(
        "{} has no step marks: the whole recording counts as one step, and noise cannot be known. "
        "Call prof.step() once per iteration.",
        side));
  if (counted.cut_off > 0)
    notes.push_back(
        fmt::format("{}: the last step is cut off by the end of the recording and left out.", side));
}

void note_drift(std::vector<std::string>& notes, const RatioChange& step) {
  if (step.means.drift > 0)
    notes.push_back(fmt::format(
        "A and B drift apart during the recordings, so the interval is wider by {:.1f} % on both sides.",
        100 * std::expm1(step.means.drift)));
}

}  // namespace

StepDifference step_difference(const Recording& a, const Recording& b) {
  StepDifference out;
  out.step = ratio_change(a.step, b.step);
  const double base = out.step.means.mean_a;
  const std::size_t samples_a = std::min(a.step.size(), kMaxRowSamples),
                    samples_b = std::min(b.step.size(), kMaxRowSamples);
  out.parts = parts_of(a, b, out.step);
  for (Match& match : match(a.leaves, b.leaves)) {
    Row row{std::move(match), "", "", "", {}};
    row.time =
        row_change(summed(a.leaves, row.match.a, samples_a), summed(b.leaves, row.match.b, samples_b), base);
    row.time.state = state_of(row, a.leaves, b.leaves);
    row.calls_a = calls(a.leaves, row.match.a);
    row.calls_b = calls(b.leaves, row.match.b);
    name_row(row, a.leaves, b.leaves);
    out.rows.push_back(std::move(row));
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const Row& x, const Row& y) { return std::abs(x.change()) > std::abs(y.change()); });
  note_warm_up(a.counted.warming_up, out.notes);
  note_pauses("A", a.counted, out.notes);
  note_pauses("B", b.counted, out.notes);
  note_marks(out.notes, "A", a.counted);
  note_marks(out.notes, "B", b.counted);
  note_drift(out.notes, out.step);
  return out;
}

std::string headline(const StepDifference& difference) {
  const RatioChange& step = difference.step;
  if (!difference.known())
    return fmt::format("{} has no whole step to compare", step.steps_a == 0 ? "A" : "B");
  const auto time = [](double ns) { return report::format_value(ns, report::Unit::ns); };
  const std::string means = fmt::format("means {} → {}", time(step.means.mean_a), time(step.means.mean_b));
  if (difference.same) return "A and B are the same recording, so nothing changed; " + means;
  const std::string doubt =
      difference.doubts.empty() ? "" : ". Not the same measurement: " + difference.doubts.front();
  const std::string interval = step.known() ? fmt::format("95 %: {}; ", interval_of(step)) : "";
  return fmt::format("{} ({}{}); {}{}", verdict(step), interval, steps_of(step), means, doubt);
}

}  // namespace stepscope::compare
