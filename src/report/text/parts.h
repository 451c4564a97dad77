// The pieces a text page is made of; text.cpp puts them in order. Each appends whole lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/judgement.h"
#include "report/page.h"
#include "report/text/text.h"

namespace stepscope::report {

inline constexpr int kPlainInk = -1;
inline constexpr int kWarningInk = 172;
inline constexpr int kBarInk = 33;
inline constexpr int kMoreInk = 172, kLessInk = 33;  ///< orange and blue: told apart with any vision

/// Colour and weight on a terminal: SGR codes when wanted, nothing otherwise.
class Ink {
 public:
  explicit Ink(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return dressed("1", text); }
  std::string dim(std::string_view text) const { return dressed("2", text); }
  /// One of the 256 terminal colours, or kPlainInk.
  std::string paint(int colour, std::string_view text) const {
    return colour == kPlainInk ? std::string(text) : dressed("38;5;" + std::to_string(colour), text);
  }

 private:
  std::string dressed(std::string_view code, std::string_view text) const {
    if (!on_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
  bool on_;
};

struct Sheet {
  std::string out;
  TextStyle style;
  Ink ink;

  explicit Sheet(const TextStyle& wanted) : style(wanted), ink(wanted.colour) {
    style.width = style.width < 40 ? 40 : style.width;
  }
  void line(std::string_view text = "") {
    out += text;
    out += '\n';
  }
  /// `text` (untrusted) wrapped; the first line behind `first`, the others as far to the right.
  void paragraph(std::string_view first, std::string_view text, int colour = kPlainInk);
};

/// `line`, which goes on, in at most `room` cells: it loses whole words.
std::string broken_off(std::string line, int room);

/// The first whole clauses of `text` that `most` lines hold, and that it goes on; whole words where a clause
/// would leave most of the lines empty.
std::vector<std::string> first_clauses(std::string_view text, int width, std::size_t most);

/// Rows and columns; trees are indented, bars drawn behind the first share.
void put_grid(Sheet& sheet, const Table& table);
/// One stacked bar per row, with a legend.
void put_stack(Sheet& sheet, const Table& table, const Stack& stack);
/// One bar as wide as the terminal, with a legend that names the amounts.
void put_whole(Sheet& sheet, const std::vector<Part>& parts);
/// A plot per value column and group of rows; false if the table has no numeric x or too few points.
bool put_curve(Sheet& sheet, const Table& table);
/// Shades for key x key -> value; false if the table is not of that form or does not fit.
bool put_matrix(Sheet& sheet, const Table& table);

/// Ranks that are judged alike share a sentence; with `brief` four at most, and a single one without the
/// facts that are in the first line of a page.
void put_verdict(Sheet& sheet, const Verdict& verdict, bool brief);
/// What stands above everything.
void put_headline(Sheet& sheet, std::string_view sentence);
/// Cards under the headings of when they count.
void put_findings(Sheet& sheet, const Verdict& verdict);
/// What a summary says whole.
struct Told {
  struct OfFinding {
    bool title = false, aside = false, remedy = false;
  };
  std::vector<OfFinding> findings;
  std::vector<bool> warnings;  ///< their sentence; shorter when there are more warnings
};
/// Findings, what they save together and the recording's health, a line or two each, in at most `room` lines
/// where that can be.
Told put_summary(Sheet& sheet, const Verdict& verdict, std::size_t room);
/// What to do about the first five findings, why and how to check it, without what was `told`.
void put_reasons(Sheet& sheet, const Verdict& verdict, const Told& told);
/// Warnings, without what was `told`.
void put_health(Sheet& sheet, const Verdict& verdict, const Told& told);

}  // namespace stepscope::report
