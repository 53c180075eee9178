#include "core/upgrade.h"

#include "core/derive.h"

#define MAX_ITEMS 4096u

static int add(const struct claim_world *w, struct upgrade_check *out, struct upgrade_item item, struct err *e)
{
    void *grown = out->v;

    if (!item.why || arena_grow(w->f->arena, &grown, out->n, &out->cap, sizeof *out->v, MAX_ITEMS) < 0)
        return err_set(e, VF_ELIMIT, "more than %u things stand in the way of the upgrade", MAX_ITEMS);
    out->v = grown;
    out->v[out->n++] = item;
    return 0;
}

/* Interfaces of 6.x that 7.0 no longer provides (Broadcom KB 78389: vmkapi_2_2, vmkapi_2_3, the driver API of vmklinux). */
const char *upgrade_foreign_api(const struct release *target, struct slice depends)
{
    static const char *const names[] = {"vmkapi_2_0", "vmkapi_2_1", "vmkapi_2_2", "vmkapi_2_3", "com.vmware.driverAPI", "vmkernel-driverAPI", "driverAPI-9"};

    for (size_t i = 0; target->major >= 7 && i < sizeof names / sizeof *names; i++)
        if (slice_find(depends, 0, names[i]) != SIZE_MAX)
            return names[i];
    return NULL;
}

/* Is the VIB a vmklinux driver: one of its modules is, or its name is one of those that only such have. */
static bool is_vmklinux(const struct facts *f, struct slice vib)
{
    static const char *const prefixes[] = {"net-", "scsi-", "sata-", "ata-", "block-cciss", "ima-", "ohci-usb", "uhci-usb", "ehci-ehci", "xhci-xhci", "usb-storage"};
    const struct row *m;

    for (size_t i = 0; (m = derive_row(f, "module", i)); i++)
        if (facts_cell(f, m, "vib")->state == VS_KNOWN && slice_eq(facts_cell(f, m, "vib")->s, vib) && facts_cell(f, m, "api")->state == VS_KNOWN)
            return known_text(facts_cell(f, m, "api"), "vmklinux");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (slice_starts(vib, prefixes[i]))
            return true;
    return false;
}

/* "1.0.86.0-1OEM.670.0.0.8169922" was not built by VMware for its image. */
static bool is_async(struct slice version)
{
    return slice_find(version, 0, "OEM") != SIZE_MAX;
}

static bool crosses_seven(const struct claim_world *w)
{
    return w->f->release.major < 7 && w->change->upgrade.major >= 7;
}

