#ifndef VF_CORE_GATE_H
#define VF_CORE_GATE_H

#include "core/match.h"

/*
 * May the commands of a fix be shown for this host? The rule's own <require> and the gates of its actions are decided from facts alone
 * (apply-safety reference, section 4). Commands appear only when every gate passes; else the report says what stands in the way. What needs a
 * live look (maintenance mode, machines still running) is no gate here but a note, to be checked again before anything is applied.
 */
enum gate_state {
    GATE_OPEN,    /* all that facts can decide is in order */
    GATE_UNKNOWN, /* something could not be read: reasons say what */
    GATE_REFUSED, /* it would do harm, or has no effect: reasons say why */
};

struct fix_check {
    enum gate_state state;
    bool unfit;           /* the rule's own <require> is known not to hold: a fix for other hosts */
    const char **reasons; /* of UNKNOWN and REFUSED */
    size_t nreasons, reasons_cap;
    const char **notes;   /* what a person must know before: boot device, machines, management uplink */
    size_t nnotes, notes_cap;
    const char **commands; /* only when open: in order, quoted */
    const char **undo;
    size_t ncommands;
    struct arena *arena;
};

void fix_judge(const struct match_ctx *m, const struct finding *f, const struct fix *fix, struct fix_check *out);

#endif
