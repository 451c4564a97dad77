#include "base/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace stepscope {
namespace {

class ZstdBytes : public ByteSource {
 public:
  explicit ZstdBytes(std::unique_ptr<ByteSource> stored)
      : stored_(std::move(stored)), stream_(ZSTD_createDStream()), buffer_(ZSTD_DStreamInSize()) {
    stored_size = stored_->stored_size;
    reopens = stored_->reopens;
    compressed = true;
  }

  std::size_t read(char* out, std::size_t size) override {
    std::size_t given = 0;
    while (given < size && (given_ < to_.pos || decompress())) {
      const std::size_t n = std::min(size - given, to_.pos - given_);
      std::memcpy(out + given, piece_.data() + given_, n);
      given_ += n;
      given += n;
    }
    return given;
  }

  std::int64_t position() const override { return stored_->position(); }

 private:
  /// What a call that fails was about to give is lost, so each gives little. Each is offered the same room
  /// whatever the reader asks for: of damaged data, zstd gives other bytes for other room.
  static constexpr std::size_t kPiece = std::size_t{1} << 14;

  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  /// The next piece. False at the end.
  bool decompress() {
    to_.pos = given_ = 0;
    while (to_.pos < kPiece && !done_) {
      if (in_.pos == in_.size) refill();
      const std::size_t before = to_.pos, taken = in_.pos;
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &to_, &in_);
      if (ZSTD_isError(left)) {
        fail(left);
      } else if (in_.size == 0 && to_.pos == before) {
        done_ = true;
        if (in_frame_) add_fault(stored_->position(), "the zstd file is incomplete: it was cut off");
      } else if (in_.pos != taken || to_.pos != before) {
        in_frame_ = left != 0;
      }
    }
    return to_.pos != 0;
  }

  void refill() {
    in_ = {buffer_.data(), stored_->read(buffer_.data(), buffer_.size()), 0};
    take_faults(*stored_);
  }

  void fail(std::size_t code) {
    done_ = true;
    add_fault(stored_->position() - static_cast<std::int64_t>(in_.size - in_.pos),
              ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge
                  ? "the zstd data needs a window of more than 128 MiB; unpack it: `zstd -d --long=31 FILE`"
                  : std::string("the zstd data is damaged here, and what follows is lost: ") +
                        ZSTD_getErrorName(code));
  }

  std::unique_ptr<ByteSource> stored_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::vector<char> buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::vector<char> piece_ = std::vector<char>(kPiece);
  ZSTD_outBuffer to_{piece_.data(), kPiece, 0};
  std::size_t given_ = 0;  ///< of what stands in piece_
  bool in_frame_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> stored) {
  return std::make_unique<ZstdBytes>(std::move(stored));
}

}  // namespace stepscope
