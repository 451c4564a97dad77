#include "merge/source.h"

#include <algorithm>
#include <filesystem>

#include "read/foreign.h"
#include "read/json_members.h"
#include "read/kineto/kind.h"
#include "read/rank_numbers.h"
#include "read/recording_text.h"
#include "read/strict/mend.h"

namespace stepscope::merge {
namespace {

namespace fs = std::filesystem;
using read::member;

constexpr std::int64_t kRelativeBelow = 1'000'000'000'000'000'000;  // ns: September 2001

/// Keys that only torch's profiler writes around the events.
bool has_torch_head(const read::TopLevel& head) {
  constexpr std::string_view kKeys[] = {"schemaVersion", "distributedInfo", "deviceProperties",
                                        "baseTimeNanoseconds", "traceName"};
  return std::any_of(std::begin(kKeys), std::end(kKeys),
                     [&](std::string_view key) { return !member(head, key).empty(); });
}

/// The text of a top-level key or value as strict JSON; the first pass has counted what that mends.
template <class Mend>
std::string strict(std::string_view text, Mend mend) {
  std::string padded(text), out;
  padded.append(read::kPadding, '\0');
  trace::Breaches counted;
  mend(std::string_view(padded.data(), text.size()), 0, out, counted);
  return out;
}

/// Whether categories are those of torch's profiler. Others write "cpu_op" too, with a "gpu_op" of their own.
bool has_torch_events(const Survey& found) {
  if (found.categories.contains("gpu_op")) return false;
  return std::any_of(found.categories.begin(), found.categories.end(), [](const std::string& category) {
    const trace::Kind kind = read::kind_of_category(category);
    return kind != trace::Kind::other && kind != trace::Kind::io;
  });
}

Result<std::vector<Source>> sections_of(const std::string& path, const read::MergedFile& merged) {
  std::vector<Source> sources;
  for (std::size_t i = 0; i < merged.sources().size(); ++i) {
    const read::MergedSource& section = merged.sources()[i];
    Source source;
    source.path = path;
    source.name = section.name;
    source.section = static_cast<std::ptrdiff_t>(i);
    source.foreign = section.foreign;
    source.dftracer = section.dftracer;
    source.rank = section.rank;
    source.place.method = Placement::Method::merged;
    source.place.carried = section.alignment;
    source.earlier = section;
    source.merged_base_ns = merged.base_ns();
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace

std::string_view name_of(Placement::Method method) {
  constexpr std::string_view kNames[] = {"wall clock", "collectives", "joined", "start", "merged"};
  return kNames[static_cast<std::size_t>(method)];
}

bool Source::relative() const {
  return base_ns == 0 && found.first_time != trace::kNoTime && found.first_time < kRelativeBelow;
}

Result<std::unique_ptr<ByteSource>> Opener::open(const Source& source) {
  if (source.section < 0) return read::open_as_text(source.path);
  if (!merged_ || path_ != source.path) {
    auto merged = read::MergedFile::open(source.path);
    if (!merged) return merged.error();
    if (!*merged) return Error{"changed while it was read; merge again when the job is done", source.path};
    merged_ = std::move(*merged);
    path_ = source.path;
  }
  return merged_->section(static_cast<std::size_t>(source.section));
}

Result<std::vector<Source>> sources_of(const std::vector<std::string>& files) {
  constexpr std::size_t kHead = std::size_t{1} << 16;
  std::vector<Source> sources;
  for (const std::string& path : files) {
    auto merged = read::MergedFile::open(path);
    if (!merged) return merged.error();
    if (*merged) {
      auto sections = sections_of(path, **merged);
      for (Source& section : *sections) sources.push_back(std::move(section));
      continue;
    }
    auto bytes = open_bytes(path);
    if (!bytes) return bytes.error();
    const std::string head = peek(*bytes, kHead);
    if (auto error = read::foreign_error(head, path)) return *error;
    Source source;
    source.path = path;
    source.name = fs::path(path).filename().string();
    source.lines = source.dftracer = read::is_pfw(path, head);
    source.foreign = source.lines || read::lists_calls(head);
    sources.push_back(std::move(source));
  }
  return sources;
}

void settle_kind(Source& source) {
  source.head.clear();
  for (const auto& [key, value] : source.walked.top_level)
    source.head.emplace_back(strict(key, read::mend_text), strict(value, read::mend_value));
  std::stable_sort(source.head.begin(), source.head.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr std::int64_t kMaxBase = 4'000'000'000'000'000'000;
  source.base_ns = source.section >= 0 ? source.merged_base_ns
                                       : read::integer_of(member(source.head, "baseTimeNanoseconds"), 0);
  if (source.base_ns <= -kMaxBase || source.base_ns >= kMaxBase) source.base_ns = 0;
  if (source.section >= 0) return;
  source.foreign |= !has_torch_head(source.head) && !has_torch_events(source.found);
  const auto distributed = read::members_of(member(source.head, "distributedInfo"));
  source.rank = read::integer_of(member(distributed, "rank"), -1);
  if (source.rank < 0 || source.rank >= read::kMaxRanks) source.rank = source.found.rank;
  if (source.rank < 0 || source.rank >= read::kMaxRanks) source.rank = read::rank_in_name(source.path);
}

}  // namespace stepscope::merge
