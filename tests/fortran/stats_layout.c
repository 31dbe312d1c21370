/* What C says about anadrome_stats, for a Fortran program that compares. */
#include <anadrome/anadrome.h>

size_t stats_size(void);
size_t stats_last_offset(void);

size_t stats_size(void) { return sizeof(anadrome_stats); }
size_t stats_last_offset(void) { return offsetof(anadrome_stats, writes_failed); }
