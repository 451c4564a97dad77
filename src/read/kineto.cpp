#include "read/kineto.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

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

/// Walks the document around the events: top-level keys, the event list, the end.
class DocumentParser {
 public:
  DocumentParser(Vocabulary& words) : events_(words) {}

  Place place = Place::start;
  bool bare_array = false;
  TopLevel top_level;

  /// Parses a block from `p` on; returns the first byte not consumed (the block's end when all was).
  const char* parse(const Block& block, Batch& batch, const char* p) {
    block_ = &block;
    batch_ = &batch;
    while (p < block.end()) {
      const char* before = p;
      const bool moved = place == Place::events ? parse_event(p) : place == Place::top ? parse_top(p) : parse_edge(p);
      if (!moved) return before;
    }
    return block.end();
  }

  /// The text from `p` on cannot be used; goes on at the next event of this block, or gives up the block.
  const char* resync(const char* p, const char* why) {
    const char* next = next_event(p + 1, block_->end());
    const char* to = next != nullptr ? next : block_->end();
    batch_->lose(block_->offset + (p - block_->begin()), to - p, why);
    place = Place::events;
    return to;
  }

 private:
  bool parse_event(const char*& p) {
    p = skip_space(p);
    if (p >= block_->end()) return true;
    if (*p == ',') { ++p; return true; }
    if (*p == ']') { ++p; place = bare_array ? Place::done : Place::top; return true; }
    if (*p != '{') {
      p = resync(p, "something that is not an event stood in the event list");
      return true;
    }
    switch (events_.parse(p, *block_, *batch_)) {
      case EventParser::Outcome::read: return true;
      case EventParser::Outcome::cut: return false;
      case EventParser::Outcome::damaged: break;
    }
    p = resync(p, events_.damage());
    return true;
  }

  bool parse_top(const char*& p) {
    p = skip_space(p);
    const char* end = block_->end();
    if (p >= end) return true;
    if (*p == ',') { ++p; return true; }
    if (*p == '}') { ++p; place = Place::done; return true; }
    const char* from = p;
    bool escaped = false;
    if (*p != '"') { p = resync(p, "a key was expected in the top-level object"); return true; }
    const char* close = string_end(p + 1, end, escaped);
    if (close == nullptr) return retreat(p, from);
    const std::string_view key(from + 1, static_cast<std::size_t>(close - from - 1));
    p = skip_space(close + 1);
    if (p >= end) return retreat(p, from);
    if (*p != ':') { p = resync(from, "a colon was expected behind this top-level key"); return true; }
    p = skip_space(p + 1);
    if (p >= end) return retreat(p, from);
    if (key == "traceEvents" && *p == '[') { ++p; place = Place::events; return true; }
    const char* behind = value_end(p, end);
    if (behind == nullptr) return retreat(p, from);
    if (behind == p) { p = resync(from, "a value was expected behind this top-level key"); return true; }
    top_level.emplace_back(std::string(key), std::string(p, behind));
    p = behind;
    return true;
  }

  bool parse_edge(const char*& p) {
    p = skip_space(p);
    if (p >= block_->end()) return true;
    if (place == Place::start) {
      constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
      if (std::string_view(p, static_cast<std::size_t>(block_->end() - p)).starts_with(kByteOrderMark)) p += kByteOrderMark.size();
      if (*p == '{') { ++p; place = Place::top; return true; }
      if (*p == '[') { ++p; place = Place::events; bare_array = true; return true; }
      p = resync(p, "the text does not begin with { or [");
      return true;
    }
    batch_->lose(block_->offset + (p - block_->begin()), block_->end() - p, "text stands behind the end of the document");
    p = block_->end();
    return true;
  }

  static bool retreat(const char*& p, const char* to) { p = to; return false; }

  EventParser events_;
  const Block* block_ = nullptr;
  Batch* batch_ = nullptr;
};

/// What one pass over a file gave.
struct Pass {
  std::vector<Batch> batches;
  std::vector<Vocabulary> words;
  TopLevel top_level;
  std::int64_t text_bytes = 0;
  bool complete = false;
  std::vector<ByteFault> faults;
  bool compressed = false;
};

void reserve_rows(Batch& batch, std::size_t text_bytes) {
  const std::size_t rows = text_bytes / 220 + 16;
  trace::EventTable& e = batch.events;
  e.start.reserve(rows), e.end.reserve(rows), e.name.reserve(rows), e.category.reserve(rows), e.kind.reserve(rows);
  e.track.reserve(rows), e.schema.reserve(rows), e.args_at.reserve(rows), e.source.reserve(rows);
  batch.values.reserve(rows * 5);
}

