# make            build/vmkfit, which runs from the checkout
# make demo       the founding case on screen: a slow host before, while and after its repair
# make check      unit tests plain and sanitized, recordings, rules, documents, corpora: some minutes
# make check-long what takes longer: every mutation, valgrind, fuzzing, benchmarks, a fresh clone
# make bench      ratios against a floor measured in the same run
# make fuzz       libFuzzer targets, FUZZ_SECONDS each; FUZZ_TARGET="rules esxcli_text" for some
# make install    PREFIX=/usr/local DESTDIR=

VERSION := 0.1.0
CC      := gcc
BUILD   := build
PREFIX  ?= /usr/local

FUZZ_SECONDS ?= 60
FUZZ_TARGET  ?= $(FUZZERS)

PACKAGES       := gcc libc6-dev pkg-config libxml2-dev libarchive-dev libjansson-dev libsmartcols-dev libpci-dev pci.ids libssl-dev libssh2-1-dev libcurl4-openssl-dev
PACKAGES_check := libcmocka-dev python3-jsonschema git openssl openssh-client libssh-dev libwrap0 libpam-modules libkrb5-3 libgssapi-krb5-2
PACKAGES_fuzz  := clang libclang-rt-14-dev
PACKAGES_long  := $(PACKAGES_fuzz) valgrind git
LIBS           := libxml-2.0 libarchive jansson smartcols libpci libcrypto libssh2 libcurl

WARN   := -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-qual -Werror
CPPFLAGS := -D_GNU_SOURCE -DVMKFIT_VERSION='"$(VERSION)"' -Isrc -include src/base/banned.h
CFLAGS := -std=gnu11 -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LDFLAGS := -pie -Wl,-z,relro,-z,now

SAN_FLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

