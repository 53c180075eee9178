/* What the report must say of the founding host in its three states, and of hosts where the same advice would do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/xml.h"
#include "cmd/env.h"
#include "out/report.h"

struct scanned {
    struct env env;
    struct ruleset rules;
    struct buf text; /* without line breaks and runs of blanks, so that wrapping does not matter */
    struct report_style style;
    size_t hosts, counts[3];
};

static void squeeze(struct buf *out, struct slice s)
{
    struct slice w;

    while (slice_next_word(&s, " \n", &w)) {
        buf_addc(out, ' ');
        buf_add(out, w);
    }
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct scanned *s = ctx;
    struct match_ctx m = {.rules = &s->rules, .facts = h->facts, .arena = h->facts->arena};
    struct report_source source = {.target = "TARGET", .label = h->target->label, .kind = h->target->kind, .incomplete = h->incomplete,
                                   .unread = !h->target->channel};
    _cleanup_(buf_done) struct buf b = BUF_INIT(8u << 20);
    struct report r;

    assert_int_equal(report_build(&m, &source, &r, e), 0);
    report_text(&r, &s->style, &b);
    squeeze(&s->text, buf_slice(&b));
    s->hosts++;
    for (int k = 0; k < 3; k++)
        s->counts[k] += r.counts[k];
    return 0;
}

static struct scanned *scan(const char *path, unsigned verbose)
{
    struct scanned *s = xmalloc(sizeof *s);
    struct err e = {0};

    s->text = (struct buf)BUF_INIT(8u << 20);
    s->style = (struct report_style){.width = 80, .verbose = verbose, .bold = "", .dim = "", .red = "", .yellow = "", .green = "", .none = ""};
    if (env_open(&s->env, ".", NULL, &e) < 0 || env_rules(&s->env, NULL, 0, &s->rules, &e) < 0 || env_hosts(&s->env, path, on_host, s, &e) < 0)
        fail_msg("%s: %s", path, e.msg);
    return s;
}

static void done(struct scanned *s)
{
    buf_done(&s->text);
    env_close(&s->env);
    free(s);
}

static void says(struct scanned *s, const char *text)
{
    if (!strstr(buf_z(&s->text), text))
        fail_msg("the report does not say \"%s\":\n%s", text, buf_z(&s->text));
}

static void says_not(struct scanned *s, const char *text)
{
    if (strstr(buf_z(&s->text), text))
        fail_msg("the report says \"%s\":\n%s", text, buf_z(&s->text));
}

static void before_names_controller_driver_fix_and_what_hangs_on_it(void **state)
{
    struct scanned *s = scan("fixtures/sys-5028d-6.5-before", 0);

    (void)state;
    says(s, "WARNING vmhba0: vmw_ahci makes SATA storage slow");
    says(s, "controller 8086:8c02:15d9:086d Intel Corporation Lynx Point AHCI Controller, 0000:00:1f.2");
    says(s, "driver vmw_ahci 1.0.0-32vmw.650.0.0.4564106 (native), VIB vmw-ahci");
    says(s, "without it ahci of VIB sata-ahci would claim the controller");
    says(s, "2 datastores (datastore2, datastore1)");
    says(s, "2 running machines (app-01, files-01)");
    says(s, "not over it: the host boots from mpx.vmhba32:C0:T0:L0 on vmhba32");
    says(s, "fixed in 6.5u1 (build 5969303 of 2017-07-27)");
    says(s, "evidence confirmed by log lines");
    says(s, "The queue depth of 31 that such disks show is not the reason");
    says(s, "Queue depth 31 is the limit of SATA, not the cause of slowness");
    says(s, "latency not measured");
    done(s);
}

static void before_offers_both_remedies_with_risk_commands_and_undo(void **state)
{
    struct scanned *s = scan("fixtures/sys-5028d-6.5-before", 0);

    (void)state;
    says(s, "fix 1 update, risk reboot Update to ESXi 6.5 Update 1");
    says(s, "fix 2 use-ahci, risk boot");
    says(s, "not Quick Boot esxcli system module set --enabled=false --module=vmw_ahci /sbin/auto-backup.sh");
    says(s, "ahci is already enabled");
    says(s, "ahci would then claim vmhba0 (0000:00:1f.2)");
    says(s, "undo esxcli system module set --enabled=true --module=vmw_ahci");
    says_not(s, "--enabled=false --module=ahci"); /* it was enabled before: the way back leaves it so */
    done(s);
}

