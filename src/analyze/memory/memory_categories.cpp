#include "analyze/memory/memory_categories.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "analyze/memory/thinned.h"
#include "derive/growth/category_walk.h"
#include "derive/growth/held_before.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"
#include "trace/memory_timeline.h"

namespace stepscope::analyze {
namespace {

using derive::HeldBefore;
using derive::MemoryRecords;
using derive::MemoryUse;
using report::kNoInt;
using report::Role;
using report::Tag;
using report::Unit;
using trace::Rank;

/// The device of an exported time line, which does not name it.
constexpr std::string_view kExportedTimeline = "exported";

std::string_view name_of_category(std::size_t category) {
  return category < derive::kMemoryUses ? derive::name_of(static_cast<MemoryUse>(category))
                                        : kBeforeRecording;
}

const ThinnedBy<CategoryInstant> kThinnedByAll{
    &CategoryInstant::place, &CategoryInstant::all, {kCategoryMembers.begin(), kCategoryMembers.end()}};

/// The peak of one memory, the peaks of its categories, and its curve.
class OneMemory {
 public:
  using Counts = std::array<std::int64_t, kCategories>;
  /// `first`: the first instant, of `instants`.
  OneMemory(const CategoryInstant& first, std::int64_t instants, std::int64_t points)
      : peak_(first), curve_(kThinnedByAll, first, instants, points) {
    highest_.fill(first);
  }

  /// `counts`: live allocations; kNoInt where not known.
  void add(const CategoryInstant& at, const Counts& counts) {
    if (!any_ || at.all > peak_.all) {
      peak_ = at;
      counts_ = counts;
    }
    any_ = true;
    for (std::size_t i = 0; i < kCategories; ++i)
      if (at.*kCategoryMembers[i] > highest_[i].*kCategoryMembers[i]) highest_[i] = at;
    curve_.add(at);
  }

  /// `inferred`: of each category, the bytes from before the recording.
  void finish(MemoryCategories& of, const Counts& inferred) {
    const auto begin = static_cast<std::ptrdiff_t>(of.categories.size());
    for (std::size_t i = 0; i < kCategories; ++i) {
      const auto member = kCategoryMembers[i];
      if (highest_[i].*member == 0 && peak_.*member == 0) continue;
      of.categories.push_back({peak_.rank, peak_.device, name_of_category(i), peak_.*member,
                               report::ratio(peak_.*member, peak_.all), counts_[i], inferred[i],
                               highest_[i].*member, highest_[i].time});
    }
    std::stable_sort(of.categories.begin() + begin, of.categories.end(),
                     [](const MemoryCategory& a, const MemoryCategory& b) { return a.bytes > b.bytes; });
    std::ranges::move(curve_.finish(), std::back_inserter(of.curve));
  }

 private:
  CategoryInstant peak_;
  Counts counts_{};
  bool any_ = false;
  std::array<CategoryInstant, kCategories> highest_;
  Thinned<CategoryInstant> curve_;
};

class Categories {
 public:
  Categories(const Derived& derived, std::int64_t points)
      : derived_(derived), points_(std::clamp<std::int64_t>(points, 1, 10'000'000)) {}

  MemoryCategories run() && {
    bool any = false;
    for (const Rank& rank : derived_.trace().ranks) {
      const std::vector<MemoryRecords> memories = derive::memory_records(derived_.trace(), rank);
      any |= !memories.empty() || rank.memory_timeline != nullptr;
      if (rank.memory_timeline != nullptr) add(rank, *rank.memory_timeline);
      const bool has_device =
          std::ranges::any_of(memories, [](const MemoryRecords& of) { return !of.device.host(); });
      if (memories.empty()) continue;
      const derive::TensorDegrees degrees(derived_.trace(), rank, {});
      if (!degrees.has_shapes())
        note(
            "No shapes are recorded, so parameters and inputs are not told from other memory: record with "
            "record_shapes=True.");
      for (const MemoryRecords& of : memories) {
        if (of.addressed)
          add(rank, of, degrees, of.device.host() != has_device);
        else
          note(
              "Addresses are not recorded (PyTorch before 1.11), so frees cannot be paired with allocations: "
              "what memory is for is not known.");
      }
    }
    if (!any) note("No allocations are recorded. Record with profile_memory=True and record_shapes=True.");
    return std::move(out_);
  }

 private:
  /// `has_model`: parameters from before the recording would be in this memory.
  void add(const Rank& rank, const MemoryRecords& records, const derive::TensorDegrees& degrees,
           bool has_model) {
    const trace::Trace& trace = derived_.trace();
    const ChosenRecords memory = chosen_records(rank, records, derived_.choice());
    if (memory.chosen.empty()) return;
    const auto [growth, uses] = judged_records(trace, rank, records, degrees);
    const HeldBefore before =
        has_model ? held_before(records, growth, uses, derive::trained_parameters(trace, rank))
                  : HeldBefore{};
    note_before(before);
    const OneMemory::Counts inferred{
        before.parameters, before.optimizer_state, 0, 0, 0, before.gradients, 0, 0, 0};
    derive::CategoryWalk walk(records, uses);
    std::optional<OneMemory> sums;
    const std::int64_t origin = origin_of(rank);
    auto chosen = memory.chosen.begin();
    while (chosen != memory.chosen.end() && walk.next()) {
      if (walk.record() != *chosen) continue;
      const std::int64_t place = chosen - memory.chosen.begin();
      CategoryInstant at{rank.rank, records.device.name(), place,
                         rank.events.start[records.row[*chosen]] - origin};
      OneMemory::Counts counts;
      counts.fill(kNoInt);
      std::ranges::copy(walk.now().count, counts.begin());
      for (std::size_t i = 0; i < derive::kMemoryUses; ++i)
        at.*kCategoryMembers[i] = report::plus(walk.now().bytes[i], inferred[i]);
      at.before = walk.now().before;
      at.all = walk.now().all();
      for (const std::int64_t bytes : inferred) report::add_to(at.all, bytes);
      if (!sums) sums.emplace(at, static_cast<std::int64_t>(memory.chosen.size()), points_);
      sums->add(at, counts);
      ++chosen;
    }
    if (sums) sums->finish(out_, inferred);
  }

