// Rules of input (I): the device waits for data.
#include <fmt/format.h>

#include <algorithm>

#include "advise/constants.h"
#include "advise/families.h"
#include "advise/places.h"
#include "advise/say.h"

namespace stepscope::advise {
namespace {

using report::Table;
using report::Texts;

/// "single-process" or "multi-process", "" when no loader was recorded.
std::string loader_kind(const Evidence& e) {
  for (const Table& table : e.reports().input_wait.tables) {
    const Texts* kinds = texts_of(table, "kind");
    for (std::size_t row = 0; kinds != nullptr && row < kinds->size(); ++row)
      if (e.mine(table, row) && !(*kinds)[row].empty()) return (*kinds)[row];
  }
  return "";
}

std::optional<Finding> slow_loader(const Evidence& e, Bound bound) {
  const bool host_only = bound == Bound::host_only;
  const std::int64_t waited = host_only ? e.fact("host_data_loading") : e.idle("input");
  if (e.share(waited) < kLoaderShare) return std::nullopt;
  const std::int64_t per_step = waited / e.steps();
  const bool in_main = loader_kind(e).find("single") != std::string::npos;
  Finding f =
      finding(e, in_main ? "I01" : "I02", "input",
              fmt::format("{} of {} per step: {} {}", ns(per_step), ns(e.step_length()),
                          host_only ? "the program" : "the device",
                          in_main ? "waits while the training process itself loads data (num_workers=0)"
                                  : "waits for the data loader"));
  save(f, per_step, in_main ? kWorkerPessimism : kStarvedPessimism, 1.0);
  change(f, "data_loading=0", in_main ? kWorkerPessimism : kStarvedPessimism);
  f.confidence = in_main ? Confidence::high : Confidence::medium;
  f.because =
      in_main ? "the loader's class runs in the training process, and the wait is measured where the device "
                "is idle"
              : "the wait is measured where the device is idle; why the workers are late is not in this file";
  f.evidence = fmt::format("{} in the window ({})", ns(waited), percent(e.share(waited)));
  f.evidence = host_only ? "input_wait: per step, " + f.evidence
                         : "idle: cause input, " + f.evidence + "; input_wait: per step";
  if (host_only) f.because = "the loader's range is in the file; no device is recorded";
  const std::int64_t rest = std::max<std::int64_t>(1, e.step_length() - per_step);
  const std::int64_t workers = std::clamp<std::int64_t>((per_step + rest - 1) / rest + 1, 2, 32);
  f.remedy = in_main ? fmt::format(
                           "DataLoader(..., num_workers={}, persistent_workers=True{}): loading takes {} a "
                           "batch, the rest of the step {}.",
                           workers, host_only ? "" : ", pin_memory=True", ns(per_step), ns(rest))
                     : "More workers up to the cores; if they are busy, move decoding out of them or cache "
                       "it; raise prefetch_factor.";
  f.verify = "The loader's share of the step falls under 2 %, and other host rows grow by less than 10 %.";
  f.effort = Effort::option;
  return f;
}

std::optional<Finding> host_preprocess(const Evidence& e, Bound) {
  const std::vector<Place> work = places_of(
      e, [](const Place& p) { return p.after_loading() && (p.cause == "op" || p.cause == "python"); });
  const std::int64_t cost = time_of(work);
  if (e.share(cost) < kLoaderShare) return std::nullopt;
  const Place& most = work.front();
  Finding f = finding(
      e, "I05", "input",
      fmt::format("{} of {} per step: the host prepares the batch ({}) after it was loaded and before "
                  "the device gets any of it",
                  ns(cost / e.steps()), ns(e.step_length()), most.name));
  save(f, cost / e.steps(), kPreprocessPessimism, 1);
  f.confidence = Confidence::medium;
  f.because = "these ranges launch nothing, and the device has nothing to do meanwhile";
  f.evidence = fmt::format("idle: idle time by place, after loading, {} in the window{}", ns(cost),
                           most.source.empty() ? "" : ", most at " + placed(most.source));
  f.remedy =
      "Move this work into the dataset or collate_fn (workers do it ahead), or behind the copy to the device "
      "(torchvision.transforms.v2 runs there).";
  f.verify = "The first copy of a step starts right behind the loader's range.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kRules[] = {
    {"I01", "input", "the training process itself loads data, or its workers are late (I02)", false,
     slow_loader},
    {"I05", "input", "the host prepares the batch after it was loaded", true, host_preprocess,
     R"(Looks at: *Idle time by place* of `idle`, `after loading`, causes `op` and `python`: ranges behind a wait for data that end before the
call that launches the step's first device work. Fires from kLoaderShare of the window on.

Saving: that time; low is kPreprocessPessimism of it.

Silent on: tiny work on scalars; work that the device hides; the conversion that is part of the first copy.)"},
};

}  // namespace

std::span<const Rule> input_rules() { return kRules; }

}  // namespace stepscope::advise
