// SPDX-License-Identifier: BSD-2-Clause
// A gradient as a grey picture, PGM.
#pragma once

#include <string>
#include <vector>

#include "wave.h"

namespace wave {

/// What is white, and its negative black: most of what lies below the source is within it.
double brightness(const Wave& wave, const std::vector<double>& gradient);
/// Of all ranks' points; rank 0 writes. Collective. Throws std::runtime_error.
void write_picture(const Wave& wave, const std::vector<double>& gradient, double white,
                   const std::string& path);

}  // namespace wave
