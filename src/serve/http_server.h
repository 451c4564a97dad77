// HTTP/1.1 over TCP: connections, limits and time. What is asked and answered is the handler's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/request.h"

namespace stepscope::serve {

struct Handler {
  /// Called first, between reading and writing: an answer that takes no time, or nothing.
  std::function<std::optional<Response>(const Request&)> at_once;
  /// Called from several threads.
  std::function<Response(const Request&)> answer;
};

class HttpServer {
 public:
  /// Listens at the address; "": on the loopback, of IPv4 and, if there is one, of IPv6. Port 0: a free one.
  static Result<HttpServer> listen(const std::string& address, std::uint16_t port);
  HttpServer(HttpServer&&) noexcept;
  ~HttpServer();

  std::uint16_t port() const;
  /// Answers until the process gets SIGINT or SIGTERM, or `with_input`, until standard input ends. Returns
  /// whether no answer is being computed any more; if one is, the destructor waits for it.
  bool run(const Handler& handler, bool with_input = false);

 private:
  struct Listener;
  explicit HttpServer(std::unique_ptr<Listener> listener);
  std::unique_ptr<Listener> listener_;
};

}  // namespace stepscope::serve
