// SPDX-License-Identifier: BSD-2-Clause
/* What C says about structures, for Fortran programs that compare. */
#include <anadrome/gradient.h>

size_t stats_size(void);
size_t stats_last_offset(void);
size_t check_size(void);
size_t check_message_offset(void);

size_t stats_size(void) { return sizeof(anadrome_stats); }
size_t stats_last_offset(void) { return offsetof(anadrome_stats, seconds_visit_step); }
size_t check_size(void) { return sizeof(anadrome_gradient_check); }
size_t check_message_offset(void) { return offsetof(anadrome_gradient_check, message); }
