#ifndef VF_DECODE_DECODE_H
#define VF_DECODE_DECODE_H

#include "base/arena.h"
#include "base/err.h"

/*
 * Bytes of one reply to records: what a command printed, cut into objects with keys and texts, and nothing
 * more. A decoder knows a form (esxcli's XML, a table with a dash line, vmkernel.log), not a meaning; which key
 * goes to which column is the probe's business (collect/bind.c).
 *
 * A decoder never guesses. What is damaged is left out or marked, and the result says so:
 *   DECODE_COMPLETE  the reply is whole as far as its form can tell
 *   DECODE_PARTIAL   some records are good, others were cut, unreadable or without a heading: why and line say what
 *   DECODE_REFUSED   the host answered with an error of its own (unknown command, hostd down): why quotes it
 *   DECODE_UNUSABLE  nothing can be made of it: why and line say what
 * Text that is translated, reordered, doubled or cut must never give a wrong value: it gives DECODE_PARTIAL, or a
 * field with damage set.
 */
enum decode_state { DECODE_UNUSABLE, DECODE_REFUSED, DECODE_PARTIAL, DECODE_COMPLETE };

/*
 * One key and text. Keys are as printed; compare with decode_key_eq, which ignores case and everything that is
 * not a letter or digit, so that "PCI Device" (text), "PCIDevice" (XML, CSV) and "pci-device" are one key. The key of a
 * nested structure's member is the path: "DriverInfo/FirmwareVersion". A list gives one field per member, same key.
 * damage is NULL, or why the text must not be believed ("the line may be cut", ...).
 */
struct field {
    struct slice key, text;
    const char *damage;
    uint32_t line;
    bool listed; /* a member of a list: several fields of this key are no contradiction */
};

/* id: the text that introduced the object (id line of a block, file name of a map); often empty. */
struct record {
    struct slice id;
    const struct field *fields;
    uint32_t nfields, line;
};

struct decoded {
    enum decode_state state;
    const char *form; /* "xml", "text table", "text blocks", "csv", "keyvalue", "json", "log", ...: what it was */
    const char *why;  /* not NULL unless complete */
    uint32_t line;    /* of the damage, 0 when it has no line */
    const struct record *records;
    size_t n;
};

/* Shape of esxcli's text form; XML, CSV, JSON and keyvalue tell it themselves. */
enum decode_shape {
    SHAPE_TABLE,  /* heading line, dash line, rows */
    SHAPE_LIST,   /* id line at column 0, then indented "Key: value"; objects parted by an empty line */
    SHAPE_BLOCKS, /* as LIST without id lines; every block begins with the same key */
    SHAPE_OBJECT, /* one object, perhaps below a title line; its id is the title */
    SHAPE_VALUE,  /* one value alone: field "value" */
};

struct decode_opt {
    enum decode_shape shape;
    const char *columns; /* headings in order, parted by '|', for tables that lost theirs to a grep; or NULL */
    const char *line;    /* "lines" decoder: the pattern; or NULL */
    const char *name;    /* where the bytes came from, for messages */
    bool cut;            /* the reply is known to be cut (limit, lost connection) */
};

/*
 * in is borrowed for the call only when the decoder copies, and must live as long as a otherwise: keep reply bytes in
 * the same arena. Returns 0 with *out filled (whatever its state), or VF_ELIMIT when the arena is full or a limit
 * below is passed. Decoders do no I/O and keep no state.
 */
typedef int decode_fn(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out);

struct decoder {
    const char *name, *doc;
    decode_fn *run;
};

/* All decoders, ended by a NULL name. */
extern const struct decoder decoders[];
const struct decoder *decoder_find(struct slice name);

/*
 * What decoders are called by. As the decoder's run, for text as people copy it: a byte order mark and quote marks before every
 * line ("> ") are taken off; a field with control characters, no-break blanks, characters without width or a pager's
 * "--More--" is marked, and so is one that ends where several lines end at a window's width. Both make the result partial.
 */
int decode_answer(const struct decoder *d, struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out);

/* Offset of the first character that marks a text as copied from a screen, a pager or a page, or SIZE_MAX. */
size_t decode_find_odd(struct slice s);

/* Do several lines end at a usual width of windows, and none behind it? For texts whose lines have no width of their own. */
bool decode_lines_cut(struct slice in);

/* esxcli and localcli: form told by content (XML, JSON, keyvalue, CSV, text), host errors recognised. */
decode_fn decode_esxcli;
/* The five forms behind it; each answers DECODE_UNUSABLE for bytes of another form. */
decode_fn decode_esxcli_xml, decode_esxcli_json, decode_esxcli_keyvalue, decode_esxcli_csv, decode_esxcli_text;

/*
 * One record a line, by the pattern in opt->line: {Name} is one word, {Name?} a word or nothing (at the end or before a
 * rest), {Name...} the trimmed rest, which may be empty; a blank is one or more blanks; other characters are themselves,
 * and end a word they stand behind ("{Vendor ID}:{Device ID}"). Several patterns are parted by newlines; the first that
 * fits a line wins. A "+" before the first puts the fields of all lines into one record; a key then stands once in it
 * (given with two texts it is damaged), and a pattern none of whose keys any line gave makes the result partial (patterns
 * that share a key are alternatives):
 *     "+VMware ESXi {Version} build-{Build}\nVMware ESXi {Release} Update {Update}\nVMware ESXi {Release...}"
 */
