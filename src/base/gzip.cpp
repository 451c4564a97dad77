// ISA-L where it is installed (three times faster than zlib on x86-64), zlib elsewhere.
#include "base/gzip.h"

#include <cstring>
#include <vector>

#ifdef STEPSCOPE_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

namespace stepscope {
namespace {

enum class Inflated : std::uint8_t { more, member_end, bad };

#ifdef STEPSCOPE_HAVE_ISAL

/// One gzip member at a time.
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
    in += in_size - state_.avail_in;
    out += out_size - state_.avail_out;
    in_size = state_.avail_in;
    out_size = state_.avail_out;
    if (status < 0) return Inflated::bad;
    return state_.block_state == ISAL_BLOCK_FINISH ? Inflated::member_end : Inflated::more;
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

 private:
  z_stream state_{};
};

#endif

class GzipBytes : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> stored) : stored_(std::move(stored)), buffer_(kBuffer) {
    stored_size = stored_->stored_size;
    compressed = true;
  }

  std::size_t read(char* out, std::size_t size) override {
    char* at = out;
    std::size_t left = size;
    while (left > 0 && !done_) {
      if (in_size_ == 0 && !refill()) { finish_input(); break; }
      if (seeking_ && !find_member()) continue;
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
          faults.push_back({offset(), "the gzip data is damaged here; reading goes on at the next gzip member, if any"});
          skip_bad_byte(in_before);
          break;
        case Inflated::more:
          if (in_size_ == in_before && left == left_before) skip_bad_byte(in_before);
          break;
      }
    }
    return size - left;
  }

  std::int64_t position() const override { return stored_->position(); }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;

  std::int64_t offset() const { return stored_->position() - static_cast<std::int64_t>(in_size_); }

  bool refill() {
    in_ = buffer_.data();
    in_size_ = stored_->read(buffer_.data(), buffer_.size());
    faults.insert(faults.end(), stored_->faults.begin(), stored_->faults.end());
    stored_->faults.clear();
    return in_size_ != 0;
  }

  void finish_input() {
    if (in_member_) faults.push_back({offset(), "the gzip file ends in the middle: it was cut, or the job that wrote it was killed"});
    done_ = true;
  }

  void skip_bad_byte(std::size_t in_before) {
    if (in_size_ == in_before && in_size_ > 0) { ++in_; --in_size_; }
    inflater_.reset();
    in_member_ = false;
    seeking_ = true;
    clean_ = false;
  }

  /// Moves to the next byte pair 1f 8b; bytes between members are a fault when they are not zero padding.
  bool find_member() {
    while (in_size_ > 0 && static_cast<unsigned char>(*in_) != 0x1f) {
      if (*in_ != 0 && clean_) {
        faults.push_back({offset(), "bytes behind the gzip data are not gzip; they were skipped"});
        clean_ = false;
      }
      ++in_;
      --in_size_;
    }
    if (in_size_ >= 3 && (static_cast<unsigned char>(in_[1]) != 0x8b || in_[2] != 8)) {
      ++in_;
      --in_size_;
      return false;
    }
    if (in_size_ == 0) return false;
    seeking_ = false;
    return true;
  }

  std::unique_ptr<ByteSource> stored_;
  std::vector<char> buffer_;
  Inflater inflater_;
  const char* in_ = nullptr;
  std::size_t in_size_ = 0;
  bool in_member_ = false, seeking_ = false, clean_ = true, done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> stored) {
  return std::make_unique<GzipBytes>(std::move(stored));
}

}  // namespace stepscope
