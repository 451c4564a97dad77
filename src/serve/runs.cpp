#include "serve/runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "read/open.h"
#include "read/rank_files.h"
#include "serve/request.h"

namespace stepscope::serve {
namespace {

// A look takes at most 1/20 of the time, however many files there are, but the next is within a minute.
constexpr int kPausePerLook = 20, kMaxPauses = 60;

std::int64_t half_of_memory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 2;
}

/// Events take about half of their text.
std::int64_t estimated_bytes(const FoundRun& run) { return read::extent_of(run.files).text / 2; }

std::string key_of(std::size_t number, std::string_view hash) { return fmt::format("{}:{}", number, hash); }

std::string_view state_of(const FoundRun& run, std::string_view read_hash, bool failed) {
  if (read_hash.empty()) return "new";
  if (read_hash != run.stamp.hash) return "changed";
  return failed ? "unreadable" : "ok";
}

constexpr std::string_view kListHead = "{\"version\":\"" STEPSCOPE_VERSION "\",\"runs\":[";
constexpr std::string_view kListTail = "]}\n";

/// `error`: "" if there is none.
std::string listed_run(std::size_t number, const FoundRun& run, std::string_view state,
                       const std::string& error) {
  std::string out = fmt::format(R"({{"run":{},"name":{},"state":"{}",)", number, json_text(run.name), state);
  if (!error.empty()) out += fmt::format(R"("error":{},)", json_text(error));
  return out + fmt::format(R"("bytes":{},"modified":{},"files":{},"hash":"{}"}})", run.stamp.bytes,
                           run.stamp.modified, run.files.size(), run.stamp.hash);
}

Refusal unreadable(const std::string& error) {
  return {422, error, "`stepscope validate` says how much of a file can be read."};
}

}  // namespace

std::string list_of(const FoundRun& run) {
  return fmt::format("{}\n{}{}", kListHead, listed_run(0, run, "ok", ""), kListTail);
}

Runs::Runs(RunFinder finder, std::int64_t budget, std::chrono::milliseconds pause)
    : pause_(pause), opened_(budget == 0 ? half_of_memory() : budget), finder_(std::move(finder)) {}

void Runs::look_again() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  for (Known& known : known_) known.found.reset();
  for (FoundRun& run : finder_.find()) {
    const std::string key = run.name + '\n' + run.files.front();
    const std::size_t number = numbers_.try_emplace(key, known_.size()).first->second;
    if (number == known_.size()) known_.emplace_back();
    Known& known = known_[number];
    if (!known.read_hash.empty() && known.read_hash != run.stamp.hash)
      opened_.forget(key_of(number, known.read_hash));
    known.found = std::move(run);
  }
  const auto end = std::chrono::steady_clock::now();
  using Duration = std::chrono::steady_clock::duration;
  next_look_ = end + std::clamp<Duration>(kPausePerLook * (end - now), pause_, kMaxPauses * pause_);
}

std::size_t Runs::count() {
  const std::lock_guard lock(mutex_);
  look_again();
  std::size_t count = 0;
  for (const Known& known : known_) count += known.found ? 1 : 0;
  return count;
}

std::string Runs::listed() {
  const std::lock_guard lock(mutex_);
  look_again();
  std::string out(kListHead);
  std::string_view separator = "\n";
  for (std::size_t number = 0; number < known_.size(); ++number) {
    const Known& known = known_[number];
    if (!known.found) continue;
    const std::string_view state = state_of(*known.found, known.read_hash, !known.error.empty());
    out += std::exchange(separator, ",\n");
    out += listed_run(number, *known.found, state, state == "unreadable" ? known.error : "");
  }
  out += kListTail;
  return out;
}

FoundRun Runs::found(std::size_t number) {
  const std::lock_guard lock(mutex_);
  look_again();
  if (number >= known_.size() || !known_[number].found)
    throw Refusal{404, fmt::format("there is no run {}", number), "api/runs lists them."};
  return *known_[number].found;
}

void Runs::note_read(std::size_t number, const FoundRun& run, std::string error) {
  const std::lock_guard lock(mutex_);
  known_[number].read_hash = run.stamp.hash;
  known_[number].error = std::move(error);
}

Runs::Opened Runs::read(std::size_t number, const FoundRun& run) {
  auto trace = read::open(run.files);
  const auto now = stamp_of(run.files);
  if (!now || now->hash != run.stamp.hash)
    throw Refusal{409, "the recording changed while it was read", "Ask again when it is complete."};
  note_read(number, run, trace ? "" : trace.error().text());
  if (!trace) throw unreadable(trace.error().text());
  return std::make_shared<const OpenRun>(std::make_shared<const trace::Trace>(std::move(*trace)), run.files);
}

Runs::Opened Runs::open(std::size_t number, const FoundRun& run) {
  {
    const std::lock_guard lock(mutex_);
    const Known& known = known_.at(number);
    if (known.read_hash == run.stamp.hash && !known.error.empty()) throw unreadable(known.error);
  }
  return opened_.get(key_of(number, run.stamp.hash), estimated_bytes(run), [&] { return read(number, run); });
}

}  // namespace stepscope::serve
