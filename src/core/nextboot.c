#include "core/nextboot.h"

#include "core/derive.h"

/* Is a file of a VIB in the list: after its first eight characters, '-' as '_' (sata-ahci: sata_ahc.v00), as every boot.cfg seen has them. */
static bool loads_file_of(struct slice modules, struct slice vib)
{
    struct slice word;

    while (slice_next_word(&modules, " ", &word)) {
        size_t i = 0, n = vib.n < 8 ? vib.n : 8;

        while (i < n && i < word.n && word.p[i] == (vib.p[i] == '-' ? '_' : vib.p[i]))
            i++;
        if (i == n && i < word.n && word.p[i] == '.')
            return true;
    }
    return false;
}

/*
 * An installed VIB whose file boot.cfg does not name is not there after a boot: drivers that hang a host are taken out of that list by hand.
 * The base image's own files have other names.
 */
static const char *not_in_boot_list(const struct facts *f, const struct row *module)
{
    const struct row *bank = facts_find(f, facts_table_index(f, "bootbank"), SLICE_LIT("/bootbank"));
    const struct value *vib = facts_cell(f, module, "vib"), *modules = facts_cell(f, bank, "modules");

    if (vib->state == VS_KNOWN && slice_ends(vib->s, "-base"))
        return NULL;
    if (vib->state != VS_KNOWN || modules->state != VS_KNOWN)
        return arena_printf(f->arena, "whether " SLICE_FMT " is there at the next boot is not known: %s", SLICE_ARG(module->key),
                            vib->state != VS_KNOWN ? (vib->why ? vib->why : "no VIB carries it")
                            : !bank                ? NO_ANSWER_TO "\"/bootbank/boot.cfg\""
                                                   : modules->why ? modules->why : "boot.cfg has no list of modules");
    if (loads_file_of(modules->s, vib->s))
        return NULL;
    return arena_printf(f->arena, "whether " SLICE_FMT " is there at the next boot is not known: /bootbank/boot.cfg names no file of " SLICE_FMT,
                        SLICE_ARG(module->key), SLICE_ARG(vib->s));
}

/* The shims are vmklinux_9 and its kin (vmklinux_9_2_3_0) and, for SATA, libata: one of the name, and none of them disabled. */
static const char *shim_lacks(const struct facts *f, const struct row *driver, const char *shim, bool exact, bool *lost)
{
    const char *open = NULL, *why;
    const struct row *r;
    bool found = false;

    for (size_t i = 0; (r = derive_row(f, "module", i)); i++) {
        const struct value *enabled = facts_cell(f, r, "enabled");
        const char *unlisted;

        if (!slice_starts(r->key, shim))
            continue;
        found |= !exact || slice_eqz(r->key, shim);
        if (known_bool(enabled, false)) {
            *lost = true;
            return arena_printf(f->arena, SLICE_FMT " needs " SLICE_FMT ", which is disabled", SLICE_ARG(driver->key), SLICE_ARG(r->key));
        }
        if (enabled->state != VS_KNOWN)
            open = arena_printf(f->arena, SLICE_FMT " needs " SLICE_FMT ", and whether that may load is not known", SLICE_ARG(driver->key),
                                SLICE_ARG(r->key));
        /* vmklinux comes with the base image, in no VIB of its name; libata has one of its own */
        unlisted = exact && facts_cell(f, r, "vib")->state != VS_KNOWN ? NULL : not_in_boot_list(f, r);
        open = unlisted ? unlisted : open;
    }
    if (found)
        return open;
    if (facts_complete(f, "module", &why)) {
        *lost = true;
        return arena_printf(f->arena, SLICE_FMT " needs a module %s, which this host does not have", SLICE_ARG(driver->key), shim);
    }
    return arena_printf(f->arena, SLICE_FMT " needs a module %s, and whether this host has one is not known: %s", SLICE_ARG(driver->key), shim,
                        why);
}

const char *nextboot_lacks(const struct facts *f, const struct row *module, bool *lost)
{
    const struct value *names = facts_cell(f, module, "namespaces"), *api = facts_cell(f, module, "api");
    bool libata = names->state == VS_KNOWN ? slice_find(names->s, 0, "com.vmware.libata") != SIZE_MAX : slice_eqz(module->key, "ahci");
    const char *first, *more;

    *lost = false;
    first = not_in_boot_list(f, module);
    if (known_text(api, "native"))
        return first;
    if (api->state != VS_KNOWN)
        return arena_printf(f->arena, "whether " SLICE_FMT " is a native driver or needs vmklinux is not known: %s", SLICE_ARG(module->key),
                            api->why ? api->why : "not asked");
    more = shim_lacks(f, module, "vmklinux_9", true, lost);
    first = *lost || !first ? more : first;
    if (!*lost && libata) {
        more = shim_lacks(f, module, "libata", false, lost); /* libata_92; libata_9_2_0_0 and kin in 5.x */
        first = *lost || !first ? more : first;
    }
    return first;
}

struct value nextboot_raid(const struct facts *f, const struct row *pci, const struct value *driver)
{
    static const char *const ids[] = {"8086:2822", "8086:2826", "8086:2827", "8086:1c04", "8086:1d04", "8086:8c04"};
    const struct value *id = facts_cell(f, pci, "id"), *class = facts_cell(f, pci, "class"), *candidates = facts_cell(f, pci, "candidates");

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (id->state == VS_KNOWN && slice_starts(id->s, ids[i]))
            return derive_from(value_bool(true), id);
    if (known_text(driver, "hpvsa"))
        return derive_from(value_bool(true), driver);
    if (id->state == VS_UNKNOWN)
        return value_unknown(arena_printf(f->arena, "its ids: %s", id->why ? id->why : "not read"));
    if (class->state != VS_KNOWN)
        return value_unknown(arena_printf(f->arena, "its class: %s", class->why ? class->why : "not printed"));
    if (!slice_starts(class->s, "0104"))
        return derive_from(value_bool(false), class);
    /* under an AHCI driver a function of class RAID is such a one; under others it is a controller that keeps its array to itself */
    return derive_from(value_bool(known_text(driver, "vmw_ahci") || known_text(driver, "ahci") ||
                                  (candidates->state == VS_KNOWN && slice_among(candidates->list, candidates->nlist, SLICE_LIT("ahci")))),
                       class);
}
