#ifndef VF_CORE_DERIVE_H
#define VF_CORE_DERIVE_H

#include "core/facts.h"

/*
 * Computed columns: relations and counts that no command prints. Each follows from known cells only; where an input is unknown the
 * result is unknown with the input's reason. Run once, after the last facts_put; it also sorts the rows and sets f->release.
 */
struct derive_env {
    const struct builds *builds;
    /* Name of a vendor and device id from pci.ids, in the arena; empty when there is none. May be NULL. */
    struct slice (*pci_name)(void *ctx, uint16_t vendor, uint16_t device, struct arena *a);
    void *ctx;
};

void derive_all(struct facts *f, const struct derive_env *env);

/* For the parts of derive_*.c: set a derived cell by column name. */
void derive_set(struct facts *f, const struct row *r, const char *column, struct value v);
/* The value, said to come from where the input it follows from came: so that "explain" can name command, file and line. */
struct value derive_from(struct value v, const struct value *input);
/* Unknown, with the reason of the value it depends on. */
struct value derive_unknown(struct facts *f, const char *what, const struct value *from);
/* Rows of a table as loop: for (i = 0; (r = derive_row(f, "path", i)); i++). */
const struct row *derive_row(const struct facts *f, const char *table, size_t i);
/* A growing set of texts for list columns. */
struct texts {
    struct slice *v;
    size_t n, cap;
};
void texts_add(struct texts *t, struct slice s, struct arena *a); /* once each */
struct value texts_value(struct texts *t);                        /* list, absent when empty; sorted naturally */

/* "192.0.2.11" as a number; false for names, IPv6 and other forms. */
bool derive_ipv4(struct slice s, uint32_t *out);
/* Minutes since 1970 of "2017-02-25T17:34:15...", or since 2000 of "08-16T20:09:17" of 4.x, which prints no year; -1 for another form. */
int64_t derive_minute(struct slice time);
/* Key of the datastore of "/vmfs/volumes/NAME-OR-UUID/..." or "[NAME] ..."; absent for a place of another form, unknown when it is not listed. */
struct value derive_store_of(struct facts *f, struct slice place);

bool known_text(const struct value *v, const char *text);
bool known_bool(const struct value *v, bool wanted);

/*
 * Were the lists read whole that lead from an adapter to what is behind it: with one link its devices, with two datastores, with BEHIND_MACHINES
 * the running machines. A list that was cut proves no number.
 */
#define BEHIND_DEVICES    1u
#define BEHIND_DATASTORES 2u
#define BEHIND_MACHINES   4u
bool derive_whole_behind(const struct facts *f, unsigned links);

/* VIB that carries a module, by the names of the installed ones; unknown when none or several fit. */
struct value derive_vib_of(struct facts *f, struct slice module);

void derive_modules(struct facts *f);
void derive_pci(struct facts *f, const struct derive_env *env);
void derive_storage(struct facts *f);
void derive_network(struct facts *f);
void derive_host(struct facts *f, const struct derive_env *env);
/* After storage and network: firmware that the host's BMC tells, joined to adapters, NICs and drives. */
void derive_firmware(struct facts *f);
/* Why nothing of the BMC is used, a sentence; NULL when it is this host's, or none was asked. */
const char *derive_bmc_refused(const struct facts *f);
/* After the others: who speaks to which storage server over which port, and what a machine of this host serves. */
void derive_servers(struct facts *f);
/* After all others: margins of NVMe drives, crashes, dump targets, passthrough, MxGPU. */
void derive_health(struct facts *f);

#endif
