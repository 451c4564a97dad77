#include "read/merged.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "read/json_members.h"
#include "read/json_text.h"

namespace stepscope::read {

std::size_t find_control(std::string_view text) {
  constexpr std::size_t kPiece = 4096;
  for (std::size_t from = 0; from < text.size(); from += kPiece) {
    const std::string_view piece = text.substr(from, kPiece);
    unsigned found = 0;
    for (const char c : piece) found |= static_cast<unsigned>(is_control(c));
    if (found != 0)
      return from +
             static_cast<std::size_t>(std::find_if(piece.begin(), piece.end(), is_control) - piece.begin());
  }
  return std::string_view::npos;
}

/// The file's text from some place on, in which section starts are looked for.
struct MergedFile::Stream {
  std::unique_ptr<ByteSource> source;
  std::string text;          ///< read and not yet given out
  std::size_t at = 0;        ///< of `text`: where it begins
  bool ended = false;        ///< nothing stands behind `text`
  std::string name;          ///< of the source whose section was begun last
  bool begun = false;        ///< that section is still to be given out
  std::int64_t dropped = 0;  ///< bytes of the file that stood in front of `text`

  std::int64_t offset() const { return dropped + static_cast<std::int64_t>(at); }

  /// Reads on. False at the end.
  bool fetch() {
    constexpr std::size_t kChunk = std::size_t{1} << 20;
    dropped += static_cast<std::int64_t>(at);
    text.erase(0, std::exchange(at, 0));
    const std::size_t size = text.size();
    text.resize(size + kChunk);
    const std::size_t got = source->read(text.data() + size, kChunk);
    text.resize(size + got);
    ended = got == 0;
    return !ended;
  }

  /// Bytes that may be given out before a boundary, or what may be the start of one.
  std::size_t before_boundary(bool& boundary) const {
    const std::string_view rest = std::string_view(text).substr(at);
    const std::size_t found = std::min(rest.find(kSectionStart), rest.find(kSectionsEnd));
    boundary = found != std::string_view::npos;
    if (boundary) return found;
    const std::size_t kept = ended ? 0 : std::max(kSectionStart.size(), kSectionsEnd.size()) - 1;
    return rest.size() > kept ? rest.size() - kept : 0;
  }

  /// Moves behind the next section's first line, but for the line's end.
  bool enter_section() {
    for (;;) {
      bool boundary = false;
      at += before_boundary(boundary);
      if (boundary) break;
      if (ended || !fetch()) return false;
    }
    if (std::string_view(text).substr(at).starts_with(kSectionsEnd)) return false;
    ++at;
    std::size_t line;
    while ((line = text.find('\n', at)) == std::string::npos)
      if (!fetch()) return false;
    std::string_view event = std::string_view(text).substr(at, line - at);
    event = event.substr(0, event.find_last_of('}') + 1);
    name = text_of(member(members_of(member(members_of(event), "args")), "source"));
    at = line;
    return begun = true;
  }
};

namespace {

/// A section, between what makes it a document.
class SectionBytes : public ByteSource {
 public:
  SectionBytes(std::shared_ptr<MergedFile::Stream> stream, std::string head)
      : stream_(std::move(stream)), frame_(std::move(head)) {
    stored_size = stream_->source->stored_size;
    compressed = stream_->source->compressed;
  }

  std::size_t read(char* out, std::size_t size) override {
    std::size_t got = 0;
    while (got < size) {
      if (frame_at_ < frame_.size()) {
        const std::size_t n = frame_.copy(out + got, size - got, frame_at_);
        frame_at_ += n;
        got += n;
        continue;
      }
      if (done_) break;
      bool boundary = false;
      const std::size_t n = std::min(stream_->before_boundary(boundary), size - got);
      look_for_damage(std::string_view(stream_->text).substr(stream_->at, n));
      std::memcpy(out + got, stream_->text.data() + stream_->at, n);
      stream_->at += n;
      got += n;
      if (n != 0) continue;
      if (boundary) {
        frame_ = "]}";
        frame_at_ = 0;
        done_ = true;
      } else if (stream_->ended || (!stream_->fetch() && stream_->at == stream_->text.size())) {
        done_ = true;
      }
      take_faults(*stream_->source);
    }
    return got;
  }
  std::int64_t position() const override { return stream_->source->position(); }

 private:
  void look_for_damage(std::string_view text) {
    const std::size_t found = damaged_ ? std::string_view::npos : find_control(text);
    if (found == std::string_view::npos) return;
    damaged_ = true;
    add_fault(
        stream_->offset() + static_cast<std::int64_t>(found),
        "bytes stand here in the merged file that merging never writes: it was damaged since; merge the "
        "ranks again");
  }

