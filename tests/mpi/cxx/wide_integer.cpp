// SPDX-License-Identifier: BSD-2-Clause
// Integers of 16 bytes are of none of the library's types: the compiler refuses them.
#include <anadrome/anadrome.hpp>

void add(anadrome::Run& run, __int128& wide) { run.add_field("wide", &wide, 1); }
