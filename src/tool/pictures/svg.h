// SPDX-License-Identifier: BSD-2-Clause
// SVG for pictures without a script: a few shapes, written as they come. Knows no sweeps.
#pragma once

#include <string_view>

#include "base/text_out.h"

namespace anadrome::tool {

/// "#rrggbb", or "none".
using Colour = const char*;

struct Letters {
  const char* anchor = "start";  ///< or "middle", "end": where x is
  double size = 0;               ///< pixels; 0: as the picture's
  bool bold = false;
  Colour colour = nullptr;  ///< null: ink
};

struct Paint {
  Colour fill = "none";
  Colour stroke = nullptr;
  double width = 0;  ///< of the stroke, pixels; 0: 1
  double opacity = 1;
  const char* dashes = nullptr;
};

class Svg {
 public:
  /// Opens a white picture. Every call throws what the sink of `out` throws.
  Svg(TextOut& out, double width, double height, double letters);
  void close();

  /// For programs and tooltips, not drawn.
  void about(std::string_view title, std::string_view description);

  void text(double x, double y, std::string_view words, const Letters& letters = {});
  /// `corner`: the radius of its corners.
  void rectangle(double x, double y, double width, double height, Colour colour, double corner = 0);
  void vertical(double x, double top, double bottom, const Paint& paint);
  /// A square of a legend and its words, on the line of text at `y`. Returns where the next begins.
  double legend(double x, double y, Colour colour, std::string_view words);

  /// begin_path, points, end_path. Coordinates have one digit after the point.
  void begin_path(const Paint& paint);
  void move(double x, double y) { point('M', x, y); }
  void line(double x, double y) { point('L', x, y); }
  void right(double length) { length_of('h', length); }
  void down(double length) { length_of('v', length); }
  void close_shape() { out_.put("z"); }
  void end_path() { out_.put("\"/>\n"); }

  /// Until end_group everything is moved; with `crisp` edges are not smoothed.
  void begin_group(double x, double y, bool crisp);
  void end_group() { out_.put("</g>\n"); }

 private:
  void point(char command, double x, double y);
  void length_of(char command, double length);
  void escaped(std::string_view text);
  void attribute(const char* name, double value, int digits = 1);
  void attribute(const char* name, std::string_view value);

  TextOut& out_;
  double letters_;
};

/// 1, 2 or 5 times a power of ten, so that `length` has at most `most` of them.
double round_step(double length, double most);

struct TimeUnit {
  double seconds;
  const char* name;  ///< "min"
};
/// For an axis on which the longest time is `seconds`.
TimeUnit unit_for(double seconds);

}  // namespace anadrome::tool
