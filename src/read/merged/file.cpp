#include "read/merged/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "read/json_members.h"
#include "read/json_text.h"

namespace stepscope::read {

/// The rest of the file's text. Finds where sections begin.
struct MergedFile::Stream {
  std::unique_ptr<ByteSource> source;
  std::string text;          ///< read from the file, in part consumed
  std::size_t at = 0;        ///< first byte of `text` that is not consumed
  bool ended = false;        ///< `text` reaches to the end of the file
  std::string name;          ///< source of the section that was entered last
  bool begun = false;        ///< that section is not consumed yet
  std::int64_t dropped = 0;  ///< bytes of the file before `text`

  std::int64_t offset() const { return dropped + static_cast<std::int64_t>(at); }

  /// Appends the next piece of the file to `text`. False at the end.
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

  /// Bytes before the next boundary, or before a possible start of one.
  std::size_t before_boundary(bool& boundary) const {
    const std::string_view rest = std::string_view(text).substr(at);
    const std::size_t found = std::min(rest.find(kSectionStart), rest.find(kSectionsEnd));
    boundary = found != std::string_view::npos;
    if (boundary) return found;
    const std::size_t kept = ended ? 0 : std::max(kSectionStart.size(), kSectionsEnd.size()) - 1;
    return rest.size() > kept ? rest.size() - kept : 0;
  }

  /// Moves to the end of the next section's first line. False without a section.
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

/// A section as a document of its own.
class SectionBytes : public ByteSource {
 public:
  SectionBytes(std::shared_ptr<MergedFile::Stream> stream, std::string head)
      : stream_(std::move(stream)), frame_(std::move(head)) {
    stored_size = stream_->source->stored_size;
    compressed = stream_->source->compressed;
    reopens = stream_->source->reopens;
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
    const std::size_t found = damaged_ ? std::string_view::npos : find_forbidden(text);
    if (found == std::string_view::npos) return;
    damaged_ = true;
    add_fault(
        stream_->offset() + static_cast<std::int64_t>(found),
        "merging never writes the bytes that are here: the merged file was damaged later; merge the ranks "
        "again");
  }

  std::shared_ptr<MergedFile::Stream> stream_;
  bool damaged_ = false;
  std::string frame_;  ///< the document's head, then its tail
  std::size_t frame_at_ = 0;
  bool done_ = false;
};

/// The document's head up to its event list, "" without a list.
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
    if (member(members_of(entry), "head").empty()) break;  // its last key is missing: the entry is cut
    file.sources_.push_back(source_of(entry));
  }
  if (const std::size_t at = find_forbidden(head_text); at != std::string::npos)
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
    if (of == from) return true;  // otherwise it belongs to a source that the head does not name
  }
  return false;
}

Result<std::unique_ptr<ByteSource>> MergedFile::section(std::size_t index) {
  if (index < next_) {
    auto again = open(path_);
    if (!again) return again.error();
    if (!*again) return Error{"changed while it was read; run again when nothing writes to it", path_};
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

/// The text from the list of totals to the end of the document, "" without a list. Moves the stream past it.
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

/// Whether anything but space follows in the stream.
bool more_text(MergedFile::Stream& stream) {
  for (;;) {
    stream.at = std::min(stream.text.find_first_not_of(" \t\r\n", stream.at), stream.text.size());
    if (stream.at < stream.text.size()) return true;
    if (!stream.fetch()) return false;
  }
}

}  // namespace

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
        Error{"the list of sources at the end of the merged file is cut or damaged; merge the "
              "ranks again",
              path_}
            .text());
  if (!cut && more_text(*stream_))
    end.faults.push_back(
        Error{"text follows the end of the document; put it into a file of its own", path_, stream_->offset()}
            .text());
  return end;
}

}  // namespace stepscope::read