decode_fn decode_lines;
decode_fn decode_columns;  /* padded columns under a heading without a dash line: esxcfg-scsidevs -c, lspci -p */
decode_fn decode_nics;     /* esxcfg-nics -l: the columns told by what stands in them, with or without a heading */
/*
 * "key=value", "key: value" or "key:value" lines: boot.cfg, ethtool -i, vsish. Groups in braces give a key path, the
 * outermost one, a title, does not. One record; with SHAPE_TABLE a record a pair, fields Name and Value; with
 * SHAPE_VALUE the only line is the field "value".
 */
decode_fn decode_pairs;
decode_fn decode_map;      /* map files below /etc/vmware: regtype=,bus=,id=,driver= */
decode_fn decode_vmkload;  /* vmkload_mod -s, esxcfg-module -i: one record, the module */
decode_fn decode_vmkload_params; /* the same text: one record a parameter, fields Module, Name, Type, Description */
decode_fn decode_scsidevs; /* esxcfg-scsidevs -l: several pairs on a line */
decode_fn decode_mpath;    /* esxcfg-mpath -b: one record a path */
decode_fn decode_vswitch;  /* esxcfg-vswitch -l: one record a switch, portgroups listed */
decode_fn decode_vimcmd;   /* vim-cmd: nested (type) { name = value }: one record, keys are paths */
decode_fn decode_smbios;   /* smbiosDump: one record a structure, id is its title */
/*
 * "/call show" of storcli and perccli: a record a controller, its id the number. Keys as printed up to the first list, PCI Address as
 * the host writes it, and Firmware: the package's version, which is what vendors publish and what a pair is judged by (52.16.1-4405),
 * not the "FW Version" of the image in it (5.160.02-3552); an HBA prints 00.00.00.00 for the package and has only the latter.
 * Of the lists behind them: Cache Policy ("0/0 NRWTD", one for each virtual drive: WB, AWB write back, WT writes through) and Battery, the state
 * of the CacheVault or battery (Optimal, Failed, Dgd).
 */
decode_fn decode_storcli;
/*
 * "ctrl all show config detail" and "ctrl all show detail" of ssacli, hpssacli and hpacucli (HPE Smart Array): a record a controller, its id the
 * heading. Keys as printed, without those of arrays and drives; Model; and Firmware, the version without the -0 that newer tools add. "Cache Status"
 * is OK, Not Configured, Temporarily Disabled or Permanently Disabled; "Battery/Capacitor Status" OK, Recharging or Failed (Replace Batteries...).
 */
decode_fn decode_ssacli;
/*
 * One Redfish resource, of the types that have firmware (redfish.c names them): a record with Path, Kind ("controller", "smart-array",
 * "drive", "nic", "port", "pci-device", "pci-function", "firmware") and what it tells of Name, Model, Serial, Firmware, Vendor, Device, Subvendor, Subdevice
 * ("0x8086"), Address, Parent (path), and the lists MAC, WWN, Link (paths of PCIe functions and devices), Item (paths). A Storage gives a record a
 * controller. A resource of another type is complete and has no record.
 */
decode_fn decode_redfish;
decode_fn decode_redfish_system; /* the same of a ComputerSystem alone: Path, Manufacturer, Model, Serial, SKU, UUID, BIOS */
decode_fn decode_vmklog;   /* vmkernel.log, vmkwarning.log, vobd.log: events counted by kind, subject and hour */
decode_fn decode_logspan;  /* the same files: one record with the times of the first and the last line */
decode_fn decode_pci;      /* lspci, lspci -n, lspci -v: one record a function */

/* --- for decoders --- */

#define DECODE_MAX_RECORDS 200000u /* lines a command may print */
#define DECODE_MAX_FIELDS  16384u  /* fields of one object; a switch may have thousands of port groups */
#define DECODE_MAX_LINE    (1u << 20)

bool decode_key_eq(struct slice a, struct slice b);

/*
 * Builds records in the arena. After any call, builder_failed() says that a limit was met; decoders may go on and
 * return builder_end()'s code.
 */
struct builder {
    struct arena *a;
    struct record *records;
    struct field *fields;
    size_t n, cap, nfields, fcap;
    bool open, failed;
    struct record now;
    uint32_t *heads, *nexts; /* index of the open record's fields by key, for builder_find */
    size_t indexed, icap;
};

void builder_init(struct builder *b, struct arena *a);
void builder_begin(struct builder *b, struct slice id, uint32_t line);
struct field *builder_field(struct builder *b, struct slice key, struct slice text, uint32_t line); /* NULL when failed */
/*
 * First field at or after from of the open record whose key is this one: byte for byte when exact, else as decode_key_eq sees it.
 * SIZE_MAX when there is none. A record's fields come from a host: finding takes constant time however many there are.
 */
size_t builder_find(struct builder *b, size_t from, struct slice key, bool exact);
void builder_pop(struct builder *b); /* forget the last field of the open record */
void builder_finish(struct builder *b);
void builder_drop(struct builder *b); /* forget the open record */
/* Fill *out; returns 0 or VF_ELIMIT. why NULL means complete; in that case opt->cut still makes it partial. */
int builder_end(struct builder *b, const struct decode_opt *o, const char *form, enum decode_state state,
                const char *why, uint32_t line, struct decoded *out);

/* A result without records. */
int decode_nothing(enum decode_state state, const char *form, const char *why, uint32_t line, struct decoded *out);

/*
 * The host's own error texts ("Error: Unknown command or namespace ...", "Connect to localhost failed: ...",
 * " [NoMatchError]", ...; reference: esxcli error forms). Returns a copy of the message in the arena, or NULL when the
 * text is no such error.
 */
const char *decode_host_error(struct slice in, struct arena *a);

#endif
