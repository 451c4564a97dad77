#include "merge/first_pass.h"

#include <fmt/format.h>

#include <mutex>

#include "base/text.h"

namespace stepscope::merge {
namespace {

std::optional<Error> survey_once(Source& source, Opener& opener, const WalkOptions& walk_options,
                                 const std::function<void(std::int64_t)>& progress) {
  auto bytes = opener.open(source);
  if (!bytes) return bytes.error();
  source.found = {};
  std::mutex mutex;
  source.walked = walk<Survey>(
      **bytes, walk_options, [](std::uint32_t) { return Survey{}; },
      [&](Survey&& block, std::uint32_t index, std::int64_t stored) {
        const std::lock_guard lock(mutex);
        source.found.add(std::move(block), index);
        if (progress) progress(stored);
      },
      [] {});
  for (const ByteFault& fault : (*bytes)->faults) source.found.lose(fault.offset, -1, fault.reason);
  return std::nullopt;
}

}  // namespace

std::optional<Error> survey_source(Source& source, Opener& opener, unsigned threads,
                                   const std::function<void(std::int64_t)>& progress) {
  WalkOptions options{threads, source.guess, source.lines, {}};
  if (auto error = survey_once(source, opener, options, progress)) return error;
  if (!source.walked.guessed_right) {
    source.guess = options.guess = false;
    if (auto error = survey_once(source, opener, options, progress)) return error;
  }
  if (source.lines) source.walked.breaches.of(trace::Breach::comma) = {};  // its format has none
  settle_kind(source);
  return std::nullopt;
}

std::string damage_of(const Source& source) {
  const Survey& found = source.found;
  std::string damage = source.walked.complete ? "" : "it ends early";
  if (found.lost > 0)
    damage += fmt::format("{}{} part{} of it could not be used", damage.empty() ? "" : "; ", found.lost,
                          found.lost == 1 ? "" : "s");
  if (!damage.empty() && !found.losses.empty()) damage += ": " + found.losses.front().text();
  return damage;
}

std::string mended_in(const Source& source) {
  if (!source.walked.breaches.any()) return "";
  return "other readers refuse this text, which is mended here: " + text_of(source.walked.breaches, false) +
         ".";
}

std::string total_of(const Source& source) {
  const Survey& found = source.found;
  std::string losses;
  for (const trace::Loss& loss : found.losses)
    losses += fmt::format(R"({}{{"byte":{},"bytes":{},"reason":{}}})", losses.empty() ? "" : ",", loss.byte,
                          loss.bytes, json_text(loss.reason));
  return fmt::format(
      R"({{"source":{},"events":{},"damaged_stretches":{},"lost_bytes":{},"complete":{},"losses":[{}]}})",
      json_text(source.name), found.events, found.lost, found.lost_bytes, source.walked.complete, losses);
}

}  // namespace stepscope::merge