static void pending_says_that_a_reboot_is_due_and_what_it_will_do(void **state)
{
    struct scanned *s = scan("fixtures/sys-5028d-6.5-pending", 0);

    (void)state;
    says(s, "Reboot pending");
    says(s, "next boot vmhba0 (0000:00:1f.2): ahci will claim it");
    says_not(s, "--enabled=false --module=vmw_ahci /sbin"); /* the change is not advised a second time */
    assert_int_equal(s->counts[SEV_WARNING], 1);
    done(s);
}

static void after_is_fine(void **state)
{
    struct scanned *s = scan("fixtures/sys-5028d-6.5-after", 0);

    (void)state;
    says(s, "Nothing above a note.");
    says_not(s, "vmw-ahci-slow");
    done(s);
}

static void from_7_0_on_nobody_is_told_to_disable_vmw_ahci(void **state)
{
    static const char *const hosts[] = {"fixtures/stale-workaround-7.0u3", "fixtures/healthy-7.0u3", "fixtures/healthy-8.0u3",
                                        "fixtures/healthy-9.0", "fixtures/hidden-nvme-7.0", "fixtures/half-blind-7.0u3"};

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct scanned *s = scan(hosts[i], 1);

        says_not(s, "--enabled=false --module=vmw_ahci");
        done(s);
    }
}

static void stale_workaround_on_7_0_is_named_and_repaired(void **state)
{
    struct scanned *s = scan("fixtures/stale-workaround-7.0u3", 0);

    (void)state;
    says(s, "CRITICAL 0000:00:17.0: vmw_ahci is disabled, and this release has no other SATA driver");
    says(s, "esxcli system module set --enabled=true --module=vmw_ahci /sbin/auto-backup.sh");
    done(s);
}

static void a_paste_gets_the_finding_but_no_commands(void **state)
{
    struct scanned *s = scan("fixtures/forum-paste-6.5/paste", 0);

    (void)state;
    says(s, "vmw_ahci makes SATA storage slow");
    says(s, "No command is shown until this is known:");
    says(s, "no answer to \"esxcli hardware pci list\"");
    says(s, "rules: no answer to \"esxcli storage core device list\"");
    says(s, "vib beyond "); /* filtered: the rules about VIBs saw only a part of them */
    says_not(s, "--enabled=false --module=vmw_ahci");
    done(s);
}

/* What the person who pasted should be asked for next, and nothing twice. */
static void a_paste_says_what_would_decide_more(void **state)
{
    struct scanned *s = scan("fixtures/forum-paste-6.5/paste", 0);
    const char *first, *again;

    (void)state;
    says(s, "to decide esxcli system module list; esxcli hardware pci list; esxcli storage core path list");
    says(s, "why as for vmhba0, and so are the fixes evidence confirmed by log lines: 16 scsi-error");
    first = strstr(buf_z(&s->text), "fix 2 use-ahci");
    again = first ? strstr(first + 1, "fix 2 use-ahci") : first;
    assert_true(first && !again);
    done(s);
}

static void healthy_hosts_have_nothing_above_a_note(void **state)
{
    static const char *const hosts[] = {"5.5u3", "6.0u3", "6.5u3", "6.7u3", "7.0u3", "8.0u3", "9.0"};

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        _cleanup_(buf_done) struct buf path = BUF_INIT(100);
        struct scanned *s;

        buf_printf(&path, "fixtures/healthy-%s", hosts[i]);
        s = scan(buf_z(&path), 0);
        says(s, "Nothing above a note.");
        assert_int_equal(s->counts[SEV_WARNING] + s->counts[SEV_CRITICAL], 0);
        done(s);
    }
}

static void every_reason_names_its_answer_and_line(void **state)
{
    struct scanned *s = scan("fixtures/sys-5028d-6.5-before", 1);

    (void)state;
    says(s, "adapter vmhba0 driver is vmw_ahci (\"esxcli storage core adapter list\", esxcli_storage_core_adapter_list.xml, line ");
    says(s, "esxi release is 6.5 (\"esxcli system version get\"");
    done(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_names_controller_driver_fix_and_what_hangs_on_it),
        cmocka_unit_test(before_offers_both_remedies_with_risk_commands_and_undo),
        cmocka_unit_test(pending_says_that_a_reboot_is_due_and_what_it_will_do),
        cmocka_unit_test(after_is_fine),
        cmocka_unit_test(from_7_0_on_nobody_is_told_to_disable_vmw_ahci),
        cmocka_unit_test(stale_workaround_on_7_0_is_named_and_repaired),
        cmocka_unit_test(a_paste_gets_the_finding_but_no_commands),
        cmocka_unit_test(a_paste_says_what_would_decide_more),
        cmocka_unit_test(healthy_hosts_have_nothing_above_a_note),
        cmocka_unit_test(every_reason_names_its_answer_and_line),
    };

    xml_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
