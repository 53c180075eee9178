#ifndef PEERS_SSHD_FAULTS_H
#define PEERS_SSHD_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The faults of a peer: lines "name=value" or "name" in the file "faults" of its work folder. It is read anew whenever somebody asks, so a
 * test changes a peer by writing the file. "faults.recording" adds what a recording says failed. Values may hold \n, \e, \\ and \xHH.
 */

/* Calls fn with each value of the fault, in order of the file; a return of true stops. Returns whether fn did. */
bool fault_each(const char *dir, const char *name, bool (*fn)(void *ctx, const char *value), void *ctx);

/* The last value of the fault, with its escapes replaced. */
bool fault_get(const char *dir, const char *name, char *value, size_t size);

/*
 * Whether the fault is set for a command. Its value is a command, or how a command begins: "esxcli storage" is meant for all of them, "*"
 * for every command. With arg the value is COMMAND:ARG, and arg is what stands behind the last colon.
 */
bool fault_for(const char *dir, const char *name, const char *command, char *arg, size_t size);

/* Appends a line to a file of the folder in one write. */
void peer_log(const char *dir, const char *file, const char *line, size_t n);

#endif
