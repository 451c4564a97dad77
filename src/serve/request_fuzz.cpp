// Hostile requests: whatever is sent, nobody gets to api/ without the server's name and token. First line:
// the target; then a header a line.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "serve/ascii.h"
#include "serve/policy.h"

namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace serve = stepscope::serve;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  serve::Request request{"GET", std::string(take_line(text))};
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t colon = std::min(line.find(':'), line.size());
    request.headers.emplace_back(
        serve::lower(line.substr(0, colon)),
        std::string(stepscope::trimmed(line.substr(std::min(colon + 1, line.size())))));
  }
  const serve::Policy policy{serve::host_names(80, "", {}), "0123456789abcdef", "/base/"};
  try {
    const serve::Address address = serve::admitted(policy, request);
    CHECK(request.target.starts_with("/base/"));
    CHECK(request.values("host").size() == 1);
    CHECK(address.path.front() != "api" || request.values("authorization").front().ends_with(policy.token));
    for (const std::string& word : address.path) CHECK(word.find('\0') == std::string::npos);
  } catch (const serve::Refusal& refusal) {
    CHECK(refusal.status >= 400 && refusal.status < 500 && *refusal.what() != 0);
  }
  serve::is_known(request, "abc");
  return 0;
}
