#include "read/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "base/parallel.h"
#include "read/batch.h"
#include "read/blocks.h"
#include "read/json_text.h"
#include "read/kineto_event.h"
#include "read/kineto_head.h"

namespace stepscope::read {
namespace {

/// Where in the document a parser stands.
enum class Place : std::uint8_t {
  start,   ///< before anything
  top,     ///< in the top-level object, outside the event list
  events,  ///< in the event list
  done,    ///< behind the document
};

using TopLevel = std::vector<std::pair<std::string, std::string>>;

/// Walks the document around the events: top-level keys, the event list, the end. What it makes of a text
/// does not depend on how the text is cut into blocks.
class DocumentParser {
 public:
  DocumentParser(Vocabulary& words) : events_(words) {}

  Place place = Place::start;
  bool bare_array = false;
  TopLevel top_level;

  /// To be used for a block that another parser's block comes before.
  void start_at(Place at) {
    place = at;
    bare_array = false;
    top_level.clear();
    damaged_from_ = -1;
    wasted_ = 0;
  }

  /// Parses a block from `p` on; returns the first byte not consumed (the block's end when all was).
  const char* parse(const Block& block, Batch& batch, const char* p) {
    block_ = &block;
    batch_ = &batch;
    while (p < block.end()) {
      const char* before = p;
      const bool moved = damaged_from_ >= 0       ? seek(p)
                         : place == Place::events ? parse_event(p)
                         : place == Place::top    ? parse_top(p)
                                                  : parse_edge(p);
      if (!moved) return before;
    }
    return block.end();
  }

  /// The text from `p` on cannot be used; parse() goes on at the next event.
  void give_up(const char* p, std::string_view why) {
    if (damaged_from_ >= 0) return;
    damaged_from_ = offset_of(p);
    damage_ = why;
  }

  /// The text ends, or must be taken to end, inside the event or top-level value at `p`.
  void cut(const char* p, std::string_view why) {
    wasted_ += block_->end() - p;
    give_up(skip_space(p), why);
  }

  /// What begins at `p` is longer than the most that is held.
  void cut_long(const char* p, std::size_t most) {
    constexpr std::size_t kMebibyte = std::size_t{1} << 20;
    const bool round = most % kMebibyte == 0;
    cut(p, fmt::format("{} longer than {} {}, the most that is read of one",
                       place == Place::events ? "an event" : "a text or value",
                       round ? most / kMebibyte : most, round ? "MiB" : "bytes"));
  }

  /// True between damage and the next event.
  bool lost() const { return damaged_from_ >= 0; }

  /// No more text will come: what was being skipped is lost up to `block`'s end.
  void finish(const Block& block, Batch& batch) {
    if (lost())
      batch.lose(damaged_from_, block.offset + static_cast<std::int64_t>(block.size) - damaged_from_,
                 damage_);
  }

  void end_batch(Batch& batch) { events_.end_batch(batch); }

  /// Bytes scanned by events that failed. An event that scans far and fails may be followed by a million that
  /// do the same: when failures have cost many times the text, and not before this many bytes, events are
  /// held to a small size.
  static constexpr std::int64_t kFreeWaste = std::int64_t{1} << 26;
  std::int64_t wasted() const { return wasted_; }

 private:
  std::int64_t offset_of(const char* p) const { return block_->offset + (p - block_->begin()); }

  bool seek(const char*& p) {
    const char* next = place == Place::done ? nullptr : next_event(p, block_->end());
    if (next == nullptr) {
      p = place == Place::done ? block_->end() : undecided(p, block_->end());
      return p == block_->end();
    }
    batch_->lose(damaged_from_, offset_of(next) - damaged_from_, damage_);
    damaged_from_ = -1;
    place = Place::events;
    p = next;
    return true;
  }

  const char* event_limit(const char* p) const {
    constexpr std::int64_t kTimes = 4;
    constexpr std::ptrdiff_t kShort = 512;
    const bool dear = wasted_ > kFreeWaste + kTimes * offset_of(p);
    return dear && block_->end() - p > kShort ? p + kShort : block_->end();
  }

  bool parse_event(const char*& p) {
    p = skip_space(p);
    if (p >= block_->end()) return true;
    if (*p == ',') {
      ++p;
      return true;
    }
    if (*p == ']') {
      ++p;
      place = bare_array ? Place::done : Place::top;
      return true;
    }
    if (*p != '{') {
      give_up(p, "something that is not an event stood in the event list");
      return true;
    }
    const char* limit = event_limit(p);
    switch (events_.parse(p, limit, *block_, *batch_)) {
      case EventParser::Outcome::read:
        return true;
      case EventParser::Outcome::cut:
        if (limit == block_->end()) return false;
        wasted_ += limit - p;
        give_up(p, "an event without an end");
        return true;
      case EventParser::Outcome::damaged:
        break;
    }
    wasted_ += events_.reached() - p;
    give_up(p, events_.damage());
    return true;
  }

