#ifndef VF_COLLECT_BIND_H
#define VF_COLLECT_BIND_H

#include "collect/probe.h"
#include "core/facts.h"

/*
 * Records to rows: for each record, the probe's columns are looked up by key, extracted, and checked against the column's type. What does
 * not fit its type or vocabulary is unknown with the text quoted, never passed on. A record whose key column cannot be read gives no row.
 *
 * each    the value the ask was expanded with, empty when none
 * source  index of facts_add_source
 *
 * Returns the number of records that gave no row for want of a readable key, or of anything readable besides what was asked; *rows counts the
 * others. In a list, rows whose key another record of the same answer had count in both: two listings stand in one answer.
 */
size_t bind_records(const struct probe *p, const struct way *w, const struct decoded *d, struct slice each, uint32_t source,
                    struct facts *f, size_t *rows);

/*
 * One text to a typed value, by column type, vocabulary and extraction; esxcli's answers print hexadecimal ids as 0x8086, or, as XML
 * integers, in decimal, the other commands as 8086. In f's arena. For tests, and for rules that state values.
 */
struct value bind_value(const struct column *c, const struct schema *s, enum take take, bool esxcli, struct slice text, struct arena *a);

#endif