  void add(const Rank& rank, const trace::MemoryTimeline& timeline) {
    if (timeline.count() == 0) return;
    if (!derived_.choice().all())
      return note("The exported time line has no steps, so it is left out with --step.");
    const std::int64_t origin = timeline.time[0];
    CategoryInstant now{rank.rank, std::string(kExportedTimeline), 0, 0};
    OneMemory::Counts counts{}, none;
    none.fill(kNoInt);
    std::optional<OneMemory> sums;
    for (std::uint32_t i = 0; i < timeline.count(); ++i) {
      const auto category = std::size_t{timeline.category[i]};
      now.*kCategoryMembers[category] += timeline.bytes[i];
      now.all += timeline.bytes[i];
      counts[category] += timeline.bytes[i] > 0 ? 1 : -1;
      if (i + 1 < timeline.count() && timeline.time[i + 1] == timeline.time[i]) continue;
      now.place = i;
      now.time = timeline.time[i] - origin;
      if (!sums) sums.emplace(now, timeline.count(), points_);
      sums->add(now, timeline.has_actions ? counts : none);
    }
    sums->finish(out_, none);
  }

  void note_before(const HeldBefore& before) {
    if (before.parameters + before.gradients + before.optimizer_state == 0) return;
    note(fmt::format(
        "Made before the recording, so inferred from the gradients' shapes and the optimizer's class: {} of "
        "parameters, {} of gradients, {} of optimizer state. Buffers and frozen parameters are not counted. "
        "Recorded from before the model is made, nothing has to be inferred.",
        report::format_value(before.parameters, Unit::bytes),
        report::format_value(before.gradients, Unit::bytes),
        report::format_value(before.optimizer_state, Unit::bytes)));
  }

  void note(std::string sentence) {
    if (std::ranges::find(out_.notes, sentence) == out_.notes.end())
      out_.notes.push_back(std::move(sentence));
  }

  const Derived& derived_;
  const std::int64_t points_;
  MemoryCategories out_;
};

const report::Sheet<MemoryCategory> kMemoryCategorySheet{
    "Memory by category at the peak",
    report::Shape::bars,
    {report::rank_field<MemoryCategory>(&MemoryCategory::rank),
     {"device", &MemoryCategory::device},
     {"category", &MemoryCategory::category},
     {"bytes", &MemoryCategory::bytes, Unit::bytes},
     {"share", &MemoryCategory::share, Unit::share, Role::share},
     {"count", &MemoryCategory::count, Unit::count},
     {"inferred", &MemoryCategory::inferred, Unit::bytes},
     {"highest", &MemoryCategory::highest, Unit::bytes},
     {"highest_time", &MemoryCategory::highest_time, Unit::ns}}};

const report::Sheet<CategoryInstant> kCategoryCurveSheet{
    "Memory by category over time",
    report::Shape::curve,
    {report::rank_field<CategoryInstant>(&CategoryInstant::rank),
     {"device", &CategoryInstant::device},
     {"time", &CategoryInstant::time, Unit::ns, Tag::of_one_run},
     {"all", &CategoryInstant::all, Unit::bytes},
     {"parameters", &CategoryInstant::parameters, Unit::bytes},
     {"gradients", &CategoryInstant::gradients, Unit::bytes},
     {"optimizer_state", &CategoryInstant::optimizer_state, Unit::bytes},
     {"activations", &CategoryInstant::activations, Unit::bytes},
     {"inputs", &CategoryInstant::inputs, Unit::bytes},
     {"temporaries", &CategoryInstant::temporaries, Unit::bytes},
     {"autograd", &CategoryInstant::autograd, Unit::bytes},
     {"unknown", &CategoryInstant::unknown, Unit::bytes},
     {"before", &CategoryInstant::before, Unit::bytes}}};

constexpr report::ParamSpec kMemoryCategoriesParams[] = {
    {"points", report::ParamSpec::Type::integer, "400", "",
     "max points of each memory's curve; lows and highs are kept"}};

}  // namespace

MemoryCategories memory_categories_of(const Derived& derived, std::int64_t points) {
  return Categories(derived, points).run();
}

constinit const About memory_categories_about = {kMemoryCategoriesParams};

report::Report memory_categories(const Derived& derived, const report::Params& params) {
  MemoryCategories of = memory_categories_of(derived, params.integer("points", kCategoryPoints));
  const bool several = derived.trace().several();
  return {"memory_categories",
          {tabulate(kMemoryCategorySheet, of.categories, several),
           tabulate(kCategoryCurveSheet, of.curve, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
