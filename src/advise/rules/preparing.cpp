// Rule of input (I05): the batch is prepared after it was loaded.
#include <fmt/format.h>

#include "advise/own_places.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"

namespace stepscope::advise {
namespace {

/// Most of the time outside forward, backward and optimizer is in layers of a model: those without gradients.
bool is_in_layers(const Evidence& e) {
  const auto place = dearest_place(e, &analyze::LineNode::besides);
  return place && (place->line->calls_module ||
                   (!place->callers.empty() && place->callers.front().line->calls_module));
}

std::optional<Claim> host_preprocess(const Evidence& e, Bound bound) {
  const bool host_only = bound == Bound::host_only;
  if (host_only && is_in_layers(e)) return std::nullopt;
  const std::vector<Place> work = places_of(e, [](const Place& p) {
    return p.after_loading() && (p.cause == IdleCause::op || p.cause == IdleCause::python);
  });
  const std::int64_t cost = time_of(work);
  if (e.share(cost) < kLoaderShare) return std::nullopt;
  const Place& most = work.front();
  Claim f = claim(e, RuleId::I05,
                  fmt::format("{}: the {} prepares the batch ({}) after it was loaded and before {}",
                              of_step(e, cost), host_only ? "training process" : "host", most.place,
                              host_only ? "the forward pass begins" : "the device gets any of it"));
  save(f, cost / e.steps(), kPreprocessPessimism, host_only ? kSlowedToo : 1);
  f.confidence = Confidence::medium;
  f.because = host_only ? "no backward pass goes through these operators"
                        : "these ranges launch nothing, and the device is idle meanwhile";
  const std::string shown = fmt::format("time by place, after loading, {}{}", per_step(e, cost),
                                        most.source.empty() ? "" : ", most at " + placed(most.source));
  f.evidence = {host_only ? see::host_time(shown) : see::idle(shown)};
  f.remedy =
      host_only ? "Move this work into the dataset or collate_fn, and let DataLoader workers do it ahead "
                  "(num_workers > 0)."
                : "Move this work into the dataset or collate_fn (workers do it ahead), or after the copy to "
                  "the device (torchvision.transforms.v2 runs there).";
  f.verify = host_only ? "The forward pass begins right after the loader's range."
                       : "The first copy of a step starts right after the loader's range.";
  f.vague = host_only && most.source.empty();
  f.effort = Effort::code;
  return f;
}

constexpr Rule kPreparingRules[] = {
    {RuleId::I05, "the host prepares the batch after it was loaded", true, host_preprocess,
     R"(Looks at: *Idle time by place* of `idle`, `after loading`, causes `op` and `python`: ranges that follow a wait for
data and end before the launch of the step's first device work. Fires when they hold kLoaderShare of the window.

Saving: that time; the low end is kPreprocessPessimism of it, the high end kSlowedToo where no device is recorded.

Without a device: *Host time by place* of `host_time`, until the first operator that a backward pass goes through; not
where the dearest line outside of the phases is a module's: layers without gradients are no preparation.

Silent on: tiny work on scalars; work that the device hides; the conversion that is part of the first copy.)"},
};

}  // namespace

std::span<const Rule> preparing_rules() { return kPreparingRules; }

}  // namespace stepscope::advise
