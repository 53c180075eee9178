#ifndef VF_NET_OFFLINE_H
#define VF_NET_OFFLINE_H

#include "net/target.h"

/*
 * Offline targets as channels. One implementation serves them all: an index from what a file name says it answers to the file.
 *
 *   a recording           a folder with recording.json (below): asks, files, sizes and failures are known
 *   a folder of outputs   files named after the commands they answer, as people save, attach or paste them:
 *                         "esxcli_storage_core_adapter_list.txt", "esxcli storage core adapter list.xml", "vmkernel.log"
 *   a vm-support bundle   .tgz, or unpacked: commands/localcli_storage-core-adapter-list.txt, json/, files of the host under their
 *                         paths, long files split into .FRAG-00000 ..., rotated logs as .gz
 *   a .zip of several     as vCenter exports them: one target for each bundle inside
 *
 * A name is compared word by word: blanks, '_', '-', '/', '.' and '=' part words; esxcli, localcli, formatter options and the ending
 * are left out, so is what a browser adds: a second ending, "(1)"; case counts in one-letter words only (esxcfg-scsidevs -a and -A differ).
 *
 * recording.json: {"format": 1, "taken": ISO time, "trouble": text, "answers": [{"ask": "esxcli storage core adapter list", "file": name,
 * "status": "ok" | "timeout" | "denied" | "lost" | "failed", "exit": N, "bytes": N, "note": text}]}. It speaks of the files below its own
 * folder, in archives too.
 *
 *   trouble   why the host could not be read whole when it was recorded, in one sentence ("hostd does not run: ...",
 *             "the connection broke: ..."): its target is cut for the same reason. Left out when there was none
 *   ask       "esxcli ...", another command, or the absolute path of a file on the host: it answers that and nothing else
 *   file      holds the answer, left out when there is none
 *   status    "ok": all of the output is in the file, whatever the command's exit; with the others it is cut or missing, and note says why
 *   bytes     size of the file; a shorter or longer one is a cut answer
 */

/*
 * Targets found at path: one for each host in a folder or an archive (offline_hosts.h tells hosts apart), one for each bundle in a .zip. What
 * cannot be read, a folder, a file that a recording names, a broken recording.json, leaves its target incomplete (cut); the rest is used. It
 * is an error when nothing at all can be read. The channels live until closed; everything else in the arena.
 */
int offline_open(const char *path, struct arena *a, struct target **out, size_t *n, struct err *e);

/* Files that no ask has used so far: names that were not understood, or that no probe wants. None of a channel that has no files. */
size_t offline_unknown(const struct channel *c, const char **names, size_t max);

/* Does what a file is called answer the ask, with any words where it has "{}". */
bool offline_name_answers(const char *file, const struct ask *q);

#endif
