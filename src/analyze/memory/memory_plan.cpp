#include "analyze/memory/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/list.h"
#include "analyze/memory/checkpointing.h"
#include "analyze/memory/op_memory.h"
#include "analyze/memory/plan_wishes.h"
#include "derive/growth/category_walk.h"
#include "derive/growth/held_before.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::AllocationGrowth;
using derive::Factor;
using derive::MemoryPlan;
using derive::MemoryRecords;
using derive::MemoryUse;
using derive::PlanChange;
using derive::PlannedPeak;
using report::kNoInt;
using report::Role;
using report::Unit;
using trace::Rank;
using Type = report::ParamSpec::Type;

constexpr double kUsualFactors[] = {1, 2, 4, 8};
/// Share of the planned change by which both ends of a range move out: small allocations may be judged wrong.
constexpr double kLawDoubt = 0.005;
/// The same for a plan with checkpointing, of the peak (chosen; memory_plan.md says what lay within it).
constexpr double kRecomputeDoubt = 0.06;
/// Batch sizes beyond this are not tried.
constexpr std::int64_t kLargestBatch = 1 << 24;

std::string power(std::string_view name, int degree) {
  return degree == 0 ? "" : degree == 1 ? std::string(name) : fmt::format("{}^{}", name, degree);
}

std::string law_of(derive::Degree degree) {
  const std::string batch = power("batch", degree.batch), sequence = power("sequence", degree.sequence);
  if (batch.empty() && sequence.empty()) return "fixed";
  return batch.empty() || sequence.empty() ? batch + sequence : batch + " * " + sequence;
}

/// "batch * sequence^2", "fixed", "fixed or batch".
std::string law_of(const derive::DegreeRange& range) {
  return range.low == range.high ? law_of(range.low)
                                 : fmt::format("{} or {}", law_of(range.low), law_of(range.high));
}

/// The planned peak, with kLawDoubt and kRecomputeDoubt.
PlannedPeak doubted(const MemoryPlan& plan, const PlanChange& change,
                    const std::vector<derive::RecomputedCall>& recomputed, const PlannedPeak& recorded) {
  PlannedPeak peak = plan.peak(change, recomputed);
  peak.low -= kLawDoubt * std::abs(peak.low - recorded.low);
  peak.high += kLawDoubt * std::abs(peak.high - recorded.high);
  if (recomputed.empty()) return peak;
  peak.low *= 1 - kRecomputeDoubt;
  peak.high *= 1 + kRecomputeDoubt;
  return peak;
}

class Planner {
 public:
  Planner(const Derived& derived, const report::Params& params) : derived_(derived), wishes_(params) {
    if (const std::string_view text = params.text("fit-into"); !text.empty())
      capacity_ = wanted_capacity(text, out_.notes);
  }

  MemoryPlans run() && {
    bool any = false;
    for (const Rank& rank : derived_.trace().ranks) {
      std::vector<MemoryRecords> memories = derive::memory_records(derived_.trace(), rank);
      any |= !memories.empty();
      const bool has_device =
          std::ranges::any_of(memories, [](const MemoryRecords& of) { return !of.device.host(); });
      for (const MemoryRecords& of : memories)
        if (of.addressed && of.device.host() != has_device) plan(rank, of);
    }
    if (!any)
      out_.notes.emplace_back(
          "No allocations are recorded. Record a step with profile_memory=True and record_shapes=True. "
          "(torch.profiler "
          "of a PyTorch without Kineto writes none; stepscope.profiler does.)");
    return std::move(out_);
  }