SRC  := $(filter-out src/main.c,$(wildcard src/*/*.c))
OBJ  := $(SRC:src/%.c=$(BUILD)/obj/%.o)
SOBJ := $(SRC:src/%.c=$(BUILD)/san/%.o)
FOBJ := $(SRC:src/%.c=$(BUILD)/fuzz/obj/%.o)
TESTS   := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
FUZZERS := $(patsubst tests/fuzz_%.c,%,$(filter-out tests/fuzz_main.c,$(wildcard tests/fuzz_*.c)))

# Asked once: pkg-config is there when the packages are.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(LIBS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell pkg-config --libs $(LIBS)))$(PKG_LIBS)

all: $(BUILD)/vmkfit

# Packages: installed by apt-get when one is missing, with sudo when not root.
define install_missing
	@mkdir -p $(BUILD)
	@missing=""; for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	    echo "installing:$$missing"; \
	    if [ "$$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi; \
	    $$SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >$(BUILD)/apt.log 2>&1 || \
	    { tail -n 3 $(BUILD)/apt.log; echo "apt-get failed; see $(BUILD)/apt.log. Run 'apt-get update' first."; exit 1; }; \
	fi
	@touch $@
endef

$(BUILD)/deps: Makefile
	$(call install_missing,$(PACKAGES))
$(BUILD)/deps-check: Makefile | $(BUILD)/deps
	$(call install_missing,$(PACKAGES_check))
$(BUILD)/deps-fuzz: Makefile | $(BUILD)/deps
	$(call install_missing,$(PACKAGES_fuzz))
$(BUILD)/deps-long: Makefile | $(BUILD)/deps-check
	$(call install_missing,$(PACKAGES_long))

packages: ; @echo $(PACKAGES) $(PACKAGES_check)

# --- the program, plain and sanitized ---

$(BUILD)/obj/%.o: src/%.c | $(BUILD)/deps
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/san/%.o: src/%.c | $(BUILD)/deps
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	@$(CC) $(CPPFLAGS) $(SAN_FLAGS) $(WARN) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/vmkfit: $(OBJ) $(BUILD)/obj/main.o
	@echo "  LINK  $@"
	@$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@

$(BUILD)/vmkfit-san: $(SOBJ) $(BUILD)/san/main.o
	@echo "  LINK  $@"
	@$(CC) -fsanitize=address,undefined $^ $(PKG_LIBS) -o $@

demo: $(BUILD)/vmkfit
	@tests/demo $(BUILD)/vmkfit

# --- tests ---

$(BUILD)/tests/%: tests/%.c $(OBJ) | $(BUILD)/deps-check
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) $(PKG_CFLAGS) -MMD -MP -MF $@.d $(LDFLAGS) $< $(OBJ) $(PKG_LIBS) -lcmocka -o $@

$(BUILD)/san-tests/%: tests/%.c $(SOBJ) | $(BUILD)/deps-check
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	@$(CC) $(CPPFLAGS) -Itests $(SAN_FLAGS) $(WARN) $(PKG_CFLAGS) -MMD -MP -MF $@.d $< $(SOBJ) $(PKG_LIBS) -lcmocka -o $@

$(BUILD)/replay/%: tests/fuzz_%.c tests/fuzz_main.c $(SOBJ) | $(BUILD)/deps
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	@$(CC) $(CPPFLAGS) -Itests $(SAN_FLAGS) $(WARN) $(PKG_CFLAGS) -MMD -MP -MF $@.d $< tests/fuzz_main.c $(SOBJ) $(PKG_LIBS) -o $@

# The servers that live channels are tested against; tests/peers/README.md.
PEERS := $(BUILD)/peers/hostsh $(BUILD)/peers/command $(BUILD)/peers/login.so $(BUILD)/peers/rootdir.so $(BUILD)/peers/faulthost $(BUILD)/peers/sshd
PEER_CC = $(CC) -D_GNU_SOURCE -include src/base/banned.h -std=gnu11 -O2 -g $(WARN)
peers: $(PEERS)

$(BUILD)/peers/%: tests/peers/sshd/%.c tests/peers/sshd/faults.c tests/peers/sshd/faults.h | $(BUILD)/deps-check
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(PEER_CC) $(filter %.c,$^) -o $@

$(BUILD)/peers/%.so: tests/peers/sshd/%.c tests/peers/sshd/faults.c tests/peers/sshd/faults.h | $(BUILD)/deps-check
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(PEER_CC) -fPIC -shared $(filter %.c,$^) -o $@

$(BUILD)/peers/faulthost: tests/peers/faulthost.c tests/peers/sshd/faults.c tests/peers/sshd/faults.h | $(BUILD)/deps-check
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(PEER_CC) $(filter %.c,$^) -lssh -o $@

CHECK_PROGRAMS := $(BUILD)/vmkfit $(BUILD)/vmkfit-san $(TESTS:%=$(BUILD)/tests/%) $(TESTS:%=$(BUILD)/san-tests/%) $(FUZZERS:%=$(BUILD)/replay/%)
# Taken out of its package: installing that would open port 22 of this machine. Without lists of packages they are fetched first.
$(BUILD)/peers/sshd: | $(BUILD)/deps-check
	@mkdir -p $(@D)/package
	@cd $(@D)/package && \
	{ apt-get download -qq openssh-server 2>../package.log || \
	  { if [ "$$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi; $$SUDO apt-get update -qq 2>>../package.log; apt-get download -qq openssh-server 2>>../package.log; } || \
	  { cat ../package.log; echo "openssh-server cannot be fetched; run 'apt-get update' first."; exit 1; }; } && \
	dpkg-deb -x openssh-server_*.deb .
	@mv $(@D)/package/usr/sbin/sshd $@ && rm -r $(@D)/package

check-programs: $(CHECK_PROGRAMS) peers $(BUILD)/deps-check

check:
	@$(MAKE) -s -j2 check-programs
	@tests/check $(BUILD)

check-long: $(BUILD)/deps-long
	@$(MAKE) -s -j2 check-programs
	@VMKFIT_THOROUGH=1 tests/check $(BUILD)
	@tests/check-valgrind $(BUILD)
	@$(MAKE) -s fuzz
	@$(MAKE) -s bench
	@tests/check-fresh $(BUILD)

bench: $(BUILD)/vmkfit $(BUILD)/tests/bench $(BUILD)/tests/bench_ssh peers
	@$(BUILD)/tests/bench
	@/usr/bin/python3 tests/bench-ssh $(BUILD)

# --- fuzzing: clang for libFuzzer alone, gcc builds everything else ---

$(BUILD)/fuzz/obj/%.o: src/%.c | $(BUILD)/deps-fuzz
	@mkdir -p $(@D)
	@echo "  CC    $< (fuzz)"
	@clang $(CPPFLAGS) $(SAN_FLAGS) -w -fsanitize=fuzzer-no-link $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/fuzz/fuzz_%: tests/fuzz_%.c $(FOBJ)
	@echo "  CC    $< (fuzz)"
	@clang $(CPPFLAGS) -Itests $(SAN_FLAGS) -w -fsanitize=fuzzer $(PKG_CFLAGS) -MMD -MP -MF $@.d $< $(FOBJ) $(PKG_LIBS) -o $@

fuzz-programs: $(FUZZ_TARGET:%=$(BUILD)/fuzz/fuzz_%)
fuzz:
	@$(MAKE) -s -j2 fuzz-programs
	@tests/run-fuzz $(BUILD) $(FUZZ_SECONDS) $(FUZZ_TARGET)

# --- installation ---

SHARE = $(DESTDIR)$(PREFIX)/share

install: $(BUILD)/vmkfit
	install -D -m 755 $(BUILD)/vmkfit $(DESTDIR)$(PREFIX)/bin/vmkfit
	install -d $(SHARE)/vmkfit/probes $(SHARE)/vmkfit/rules $(SHARE)/doc/vmkfit/rules $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/bash-completion/completions \
	    $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 644 probes/*.xml $(SHARE)/vmkfit/probes
	install -m 644 rules/*.xml rules/rules.rng rules/*.tsv $(SHARE)/vmkfit/rules
	install -m 644 docs/*.1 $(SHARE)/man/man1
	install -m 644 docs/*.5 $(SHARE)/man/man5
	install -m 644 docs/*.md $(SHARE)/doc/vmkfit
	install -m 644 docs/rules/*.md $(SHARE)/doc/vmkfit/rules
	$(BUILD)/vmkfit completion bash >$(SHARE)/bash-completion/completions/vmkfit
	$(BUILD)/vmkfit completion zsh >$(SHARE)/zsh/site-functions/_vmkfit
	$(BUILD)/vmkfit completion fish >$(SHARE)/fish/vendor_completions.d/vmkfit.fish

clean:
	rm -rf $(BUILD)

-include $(OBJ:.o=.d) $(SOBJ:.o=.d) $(FOBJ:.o=.d) $(BUILD)/obj/main.d $(BUILD)/san/main.d
-include $(wildcard $(BUILD)/tests/*.d $(BUILD)/san-tests/*.d $(BUILD)/replay/*.d $(BUILD)/fuzz/*.d)

.PHONY: all demo check check-programs check-long bench fuzz fuzz-programs install clean packages peers
.SECONDARY:
