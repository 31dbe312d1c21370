// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/encoding.h"

#include "base/text_out.h"

namespace anadrome::engine {

std::optional<store::Encoding> encoding_of(const Options& options,
                                           std::span<const store::Field> fields) {
  if (options.compress.empty()) return std::nullopt;
  return store::encoding_of(options.compress, options.tolerance, fields);
}

std::string encoding_lines(const Options& options, std::span<const store::Field> fields) {
  if (options.compress.empty()) return "";
  std::string lines = "compress=" + options.codec() + "\n";
  if (options.has_tolerance()) lines += "tolerance=" + format_in_full(options.tolerance) + "\n";
  for (const store::Field& field : fields) {
    if (field.tolerance >= 0)
      lines += "tolerance." + field.name + "=" + format_in_full(field.tolerance) + "\n";
    if (field.shape.empty()) continue;
    lines += "shape." + field.name + "=";
    for (const std::int64_t size : field.shape) lines += std::to_string(size) + " ";
    lines.back() = '\n';
  }
  return lines;
}

}  // namespace anadrome::engine
