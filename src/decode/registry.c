#include "decode/decode.h"

const struct decoder decoders[] = {
    {"esxcli", "esxcli or localcli, any formatter, told by content", decode_esxcli},
    {"lines", "one record a line, by a pattern", decode_lines},
    {"columns", "padded columns under a heading without a dash line", decode_columns},
    {"nics", "esxcfg-nics -l", decode_nics},
    {"pairs", "key=value or key: value lines", decode_pairs},
    {"map", "driver map files", decode_map},
    {"pci", "lspci, lspci -n, lspci -v", decode_pci},
    {"vmkload", "vmkload_mod -s, esxcfg-module -i: the module", decode_vmkload},
    {"vmkload-params", "vmkload_mod -s, esxcfg-module -i: its parameters", decode_vmkload_params},
    {"scsidevs", "esxcfg-scsidevs -l", decode_scsidevs},
    {"mpath", "esxcfg-mpath -b", decode_mpath},
    {"vswitch", "esxcfg-vswitch -l", decode_vswitch},
    {"vimcmd", "vim-cmd: nested objects", decode_vimcmd},
    {"smbios", "smbiosDump", decode_smbios},
    {"storcli", "storcli, perccli: /call show", decode_storcli},
    {"ssacli", "ssacli, hpssacli, hpacucli: ctrl all show config detail", decode_ssacli},
    {"redfish", "a resource of Redfish that has firmware", decode_redfish},
    {"redfish-system", "a ComputerSystem of Redfish", decode_redfish_system},
    {"vmklog", "vmkernel.log, vmkwarning.log, vobd.log", decode_vmklog},
    {"logspan", "the same logs: from when to when", decode_logspan},
    {NULL, NULL, NULL},
};

const struct decoder *decoder_find(struct slice name)
{
    for (const struct decoder *d = decoders; d->name; d++)
        if (slice_eqz(name, d->name))
            return d;
    return NULL;
}