  std::shared_ptr<MergedFile::Stream> stream_;
  bool damaged_ = false;
  std::string frame_;  ///< text that stands before and behind the section
  std::size_t frame_at_ = 0;
  bool done_ = false;
};

MergedSource source_of(std::string_view entry) {
  const auto members = members_of(entry);
  MergedSource source;
  source.name = text_of(member(members, "source"));
  source.rank = integer_of(member(members, "rank"), -1);
  source.foreign = member(members, "kind") == "\"foreign\"";
  source.head = members_of(member(members, "head"));
  source.alignment = member(members, "alignment");
  for (const std::string& text : elements_of(member(members, "processes"))) {
    const auto process = members_of(text);
    source.processes.push_back({integer_of(member(process, "pid"), -1), 0, text_of(member(process, "was")),
                                text_of(member(process, "name"))});
  }
  for (const std::string& text : elements_of(member(members, "threads"))) {
    const auto thread = members_of(text);
    source.threads.push_back({integer_of(member(thread, "pid"), -1), integer_of(member(thread, "tid"), -1),
                              text_of(member(thread, "was")), ""});
  }
  for (const std::string& shift : elements_of(member(members, "id_shifts")))
    source.id_shifts.push_back(integer_of(shift, 0));
  source.id_shifts.resize(kIdSpaces);
  return source;
}

/// The document's head up to its event list, "" when that does not come.
std::string head_of(MergedFile::Stream& stream) {
  constexpr std::string_view kEvents = "\n\"traceEvents\":[";
  std::size_t from = 0, found;
  while ((found = stream.text.find(kEvents, from)) == std::string::npos) {
    from = stream.text.size() - std::min(stream.text.size(), kEvents.size());
    if (!stream.fetch()) return "";
  }
  std::string head = stream.text.substr(0, found);
  stream.at = found + kEvents.size();
  return head + "\n\"end\":0}";
}

std::string document_start(const MergedSource& source) {
  std::string text = "{";
  for (const auto& [key, value] : source.head)
    if (key != "traceEvents") text += "\"" + key + "\":" + value + ",";
  return text + "\"traceEvents\":[";
}

}  // namespace

Result<std::optional<MergedFile>> MergedFile::open(const std::string& path) {
  auto bytes = open_bytes(path);
  if (!bytes) return bytes.error();
  auto stream = std::make_shared<Stream>();
  if (peek(*bytes, kMergedStart.size()) != kMergedStart) return std::optional<MergedFile>();
  stream->source = std::move(*bytes);
  MergedFile file;
  file.path_ = path;
  const std::string head_text = head_of(*stream);
  const auto head = members_of(head_text);
  for (const std::string& entry : elements_of(member(head, "ranks"))) {
    if (member(members_of(entry), "head").empty()) break;  // the last of its keys
    file.sources_.push_back(source_of(entry));
  }
  if (const std::size_t at = find_control(head_text); at != std::string::npos)
    file.head_faults_.push_back(Error{"the head of the merged file is damaged here; merge the ranks again",
                                      path, static_cast<std::int64_t>(at)}
                                    .text());
  const auto alignments = elements_of(member(head, "stepscope.alignment"));
  for (std::size_t i = 0; i < std::min(alignments.size(), file.sources_.size()); ++i)
    file.sources_[i].alignment = alignments[i];
  file.base_ns_ = integer_of(member(head, "baseTimeNanoseconds"), 0);
  if (file.sources_.empty())
    return Error{"is a merged file without its list of ranks: its head is damaged; merge the ranks again",
                 path};
  file.stream_ = std::move(stream);
  return std::optional(std::move(file));
}

bool MergedFile::find_section(std::size_t index) {
  const auto from = sources_.begin() + static_cast<std::ptrdiff_t>(index);
  while (stream_->begun || stream_->enter_section()) {
    const auto of = std::find_if(from, sources_.end(),
                                 [&](const MergedSource& source) { return source.name == stream_->name; });
    if (of != from && of != sources_.end()) return false;
    stream_->begun = false;
    if (of == from) return true;  // else of a source that the head lost
  }
  return false;
}

Result<std::unique_ptr<ByteSource>> MergedFile::section(std::size_t index) {
  if (index < next_) {
    auto again = open(path_);
    if (!again) return again.error();
    if (!*again) return Error{"changed while it was read", path_};
    *this = std::move(**again);
  }
  bool found = false;
  while (next_ <= index) found = find_section(next_++);
  const std::string& name = sources_[index].name;
  if (!found && stream_->begun)
    return Error{
        "the merged file is damaged where the events of " + name + " should begin; merge the ranks again",
        path_};
  if (!found) return Error{"the merged file ends before the events of " + name + ": it was cut", path_};
  return std::unique_ptr<ByteSource>(
      std::make_unique<SectionBytes>(stream_, document_start(sources_[index])));
}

namespace {

/// The text from the list of totals to the end of the document; "" when that does not come. The stream stands
/// behind it then.
std::string totals_text(MergedFile::Stream& stream) {
  constexpr std::string_view kEnd = "\n]}";
  while (stream.enter_section()) continue;
  if (!std::string_view(stream.text).substr(stream.at).starts_with(kSectionsEnd)) return "";
  std::size_t end;
  while ((end = stream.text.find(kEnd, stream.at + kSectionsEnd.size())) == std::string::npos)
    if (!stream.fetch()) return "";
  const std::size_t from = stream.at + kSectionsEnd.size() + 1;
  std::string text = stream.text.substr(from, end + 2 - from);
  stream.at = end + kEnd.size();
  return text;
}

/// Whether anything but space stands where the stream is.
bool more_text(MergedFile::Stream& stream) {
  for (;;) {
    stream.at = std::min(stream.text.find_first_not_of(" \t\r\n", stream.at), stream.text.size());
    if (stream.at < stream.text.size()) return true;
    if (!stream.fetch()) return false;
  }
}

void describe(trace::Reading& reading, trace::Loss loss) {
  constexpr std::size_t kDescribed = 16;
  if (reading.first_losses.size() < kDescribed) reading.first_losses.push_back(std::move(loss));
}

}  // namespace

MergedTotal total_of(std::string_view entry) {
  const auto members = members_of(entry);
  MergedTotal total;
  total.name = text_of(member(members, "source"));
  total.events = integer_of(member(members, "events"), -1);
  trace::Reading& damage = total.damage;
  damage.losses = integer_of(member(members, "damaged_stretches"), 0);
  damage.lost_bytes = integer_of(member(members, "lost_bytes"), 0);
  damage.complete = member(members, "complete") != "false";
  for (const std::string& text : elements_of(member(members, "losses"))) {
    const auto loss = members_of(text);
    damage.first_losses.push_back({integer_of(member(loss, "byte"), -1),
                                   integer_of(member(loss, "bytes"), -1), text_of(member(loss, "reason"))});
  }
  return total;
}

MergedEnd MergedFile::end(bool cut_is_known) {
  MergedEnd end;
  end.faults = head_faults_;
  end.totals.resize(sources_.size());
  const std::string text = totals_text(*stream_);
  const auto entries = elements_of(text);
  std::size_t next = 0;
  for (const std::string& entry : entries) {
    MergedTotal total = total_of(entry);
    if (next < sources_.size() && total.name == sources_[next].name)
      end.totals[next++] = std::move(total);
    else
      end.faults.push_back(
          Error{fmt::format("its {} events are in the merged file, whose head is damaged and does not name "
                            "it; merge the ranks again",
                            total.events),
                path_ + "/" + total.name}
              .text());
  }
  const bool cut = next < sources_.size();
  if (cut && !cut_is_known)
    end.faults.push_back(
        Error{"the end of the merged file, which says what it holds, is cut or damaged; merge "
              "the ranks again",
              path_}
            .text());
  if (!cut && more_text(*stream_))
    end.faults.push_back(
        Error{"text stands behind the end of the document; give what stands there as a file "
              "of its own",
              path_, stream_->offset()}
            .text());
  return end;
}

void add_damage(trace::Reading& reading, const trace::Reading& damage, const std::string& since) {
  constexpr std::int64_t kMax = std::int64_t{1} << 50;
  for (trace::Loss loss : damage.first_losses) {
    if (!loss.reason.ends_with(since)) loss.reason += since;
    describe(reading, std::move(loss));
  }
  reading.losses += std::clamp<std::int64_t>(damage.losses, 0, kMax);
  reading.lost_bytes += std::clamp<std::int64_t>(damage.lost_bytes, 0, kMax);
  reading.complete &= damage.complete;
}

void count_merged(trace::Reading& reading, const std::optional<MergedTotal>& total) {
  if (!total) return;
  add_damage(reading, total->damage, "; so it was in " + total->name + " when that was merged");
  if (total->events < 0 || total->events == reading.events) return;
  ++reading.losses;
  describe(reading,
           {0, -1,
            fmt::format(
                "{} events of {} were merged and {} are here: the merged file was damaged since; merge the "
                "ranks again",
                total->events, total->name, reading.events)});
}

std::optional<Error> perfetto_error(std::string_view head, const std::string& path) {
  const std::size_t text = head.find_first_not_of(" \t\r\n");
  if (!head.starts_with('\n') || text == std::string_view::npos || head[text] == '{' || head[text] == '[')
    return std::nullopt;  // a packet is field 1 with its length
  return Error{"is a Perfetto trace, which only Perfetto reads; give the .json files that it was made of",
               path};
}

std::optional<IdSpace> id_space_of(std::string_view key) {
  struct Known {
    std::string_view key;
    IdSpace space;
  };
  constexpr Known kKnown[] = {
      {"correlation", IdSpace::link}, {"External id", IdSpace::link},
      {"external id", IdSpace::link}, {"wait_on_cuda_event_record_corr_id", IdSpace::link},
      {"bind_id", IdSpace::link},     {"Ev Idx", IdSpace::index},
      {"Python id", IdSpace::python}, {"Python parent id", IdSpace::python},
      {"graph id", IdSpace::graph},   {"graph node id", IdSpace::graph},
  };
  for (const Known& known : kKnown)
    if (known.key == key) return known.space;
  return std::nullopt;
}

namespace {

/// Undoes the renaming in one vocabulary and the batches that use it.
class Restorer {
 public:
  Restorer(const MergedSource& source, Vocabulary& words) : source_(source), words_(words) {
    for (const Renamed& r : source.processes) processes_[r.pid] = r.was, given_.insert(r.name);
    for (const Renamed& r : source.threads) threads_[{r.pid, r.tid}] = r.was;
    for (TrackKey& track : words.tracks) restore(track.pid, track.tid);
    id_fields_.resize(words.schemas.size());
    for (trace::SchemaId id = 0; id < words.schemas.size(); ++id) {
      std::size_t position = 0;
      for (const trace::ArgField field : words.schemas.fields(id)) {
        if (const auto space = id_space_of(words.strings[field.key]))
          id_fields_[id].push_back({position, *space});
        ++position;
      }
    }
  }

