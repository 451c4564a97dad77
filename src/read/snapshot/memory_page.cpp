#include "read/snapshot/memory_page.h"

#include <cstdint>
#include <string>
#include <utility>

namespace stepscope::read {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

/// Six bits, or -1 for what is no letter of base64.
int sextet(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  if (letter == '+' || letter == '/') return letter == '+' ? 62 : 63;
  return -1;
}

class Base64Bytes : public ByteSource {
 public:
  /// `begun`: letters that were read already.
  Base64Bytes(std::string begun, std::unique_ptr<ByteSource> rest)
      : text_(std::move(begun)), rest_(std::move(rest)) {
    stored_size = rest_->stored_size;
    compressed = rest_->compressed;
    take_faults(*rest_);
  }

  std::size_t read(char* out, std::size_t size) override {
    std::size_t got = 0;
    while (got < size && !done_) {
      if (at_ == text_.size() && !refill()) {
        done_ = true;
        add_fault(rest_->position(), "the page ends within its snapshot: it was cut off");
        break;
      }
      const int six = sextet(text_[at_++]);
      if (six < 0) {
        done_ = true;
        break;
      }
      bits_ = bits_ << 6 | static_cast<std::uint32_t>(six);
      held_ += 6;
      if (held_ < 8) continue;
      held_ -= 8;
      out[got++] = static_cast<char>(bits_ >> held_ & 255);
    }
    return got;
  }

  std::int64_t position() const override { return rest_->position(); }

 private:
  bool refill() {
    text_.resize(kPiece);
    text_.resize(rest_->read(text_.data(), kPiece));
    at_ = 0;
    take_faults(*rest_);
    return !text_.empty();
  }

  std::string text_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t at_ = 0;
  std::uint32_t bits_ = 0;
  unsigned held_ = 0;
  bool done_ = false;
};

}  // namespace

bool is_memory_page(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '<' &&
         head.find("MemoryViz") != std::string_view::npos;
}

std::unique_ptr<ByteSource> snapshot_of_page(std::unique_ptr<ByteSource> page) {
  constexpr std::string_view kKey = "\"base64\"";
  constexpr std::size_t kSearched = std::size_t{1} << 20;
  std::string text(kSearched, '\0');
  text.resize(page->read(text.data(), kSearched));
  const std::size_t key = text.find(kKey);
  const std::size_t begin = key == std::string::npos ? key : text.find('"', key + kKey.size());
  if (begin == std::string::npos) return nullptr;
  return std::make_unique<Base64Bytes>(text.substr(begin + 1), std::move(page));
}

}  // namespace stepscope::read
