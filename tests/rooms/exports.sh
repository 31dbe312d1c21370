#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The library exports what the public headers declare, and nothing else.
#   exports.sh LIBRARY HEADER...
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 ~ /[TDBRVW]/ { print $3 }' | sort)
declared=$(cat "${@:2}" | grep -oE 'ANADROME_API [^(]*\banadrome_[a-z_]+\(' | grep -oE 'anadrome_[a-z_]+\($' | tr -d '(' | sort)
[[ -n $declared ]] || { echo "no declaration found in ${*:2}"; exit 1; }
diff <(echo "$declared") <(echo "$exported") && echo "$(wc -l <<< "$declared") functions, no more"