 private:
  void plan(const Rank& rank, const MemoryRecords& records) {
    const trace::Trace& trace = derived_.trace();
    derive::RecordedSizes sizes{wishes_.batch, wishes_.sequence};
    if (sizes.batch <= 0) {
      sizes.batch = derive::likely_batch(trace, rank);
      if (sizes.batch > 0)
        note(fmt::format("The shapes look like batches of {}. If that is wrong, give --batch.", sizes.batch));
    }
    const derive::TensorDegrees degrees(trace, rank, sizes);
    if (!degrees.has_shapes())
      note("No shapes are recorded, so it is not known what grows: record with record_shapes=True.");
    else if (sizes.batch <= 0)
      note("The shapes do not tell the batch size: give --batch.");
    else if (sizes.batch == 1)
      note(
          "Batches of 1 do not show what grows with the batch. Record with batches of at least 2, best of a "
          "number that is no size in the model, such as 3 or 7.");
    auto [growth, uses] = judged_records(trace, rank, records, degrees);
    settle_by_use(growth, uses);
    const derive::Trained trained = derive::trained_parameters(trace, rank);
    const derive::HeldBefore before = held_before(records, growth, uses, trained);
    note_before(before, trained);
    unseen_weights_ =
        records.device.host() && !makes_parameters(records, growth) ? degrees.weights_without_gradient() : 0;
    if (unseen_weights_ > 0)
      note(
          fmt::format("Weights that get no gradient, as in an evaluation or a frozen part, were made before "
                      "the recording and are not "
                      "counted: at least {}. Record from before the model is made.",
                      report::format_value(unseen_weights_, Unit::bytes)));
    if (before.other > 0 && (wishes_.precision != "recorded" || !wishes_.optimizer.empty()))
      note(
          "What the device held before the recording stays as it is: record from before the model is made to "
          "plan for another precision or optimizer.");
    const MemoryPlan plan(records, growth, uses, before);

    std::vector<std::string> assumed;
    PlanChange change = wished_change(wishes_, trained, assumed);
    for (std::string& sentence : assumed) note(std::move(sentence));
    const std::vector<derive::RecomputedCall> recomputed = recomputed_of(rank, records);
    const double reserve = reserve_of(records);
    const std::int64_t capacity = capacity_at(rank, records);
    const PlannedPeak recorded = plan.peak({});
    PlannedPeak last;
    const auto at = [&](std::int64_t batch, std::int64_t sequence) {
      change.batch = sizes.batch > 0 ? report::ratio(batch, sizes.batch) : 1;
      change.sequence = sizes.sequence > 0 ? report::ratio(sequence, sizes.sequence) : 1;
      last = doubted(plan, change, recomputed, recorded);
      out_.peaks.push_back({rank.rank, records.device, sizes.batch > 0 ? batch : kNoInt,
                            sizes.sequence > 0 ? sequence : kNoInt, std::llround(last.low),
                            std::llround(last.high), fits(last, reserve, capacity)});
    };
    if (wishes_.to_sequence > 0 && sizes.sequence <= 0)
      note("--to-sequence needs --sequence, the recorded length: the plan is for the recorded one.");
    const std::int64_t sequence = wishes_.to_sequence > 0 ? wishes_.to_sequence : sizes.sequence;
    if (wishes_.to_batch > 0 || wishes_.to_sequence > 0 || sizes.batch <= 0)
      at(wishes_.to_batch > 0 ? wishes_.to_batch : sizes.batch, sequence);
    else
      for (const double factor : kUsualFactors)
        at(std::llround(factor * static_cast<double>(sizes.batch)), sequence);
    add_parts(rank, records, recorded, last);
    add_operators(rank, records, plan, growth, change, last.at);
    if (capacity != kNoInt && sizes.batch > 0)
      add_largest(rank, records, plan, change, recomputed, sizes, reserve, capacity);
  }

  /// Calls of the modules that are to be checkpointed.
  std::vector<derive::RecomputedCall> recomputed_of(const Rank& rank, const MemoryRecords& records) {
    std::vector<trace::Row> calls;
    const std::vector<std::string_view> wanted = wishes_.checkpointed();
    if (wanted.empty()) return {};
    const auto classes = calls_by_class(derived_, rank);
    for (const std::string_view name : wanted) {
      const auto of = classes.find(name);
      if (of == classes.end())
        note(fmt::format(
            "--checkpoint {}: no call of such a module is recorded.{}", name,
            classes.empty()
                ? " Record with with_stack=True, or with stepscope.profiler also with_modules=True."
                : " `stepscope checkpointing` lists those that keep memory."));
      else
        calls.insert(calls.end(), of->second.begin(), of->second.end());
    }
    if (calls.empty()) return {};
    std::ranges::sort(calls);
    const std::vector<trace::Row> all = calls;
    std::erase_if(calls, [&](trace::Row row) {  // within another one of them
      for (trace::Row up = rank.events.parent[row]; up != trace::kNoRow; up = rank.events.parent[up])
        if (std::ranges::binary_search(all, up)) return true;
      return false;
    });
    std::vector<derive::RecomputedCall> found =
        recomputed_calls(rank, records, derive::in_backward_passes(derived_.trace(), rank, records), calls);
    if (found.empty()) note("The calls of the modules to be checkpointed keep nothing for a backward pass.");
    return found;
  }

  void add_parts(const Rank& rank, const MemoryRecords& records, const PlannedPeak& recorded,
                 const PlannedPeak& planned) {
    for (std::size_t part = 0; part < derive::kPlanParts; ++part) {
      const double was = recorded.parts_low[part], low = planned.parts_low[part],
                   high = planned.parts_high[part];
      if (was < 1 && high < 1) continue;
      out_.parts.push_back({rank.rank, records.device,
                            part < derive::kMemoryUses ? derive::name_of(static_cast<MemoryUse>(part))
                                                       : "held before the recording",
                            std::llround(was), std::llround(low), std::llround(high)});
    }
  }