  void restore(Batch& batch, std::int64_t to_source_base) {
    std::erase_if(batch.names, [&](const NameEvent& event) {
      return words_.strings[event.what] == "process_name" && given_.contains(words_.strings[event.name]);
    });
    for (NameEvent& event : batch.names) restore(event.pid, event.tid);
    std::size_t at = batch.first_value;
    for (ParsedRow& row : batch.rows) {
      row.start += to_source_base, row.end += to_source_base;
      restore_ids(row.schema, words_.values, at, batch);
      at += words_.schemas.fields(row.schema).size();
    }
    for (HalfEvent& half : batch.halves) {
      half.time += to_source_base;
      restore_ids(half.schema, words_.half_values, half.args_at, batch);
    }
    for (ParsedFlow& flow : batch.flows) {
      flow.time += to_source_base;
      if (!is_no_id(flow.id)) flow.id -= source_.id_shifts[static_cast<std::size_t>(IdSpace::link)];
    }
  }

 private:
  struct IdField {
    std::size_t position;
    IdSpace space;
  };

  void restore(Ident& id, const std::string& was) {
    const std::int64_t number = integer_of(was, -1);
    const bool text = std::to_string(number) != was;
    id = {text ? std::int64_t{words_.strings.intern(was)} : number, text};
  }
  void restore(Ident& pid, Ident& tid) {
    if (pid.text) return;
    const auto thread = tid.text ? threads_.end() : threads_.find({pid.value, tid.value});
    const auto process = processes_.find(pid.value);
    if (thread != threads_.end()) restore(tid, thread->second);
    if (process != processes_.end()) restore(pid, process->second);
  }

