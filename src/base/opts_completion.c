#include "base/opts.h"

/* Completion scripts. Names and choices of our tables hold letters, digits and dashes only; help texts are quoted. */

static bool wants_value(const struct opt *o)
{
    return o->kind == OPT_TEXT || o->kind == OPT_CHOICE || o->kind == OPT_LIST;
}

static void words(struct buf *out, const char *const *w)
{
    for (; w && *w; w++)
        buf_printf(out, "%s ", *w);
}

static void option_words(struct buf *out, const struct opt *o)
{
    for (; o && o->name; o++) {
        buf_printf(out, "--%s ", o->name);
        if (o->letter)
            buf_printf(out, "-%c ", o->letter);
    }
}

static const struct opt *group_of(const struct command *c)
{
    return c->group ? c->group->opts : NULL;
}

/*
 * Inside '...': a quote ends, is written in double quotes, and begins again; zsh's brackets and colons need a
 * backslash.
 */
static void quoted(struct buf *out, const char *text, bool zsh)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_addz(out, "'\"'\"'");
        else if (zsh && strchr("[]:\\", *text))
            buf_printf(out, "\\%c", *text);
        else
            buf_addc(out, *text);
    }
}

/* --- bash --- */

static void bash_values(struct buf *out, const char *command, const struct opt *o)
{
    for (; o && o->name; o++) {
        if (!wants_value(o))
            continue;
        buf_printf(out, "        %s:--%s", command, o->name);
        if (o->letter)
            buf_printf(out, "|%s:-%c", command, o->letter);
        buf_addz(out, ") ");
        if (o->kind == OPT_CHOICE) {
            buf_addz(out, "COMPREPLY=($(compgen -W '");
            words(out, o->choices);
            buf_addz(out, "' -- \"$cur\"))");
        } else {
            buf_addz(out, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
        }
        buf_addz(out, "; return ;;\n");
    }
}

static void bash(const char *program, const struct command *const *commands, const struct opt *common, struct buf *out)
{
    buf_printf(out,
               "# bash completion for %s\n"
               "_%s() {\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}\n"
               "    COMPREPLY=()\n"
               "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
               "        COMPREPLY=($(compgen -W '",
               program, program);
    for (const struct command *const *c = commands; *c; c++)
        buf_printf(out, "%s ", (*c)->name);
    buf_addz(out, "--help --version' -- \"$cur\")); return\n    fi\n    case $cmd:$prev in\n");
    for (const struct command *const *c = commands; *c; c++) {
        bash_values(out, (*c)->name, (*c)->opts);
        bash_values(out, (*c)->name, group_of(*c));
    }
    bash_values(out, "*", common);
    buf_addz(out, "    esac\n    case $cmd:$COMP_CWORD:$cur in\n");
    for (const struct command *const *c = commands; *c; c++) {
        buf_printf(out, "        %s:*:-*) COMPREPLY=($(compgen -W '", (*c)->name);
        option_words(out, (*c)->opts);
        option_words(out, group_of(*c));
        option_words(out, common);
        buf_addz(out, "' -- \"$cur\")) ;;\n");
        if (!(*c)->verbs)
            continue;
        buf_printf(out, "        %s:2:*) COMPREPLY=($(compgen -W '", (*c)->name);
        words(out, (*c)->verbs);
        buf_addz(out, "' -- \"$cur\")) ;;\n");
    }
    buf_printf(out,
               "        *) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
               "    esac\n"
               "}\n"
               "complete -o filenames -F _%s %s\n",
               program, program);
}

/* --- zsh --- */

static void zsh_options(struct buf *out, const struct opt *o)
{
    for (; o && o->name; o++) {
        for (int letter = 0; letter < 1 + (o->letter != 0); letter++) {
            buf_addz(out, " \\\n                '*");
            if (letter)
                buf_printf(out, "-%c[", o->letter);
            else
                buf_printf(out, "--%s%s[", o->name, wants_value(o) ? "=" : "");
            quoted(out, o->help, true);
            buf_addc(out, ']');
            if (o->kind == OPT_CHOICE) {
                buf_printf(out, ":%s:(", o->name);
                words(out, o->choices);
                buf_addc(out, ')');
            } else if (wants_value(o)) {
                buf_printf(out, ":%s:_files", o->name);
            }
            buf_addc(out, '\'');
        }
    }
}

static void zsh(const char *program, const struct command *const *commands, const struct opt *common, struct buf *out)
{
    buf_printf(out, "#compdef %s\n_%s() {\n    local -a commands\n    commands=(\n", program, program);
    for (const struct command *const *c = commands; *c; c++) {
        buf_printf(out, "        '%s:", (*c)->name);
        quoted(out, (*c)->summary, true);
        buf_addz(out, "'\n");
    }
    buf_addz(out,
             "    )\n"
             "    if (( CURRENT == 2 )); then\n"
             "        _describe command commands\n"
             "        return\n"
             "    fi\n"
             "    shift words\n"
             "    (( CURRENT-- ))\n"
             "    case $words[1] in\n");
    for (const struct command *const *c = commands; *c; c++) {
        buf_printf(out, "        %s)\n            _arguments", (*c)->name);
        zsh_options(out, (*c)->opts);
        zsh_options(out, group_of(*c));
        zsh_options(out, common);
        if ((*c)->verbs) {
            buf_addz(out, " \\\n                '1:what:(");
            words(out, (*c)->verbs);
            buf_addz(out, ")'");
        }
        buf_addz(out, " \\\n                '*:file:_files' ;;\n");
    }
    /* in a folder of $fpath the file is the function and is run at once; sourced, it only defines it */
    buf_printf(out, "    esac\n}\nif [[ $funcstack[1] == _%s ]]; then _%s \"$@\"; else compdef _%s %s; fi\n", program,
               program, program, program);
}

/* --- fish --- */

static void fish_options(struct buf *out, const char *program, const char *command, const struct opt *o)
{
    for (; o && o->name; o++) {
        buf_printf(out, "complete -c %s", program);
        if (command)
            buf_printf(out, " -n '__fish_seen_subcommand_from %s'", command);
        buf_printf(out, " -l %s", o->name);
        if (o->letter)
            buf_printf(out, " -s %c", o->letter);
        if (o->kind == OPT_CHOICE) {
            buf_addz(out, " -x -a '");
            words(out, o->choices);
            buf_addc(out, '\'');
        } else if (wants_value(o)) {
            buf_addz(out, " -r");
        }
        buf_addz(out, " -d '");
        quoted(out, o->help, false);
        buf_addz(out, "'\n");
    }
}

static void fish(const char *program, const struct command *const *commands, const struct opt *common, struct buf *out)
{
    buf_printf(out, "# fish completion for %s\n", program);
    for (const struct command *const *c = commands; *c; c++) {
        buf_printf(out, "complete -c %s -n __fish_use_subcommand -f -a %s -d '", program, (*c)->name);
        quoted(out, (*c)->summary, false);
        buf_addz(out, "'\n");
        if ((*c)->verbs) {
            buf_printf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -a '", program, (*c)->name);
            words(out, (*c)->verbs);
            buf_addz(out, "'\n");
        }
        fish_options(out, program, (*c)->name, (*c)->opts);
        fish_options(out, program, (*c)->name, group_of(*c));
    }
    fish_options(out, program, NULL, common);
}

void opts_completion(enum opts_shell shell, const char *program, const struct command *const *commands,
                     const struct opt *common, struct buf *out)
{
    switch (shell) {
    case OPTS_BASH:
        bash(program, commands, common, out);
        return;
    case OPTS_ZSH:
        zsh(program, commands, common, out);
        return;
    case OPTS_FISH:
        fish(program, commands, common, out);
        return;
    }
}
