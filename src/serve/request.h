// A question over HTTP and its answer, as plain values. Only the transport knows how they travel.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::serve {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string target;  ///< path and query, as sent
  Headers headers{};   ///< names in lower case
  /// Whether nobody waits for the answer any more. May be asked from any thread.
  std::function<bool()> is_gone = [] { return false; };

  /// The values of every header of that name.
  std::vector<std::string_view> values(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::string etag{};                      ///< names the contents; "": not to be compared
  std::string cache_control = "no-cache";  ///< with an ETag, no-cache means: ask whether it changed
  Headers headers{};                       ///< further ones
};

/// An answer in JSON.
Response json(std::string body);

/// Thrown where a question cannot be answered; becomes an answer with that status. what() is one sentence.
struct Refusal : std::runtime_error {
  Refusal(int its_status, const std::string& error, std::string its_remedy = "")
      : std::runtime_error(error),
        status(its_status),
        remedy(std::make_shared<const std::string>(std::move(its_remedy))) {}
  int status;
  std::shared_ptr<const std::string> remedy;  ///< what to do; "" if the error says it
};

/// {"error": …, "remedy": …}
Response as_response(const Refusal& refusal);

/// Throws if nobody waits for the answer: called before each long stage.
void stop_if_gone(const Request& request);

/// Whether the asker has the contents named by `etag`.
bool is_known(const Request& request, std::string_view etag);

/// Adds the headers that every answer has. An answer that the asker has becomes 304; one that is too large, a
/// refusal. `is_framed`: pages of this origin may show it in a frame.
Response finished(const Request& request, Response response, bool is_framed = false);

}  // namespace stepscope::serve