  void restore_ids(trace::SchemaId schema, trace::Values& values, std::size_t at, Batch& batch) {
    for (const IdField& field : id_fields_[schema]) {
      const std::int64_t shift = source_.id_shifts[static_cast<std::size_t>(field.space)];
      std::int64_t& value = values[at + field.position];
      const trace::ArgType type = words_.schemas.fields(schema)[field.position].type;
      if (type == trace::ArgType::integer && !is_no_id(value)) value -= shift;
      if (type != trace::ArgType::text) continue;
      const std::int64_t number = integer_of(words_.strings[static_cast<trace::StringId>(value)], 0);
      if (is_no_id(number)) continue;
      value = words_.strings.intern(std::to_string(number - shift));
      batch.first_uses.push_back(static_cast<trace::StringId>(value));
    }
  }

  const MergedSource& source_;
  Vocabulary& words_;
  std::map<std::int64_t, std::string> processes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> threads_;
  std::set<std::string, std::less<>> given_;
  std::vector<std::vector<IdField>> id_fields_;  // by schema
};

}  // namespace

void restore_source(ParsedFile& file, const MergedSource& source, std::int64_t merged_base_ns) {
  for (std::uint32_t v = 0; v < file.words.size(); ++v) {
    Restorer restorer(source, file.words[v]);
    for (Batch& batch : file.batches)
      if (batch.vocabulary == v) restorer.restore(batch, merged_base_ns - file.rank.base_ns);
  }
}

}  // namespace stepscope::read
