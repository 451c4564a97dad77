#include "cupti/fake_records.h"

#include <utility>

namespace fake_records {

std::size_t stride_of(const Strides& s, std::uint32_t kind) {
  switch (kind) {
    case 1:
      return s.copy;
    case 2:
      return s.fill;
    case 4:
    case 5:
      return s.api;
    case 8:
      return s.device;
    case 9:
      return s.context;
    case 10:
      return s.kernel;
    case 17:
      return s.overhead;
    case 22:
      return s.peer;
    case 36:
      return s.event;
    case 38:
      return s.wait;
    default:
      return 0;
  }
}

Bytes kernel_record(const Strides& strides, const FakeCall& call, std::int64_t begin, std::int64_t end,
                    std::uint32_t correlation) {
  Bytes record = record_of(10, strides.kernel);
  put(record, 6, static_cast<std::uint16_t>(call.registers));
  put(record, 16, begin);
  put(record, 24, end);
  put(record, 32, end);
  put(record, 40, call.device);
  put(record, 44, call.context);
  put(record, 48, call.stream);
  const std::uint32_t shape[] = {call.grid, 1, 1, call.block, 1, 1};
  for (std::size_t i = 0; i < 6; ++i) put(record, 52 + 4 * i, shape[i]);
  put(record, 76, call.static_shared);
  put(record, 80, call.dynamic_shared);
  put(record, 92, correlation);
  put(record, 104, call.kernel_name);
  put(record, 144, call.node);
  put(record, 156, call.graph);
  return record;
}

Bytes copy_record(const Strides& strides, const FakeCall& call, std::int64_t begin, std::int64_t end,
                  std::uint32_t correlation) {
  const bool peer = call.work == FakeCall::peer_copy;
  Bytes record = record_of(peer ? 22 : 1, peer ? strides.peer : strides.copy);
  put(record, 4, call.copy_kind);
  put(record, 5, call.from);
  put(record, 6, call.to);
  put(record, 8, call.bytes);
  put(record, 16, begin);
  put(record, 24, end);
  put(record, 32, call.device);
  put(record, 36, call.context);
  put(record, 40, call.stream);
  if (peer) {
    put(record, 44, call.device);
    put(record, 48, call.context);
    put(record, 52, call.to_device);
    put(record, 56, call.context + 1);
  }
  put(record, peer ? 60 : 44, correlation);
  put(record, peer ? 72 : 64, call.node);
  put(record, peer ? 80 : 72, call.graph);
  return record;
}

Bytes fill_record(const Strides& strides, const FakeCall& call, std::int64_t begin, std::int64_t end,
                  std::uint32_t correlation) {
  Bytes record = record_of(2, strides.fill);
  put(record, 8, call.bytes);
  put(record, 16, begin);
  put(record, 24, end);
  put(record, 32, call.device);
  put(record, 36, call.context);
  put(record, 40, call.stream);
  put(record, 44, correlation);
  put(record, 50, static_cast<std::uint16_t>(call.to));
  put(record, 64, call.node);
  put(record, 72, call.graph);
  return record;
}

Bytes context_record(const Strides& strides, std::uint32_t context, std::uint32_t device) {
  Bytes record = record_of(9, strides.context);
  put(record, 4, context);
  put(record, 8, device);
  return record;
}

Bytes device_record(const Strides& strides, std::uint32_t device) {
  Bytes record = record_of(8, strides.device);
  put(record, 16, std::uint64_t{42'297'524'224});
  const std::pair<std::size_t, std::uint32_t> fields[] = {
      {32, 32},    {44, 108},   {52, 64},   {56, 32}, {60, 167936}, {64, 65536},
      {68, 65536}, {72, 49152}, {76, 1024}, {104, 8}, {108, 0},     {112, device}};
  for (const auto& [at, value] : fields) put(record, at, value);
  put(record, 136, static_cast<const char*>("NVIDIA A100-PG509-200"));
  return record;
}

}  // namespace fake_records