  void add_operators(const Rank& rank, const MemoryRecords& records, const MemoryPlan& plan,
                     const std::vector<AllocationGrowth>& growth, const PlanChange& change,
                     std::uint32_t peak) {
    std::map<std::pair<std::string, std::string>, PlannedOperator> found;
    for (std::uint32_t i = 0; i <= peak && i < records.size(); ++i) {
      if (records.bytes[i] <= 0 || records.freed[i] <= peak) continue;
      const trace::Row range = records.range[i];
      std::string op(range == trace::kNoRow ? kOutsideOperators : derived_.trace().name(rank, range));
      std::string grows = law_of(growth[i].degree);
      PlannedOperator& of =
          found.try_emplace({op, grows}, PlannedOperator{rank.rank, records.device, op, grows, 0, 0, 0, 0})
              .first->second;
      const Factor factor = plan.factor(i, change);
      const auto bytes = static_cast<double>(records.bytes[i]);
      ++of.count;
      of.recorded += records.bytes[i];
      of.low += std::llround(bytes * factor.low);
      of.high += std::llround(bytes * factor.high);
    }
    std::vector<PlannedOperator> rows;
    for (auto& [key, row] : found) rows.push_back(std::move(row));
    std::ranges::stable_sort(rows, std::ranges::greater(), &PlannedOperator::high);
    std::ranges::move(rows, std::back_inserter(out_.operators));
  }

  void add_largest(const Rank& rank, const MemoryRecords& records, const MemoryPlan& plan, PlanChange change,
                   const std::vector<derive::RecomputedCall>& recomputed, const derive::RecordedSizes& sizes,
                   double reserve, std::int64_t capacity) {
    const auto largest = [&](Fits least) {
      const auto does = [&](std::int64_t batch) {
        change.batch = report::ratio(batch, sizes.batch);
        const Fits found = fits(doubted(plan, change, recomputed, plan.peak({})), reserve, capacity);
        return found == Fits::yes || found == least;
      };
      if (!does(1)) return std::int64_t{0};
      std::int64_t fit = 1, not_fit = 2;
      while (not_fit < kLargestBatch && does(not_fit)) fit = not_fit, not_fit *= 2;
      while (not_fit - fit > 1) {
        const std::int64_t middle = fit + (not_fit - fit) / 2;
        (does(middle) ? fit : not_fit) = middle;
      }
      return fit;
    };
    out_.largest.push_back({rank.rank, records.device, capacity, largest(Fits::yes), largest(Fits::perhaps)});
  }

  static bool makes_parameters(const MemoryRecords& records, const std::vector<AllocationGrowth>& growth) {
    for (std::uint32_t i = 0; i < records.size(); ++i)
      if (records.bytes[i] > 0 && growth[i].is_parameter && records.freed[i] == MemoryRecords::kNever)
        return true;
    return false;
  }

  Fits fits(const PlannedPeak& peak, double reserve, std::int64_t capacity) const {
    if (capacity == kNoInt) return Fits::unknown;
    const double room = static_cast<double>(capacity) - static_cast<double>(unseen_weights_);
    if (unseen_weights_ > 0) return peak.low <= room ? Fits::perhaps : Fits::no;
    return peak.high * reserve <= room ? Fits::yes : peak.low <= room ? Fits::perhaps : Fits::no;
  }

  /// Reserved for each allocated byte at the most; 1 if it is not recorded.
  static double reserve_of(const MemoryRecords& records) {
    std::int64_t allocated = 0, reserved = 0;
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      if (records.reserved[i] == MemoryRecords::kAbsent) return 1;
      allocated = std::max(allocated, records.level(i));
      reserved = std::max(reserved, records.reserved[i]);
    }
    return reserved > allocated && allocated > 0 ? report::ratio(reserved, allocated) : 1;
  }

  std::int64_t capacity_at(const Rank& rank, const MemoryRecords& records) const {
    if (capacity_ != kNoInt || records.device.host()) return capacity_;
    for (const trace::Device& device : rank.devices)
      if (device.id == records.device.id && device.total_memory > 0) return device.total_memory;
    return kNoInt;
  }

  void note_before(const derive::HeldBefore& before, const derive::Trained& trained) {
    const std::int64_t added = before.parameters + before.gradients + before.optimizer_state;
    if (added == 0) return;
    note(fmt::format(
        "Made before the recording, so taken from the gradients' shapes{}: {} of parameters, {} of "
        "gradients, {} of optimizer state. Buffers and frozen parameters are not counted.",
        trained.optimizer.empty() ? "" : " and " + trained.optimizer,
        report::format_value(before.parameters, Unit::bytes),
        report::format_value(before.gradients, Unit::bytes),
        report::format_value(before.optimizer_state, Unit::bytes)));
  }

  void note(std::string sentence) {
    if (std::ranges::find(out_.notes, sentence) == out_.notes.end())
      out_.notes.push_back(std::move(sentence));
  }

  const Derived& derived_;
  const PlanWishes wishes_;
  std::int64_t capacity_ = kNoInt;
  std::int64_t unseen_weights_ = 0;  ///< bytes, at least
  MemoryPlans out_;
};

