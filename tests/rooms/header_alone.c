// SPDX-License-Identifier: BSD-2-Clause
/* The public headers alone, first and twice. */
#include <anadrome/device.h>

#include <anadrome/graph.h>

#include <anadrome/sketch.h>

#include <anadrome/schedule.h>

#include <anadrome/store.h>

#include <anadrome/gradient.h>

#include <anadrome/enzyme.h>

#include <anadrome/anadrome.h>

int header_alone(void);
int header_alone(void) { return ANADROME_OK; }