/// One thread, text handed over from block to block: right for any document.
Pass read_serially(ByteSource& source, const KinetoOptions& options) {
  Pass pass;
  pass.words.resize(1);
  BlockReader reader(source, false);
  DocumentParser parser(pass.words[0]);
  Block block;
  while (reader.next(block)) {
    Batch batch;
    batch.index = block.index;
    reserve_rows(batch, block.size);
    const char* rest = parser.parse(block, batch, block.begin());
    while (rest != block.end() && (block.last || block.size >= BlockReader::kMostBlock)) {
      rest = parser.resync(rest, block.last ? "the text ends here in the middle: the file was cut"
                                            : "more than 64 MiB without an end of an event");
      rest = parser.parse(block, batch, rest);
    }
    if (rest != block.end()) reader.unread({rest, static_cast<std::size_t>(block.end() - rest)});
    pass.batches.push_back(std::move(batch));
    if (options.progress) options.progress(reader.stored_position());
  }
  pass.top_level = std::move(parser.top_level);
  pass.text_bytes = reader.bytes_read();
  pass.complete = parser.place == Place::done;
  return pass;
}

/// Several threads, each proving where the next one's block begins. Nothing when a guess was wrong.
std::optional<Pass> read_in_parallel(ByteSource& source, const KinetoOptions& options) {
  Pass pass;
  pass.words.resize(options.threads);
  BlockReader reader(source, true);
  std::mutex mutex;
  std::atomic<bool> wrong{false};
  const auto work = [&](std::size_t thread) {
    DocumentParser parser(pass.words[thread]);
    Block block;
    while (!wrong && reader.next(block)) {
      Batch batch;
      batch.index = block.index;
      batch.vocabulary = static_cast<std::uint32_t>(thread);
      reserve_rows(batch, block.size);
      parser.place = block.index == 0 ? Place::start : Place::events;
      parser.top_level.clear();
      const bool whole = parser.parse(block, batch, block.begin()) == block.end();
      if (!whole || (!block.last && parser.place != Place::events) || parser.bare_array) wrong = true;
      const std::lock_guard lock(mutex);
      for (auto& entry : parser.top_level) pass.top_level.push_back(std::move(entry));
      if (block.last) pass.complete = parser.place == Place::done;
      pass.batches.push_back(std::move(batch));
      if (options.progress) options.progress(reader.stored_position());
    }
  };
  parallel_for(options.threads, options.threads, work);
  if (wrong) return std::nullopt;
  pass.text_bytes = reader.bytes_read();
  std::sort(pass.batches.begin(), pass.batches.end(), [](const Batch& a, const Batch& b) { return a.index < b.index; });
  return pass;
}

void count_reading(trace::Rank& rank, const Pass& pass) {
  trace::Reading& reading = rank.reading;
  reading.format = "kineto";
  reading.text_bytes = pass.text_bytes;
  reading.complete = pass.complete;
  for (const ByteFault& fault : pass.faults) {
    reading.first_losses.push_back({fault.offset, -1, fault.reason});
    ++reading.losses;
  }
  for (const Batch& batch : pass.batches) {
    reading.events += batch.listed;
    reading.losses += batch.loss_count;
    reading.lost_bytes += batch.lost_bytes;
    reading.clamped_times += batch.clamped_times;
    for (const trace::Loss& loss : batch.losses)
      if (reading.first_losses.size() < 16) reading.first_losses.push_back(loss);
  }
}

}  // namespace

Result<ParsedFile> parse_kineto(const std::string& path, const Reopen& reopen, const KinetoOptions& options) {
  auto source = reopen();
  if (!source) return source.error();
  std::optional<Pass> pass;
  const bool seekable = path != "-";
  if (options.threads > 1 && seekable) {
    pass = read_in_parallel(**source, options);
    if (!pass) {
      source = reopen();
      if (!source) return source.error();
    }
  }
  if (!pass) pass = read_serially(**source, options);
  pass->faults = std::move((*source)->faults);

  ParsedFile file;
  file.rank.path = path;
  count_reading(file.rank, *pass);
  const trace::Reading& reading = file.rank.reading;
  if (pass->text_bytes == 0) return Error{"the file is empty; the job may have been stopped before the profiler wrote it", path};
  if (reading.events == 0) {
    const bool damaged = !reading.first_losses.empty();
    return Error{"no event could be read: " + (damaged ? reading.first_losses.front().reason : "the document holds none") +
                     "; a trace written by torch.profiler's export_chrome_trace was expected",
                 path, damaged ? reading.first_losses.front().byte : -1};
  }
  read_head(file.rank, std::move(pass->top_level));
  file.batches = std::move(pass->batches);
  file.words = std::move(pass->words);
  std::size_t values = 0;
  for (const Batch& batch : file.batches) values += batch.values.size();
  if (values >= 0xFFFFFFFF) return Error{"the file holds more than 4 billion args, more than this version can index; record fewer steps", path};
  return file;
}

}  // namespace stepscope::read