const report::Sheet<PlannedMemory> kPlannedPeakSheet{
    "Peak, by batch size",
    report::Shape::table,
    {report::rank_field<PlannedMemory>(&PlannedMemory::rank),
     {"device", +[](const PlannedMemory& of) { return of.memory.name(); }},
     {"batch", &PlannedMemory::batch, Unit::count, Role::key},
     {"sequence", &PlannedMemory::sequence, Unit::count, Role::key},
     {"peak_low", &PlannedMemory::low, Unit::bytes},
     {"peak_high", &PlannedMemory::high, Unit::bytes},
     {"fits", report::named<&PlannedMemory::fits>}}};

const report::Sheet<PlannedPart> kPlannedPartSheet{
    "What the last peak consists of",
    report::Shape::table,
    {report::rank_field<PlannedPart>(&PlannedPart::rank),
     {"device", +[](const PlannedPart& of) { return of.memory.name(); }},
     {"part", &PlannedPart::part},
     {"recorded", &PlannedPart::recorded, Unit::bytes},
     {"low", &PlannedPart::low, Unit::bytes},
     {"high", &PlannedPart::high, Unit::bytes}}};

const report::Sheet<PlannedOperator> kPlannedOperatorSheet{
    "Who holds it, by operator",
    report::Shape::table,
    {report::rank_field<PlannedOperator>(&PlannedOperator::rank),
     {"device", +[](const PlannedOperator& of) { return of.memory.name(); }},
     {"op", &PlannedOperator::op},
     {"grows_with", &PlannedOperator::grows},
     {"count", &PlannedOperator::count, Unit::count},
     {"recorded", &PlannedOperator::recorded, Unit::bytes},
     {"low", &PlannedOperator::low, Unit::bytes},
     {"high", &PlannedOperator::high, Unit::bytes}}};

const report::Sheet<MemoryPlans::Largest> kLargestBatchSheet{
    "Largest batch that fits",
    report::Shape::table,
    {report::rank_field<MemoryPlans::Largest>(&MemoryPlans::Largest::rank),
     {"device", +[](const MemoryPlans::Largest& of) { return of.memory.name(); }},
     {"capacity", &MemoryPlans::Largest::capacity, Unit::bytes},
     {"fits", &MemoryPlans::Largest::sure, Unit::count},
     {"perhaps_fits", &MemoryPlans::Largest::perhaps, Unit::count}}};

constexpr report::ParamSpec kPlanParams[] = {
    {"batch", Type::integer, "", "", "the batch size that was recorded; by default judged by the shapes"},
    {"sequence", Type::integer, "", "", "the sequence length that was recorded"},
    {"to-batch", Type::integer, "", "",
     "the batch size to plan for; by default 1, 2, 4 and 8 times the recorded"},
    {"to-sequence", Type::integer, "", "", "the sequence length to plan for; needs --sequence"},
    {"precision", Type::choice, "recorded", "recorded|bf16|fp16|amp",
     "plan for floats of 2 bytes, or autocast"},
    {"optimizer", Type::text, "", "", "plan for this optimizer, e.g. AdamW, SGD, SGDMomentum, AdamW8bit"},
    {"checkpoint", Type::text, "", "",
     "plan with each call of these modules checkpointed: their class, or several with commas"},
    {"fit-into", Type::text, "", "",
     "what it should fit into: a size such as 24GiB, or a device such as H100"}};

}  // namespace

std::string_view name_of(Fits fits) {
  constexpr std::string_view kNames[] = {"", "yes", "perhaps", "no"};
  return kNames[static_cast<std::size_t>(fits)];
}

MemoryPlans memory_plans_of(const Derived& derived, const report::Params& params) {
  return Planner(derived, params).run();
}

constinit const About memory_plan_about = {kPlanParams};

report::Report memory_plan(const Derived& derived, const report::Params& params) {
  MemoryPlans of = memory_plans_of(derived, params);
  const bool several = derived.trace().several();
  std::vector<report::Table> tables{tabulate(kPlannedPeakSheet, of.peaks, several),
                                    tabulate(kPlannedPartSheet, of.parts, several),
                                    tabulate(kPlannedOperatorSheet, of.operators, several)};
  if (!of.largest.empty()) tables.push_back(tabulate(kLargestBatchSheet, of.largest, several));
  return {"memory_plan", std::move(tables), std::move(of.notes)};
}

}  // namespace stepscope::analyze
