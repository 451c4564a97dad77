// CUPTI's records as the fake makes them, with the sizes and offsets of NVIDIA's headers, by version.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cupti/fake_cupti.h"

namespace fake_records {

using Bytes = std::vector<std::uint8_t>;

/// Bytes of the records of one version.
struct Strides {
  std::uint32_t version;
  std::size_t kernel, copy, peer, fill, api, wait, event, overhead, context, device;
};
inline constexpr std::array kStrides = {Strides{18, 200, 88, 96, 88, 40, 40, 24, 40, 16, 176},
                                        Strides{28, 208, 96, 96, 88, 40, 56, 56, 56, 32, 184},
                                        Strides{130202, 224, 96, 96, 88, 40, 56, 56, 56, 40, 192},
                                        Strides{130500, 248, 112, 96, 104, 40, 56, 80, 56, 40, 192}};

template <class T>
void put(Bytes& record, std::size_t at, T value) {
  std::memcpy(record.data() + at, &value, sizeof value);
}

inline Bytes record_of(std::uint32_t kind, std::size_t bytes) {
  Bytes record(bytes);
  put(record, 0, kind);
  return record;
}

/// Returns 0 if no record of that kind is made.
std::size_t stride_of(const Strides& strides, std::uint32_t kind);

Bytes kernel_record(const Strides& strides, const FakeCall& call, std::int64_t begin, std::int64_t end,
                    std::uint32_t correlation);
Bytes copy_record(const Strides& strides, const FakeCall& call, std::int64_t begin, std::int64_t end,
                  std::uint32_t correlation);
Bytes fill_record(const Strides& strides, const FakeCall& call, std::int64_t begin, std::int64_t end,
                  std::uint32_t correlation);
/// A node of a graph, as CUDA hands it out.
struct Node {
  std::uint64_t id;
};

Bytes context_record(const Strides& strides, std::uint32_t context, std::uint32_t device);
/// The record of an A100.
Bytes device_record(const Strides& strides, std::uint32_t device);

}  // namespace fake_records
