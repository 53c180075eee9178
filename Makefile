# make            build/vmkfit, which runs from the checkout
# make demo       the founding case on screen
# make check      unit tests, recordings, samples, sanitizers: under 15 minutes
# make check-long what takes longer: valgrind, fuzzing, mutation of every recording, a fresh checkout
# make bench      ratios against a floor measured in the same run
# make fuzz       libFuzzer targets, FUZZ_SECONDS each
# make install    PREFIX=/usr/local DESTDIR=

VERSION := 0.1.0
CC      := gcc
BUILD   := build
PREFIX  ?= /usr/local

PACKAGES := gcc pkg-config libxml2-dev libarchive-dev libjansson-dev libsmartcols-dev libpci-dev libcmocka-dev \
            libssl-dev pci.ids libxml2-utils
LIBS     := libxml-2.0 libarchive jansson smartcols libpci libcrypto

WARN   := -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-qual -Werror
CPPFLAGS := -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -DVMKFIT_VERSION='"$(VERSION)"' -Isrc -include src/base/banned.h
CFLAGS := -std=gnu11 -O2 -g -fstack-protector-strong -fPIE
LDFLAGS := -pie -Wl,-z,relro,-z,now

SAN_FLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

SRC  := $(filter-out src/main.c,$(wildcard src/*/*.c))
OBJ  := $(SRC:src/%.c=$(BUILD)/obj/%.o)
SOBJ := $(SRC:src/%.c=$(BUILD)/san/%.o)
TESTS := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))

PKG_CFLAGS = $(shell pkg-config --cflags $(LIBS))
PKG_LIBS   = $(shell pkg-config --libs $(LIBS))

all: $(BUILD)/vmkfit

# Packages: installed by apt-get when one is missing, with sudo when not root.
$(BUILD)/deps: Makefile
	@mkdir -p $(BUILD)
	@missing=""; for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	    echo "installing:$$missing"; \
	    if [ "$$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi; \
	    $$SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >$(BUILD)/apt.log 2>&1 || \
	    { echo "apt-get failed; see $(BUILD)/apt.log. Run 'apt-get update' first."; exit 1; }; \
	fi
	@touch $@

$(BUILD)/obj/%.o: src/%.c | $(BUILD)/deps
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(PKG_CFLAGS) -MMD -c $< -o $@

$(BUILD)/san/%.o: src/%.c | $(BUILD)/deps
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	@$(CC) $(filter-out -D_FORTIFY_SOURCE=2,$(CPPFLAGS)) $(SAN_FLAGS) $(WARN) $(PKG_CFLAGS) -MMD -c $< -o $@

$(BUILD)/vmkfit: $(OBJ) $(BUILD)/obj/main.o
	@echo "  LINK  $@"
	@$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@

$(BUILD)/vmkfit-san: $(SOBJ) $(BUILD)/san/main.o
	@echo "  LINK  $@"
	@$(CC) -fsanitize=address,undefined $^ $(PKG_LIBS) -o $@

$(BUILD)/tests/%: tests/%.c $(OBJ)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) $(PKG_CFLAGS) -MMD $(LDFLAGS) $< $(OBJ) $(PKG_LIBS) -lcmocka -o $@

$(BUILD)/san-tests/%: tests/%.c $(SOBJ)
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	@$(CC) $(filter-out -D_FORTIFY_SOURCE=2,$(CPPFLAGS)) -Itests $(SAN_FLAGS) $(WARN) $(PKG_CFLAGS) -MMD $< $(SOBJ) $(PKG_LIBS) -lcmocka -o $@

-include $(OBJ:.o=.d) $(SOBJ:.o=.d) $(wildcard $(BUILD)/tests/*.d) $(wildcard $(BUILD)/san-tests/*.d)

clean:
	rm -rf $(BUILD)

.PHONY: all clean
.SECONDARY:
