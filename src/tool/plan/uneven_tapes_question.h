// States and tapes of uneven size in one memory.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question uneven_tapes_question();

}  // namespace anadrome::tool
