#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#SBATCH --job-name=gradient --nodes=2 --ntasks-per-node=2 --time=02:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue --open-mode=append

# ./gradient must do what adjoint.c on the page does: call anadrome_request_stop on SIGUSR1 and end with exit code 4 on
# ANADROME_STOPPED, call anadrome_resumed after anadrome_begin, and register what its adjoint sweep adds to as ADJOINT.

# A directory that all nodes share and that outlives the job. The name is the same in every life of the job.
# memory: (memory of a node - what the solver needs on it - 10 %) / 2
states=/scratch/$USER
mkdir -p "$states" || exit 1
export ANADROME_OPTIONS="memory=3GiB directory=$states name=gradient problem=gradient resume=on wait_for_lock=180 report=-"

trap 'kill -USR1 $ranks' USR1
mpirun ./gradient & ranks=$!
wait $ranks; code=$?
if [ $code -gt 128 ]; then wait $ranks; code=$?; fi # the trap ended the first wait
if [ $code -eq 4 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit $code
