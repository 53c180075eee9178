#ifndef VF_COLLECT_ANONYMISE_PARTS_H
#define VF_COLLECT_ANONYMISE_PARTS_H

#include "base/map.h"
#include "collect/anonymise.h"

/* What the files of the anonymiser share: what was learned, what it becomes, where it stands. */

enum thing {
    THING_MAC,   /* 12 digits */
    THING_WWN,   /* 16 digits: WWN, naa. and eui. of that length */
    THING_NAA,   /* 32 digits behind naa. */
    THING_UUID,  /* 32 digits in the order of the bytes */
    THING_NFS,   /* 16 digits, of an NFS datastore: 8-8 */
    THING_HEX,   /* any digits without a structure that we know */
    THING_IPV4,
    THING_IPV6,
    THING_SERIAL,
    THING_HOST,  /* label or name of a host */
    THING_MACHINE,
    THING_DATASTORE,
    THING_NAME,
    THING_IQN,   /* all of an iqn. or nqn. name */
    THING_VML,   /* all of a vml. name */
    THINGS
};

struct identity_seen {
    enum thing thing;
    struct slice text, shown;  /* in lower case; as first seen */
    const char *replacement;   /* in lower case, as long; once sealed */
};

enum bounds {
    BOUNDS_NONE,   /* wherever it stands */
    BOUNDS_NUMBER, /* no digit, and no dot with a digit, on either side */
    BOUNDS_WORD,   /* no letter or digit on either side */
    BOUNDS_PLACE,  /* only where a name is expected */
};

/* One spelling of one identity. */
struct spelling {
    struct slice text;       /* in lower case */
    const char *replacement; /* in lower case, as long */
    uint32_t shorter;        /* the longest other spelling that begins it, UINT32_MAX without one */
    uint8_t thing, bounds;
    bool hex;                /* digits may become letters: their case is the whole spelling's */
};

struct range {
    uint32_t from, n;
};

struct anonymiser {
    struct arena *a;
    uint64_t key[2];
    struct identity_seen *seen;
    size_t nseen, seen_cap;
    struct map by_text;    /* thing and text to index in seen */
    struct map runs;       /* run of letters and digits to index in images, once sealed */
    struct map taken;      /* images that are given away, and their thing */
    struct map originals;  /* runs that names and serials are made of */
    const char **images;
    size_t nimages, images_cap;
    struct map words;      /* of the product, in lower case */
    char *vocabulary;      /* the texts they stand in, each between line ends */
    size_t nvocabulary, vocabulary_cap;
    struct map phrases;    /* texts that are in it */
    bool parted[4];        /* octets that a mask parts */
    struct map first_octets;
    struct spelling *spellings;
    size_t nspellings, spellings_cap;
    struct range *starts;  /* 65,536: of the spellings that begin with two bytes */
    struct spelling *single[256]; /* names of one character */
    bool failed, sealed;
};

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char lower_of(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool is_letter(char c)
{
    return lower_of(c) >= 'a' && lower_of(c) <= 'z';
}

static inline bool is_alnum(char c)
{
    return is_digit(c) || is_letter(c);
}

static inline bool is_hex_digit(char c)
{
    return is_digit(c) || (lower_of(c) >= 'a' && lower_of(c) <= 'f');
}

/* --- anonymise.c --- */

/* Lower-case copy in the arena; empty at the limit, which is kept in x. */
struct slice anonymise_lower(struct anonymiser *x, struct slice s);
/* Remember one; text without the form its thing wants, and what identifies nobody, is left. */
void anonymise_see(struct anonymiser *x, enum thing thing, struct slice text);
const struct identity_seen *anonymise_find(const struct anonymiser *x, enum thing thing, struct slice text);
/* A host name of any form, an address, or several of them. */
void anonymise_see_host(struct anonymiser *x, struct slice text);
/* A dotted quad that identifies somebody, or a mask, whose octets are noted. */
void anonymise_see_ipv4(struct anonymiser *x, struct slice text);
/* The hexadecimal digits of text; returns how many, at most max, and stops at the first other character but separators. */
size_t anonymise_digits(struct slice text, char out[32], size_t max);

/* --- anonymise_words.c --- */

void anonymise_words_init(struct anonymiser *x);
/* These words are everybody's. */
void anonymise_keep_words(struct anonymiser *x, struct slice text);
/* Keys and headings of an answer, and the words of the question. */
void anonymise_keep_structure(struct anonymiser *x, const struct ask *q, struct slice body);
bool anonymise_is_word(const struct anonymiser *x, struct slice lower);
/* Does the name stand in a text of everybody's, between other than letters and digits? */
bool anonymise_is_phrase(const struct anonymiser *x, struct slice lower);
/* Names that installers give and values that stand for none. */
bool anonymise_is_default(struct slice lower);
bool anonymise_is_placeholder(struct slice serial);
/* End of a domain that identifies nobody: com, local. */
bool anonymise_is_top_label(struct slice lower);

/* --- anonymise_learn.c --- */

void anonymise_learn_text(struct anonymiser *x, struct slice body);
/* Any device id, path id or adapter id. */
void anonymise_learn_t10(struct anonymiser *x, struct slice token);

/* --- anonymise_make.c --- */

/* All replacements and spellings. */
void anonymise_make(struct anonymiser *x);
/* The other order of the bytes of a UUID's first three fields, as 32 digits. */
void anonymise_swap(const char *in, char *out);

/* --- anonymise_spell.c --- */

void anonymise_spell(struct anonymiser *x, const struct identity_seen *s);

/* --- anonymise_apply.c --- */

void anonymise_sort(struct anonymiser *x);

#endif
