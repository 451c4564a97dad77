// ISA-L if it is installed (on x86-64 it reads three times and writes five times as fast as zlib), else
// zlib.
#include "base/gzip.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/deflate.h"

#ifdef STEPSCOPE_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

namespace stepscope {
namespace {

enum class Inflated : std::uint8_t { more, member_end, bad };

#ifdef STEPSCOPE_HAVE_ISAL

/// Inflates one gzip member at a time.
class Inflater {
 public:
  Inflater() { reset(); }
  void reset() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }
  Inflated step(const char*& in, std::size_t& in_size, char*& out, std::size_t& out_size) {
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in));
    state_.avail_in = static_cast<std::uint32_t>(in_size);
    state_.next_out = reinterpret_cast<std::uint8_t*>(out);
    state_.avail_out = static_cast<std::uint32_t>(out_size);
    const int status = isal_inflate(&state_);
    // ISA-L 2.30 may count one byte too many after an error at the end of its input.
    const std::size_t in_left = state_.avail_in <= in_size ? state_.avail_in : 0;
    in += in_size - in_left;
    out += out_size - state_.avail_out;
    in_size = in_left;
    out_size = state_.avail_out;
    if (status < 0) return Inflated::bad;
    return state_.block_state == ISAL_BLOCK_FINISH ? Inflated::member_end : Inflated::more;
  }
  /// Text before an error that did not fit into the caller's buffer.
  std::string_view held_back() const {
    if (state_.tmp_out_valid <= state_.tmp_out_processed) return {};
    const auto size = static_cast<std::size_t>(state_.tmp_out_valid - state_.tmp_out_processed);
    return {reinterpret_cast<const char*>(state_.tmp_out_buffer) + state_.tmp_out_processed, size};
  }

 private:
  inflate_state state_{};
};

#else

class Inflater {
 public:
  Inflater() { inflateInit2(&state_, 15 + 16); }
  ~Inflater() { inflateEnd(&state_); }
  void reset() { inflateReset(&state_); }
  Inflated step(const char*& in, std::size_t& in_size, char*& out, std::size_t& out_size) {
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in));
    state_.avail_in = static_cast<uInt>(in_size);
    state_.next_out = reinterpret_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(out_size);
    const int status = inflate(&state_, Z_NO_FLUSH);
    in += in_size - state_.avail_in;
    out += out_size - state_.avail_out;
    in_size = state_.avail_in;
    out_size = state_.avail_out;
    if (status == Z_STREAM_END) return Inflated::member_end;
    return status == Z_OK || status == Z_BUF_ERROR ? Inflated::more : Inflated::bad;
  }

  std::string_view held_back() const { return {}; }

 private:
  z_stream state_{};
};

#endif

class GzipBytes : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> stored)
      : stored_(std::move(stored)), buffer_(kBuffer + kSlack) {
    stored_size = stored_->stored_size;
    reopens = stored_->reopens;
    compressed = true;
  }

  std::size_t read(char* out, std::size_t size) override {
    char* at = out;
    std::size_t left = size;
    while (left > 0 && (!done_ || !held_.empty())) {
      if (!held_.empty()) {
        give_held(at, left);
        continue;
      }
      if (in_size_ == 0 && !refill() && !in_member_ && !finish_input()) break;
      if (seeking_ && !find_member()) continue;
      if (!in_member_) member_ = in_;
      in_member_ = true;
      const std::size_t in_before = in_size_, left_before = left;
      switch (inflater_.step(in_, in_size_, at, left)) {
        case Inflated::member_end:
          in_member_ = false;
          inflater_.reset();
          seeking_ = true;
          clean_ = true;
          break;
        case Inflated::bad:
          held_ = inflater_.held_back();
          add_fault(offset(),
                    "the gzip data is damaged here; reading continues at the next gzip member, if any");
          skip_bad_byte(in_before);
          break;
        case Inflated::more:
          if (in_size_ != in_before || left != left_before) break;
          if (in_size_ == 0)
            finish_input();  // only now, as the inflater may have held text back
          else
            skip_bad_byte(in_before);
          break;
      }
    }
    return size - left;
  }

  std::int64_t position() const override { return stored_->position(); }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18, kSlack = 64;

  std::int64_t offset() const { return stored_->position() - static_cast<std::int64_t>(in_size_); }

  void give_held(char*& at, std::size_t& left) {
    const std::size_t n = held_.copy(at, left);
    held_.erase(0, n);
    at += n;
    left -= n;
  }

  bool refill() {
    in_ = buffer_.data();
    in_size_ = stored_->read(buffer_.data(), kBuffer);
    if (in_size_ != 0) {
      filled_ = in_size_;
      member_ = nullptr;
    }
    take_faults(*stored_);
    return in_size_ != 0;
  }

  /// Handles the end of the stored bytes. True if there is another member to try.
  bool finish_input() {
    if (in_member_) {
      add_fault(offset(), "the gzip file is incomplete: it was cut off, or the job that wrote it was killed");
      in_ = buffer_.data() + filled_;
      leave_member();
      if (go_back()) return true;
    }
    done_ = true;
    return false;
  }

  void skip_bad_byte(std::size_t in_before) {
    if (in_size_ == in_before && in_size_ > 0) {
      ++in_;
      --in_size_;
    }
    leave_member();
    go_back();
  }

  void leave_member() {
    inflater_.reset();
    in_member_ = false;
    seeking_ = true;
    clean_ = false;
  }

  /// Damage is noticed late: bytes read as the damaged member's data may contain the start of the next
  /// member. Goes back to it if it is still in the buffer. The total distance is bounded by a multiple of the
  /// file's size, even for hostile files.
  bool go_back() {
    const char* from = member_ != nullptr ? member_ + 1 : buffer_.data();
    const char* candidate = std::search(from, in_, kMemberStart.begin(), kMemberStart.end());
    while (candidate != in_ && !starts_member(candidate, in_))
      candidate = std::search(candidate + 1, in_, kMemberStart.begin(), kMemberStart.end());
    if (candidate == in_) return false;
    gone_back_ += in_ - candidate;
    if (gone_back_ > 8 * stored_->position()) return false;
    in_size_ += static_cast<std::size_t>(in_ - candidate);
    in_ = candidate;
    member_ = candidate;
    return true;
  }

  static constexpr std::string_view kMemberStart = "\x1f\x8b\x08";

  /// True if `p` has gzip's signature and the reserved flags are zero. Bytes beyond `end` are assumed to
  /// match.
  static bool starts_member(const char* p, const char* end) {
    const std::string_view head(p, static_cast<std::size_t>(std::min<std::ptrdiff_t>(end - p, 4)));
    return head.substr(0, 3) == kMemberStart.substr(0, head.size()) &&
           (head.size() < 4 || (head[3] & 0xE0) == 0);
  }

  /// Moves to the next member's first byte. Bytes between members are a fault unless they are zero.
  bool find_member() {
    while (in_size_ > 0 && !starts_member(in_, in_ + in_size_)) {
      if (*in_ != 0 && clean_) {
        add_fault(offset(), "the bytes after the gzip data are not gzip and were skipped");
        clean_ = false;
      }
      ++in_;
      --in_size_;
    }
    if (in_size_ == 0) return false;
    seeking_ = false;
    return true;
  }

  std::unique_ptr<ByteSource> stored_;
  std::vector<char> buffer_;
  Inflater inflater_;
  const char* in_ = nullptr;
  std::size_t in_size_ = 0, filled_ = 0;
  const char* member_ = nullptr;  ///< start of the current member, if it is in the buffer
  std::int64_t gone_back_ = 0;
  std::string held_;
  bool in_member_ = false, seeking_ = false, clean_ = true, done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> stored) {
  return std::make_unique<GzipBytes>(std::move(stored));
}

#ifdef STEPSCOPE_HAVE_ISAL

std::string gzip_member(std::string_view text) {
  constexpr std::size_t kStoredBlock = 65'535, kOfStored = 5, kFrame = 64;
  std::vector<std::uint8_t> level(ISAL_DEF_LVL1_DEFAULT);
  std::string out(text.size() + (text.size() / kStoredBlock + 1) * kOfStored + kFrame, '\0');
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.level = 1;
  stream.level_buf = level.data();
  stream.level_buf_size = static_cast<std::uint32_t>(level.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  for (;;) {
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data()) + stream.total_out;
    stream.avail_out = static_cast<std::uint32_t>(out.size() - stream.total_out);
    CHECK(isal_deflate(&stream) == COMP_OK);
    if (stream.internal_state.state == ZSTATE_END) break;
    out.resize(out.size() * 2);
  }
  out.resize(stream.total_out);
  return out;
}

#else

std::string gzip_member(std::string_view text) { return deflated(text, 1, Wrap::gzip); }

#endif

}  // namespace stepscope