  bool parse_top(const char*& p) {
    p = skip_space(p);
    const char* end = block_->end();
    if (p >= end) return true;
    if (*p == ',') {
      ++p;
      return true;
    }
    if (*p == '}') {
      ++p;
      place = Place::done;
      return true;
    }
    const char* from = p;
    bool escaped = false;
    if (*p != '"') {
      give_up(p, "a key was expected in the top-level object");
      return true;
    }
    const char* close = string_end(p + 1, end, escaped);
    if (close == nullptr) return retreat(p, from);
    const std::string_view key(from + 1, static_cast<std::size_t>(close - from - 1));
    p = skip_space(close + 1);
    if (p >= end) return retreat(p, from);
    if (*p != ':') {
      give_up(p = from, "a colon was expected behind this top-level key");
      return true;
    }
    p = skip_space(p + 1);
    if (p >= end) return retreat(p, from);
    if (key == "traceEvents" && *p == '[') {
      ++p;
      place = Place::events;
      return true;
    }
    const char* looked = p;
    const char* behind = value_end(p, end, &looked);
    if (behind == nullptr) return retreat(p, from);
    wasted_ += behind == p ? looked - p : 0;
    if (behind == p) {
      give_up(p = from, "a value was expected behind this top-level key");
      return true;
    }
    top_level.emplace_back(std::string(key), std::string(p, behind));
    p = behind;
    return true;
  }

  bool parse_edge(const char*& p) {
    p = skip_space(p);
    if (p >= block_->end()) return true;
    if (place == Place::start) {
      constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
      if (std::string_view(p, static_cast<std::size_t>(block_->end() - p)).starts_with(kByteOrderMark))
        p = skip_space(p + kByteOrderMark.size());
      if (p >= block_->end()) return true;
      if (*p == '{') {
        ++p;
        place = Place::top;
        return true;
      }
      if (*p == '[') {
        ++p;
        place = Place::events;
        bare_array = true;
        return true;
      }
      give_up(p, "the text does not begin with { or [");
      return true;
    }
    give_up(p, "text stands behind the end of the document");
    return true;
  }

  static bool retreat(const char*& p, const char* to) {
    p = to;
    return false;
  }

