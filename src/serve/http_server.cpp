#include "serve/http_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "serve/ascii.h"

namespace stepscope::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::uint32_t kMaxHeader = 8 << 10;
constexpr std::size_t kMaxConnections = 64, kMaxDrained = std::size_t{64} << 10;
constexpr std::chrono::seconds kSilence(30), kFarewell(2);
constexpr unsigned kMinWorkers = 4;  // an asker who waits for another's answer occupies one

class Session;

/// What sessions share. Only `unfinished` and `stopping` are touched by workers.
struct Shared {
  Shared(const Handler& its_handler, asio::io_context& its_io, asio::thread_pool& its_workers)
      : handler(its_handler), io(its_io), workers(its_workers) {}
  const Handler& handler;
  asio::io_context& io;
  asio::thread_pool& workers;
  std::set<Session*> sessions;
  std::atomic<int> unfinished = 0;
  std::atomic<bool> stopping = false;
};

/// The other side closed the connection. Browsers do not close only one direction.
bool is_hung_up(int descriptor) {
  pollfd about{descriptor, POLLRDHUP, 0};
  return ::poll(&about, 1, 0) > 0 && (about.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// One connection: reads a request, has it answered, writes, begins again.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {
    shared_.sessions.insert(this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { shared_.sessions.erase(this); }

  void read() {
    waits_since_ = std::chrono::steady_clock::now();
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(boost::none);  // a body is refused, whatever its size, and not read
    stream_.expires_after(kSilence);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->on_read(error); });
  }

  void refuse(const Refusal& refusal) {
    waits_since_.reset();
    stays_ = false;
    write(finished({}, as_response(refusal)));
  }

  void close() { stream_.close(); }

  /// Since when it waits for a request; nothing while one is answered.
  std::optional<std::chrono::steady_clock::time_point> waits_since() const { return waits_since_; }

 private:
  void on_read(error_code error) {
    waits_since_.reset();
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse({431, fmt::format("the request's header has more than {} bytes", kMaxHeader)});
    if (error && error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      return refuse({400, "the request is not HTTP/1.1: " + error.message()});
    if (error) return close();
    stream_.expires_never();
    stays_ = parser_->keep_alive() && parser_->is_done();
    answer(request());
  }

  Request request() {
    const auto& message = parser_->get();
    Request request{std::string(message.method_string()), std::string(message.target())};
    for (const auto& field : message) {
      request.headers.emplace_back(lower(std::string_view(field.name_string())), std::string(field.value()));
    }
    request.is_gone = [this] { return shared_.stopping || is_hung_up(stream_.socket().native_handle()); };
    return request;
  }

  void answer(Request request) {
    const bool has_body = !parser_->is_done();
    if (auto response = shared_.handler.at_once(request)) return write(std::move(*response));
    if (has_body) return refuse({413, "the request has a body", "Put all that is asked into the address."});
    ++shared_.unfinished;
    asio::post(shared_.workers, [self = shared_from_this(), asked = std::move(request)]() mutable {
      answer_later(std::move(self), asked);
    });
  }

  /// On a worker's thread. It gives the session back, so that none ends outside of the thread of `io`.
  static void answer_later(std::shared_ptr<Session> self, const Request& request) {
    Shared& shared = self->shared_;
    Response response = shared.handler.answer(request);
    --shared.unfinished;
    asio::post(shared.io, [session = std::move(self), written = std::move(response)]() mutable {
      session->write(std::move(written));
    });
  }

  void write(Response response) {
    response_ = {};
    response_.version(parser_ && parser_->get().version() == 10 ? 10 : 11);
    response_.result(static_cast<unsigned>(response.status));
    response_.keep_alive(stays_);
    for (const auto& [name, value] : response.headers) response_.insert(name, value);
    if (response.status != 304) {
      response_.set(http::field::content_type, response.type);
      response_.content_length(response.body.size());
    }
    const bool wants_body = !parser_ || parser_->get().method() != http::verb::head;
    if (wants_body) response_.body() = std::move(response.body);
    serializer_.emplace(response_);
    write_some();
  }

  /// Writes on; every piece that the other side takes ends its silence.
  void write_some() {
    stream_.expires_after(kSilence);
    http::async_write_some(stream_, *serializer_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      if (!self->serializer_->is_done()) return self->write_some();
      self->on_written();
    });
  }

  void on_written() {
    serializer_.reset();
    response_ = {};
    if (stays_) return read();
    error_code ignored;
    static_cast<void>(stream_.socket().shutdown(tcp::socket::shutdown_send, ignored));
    stream_.expires_after(kFarewell);
    drain(0);
  }

  /// Reads what was sent in vain: closing before would take the answer away from the asker.
  void drain(std::size_t drained) {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this(), drained](error_code error, std::size_t size) {
                              if (error || drained + size > kMaxDrained) return self->close();
                              self->drain(drained + size);
                            });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_{kMaxHeader + 4096};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::optional<std::chrono::steady_clock::time_point> waits_since_;
  bool stays_ = true;
};

