// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/svg.h"

#include <array>
#include <cmath>

#include "base/index.h"
#include "base/plain_text.h"

namespace anadrome::tool {

Svg::Svg(TextOut& out, double width, double height, double letters) : out_(out), letters_(letters) {
  out_.put("<svg xmlns=\"http://www.w3.org/2000/svg\"");
  attribute("width", width, 0);
  attribute("height", height, 0);
  out_.put(" viewBox=\"0 0 ").fixed(width, 0).put(" ").fixed(height, 0).put("\"");
  attribute("font-family", "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif");
  attribute("font-size", letters);
  attribute("fill", "#1c1c1c");
  out_.put(">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

void Svg::close() {
  out_.put("</svg>\n");
  out_.flush();
}

void Svg::about(std::string_view title, std::string_view description) {
  out_.put("<title>");
  escaped(title);
  out_.put("</title>\n");
  if (description.empty()) return;
  out_.put("<desc>");
  escaped(description);
  out_.put("</desc>\n");
}

void Svg::text(double x, double y, std::string_view words, const Letters& letters) {
  out_.put("<text");
  attribute("x", x);
  attribute("y", y);
  attribute("text-anchor", letters.anchor);
  if (letters.size > 0) attribute("font-size", letters.size);
  if (letters.bold) attribute("font-weight", "bold");
  if (letters.colour != nullptr) attribute("fill", letters.colour);
  out_.put(">");
  escaped(words);
  out_.put("</text>\n");
}

void Svg::rectangle(double x, double y, double width, double height, Colour colour, double corner) {
  out_.put("<rect");
  attribute("x", x);
  attribute("y", y);
  attribute("width", width);
  attribute("height", height);
  if (corner > 0) attribute("rx", corner);
  attribute("fill", colour);
  out_.put("/>\n");
}

void Svg::vertical(double x, double top, double bottom, const Paint& paint) {
  begin_path(paint);
  move(x, top);
  down(bottom - top);
  end_path();
}

double Svg::legend(double x, double y, Colour colour, std::string_view words) {
  constexpr double kSquare = 14, kPerLetter = 0.6;
  rectangle(x, y - 12, kSquare, kSquare, colour, 2);
  text(x + kSquare + 6, y, words);
  return x + kSquare + 22 + kPerLetter * letters_ * real(std::ssize(words));
}

void Svg::begin_path(const Paint& paint) {
  out_.put("<path");
  attribute("fill", paint.fill);
  if (paint.stroke != nullptr) attribute("stroke", paint.stroke);
  if (paint.width > 0) attribute("stroke-width", paint.width, 2);
  if (paint.opacity < 1) attribute("stroke-opacity", paint.opacity, 2);
  if (paint.dashes != nullptr) attribute("stroke-dasharray", paint.dashes);
  out_.put(" d=\"");
}

void Svg::begin_group(double x, double y, bool crisp) {
  out_.put("<g");
  if (crisp) attribute("shape-rendering", "crispEdges");
  out_.put(" transform=\"translate(").fixed(x, 1).put(" ").fixed(y, 1).put(")\">\n");
}

void Svg::point(char command, double x, double y) {
  out_.put({&command, 1}).fixed(x, 1).put(" ").fixed(y, 1);
}

void Svg::length_of(char command, double length) { out_.put({&command, 1}).fixed(length, 1); }

void Svg::escaped(std::string_view text) {
  for (const char c : plain(text)) {
    if (c == '&') {
      out_.put("&amp;");
    } else if (c == '<') {
      out_.put("&lt;");
    } else {
      out_.put({&c, 1});
    }
  }
}

void Svg::attribute(const char* name, double value, int digits) {
  out_.put(" ").put(name).put("=\"").fixed(value, digits).put("\"");
}

void Svg::attribute(const char* name, std::string_view value) {
  out_.put(" ").put(name).put("=\"").put(value).put("\"");
}

double round_step(double length, double most) {
  const double least = length / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

TimeUnit unit_for(double seconds) {
  constexpr double kHour = 3600, kDay = 24 * kHour, kYear = 365.25 * kDay, kFew = 3;
  constexpr std::array kLong = {TimeUnit{kYear, "a"}, TimeUnit{kDay, "d"}, TimeUnit{kHour, "h"},
                                TimeUnit{60, "min"}};
  constexpr std::array kShort = {TimeUnit{1, "s"}, TimeUnit{1e-3, "ms"}, TimeUnit{1e-6, "us"}};
  for (const TimeUnit& unit : kLong) {
    if (seconds >= kFew * unit.seconds) return unit;
  }
  for (const TimeUnit& unit : kShort) {
    if (seconds >= unit.seconds) return unit;
  }
  return {1e-9, "ns"};
}

}  // namespace anadrome::tool
