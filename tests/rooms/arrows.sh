#!/usr/bin/env bash
# A room includes only rooms with a lower number, and schedule and store (both 1) not each other; MPI and
# HDF5 stay out of schedule. Fails with the offending lines.
#   arrows.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
declare -A number=([base]=0 [schedule]=1 [store]=1 [engine]=2 [api]=3 [tool]=3)
bad=0 seen=0
while IFS=: read -r file line text; do
  room=${file%%/*}
  included=$(sed -E 's/^ *# *include *"([^"/]+)\/.*$/\1/' <<< "$text")
  seen=$((seen + 1))
  [[ $included == "$room" ]] && continue
  if [[ -z ${number[$included]:-} || -z ${number[$room]:-} || ${number[$included]} -ge ${number[$room]} ]]; then
    echo "src/$file:$line: $room must not include $included"
    bad=1
  fi
done < <(grep -rnE '^ *# *include *"' --include='*.h' --include='*.cpp' .  | sed 's|^\./||')
while IFS= read -r found; do
  echo "src/$found: schedule knows neither MPI nor HDF5"
  bad=1
done < <(grep -rnE '(include *<(mpi|hdf5)\.h>|\bMPI_[A-Z]|\bH5[A-Z][a-z])' schedule || true)
[[ $seen -gt 50 ]] || { echo "only $seen includes were found: the test looks in the wrong place"; exit 1; }
exit $bad