/// Closes the connection that has waited longest for a request. False if none waits.
bool make_room(Shared& shared) {
  Session* longest = nullptr;
  for (Session* session : shared.sessions)
    if (session->waits_since() && (longest == nullptr || session->waits_since() < longest->waits_since()))
      longest = session;
  if (longest == nullptr) return false;
  longest->close();
  return true;
}

class Acceptor {
 public:
  Acceptor(tcp::acceptor& acceptor, Shared& shared)
      : acceptor_(acceptor), shared_(shared), pause_(acceptor.get_executor()) {}

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      admit(std::move(socket));
      accept();
    });
  }

 private:
  void admit(tcp::socket socket) {
    const bool has_room = shared_.sessions.size() < kMaxConnections || make_room(shared_);
    const auto session = std::make_shared<Session>(std::move(socket), shared_);
    if (has_room) return session->read();
    session->refuse({503, "too many questions at once", "Ask again in a moment."});
  }

  /// Without descriptors, an accept that fails would fail again at once.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  tcp::acceptor& acceptor_;
  Shared& shared_;
  asio::steady_timer pause_;
};

/// Notices the end of standard input, however the program that holds its other side ended.
class InputEnd {
 public:
  explicit InputEnd(asio::io_context& io) : input_(io) {}

  void wait(std::function<void()> ended) {
    error_code error;
    if (input_.assign(::dup(STDIN_FILENO), error)) return ended();  // a file or /dev/null, which ends at once
    ended_ = std::move(ended);
    read();
  }

 private:
  void read() {
    input_.async_read_some(asio::buffer(ignored_), [this](error_code error, std::size_t) {
      if (error) return ended_();
      read();
    });
  }

  asio::posix::stream_descriptor input_;
  std::function<void()> ended_;
  std::array<char, 4096> ignored_{};
};

error_code open_at(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  try {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    if (endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    return {};
  } catch (const boost::system::system_error& error) {
    acceptor.close();
    return error.code();
  }
}

}  // namespace

struct HttpServer::Listener {
  std::optional<Shared> shared;  // outlives the sessions that wait in `io` and `workers`
  asio::io_context io{1};
  asio::signal_set signals{io, SIGINT, SIGTERM};
  tcp::acceptor first{io}, second{io};
  asio::thread_pool workers{std::max(kMinWorkers, thread_count(0))};

  /// Of the loopback: the second acceptor takes the first one's port.
  std::optional<Error> listen_on_loopback(std::uint16_t port) {
    constexpr int kTries = 20;
    error_code error;
    for (int tries = 0; tries < kTries; ++tries) {
      if (first.is_open()) first.close();
      error = open_at(first, {asio::ip::address_v4::loopback(), port});
      if (error) break;
      error = open_at(second, {asio::ip::address_v6::loopback(), first.local_endpoint().port()});
      if (error != asio::error::address_in_use) return std::nullopt;  // without IPv6, one is enough
      if (port != 0) break;
    }
    return Error{
        fmt::format("port {} cannot be listened at: {}; choose another with --port", port, error.message()),
        ""};
  }

  std::optional<Error> listen_on(const std::string& address, std::uint16_t port) {
    error_code error;
    const auto parsed = asio::ip::make_address(address, error);
    if (error) return Error{fmt::format("--bind {}: is no IP address", address), ""};
    error = open_at(first, {parsed, port});
    if (!error) return std::nullopt;
    return Error{fmt::format("--bind {}: port {} cannot be listened at: {}", address, port, error.message()),
                 ""};
  }
};

HttpServer::HttpServer(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::listen(const std::string& address, std::uint16_t port) {
  auto listener = std::make_unique<Listener>();
  const auto error =
      address.empty() ? listener->listen_on_loopback(port) : listener->listen_on(address, port);
  if (error) return *error;
  return HttpServer(std::move(listener));
}

std::uint16_t HttpServer::port() const { return listener_->first.local_endpoint().port(); }

bool HttpServer::run(const Handler& handler, bool with_input) {
  Listener& own = *listener_;
  own.shared.emplace(handler, own.io, own.workers);
  Shared& shared = *own.shared;
  Acceptor first(own.first, shared), second(own.second, shared);
  first.accept();
  if (own.second.is_open()) second.accept();
  const auto stop = [&] {
    shared.stopping = true;
    own.io.stop();
  };
  own.signals.async_wait([&](error_code, int) { stop(); });
  InputEnd input(own.io);
  if (with_input) input.wait(stop);
  own.io.run();
  return shared.unfinished == 0;
}

}  // namespace stepscope::serve
