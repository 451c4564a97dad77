// Peak rates of a device, by its name in `deviceProperties` or, for generic names, by its properties.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stepscope::derive {

enum class Vendor : std::uint8_t { unknown, nvidia, amd, intel, other };

/// Reliability of a row of the table.
enum class Certainty : std::uint8_t {
  confirmed,  ///< a vendor's figure found in two or more public sources
  vendor,     ///< a vendor's figure from one source
  derived,    ///< derived or uncertain
};

/// One row of the table. Dense rates at boost clock in TFLOP/s (int8: TOP/s), decimal; 0 = no such unit, or
/// not known. Of a range, the lower end. A row is one device of a trace: on boards with two dies, one die.
struct PeakRow {
  /// All parts between '*' occur in the name in this order, case-insensitive; the first is a whole word.
  std::string_view match;
  Vendor vendor;
  int compute_major, compute_minor;
  double fp64, fp64_matrix, fp32;
  double mat32;  ///< TF32; on AMD the fp32 matrix rate
  double fp16, bf16, fp8, int8, fp4;
  double gb_per_s, gib;
  int multiprocessors;
  Certainty certainty;
  double xf32 = 0;
};

std::span<const PeakRow> peak_table();

/// FLOP/s (int8: OP/s), bytes/s and bytes. 0 = no such unit, or not known.
struct DevicePeaks {
  double fp64 = 0;
  double fp64_matrix = 0;
  double fp32 = 0;   ///< vector units
  double mat32 = 0;  ///< TF32; on AMD the fp32 matrix rate
  double xf32 = 0;   ///< AMD's counterpart of TF32
  double fp16 = 0;
  double bf16 = 0;
  double fp8 = 0;
  double int8 = 0;
  double fp4 = 0;
  double bandwidth = 0;  ///< of device memory
  double memory = 0;
  int multiprocessors = 0;
  Vendor vendor = Vendor::unknown;
  int compute_major = 0;
  int compute_minor = 0;
  Certainty certainty = Certainty::derived;
};

/// Numbers below 1 mean "not recorded". Empty if neither the name nor the properties match a row. The longest
/// matching name wins; a generic name matches by vendor, compute capability, multiprocessors and memory
/// ± 5 %. With fewer multiprocessors than the full chip, compute is scaled; with less memory, bandwidth is.
std::optional<DevicePeaks> peaks_of(std::string_view device_name, int compute_major = 0,
                                    int compute_minor = 0, int multiprocessors = 0,
                                    double total_global_mem = 0);

/// By the words in the name; unknown if no word is known.
Vendor vendor_of(std::string_view device_name);

}  // namespace stepscope::derive
