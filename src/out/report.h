#ifndef VF_OUT_REPORT_H
#define VF_OUT_REPORT_H

#include "base/json.h"
#include "core/derive.h"
#include "core/gate.h"
#include "core/sitefacts.h"
#include "core/waiver.h"

/*
 * The report of one host: what was found, on what evidence, what to do, and, where nothing was found, what the silence rests on. report.c
 * gathers it once; report_text.c and report_json.c only print.
 */

/* A label and a text about the subject of a finding, for people: "driver", "vmw_ahci 1.0.0-32vmw... (native)". */
struct report_line {
    const char *label, *text;
};

struct report_fix {
    const struct fix *fix;
    struct fix_check check;
};

struct report_item {
    const struct finding *finding;
    const struct report_line *about;
    size_t nabout;
    const struct report_fix *fixes;
    const char *fixed_in; /* first release that no longer matches, with build and date; or NULL */
};

/* Rules look at the rows of a table, and none or not all of its rows are known: what they would have said of the others nobody knows. */
struct report_blind {
    unsigned table;
    const char *why;
    size_t rules, rows; /* rules about the table; rows that were read */
};

struct report {
    const char *target;   /* as the user named it */
    const char *label, *kind, *incomplete, *layers;
    bool unread; /* nothing of the target could be read: incomplete says why */
    const struct match_ctx *m;
    const struct facts *facts;
    struct findings findings;
    const struct report_item *items; /* one per finding, same order */
    size_t counts[3];                /* findings that count, by severity */
    size_t unsure, withheld;
    size_t waived, softened; /* findings that a waiver hides; that waivers hide or lower to notes, and that were more */
    struct texts strangers;          /* storage controllers and NICs that no rule knows: "vmhba1 8086:a182 vmw_ahci" */
    const char *changed; /* newest VIB installation, image change, boot: one line, or NULL */
    const char **damaged; /* answers that were cut, refused or unreadable: "ask (file): why" */
    size_t ndamaged, damaged_cap;
    struct texts empty;  /* questions whose answer has 0 bytes: an empty list, or a command that failed */
    struct texts wanted; /* questions without an answer on which something undecided rests */
    size_t missing;      /* questions without an answer in all */
    struct texts firmware; /* undecided for want of its firmware: adapters, NICs, drives */
    const struct stated *stated;
    size_t nstated;
    struct slice today;
    const struct report_blind *blind;
    size_t nblind;
};

struct report_source { /* what a target adds to facts and findings */
    const char *target, *label, *kind, *incomplete;
    bool unread; /* nothing of it could be read */
    const char *layers; /* packs and files of rules beside the shipped ones; NULL */
    struct waivers *waivers; /* NULL: none */
    const struct stated *stated; /* what the site states of it */
    size_t nstated;
    struct slice today; /* YYYY-MM-DD; empty: the age of lists is not told */
};

int report_build(const struct match_ctx *m, const struct report_source *s, struct report *out, struct err *e);

/*
 * What a waiver says, for people: "until 2027-03-31 by OWNER", with the reason behind a colon, and how many days are left when these are few.
 * "by OWNER expired on 2027-03-31" of one that has ended. In the arena.
 */
const char *waiver_text(const struct waiver *w, bool reason, struct arena *a);
struct js *waiver_json(const struct waiver *w);

struct report_style {
    unsigned width, verbose;
    const char *bold, *dim, *red, *yellow, *green, *none; /* escape sequences or empty */
};

/* Days since a list of good pairs was reviewed; -1 when that is not told. It is old past RULE_REVIEW_DAYS. */
int64_t report_list_days(const struct report *r, const struct rule *list);
/* How a firmware version that no rule could do without becomes known, best first; ended by NULL. */
extern const char *const report_firmware_ways[];
/* "vmhba0 firmware 24.21.0-0148 (fw.csv:2, 2026-11-01, 30 days old)", and what became of it. In the arena. */
const char *report_stated(const struct report *r, const struct stated *s);

void report_text(const struct report *r, const struct report_style *s, struct buf *out);
/* docs/schema/scan.json: one member of "hosts". */
struct js *report_json(const struct report *r);

#define REPORT_JSON_VERSION 1 /* raised when a member goes or changes its meaning; additions keep it */

/* "esxi release=\"6.5\" ..." for one step of a trace, and where its cell came from. In the arena. */
const char *trace_text(const struct facts *f, const struct step_taken *s, struct arena *a);
const char *trace_source(const struct facts *f, const struct value *v, struct arena *a);
/* Does a step of the trace belong to the reasons for the result: decided cells only, no near misses. */
bool trace_decides(const struct finding *f, const struct step_taken *s);

#endif
