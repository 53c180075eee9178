/* Files of waivers: read, judged on a day, and put to findings of a small host; what they may not hide stays. */
#include "core/waiver.h"
#include "fuzz.h"

static struct rule fuzz_rules[] = {{.id = {"the-rule", 8}, .severity = SEV_WARNING}, {.id = {"critical-rule", 13}, .severity = SEV_CRITICAL}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct schema s;
    static struct arena *kept;
    FUZZ_ARENA(a, 16u << 20);
    struct finding found[2];
    struct findings fs = {.v = found, .n = 2};
    struct waivers ws;
    struct facts *f;
    struct err e = {0};
    int rc;

    if (!kept) {
        kept = arena_new(64u << 20);
        FUZZ_CHECK(schema_load(fuzz_file("probes/schema.xml", kept), "schema.xml", kept, &s, &e) == 0);
    }
    waivers_init(&ws, SLICE_LIT("2026-12-01"), a);
    rc = waivers_load(&ws, fuzz_slice(data, size), "fuzz", &e);
    FUZZ_CHECK(rc == 0 || rc == VF_EFORMAT || rc == VF_ELIMIT);
    FUZZ_CHECK(rc == 0 || ws.n == 0);
    FUZZ_CHECK(rc == 0 || e.msg[0]);
    for (size_t i = 0; i < ws.n; i++) {
        const struct waiver *w = &ws.v[i];

        fuzz_touch(w->host);
        fuzz_touch(w->subject);
        fuzz_touch(w->reason);
        FUZZ_CHECK(w->rule.n && w->host.n && w->subject.n && w->owner.n && w->reason.n && w->line);
        FUZZ_CHECK(rule_date(w->until) && w->days <= WAIVER_MAX_DAYS && w->severity < (int)SEV_CRITICAL);
        FUZZ_CHECK(slice_eq(date_of_days(date_days(w->until), a), w->until));
    }
    f = facts_new(&s, a);
    if (!f || arena_full(a))
        return 0;
    for (size_t i = 0; i < 2; i++)
        found[i] = (struct finding){.rule = &fuzz_rules[i], .result = TRI_TRUE, .severity = fuzz_rules[i].severity,
                                    .row = facts_row(f, facts_table_index(f, "adapter"), SLICE_LIT("vmhba0"))};
    if (!found[1].row)
        return 0;
    waivers_apply(&ws, f, "esx01", &fs);
    for (size_t i = 0; i < 2; i++) {
        FUZZ_CHECK((found[i].effect == WAIVER_NONE) == (found[i].waiver == NULL));
        FUZZ_CHECK(found[i].rule->severity != SEV_CRITICAL || finding_counts(&found[i]));
        FUZZ_CHECK(found[i].effect != WAIVER_EXPIRED || (found[i].waiver->days < 0 && finding_counts(&found[i])));
    }
    return 0;
}
