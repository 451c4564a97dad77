// bench_simdjson FILE: walks all of traceEvents with simdjson's On-Demand and reads ph, ts, dur and name.
// Prints "version V KERNEL", then "load SECONDS BYTES" (the file into one padded string) and "iterate SECONDS
// BYTES EVENTS" (index and walk with a warm parser: the second of two passes).
// bench/measure.py builds it a second time against the newest simdjson it finds.
#include <simdjson.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;
namespace ondemand = simdjson::ondemand;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Touched {
  std::int64_t events = 0;
  std::size_t text = 0;
  double ts = 0, dur = 0;
};

void touch(ondemand::object event, Touched& touched) {
  for (auto member : event) {
    ondemand::field field;
    if (std::move(member).get(field) != simdjson::SUCCESS) return;
    const ondemand::raw_json_string key = field.key();
    std::string_view text;
    double number = 0;
    if (key == "ph" || key == "name") {
      if (field.value().get_string().get(text) == simdjson::SUCCESS) touched.text += text.size();
    } else if (key == "ts") {
      if (field.value().get_double().get(number) == simdjson::SUCCESS) touched.ts += number;
    } else if (key == "dur") {
      if (field.value().get_double().get(number) == simdjson::SUCCESS) touched.dur += number;
    }
  }
  ++touched.events;
}

simdjson::error_code walk(ondemand::parser& parser, const simdjson::padded_string& text, Touched& touched) {
  ondemand::document document;
  if (const auto error = parser.iterate(text).get(document)) return error;
  ondemand::array events;
  if (const auto error = document["traceEvents"].get_array().get(events)) return error;
  for (auto element : events) {
    ondemand::object event;
    if (const auto error = element.get_object().get(event)) return error;
    touch(event, touched);
  }
  return simdjson::SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bench_simdjson FILE\n", stderr), 2;
  const auto load = Clock::now();
  simdjson::padded_string text;
  if (const auto error = simdjson::padded_string::load(argv[1]).get(text)) {
    return std::fprintf(stderr, "%s: %s\n", argv[1], simdjson::error_message(error)), 1;
  }
  const double loaded = since(load);

  ondemand::parser parser;
  Touched touched;
  double walked = 0;
  for (int pass = 0; pass < 2; ++pass) {
    touched = {};
    const auto begin = Clock::now();
    if (const auto error = walk(parser, text, touched)) {
      return std::fprintf(stderr, "%s: %s\n", argv[1], simdjson::error_message(error)), 1;
    }
    walked = since(begin);
  }
  if (touched.events == 0 || touched.text == 0 || touched.ts == 0) return 1;
  std::printf("version %d.%d.%d %s\n", simdjson::SIMDJSON_VERSION_MAJOR, simdjson::SIMDJSON_VERSION_MINOR,
              simdjson::SIMDJSON_VERSION_REVISION, simdjson::get_active_implementation()->name().c_str());
  std::printf("load %.6f %zu\niterate %.6f %zu %lld\n", loaded, text.size(), walked, text.size(),
              static_cast<long long>(touched.events));
  return 0;
}
