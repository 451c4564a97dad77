// Writes the packets of one sequence; each text is defined before its first use.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"
#include "write/perfetto_fields.h"

namespace stepscope::write {

class PerfettoPackets {
 public:
  PerfettoPackets(const trace::StringPool& strings, std::uint32_t sequence,
                  std::function<bool(std::string_view)> put)
      : strings_(strings), sequence_(sequence), put_(std::move(put)) {}

  /// Kinds of text; each is numbered separately.
  enum class Texts : std::uint8_t { category, event_name, annotation_name, annotation_text };

  /// Writes the file's first packet: both clocks at the same instant.
  void clocks(std::int64_t unix_ns);
  /// Writes a finished TrackDescriptor message.
  void describe(std::string_view descriptor);
  /// Call it before an event's first number_of().
  void begin_event() { refresh_if_due(); }
  /// The number of this text, for use in the next event.
  std::uint64_t number_of(Texts kind, trace::StringId text);
  /// Writes a finished TrackEvent message.
  void event(std::int64_t unix_ns, std::string_view message);
  bool closed() const { return closed_; }
  void flush();

 private:
  void packet(std::string_view body);
  void refresh_if_due();

  static constexpr std::size_t kKinds = 4;
  const trace::StringPool& strings_;
  const std::uint32_t sequence_;
  std::function<bool(std::string_view)> put_;
  std::array<std::vector<bool>, kKinds> defined_;  // by kind, then text id
  std::string interned_;                           // definitions for the next packet
  std::string out_, body_;
  std::size_t since_refresh_ = 0;
  bool started_ = false, closed_ = false;
};

}  // namespace stepscope::write
