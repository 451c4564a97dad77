// Encodes protocol-buffer fields: the four kinds of value in Perfetto's messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::write {

inline void put_varint(std::uint64_t value, std::string& out) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7) out += static_cast<char>(value | kMore);
  out += static_cast<char>(value);
}

/// The wire type of a value: the low three bits of a field's tag.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2 };

inline void put_tag(std::uint32_t field, Wire wire, std::string& out) {
  put_varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(wire), out);
}
/// Negative numbers take ten bytes, as int32 and int64 do.
inline void put_integer(std::uint32_t field, std::int64_t value, std::string& out) {
  put_tag(field, Wire::varint, out);
  put_varint(static_cast<std::uint64_t>(value), out);
}
inline void put_fixed(std::uint32_t field, std::uint64_t value, std::string& out) {
  put_tag(field, Wire::fixed64, out);
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(value >> (8 * byte));
}
inline void put_double(std::uint32_t field, double value, std::string& out) {
  put_fixed(field, std::bit_cast<std::uint64_t>(value), out);
}
/// A string, or an encoded message.
inline void put_bytes(std::uint32_t field, std::string_view bytes, std::string& out) {
  put_tag(field, Wire::bytes, out);
  put_varint(bytes.size(), out);
  out += bytes;
}

}  // namespace stepscope::write
