// SPDX-License-Identifier: BSD-2-Clause
/* What the shared library exports. Everything else is hidden. */
#ifndef ANADROME_EXPORT_H
#define ANADROME_EXPORT_H

#if defined(ANADROME_STATIC)
#define ANADROME_API
#else
#define ANADROME_API __attribute__((visibility("default")))
#endif

#endif