static int judge_vib(const struct claim_world *w, const struct row *vib, struct upgrade_check *out, struct err *e)
{
    const struct value *version = facts_cell(w->f, vib, "version"), *depends = facts_cell(w->f, vib, "depends");
    const struct driver_change *news = w->data ? driverdata_change(w->data, w->builds, "vib", vib->key, &w->f->release, &w->change->upgrade) : NULL;
    bool async = version->state == VS_KNOWN && is_async(version->s);
    const char *api = depends->state == VS_KNOWN ? upgrade_foreign_api(&w->change->upgrade, depends->s) : NULL;
    struct upgrade_item item = {.name = vib->key};

    if (known_text(facts_cell(w->f, vib, "acceptance-level"), "CommunitySupported")) {
        item.weight = UPGRADE_BLOCKS;
        item.why = "CommunitySupported: no vendor answers for it, and an image with Secure Boot refuses it";
    } else if (slice_eqz(vib->key, "xhci-xhci") && version->state == VS_KNOWN && slice_starts(version->s, "1.0-3vmw.550") && w->change->upgrade.major == 6 &&
               w->change->upgrade.minor == 0) {
        item.weight = UPGRADE_BLOCKS;
        item.why = "it counts as newer than the one of the 6.0 images before 6.0 U2, which cannot replace it";
    } else if (crosses_seven(w) && api && async) {
        item.weight = UPGRADE_BLOCKS;
        item.why = arena_printf(w->f->arena, "it depends on %s, which 7.0 does not provide: the upgrade stops with a DependencyError (KB 78389)", api);
    } else if (crosses_seven(w) && is_vmklinux(w->f, vib->key)) {
        item.weight = async ? UPGRADE_BLOCKS : version->state == VS_KNOWN ? UPGRADE_NOTE : UPGRADE_OPEN;
        item.why = async ? "a vmklinux driver that the image does not replace: the upgrade stops with a DependencyError (KB 78389)"
                         : "a vmklinux driver: goes with the upgrade";
    } else if (crosses_seven(w) && async && depends->state == VS_UNKNOWN) {
        item.weight = UPGRADE_OPEN;
        item.why = "made for 6.x by its vendor; whether it depends on an interface that 7.0 lacks is not known";
        item.ask = arena_printf(w->f->arena, "esxcli software vib get -n " SLICE_FMT, SLICE_ARG(vib->key));
    } else if (news) {
        item.weight = UPGRADE_NOTE;
        item.why = slice_eqz(news->to, "-") ? arena_printf(w->f->arena, "not in the image from %d.%d on (" SLICE_FMT ")", news->from.major, news->from.minor,
                                                           SLICE_ARG(news->source))
                                            : arena_printf(w->f->arena, "called " SLICE_FMT " from %d.%d on: use \"profile update\", \"vib update\" does not follow"
                                                           " (" SLICE_FMT ")", SLICE_ARG(news->to), news->from.major, news->from.minor, SLICE_ARG(news->source));
    } else
        return 0;
    return add(w, out, item, e);
}

static int judge_cpu(const struct claim_world *w, struct upgrade_check *out, struct err *e)
{
    const struct row *cpu = derive_row(w->f, "cpu", 0);
    const struct value *family = facts_cell(w->f, cpu, "family"), *model = facts_cell(w->f, cpu, "model"), *vendor = facts_cell(w->f, cpu, "vendor");
    const struct driver_change *news;
    struct slice id;

    if (family->state != VS_KNOWN || model->state != VS_KNOWN || vendor->state != VS_KNOWN)
        return add(w, out, (struct upgrade_item){.weight = UPGRADE_OPEN, .why = "whether the release supports the processor is not known: its family and model were not read",
                                                 .ask = "esxcli hardware cpu list"}, e);
    if (!slice_eqz(vendor->s, "GenuineIntel") || !w->data)
        return 0;
    id = slice_of(arena_printf(w->f->arena, "%lld/%lld", (long long)family->i, (long long)model->i));
    news = driverdata_change(w->data, w->builds, "cpu", id, NULL, &w->change->upgrade);
    if (!news)
        return 0;
    return add(w, out, (struct upgrade_item){.weight = UPGRADE_OPEN,
                                             .why = arena_printf(w->f->arena, "processor family/model " SLICE_FMT " is not supported from %d.%d on (" SLICE_FMT
                                                                 "): the installer stops or warns with CPU_SUPPORT", SLICE_ARG(id), news->from.major,
                                                                 news->from.minor, SLICE_ARG(news->source)),
                                             .ask = "the new image's own hardware check (esxcli software profile update --dry-run)"}, e);
}

int upgrade_judge(const struct claim_world *w, struct upgrade_check *out, struct err *e)
{
    const struct row *r;
    const char *why;

    *out = (struct upgrade_check){0};
    if (!w->change || w->change->upgrade.major == 0)
        return 0;
    if (!facts_complete(w->f, "vib", &why) &&
        add(w, out, (struct upgrade_item){.weight = UPGRADE_OPEN, .why = arena_printf(w->f->arena, "the list of VIBs is not complete: %s", why),
                                          .ask = "esxcli software vib list"}, e) < 0)
        return e->code;
    for (size_t i = 0; (r = derive_row(w->f, "vib", i)); i++)
        if (judge_vib(w, r, out, e) < 0)
            return e->code;
    return judge_cpu(w, out, e);
}