  EventParser events_;
  const Block* block_ = nullptr;
  Batch* batch_ = nullptr;
  std::int64_t damaged_from_ = -1;  ///< offset in the text of what is being skipped, -1 when nothing is
  std::string damage_;
  std::int64_t wasted_ = 0;
};

/// What one pass over a file gave.
struct Pass {
  std::vector<Batch> batches;
  std::vector<Vocabulary> words;
  TopLevel top_level;
  std::int64_t text_bytes = 0;
  bool complete = false;
};

/// Ends the text: an event that was cut is lost, and so is what is left of a stretch being skipped.
void parse_end(DocumentParser& parser, const Block& block, Batch& batch, const char* rest) {
  while (rest != block.end() && !parser.lost()) {
    parser.cut(rest, "the text ends here in the middle: the file was cut");
    rest = parser.parse(block, batch, rest);
  }
  parser.finish(block, batch);
}

/// One thread, text handed over from block to block: right for any document.
Pass read_serially(ByteSource& source, const KinetoOptions& options) {
  Pass pass;
  pass.words.resize(1);
  BlockReader reader(source, false, options.blocks);
  DocumentParser parser(pass.words[0]);
  Block block;
  while (reader.next(block)) {
    Batch batch;
    batch.index = block.index;
    const char* rest = parser.parse(block, batch, block.begin());
    while (rest != block.end() && !parser.lost() && !block.last && block.size >= options.blocks.most) {
      parser.cut_long(rest, options.blocks.most);
      rest = parser.parse(block, batch, rest);
    }
    if (block.last)
      parse_end(parser, block, batch, rest);
    else if (rest != block.end())
      reader.unread({rest, static_cast<std::size_t>(block.end() - rest)});
    parser.end_batch(batch);
    pass.batches.push_back(std::move(batch));
    if (options.progress) options.progress(reader.stored_position());
  }
  pass.top_level = std::move(parser.top_level);
  pass.text_bytes = reader.bytes_read();
  pass.complete = parser.place == Place::done && !parser.lost();
  return pass;
}

/// Several threads, each proving where the next one's block begins. Nothing when a guess was wrong, or when
/// one thread would have had no room for all schemas.
std::optional<Pass> read_in_parallel(ByteSource& source, const KinetoOptions& options) {
  Pass pass;
  pass.words.resize(options.threads);
  BlockReader reader(source, true, options.blocks);
  std::mutex mutex;
  std::map<std::uint32_t, TopLevel> top_level;
  std::atomic<bool> wrong{false};
  std::atomic<std::int64_t> wasted{0};
  const auto work = [&](std::size_t thread) {
    DocumentParser parser(pass.words[thread]);
    Block block;
    while (!wrong && reader.next(block)) {
      Batch batch;
      batch.index = block.index;
      batch.vocabulary = static_cast<std::uint32_t>(thread);
      parser.start_at(block.index == 0 ? Place::start : Place::events);
      const char* rest = parser.parse(block, batch, block.begin());
      const bool proven =
          rest == block.end() && !parser.lost() && parser.place == Place::events && !parser.bare_array;
      if (block.last)
        parse_end(parser, block, batch, rest);
      else if (!proven)
        wrong = true;
      if ((wasted += parser.wasted()) > DocumentParser::kFreeWaste) wrong = true;
      parser.end_batch(batch);
      const std::lock_guard lock(mutex);
      top_level[block.index] = std::move(parser.top_level);
      if (block.last) pass.complete = parser.place == Place::done && !parser.lost();
      pass.batches.push_back(std::move(batch));
      if (options.progress) options.progress(reader.stored_position());
    }
  };
  parallel_for(options.threads, options.threads, work);
  if (wrong || may_be_full(pass.words)) return std::nullopt;
  pass.text_bytes = reader.bytes_read();
  for (auto& [index, entries] : top_level)
    for (auto& entry : entries) pass.top_level.push_back(std::move(entry));
  std::sort(pass.batches.begin(), pass.batches.end(),
            [](const Batch& a, const Batch& b) { return a.index < b.index; });
  return pass;
}

void count_reading(trace::Rank& rank, const Pass& pass, const ByteSource& source) {
  trace::Reading& reading = rank.reading;
  reading.format = "kineto";
  reading.text_bytes = pass.text_bytes;
  reading.complete = pass.complete;
  reading.losses = source.fault_count;
  for (const ByteFault& fault : source.faults)
    reading.first_losses.push_back({fault.offset, -1, fault.reason});
  for (const Batch& batch : pass.batches) {
    reading.events += batch.listed;
    reading.losses += batch.loss_count;
    reading.lost_bytes += batch.lost_bytes;
    reading.clamped_times += batch.clamped_times;
    for (const trace::Loss& loss : batch.losses)
      if (reading.first_losses.size() < 16) reading.first_losses.push_back(loss);
  }
}

/// Why there is nothing to analyse in the file, if so.
std::optional<Error> nothing_read(const trace::Rank& rank, const Pass& pass) {
  constexpr const char* kExpected = "; a trace written by torch.profiler's export_chrome_trace was expected";
  const trace::Reading& reading = rank.reading;
  if (reading.text_bytes == 0 && reading.losses == 0)
    return Error{"the file is empty; the job may have been stopped before the profiler wrote it", rank.path};
  const bool damaged = !reading.first_losses.empty();
  const std::int64_t byte = damaged ? reading.first_losses.front().byte : -1;
  const std::string why = damaged ? ": " + reading.first_losses.front().reason : "";
  if (reading.events == 0)
    return Error{"no event could be read" + (damaged ? why : ": the document holds none") + kExpected,
                 rank.path, byte};
  std::size_t rows = 0, values = 0;
  for (const Batch& batch : pass.batches) rows += batch.rows.size() + batch.halves.size();
  for (const Vocabulary& words : pass.words) values += words.values.room() + words.half_values.room();
  if (rows == 0)
    return Error{"none of the events in the file has a usable time" + why + kExpected, rank.path, byte};
  if (values >= 0xFFFFFFFF || rows >= 0xFFFFFFFF)
    return Error{
        "the file holds more than 4 billion events or args, more than this version can index; record fewer "
        "steps",
        rank.path};
  return std::nullopt;
}

}  // namespace

Result<ParsedFile> parse_kineto(const std::string& path, const Reopen& reopen, const KinetoOptions& options) {
  auto source = reopen();
  if (!source) return source.error();
  std::optional<Pass> pass;
  const bool can_reopen = path != "-" && (*source)->stored_size >= 0;
  if (options.threads > 1 && can_reopen) {
    pass = read_in_parallel(**source, options);
    if (!pass) {
      source = reopen();
      if (!source) return source.error();
    }
  }
  if (!pass) pass = read_serially(**source, options);

  ParsedFile file;
  file.rank.path = path == "-" ? "standard input" : path;
  count_reading(file.rank, *pass, **source);
  if (auto error = nothing_read(file.rank, *pass)) return *error;
  read_head(file.rank, std::move(pass->top_level));
  file.batches = std::move(pass->batches);
  file.words = std::move(pass->words);
  return file;
}

}  // namespace stepscope::read
