#include "base/pcinames.h"

#include <setjmp.h>

#include <pci/pci.h>

#define MAX_NAME 512

struct pcinames {
    struct pci_access *lib; /* NULL until the first question */
    bool broken;            /* the list cannot be read: nothing has a name */
};

struct pcinames *pcinames_new(void)
{
    struct pcinames *n = xmalloc(sizeof *n);

    *n = (struct pcinames){NULL, false};
    return n;
}

void pcinames_close(struct pcinames **n)
{
    if (!*n)
        return;
    if ((*n)->lib)
        pci_cleanup((*n)->lib);
    free(*n);
    *n = NULL;
}

/*
 * libpci tells of a damaged list by a call that must not return and that carries no context, hence a jump to
 * where this thread asked.
 */
static _Thread_local jmp_buf *asked_at;

static _Noreturn void on_error(char *msg, ...)
{
    (void)msg;
    longjmp(*asked_at, 1);
}

static void on_message(char *msg, ...)
{
    (void)msg;
}

static bool open_list(struct pcinames *n)
{
    if (n->lib || n->broken)
        return !n->broken;
    n->lib = pci_alloc(); /* without pci_init: the bus of this machine is none of our business */
    n->broken = !n->lib;
    if (n->broken)
        return false;
    n->lib->error = on_error;
    n->lib->warning = n->lib->debug = on_message;
    return true;
}

struct slice pcinames_find(struct pcinames *n, uint16_t vendor, uint16_t device, struct arena *a)
{
    const int flags = PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB;
    char name[MAX_NAME];
    const char *found;
    jmp_buf here;

    if (!open_list(n))
        return (struct slice){NULL, 0};
    asked_at = &here;
    if (setjmp(here)) {
        n->broken = true;
        return (struct slice){NULL, 0};
    }
    found = pci_lookup_name(n->lib, name, sizeof name, flags, (int)vendor, (int)device);
    return found ? arena_dup(a, slice_of(found)) : (struct slice){NULL, 0};
}

const char *pcinames_library(void)
{
    return "libpci " PCILIB_VERSION;
}
