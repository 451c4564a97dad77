// Writes Python's pickles of plain data, protocol 4, with the few opcodes that PyTorch's memory_viz reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::write {

class Pickle {
 public:
  /// `put` gets the bytes in pieces, and returns false when nobody reads any more.
  explicit Pickle(std::function<bool(std::string_view)> put);

  void begin_dict();
  void key(std::string_view name);  ///< of the innermost dict; its value follows
  void end_dict();
  void begin_list();
  void item();  ///< of the innermost list; its value follows
  void end_list();

  void text(std::string_view value);  ///< UTF-8; other bytes become U+FFFD
  void integer(std::int64_t value);
  void address(std::uint64_t value);
  void real(double value);
  void boolean(bool value);
  void none();
  void pair(std::int64_t first, std::int64_t second);  ///< a tuple
  /// A JSON text as what it says; as a text if it is no JSON.
  void json(std::string_view value);

  /// Numbers the value that was just written, so that again() can refer to it.
  std::uint32_t remember();
  void again(std::uint32_t number);

  void stop();

 private:
  void add(std::string_view bytes);
  template <class T>
  void little(T value, int bytes);
  void flush();

  std::function<bool(std::string_view)> put_;
  std::string buffer_;
  std::vector<std::uint32_t> open_;  ///< items of the open containers since their last mark
  std::uint32_t remembered_ = 0;
};

}  // namespace stepscope::write
