/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 * MPI of one process, for builds of anadrome without an MPI (-DANADROME_MPI=OFF): what the library,
 * its headers and its examples call of it. Every communicator is this process alone, it is running
 * always, and a message to another rank ends the program. A program that has an MPI needs a build
 * of anadrome with that MPI: the two do not go together. */
#ifndef ANADROME_ONE_PROCESS_MPI_H
#define ANADROME_ONE_PROCESS_MPI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANADROME_ONE_PROCESS 1
#define MPI_VERSION 3
#define MPI_SUBVERSION 1

typedef int MPI_Comm;
typedef int MPI_Info;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Errhandler;
typedef int64_t MPI_Aint;
typedef size_t MPI_Datatype; /* its size */
typedef struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

enum { MPI_SUCCESS = 0, MPI_MAX_ERROR_STRING = 64, MPI_MAX_LIBRARY_VERSION_STRING = 64 };
enum { MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1, MPI_COMM_SELF = 2 };
enum { MPI_MAX, MPI_MIN, MPI_SUM, MPI_BOR, MPI_LOR, MPI_LAND, MPI_MINLOC, MPI_MAXLOC };
enum { MPI_PROC_NULL = -1, MPI_ANY_SOURCE = -2, MPI_ANY_TAG = -1 };
enum { MPI_COMM_TYPE_SHARED = 0, MPI_INFO_NULL = 0, MPI_REQUEST_NULL = 0 };
enum { MPI_ERRORS_RETURN = 0, MPI_ERRORS_ARE_FATAL = 1 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };

#define MPI_BYTE ((MPI_Datatype)1)
#define MPI_CHAR ((MPI_Datatype)1)
#define MPI_INT (sizeof(int))
#define MPI_2INT (2 * sizeof(int))
#define MPI_INT64_T ((MPI_Datatype)8)
#define MPI_UINT64_T ((MPI_Datatype)8)
#define MPI_LONG_LONG ((MPI_Datatype)8)
#define MPI_FLOAT ((MPI_Datatype)4)
#define MPI_DOUBLE ((MPI_Datatype)8)
#define MPI_IN_PLACE ((void*)-1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

static inline int anadrome_no_other_rank_(int rank) {
  if (rank != MPI_PROC_NULL) {
    fprintf(stderr, "anadrome: a message to rank %d, and this build has no MPI\n", rank);
    abort();
  }
  return MPI_SUCCESS;
}
static inline int anadrome_copy_(const void* from, void* to, int count, MPI_Datatype type) {
  if (from != MPI_IN_PLACE && from != to && count > 0) memcpy(to, from, (size_t)count * type);
  return MPI_SUCCESS;
}

static inline int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return MPI_SUCCESS;
}
static inline int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  *provided = required;
  return MPI_Init(argc, argv);
}
static inline int MPI_Finalize(void) { return MPI_SUCCESS; }
static inline int MPI_Initialized(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}
static inline int MPI_Finalized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
static inline int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  exit(code);
}
static inline double MPI_Wtime(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline int MPI_Get_library_version(char* version, int* length) {
  *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "no MPI: one process");
  return MPI_SUCCESS;
}
static inline int MPI_Error_string(int code, char* text, int* length) {
  *length = snprintf(text, MPI_MAX_ERROR_STRING, "error %d", code);
  return MPI_SUCCESS;
}

static inline int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  (void)comm;
  *rank = 0;
  return MPI_SUCCESS;
}
static inline int MPI_Comm_size(MPI_Comm comm, int* size) {
  (void)comm;
  *size = 1;
  return MPI_SUCCESS;
}
static inline int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  *copy = comm;
  return MPI_SUCCESS;
}
static inline int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  (void)color, (void)key;
  return MPI_Comm_dup(comm, part);
}
static inline int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                      MPI_Comm* part) {
  (void)info;
  return MPI_Comm_split(comm, type, key, part);
}
static inline int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
static inline int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  (void)comm;
  *flag = 0;
  return MPI_SUCCESS;
}
static inline int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  (void)comm, (void)handler;
  return MPI_SUCCESS;
}

static inline int MPI_Barrier(MPI_Comm comm) {
  (void)comm;
  return MPI_SUCCESS;
}
static inline int MPI_Bcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)values, (void)count, (void)type, (void)root, (void)comm;
  return MPI_SUCCESS;
}
static inline int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
  (void)op, (void)comm;
  return anadrome_copy_(from, to, count, type);
}
static inline int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             int root, MPI_Comm comm) {
  (void)root;
  return MPI_Allreduce(from, to, count, type, op, comm);
}
/** What rank 0 gets is undefined: `to` stays as it is. */
static inline int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  (void)from, (void)to, (void)count, (void)type, (void)op, (void)comm;
  return MPI_SUCCESS;
}
static inline int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to,
                                int to_count, MPI_Datatype to_type, MPI_Comm comm) {
  (void)to_count, (void)to_type, (void)comm;
  return anadrome_copy_(from, to, count, type);
}
static inline int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                             MPI_Datatype to_type, int root, MPI_Comm comm) {
  (void)root;
  return MPI_Allgather(from, count, type, to, to_count, to_type, comm);
}
static inline int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to,
                              const int* counts, const int* places, MPI_Datatype to_type, int root,
                              MPI_Comm comm) {
  (void)counts, (void)to_type, (void)root, (void)comm;
  if (from == MPI_IN_PLACE) return MPI_SUCCESS;
  return anadrome_copy_(from, (char*)to + (size_t)places[0] * type, count, type);
}

static inline int MPI_Send(const void* values, int count, MPI_Datatype type, int to, int tag,
                           MPI_Comm comm) {
  (void)values, (void)count, (void)type, (void)tag, (void)comm;
  return anadrome_no_other_rank_(to);
}
static inline int MPI_Ssend(const void* values, int count, MPI_Datatype type, int to, int tag,
                            MPI_Comm comm) {
  return MPI_Send(values, count, type, to, tag, comm);
}
static inline int MPI_Recv(void* values, int count, MPI_Datatype type, int from, int tag,
                           MPI_Comm comm, MPI_Status* status) {
  (void)status;
  return MPI_Send(values, count, type, from, tag, comm);
}
static inline int MPI_Isend(const void* values, int count, MPI_Datatype type, int to, int tag,
                            MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_Send(values, count, type, to, tag, comm);
}
static inline int MPI_Irecv(void* values, int count, MPI_Datatype type, int from, int tag,
                            MPI_Comm comm, MPI_Request* request) {
  return MPI_Isend(values, count, type, from, tag, comm, request);
}
static inline int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  (void)count, (void)requests, (void)statuses;
  return MPI_SUCCESS;
}
static inline int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  (void)request, (void)status;
  *flag = 1;
  return MPI_SUCCESS;
}
/** To this rank itself, as on a ring of one, or to nobody. */
static inline int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int to_rank, int tag,
                               void* to, int to_count, MPI_Datatype to_type, int from_rank,
                               int from_tag, MPI_Comm comm, MPI_Status* status) {
  (void)tag, (void)to_count, (void)to_type, (void)from_tag, (void)comm, (void)status;
  if (to_rank == 0 && from_rank == 0) return anadrome_copy_(from, to, count, type);
  anadrome_no_other_rank_(to_rank);
  return anadrome_no_other_rank_(from_rank);
}

#endif
