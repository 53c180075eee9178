#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "decoding.h"

#define LIMIT (256u << 20)

static const struct decode_opt opt = {.name = "vmkernel.log"};

static int run(struct slice text, struct arena *a, struct decoded *d)
{
    int rc = decode_vmklog(text, &opt, a, d);

    assert_true(rc == 0 || rc == VF_ELIMIT);
    assert_true((d->state == DECODE_COMPLETE) == !d->why);
    return rc;
}

static struct decoded decode(struct arena *a, struct slice text)
{
    struct decoded d;

    assert_int_equal(run(text, a, &d), 0);
    return d;
}

static const struct field *find(const struct record *r, const char *key, size_t nth)
{
    for (uint32_t i = 0; i < r->nfields; i++)
        if (slice_eqz(r->fields[i].key, key) && nth-- == 0)
            return &r->fields[i];
    return NULL;
}

static void expect_text(const struct record *r, const char *key, size_t nth, const char *text)
{
    const struct field *x = find(r, key, nth);

    if (x && x->damage) /* there, but not to be believed */
        x = NULL;
    if (!x != !text || (x && !slice_eqz(x->text, text)))
        fail_msg("%s is \"%.*s\", not \"%s\"", key, x ? (int)x->text.n : 4, x ? x->text.p : "none", text ? text : "none");
}

#define NMP_HEAD "2017-02-25T17:34:15.505Z cpu0:65560)"

/* One line, and what it says. Lines are in the published forms of the releases named beside the patterns. */
static const struct {
    const char *line, *kind, *subject, *hour, *key, *value;
} events[] = {
    {"2015-01-20T10:33:53.403Z cpu5:34435)WARNING: ScsiDeviceIO: 1223: Device naa.60ff performance has deteriorated. I/O latency increased from average value of 3011 microseconds to 558476 microseconds.",
     "latency-deteriorated", "naa.60ff", "2015-01-20T10", "worst", "558476"},
    {"2015-01-20T10:33:53.403Z cpu5:34435)WARNING: ScsiDeviceIO: 1223: Device naa.60ff performance has deteriorated. I/O latency increased from average value of 3011 microseconds to 558476 microseconds.",
     "latency-deteriorated", "naa.60ff", "2015-01-20T10", "baseline", "3011"},
    {"2015-01-20T10:33:53.403Z cpu5:34435)ScsiDeviceIO: 1203: Device naa.60ff performance has improved. I/O latency reduced from 558476 microseconds to 98043 microseconds.",
     "latency-improved", "naa.60ff", "2015-01-20T10", "worst", NULL},
    {"2023-12-07T05:07:10.416Z Wa(180) vmkwarning: cpu2:2097803)WARNING: NFS: 5544: NFS volume vol 1 performance has deteriorated. I/O latency increased from average value of 10614(us) to 21639(us). Exceeded threshold 10000(us)",
     "nfs-latency", "vol 1", "2023-12-07T05", "worst", "21639"},
    {NMP_HEAD "NMP: nmp_ThrottleLogForDevice:3617: Cmd 0x2a (0x439500a7f200, 65693) to dev \"t10.ATA_____X\" on path \"vmhba0:C0:T0:L0\" Failed: H:0x2 D:0x0 P:0x0 Invalid sense $",
     "scsi-error", "t10.ATA_____X", "2017-02-25T17", "adapter", "vmhba0"},
    {NMP_HEAD "NMP: nmp_ThrottleLogForDevice:3617: Cmd 0x2a (0x439500a7f200, 65693) to dev \"naa.1\" on path \"vmhba0:C0:T0:L0\" Failed: H:0x2 D:0x0 P:0x0 Invalid sense data: 0x0 0x0 0x0. Act:EVAL",
     "scsi-error", "naa.1", "2017-02-25T17", "sense", NULL},
    {NMP_HEAD "ScsiDeviceIO: 2927: Cmd(0x439500a7f200) 0x1a, CmdSN 0xaa9 from world 65693 to dev \"naa.1\" failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 0x24 0x0.",
     "scsi-error", "naa.1", "2017-02-25T17", "sense", "0x5/0x24/0x0"},
    {NMP_HEAD "ScsiDeviceIO: 2927: Cmd(0x439500a7f200) 0x1a, CmdSN 0xaa9 from world 65693 to dev \"naa.1\" failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 0x24 0x0.",
     "scsi-error", "naa.1", "2017-02-25T17", "commands", "0x1a"},
    {"Aug  6 20:09:17 vmkernel: 3:12:40:56.871 cpu16:4112)ScsiDeviceIO: 1688: Command 0x28 to device \"naa.6006\" failed H:0x5 D:0x0 P:0x0 Possible sense data: 0x0 0x0 0x0.",
     "scsi-error", "naa.6006", "08-06T20", "first", "08-06T20:09:17"},
    {"Aug 16 20:09:17 vmkernel: 188:04:24:17.974 cpu12:4108)WARNING: NMP: nmp_CompleteRetryForPath: Retry command 0x28 (0x41000716a200) to NMP device \"naa.6006\" failed on physical path \"vmhba33:C0:T0:L7\" H:0x0 D:0x2 P:0x0 Valid sense data: 0x6 0x29 0x0",
     "scsi-error", "naa.6006", "08-16T20", "sense", "0x6/0x29/0x0"},
    {NMP_HEAD "NMP: nmp_ThrottleLogForDevice:3546: last error status from device naa.1 repeated 10 times",
     "scsi-error", "naa.1", "2017-02-25T17", "count", "10"},
    {NMP_HEAD "WARNING: NMP: nmp_DeviceRequestFastDeviceProbe:237: NMP device \"naa.1\" state in doubt; requested fast path state update...",
     "state-in-doubt", "naa.1", "2017-02-25T17", "device", "naa.1"},
    {"Mar 19 23:53:24 esx405 vmkernel: 116:03:44:19.039 cpu4:4100)NMP: nmp_CompleteCommandForPath: Command 0x2a (0x4100020e0b00) to NMP device \"sym.029010111831353837\" failed on physical path \"vmhba2:C0:T0:L152\" H:0x2 D:0x0 P:0x0 Possible sense data: 0x0 0x0 0x0.",
     "scsi-error", "sym.029010111831353837", "03-19T23", "device", "sym.029010111831353837"},
    {"Apr 19 09:36:36 esx1 vmkernel: 0:19:05:45.146 cpu0:4478)NMP: nmp_CompleteCommandForPath: Command 0x2a (0x410001032580) to NMP device 'naa.60060' failed on physical path 'vmhba2:C0:T1:L3' H:0x0 D:0x2 P:0x0 Valid sense data: 0x6 0x2a 0x6.",
     "scsi-error", "naa.60060", "04-19T09", "adapter", "vmhba2"},
    {"2024-06-07T16:29:50.698Z Wa(180) vmkwarning: cpu188:2098584)WARNING: NVMEIO:2644 command 0x45bd4063c080 failed: ctlr 262, queue 3, psaCmd 0x45bdc63a6b00, status 0x371, opc 0x2, cid 180, nsid 261",
     "nvme-error", "ctlr 262", "2024-06-07T16", "count", "1"},
    {"2023-06-07T16:29:50.698Z cpu18:2098584)WARNING: NVMEIO:2644 command 0x45bd4063c080 failed: ctlr 256, queue 3, psaCmd 0x45bdc63a6b00, status 0xa, opc 0x5, cid 180, nsid 1",
     "nvme-fused-failed", "ctlr 256", "2023-06-07T16", "count", "1"},
    /* as KB 312191 quotes it */
    {"2023-01-19T14:41:53.218Z cpu12:2098924)WARNING: NVMEIO:2624 command 0x45b9c5dfe940 failed: ctlr 256, queue 1, psaCmd 0x45b9c23f9148, status 0xa, > opc 0x5, cid 373, nsid 1",
     "nvme-fused-failed", "ctlr 256", "2023-01-19T14", "count", "1"},
    {"2023-01-19T14:41:53.218Z cpu12:2098924)WARNING: NVMEIO:2624 command 0x45b9c5dfe940 failed: ctlr 256, queue 1, psaCmd 0x45b9c23f9148, status 0x285, opc 0x5, cid 373, nsid 1",
     "nvme-error", "ctlr 256", "2023-01-19T14", "count", "1"},
    {"2024-03-02T10:11:12.345Z In(182) vmkernel: cpu12:2098003)nfnic: <1>: INFO: fnic_fdls_link_status_change: 123: vmhba1: link up:0, usefip:1", "fc-link-down", "vmhba1",
     "2024-03-02T10", "adapter", "vmhba1"},
    {"2015-04-01T14:37:28.081Z: [APDCorrelator] 9554275221us: [esx.problem.storage.apd.timeout] Device or filesystem with identifier [12345678-abcdefg0] has entered the All Paths Down Timeout state after being in the All Paths Down state for 140 seconds.",
     "apd-timeout", "12345678-abcdefg0", "2015-04-01T14", "volume", "12345678-abcdefg0"},
    {"2025-03-01T10:00:05.000Z In(14) vobd[2097521]:  [scsiCorrelator] 17284358534073us: [vob.scsi.scsipath.pathstate.deadver2] scsiPath vmhba2:C0:T19:L1 changed state from on",
     "path-dead", "vmhba2", "2025-03-01T10", "adapter", "vmhba2"},
    {"2024-02-10T08:30:43.149Z In(14) vobd[2098027]:  [netCorrelator] 764747381136us: [esx.problem.net.vmnic.linkstate.flapping] Taking down physical NIC vmnic5 because the link is flapping.",
     "link-flapping", "vmnic5", "2024-02-10T08", "nic", "vmnic5"},
    {"2025-01-07T10:00:01.001Z In(182) vmkernel: cpu53:2098003)MCA: 202: CE Intr G0 B19 S8c00004200800090 Adc1234000 M200001c089801086 P1234567890/40 Memory Controller Read Error on Channel 0.",
     "memory-error", "host", "2025-01-07T10", "count", "1"},
    {"2017-10-06T02:15:46.892Z cpu1:65954)INFO (ne1000): vmnic0: Link is Up", "link-up", "vmnic0", "2017-10-06T02", "driver", "ne1000"},
    {"2017-10-06T02:15:46.892Z cpu1:65954)ax88179: vusb0: Link is Down", "link-down", "vusb0", "2017-10-06T02", "nic", "vusb0"},
    {NMP_HEAD "StorageApdHandler: 1205: APD start for 0x4302ff581ad0 [naa.6001]", "apd-start", "naa.6001", "2017-02-25T17", "device", "naa.6001"},
    {NMP_HEAD "StorageApdHandler: 1205: APD start for 0x4302ff581ad0 [12345678-abcdefg0]", "apd-start", "12345678-abcdefg0", "2017-02-25T17", "volume", "12345678-abcdefg0"},
    {NMP_HEAD "ScsiDevice: 5036: Device naa.6001 is Out of APD; token num:1", "apd-end", "naa.6001", "2017-02-25T17", "device", "naa.6001"},
    {"2024-04-30T07:25:58.464Z In(14) vobd[2098148]:  [APDCorrelator] 842494443us: [esx.problem.storage.apd.start] Device or filesystem with identifier [naa.2] has entered the All Paths Down state.",
     "apd-start", "naa.2", "2024-04-30T07", "device", "naa.2"},
    {NMP_HEAD "vmw_ahci[00000017]: scsiTaskMgmtCommand:VMK Task: VIRT_RESET initiator=0x43029e371440", "task-reset", "vmw_ahci[00000017]", "2017-02-25T17", "driver", "vmw_ahci"},
    {NMP_HEAD "vmw_ahci[00000017]: ahciAbortIO:(curr) HWQD: 0 BusyL: 0", "task-abort", "vmw_ahci[00000017]", "2017-02-25T17", "driver", "vmw_ahci"},
    /* as KB 341549 quotes them, with a date */
    {"2015-03-11T13:49:17.589Z cpu23:33168)mtip32xx_native[00000400]: scsiTaskMgmtCommand:VMK Task: ABORT sn=0x628b259 initiator=0x4109d5d7fa00",
     "task-abort", "mtip32xx_native[00000400]", "2015-03-11T13", "driver", "mtip32xx_native"},
    {"2015-03-11T13:48:46.456Z cpu8:33564)mtip32xx_native[00000400]: HeavyTimeoutCheck:IO Timeout: [811980076224(ms)] Tag:1 ACTIVE:15371(ms) I:0x4109d5d7fa00 SN:0x628b154 SA=0x00000002 CI=0x00000000",
     "io-timeout", "mtip32xx_native[00000400]", "2015-03-11T13", "driver", "mtip32xx_native"},
    {"2016-02-10T10:10:51.481Z cpu6:43298)WARNING: LSOM: LSOMEventNotify:6440: Virtual SAN device 52db4996-ffdd-9957-485c-e2dcf1057f66 is under permanent error.",
     "vsan-disk-error", "52db4996-ffdd-9957-485c-e2dcf1057f66", "2016-02-10T10", "count", "1"},
    {NMP_HEAD "ALERT: Heap: 2746: Unable to complete wait for non-empty heap (worldGroup.2611820): Timeout", "heap-not-empty", "host", "2017-02-25T17", "count", "1"},
    {"2017-02-19T03:57:25.503Z cpu2:72098 opID=62289008)vmw_ahci[0000001f]: scsiUnmapCommand:Unmap transfer 0x18 byte", "unmap", "vmw_ahci[0000001f]", "2017-02-19T03", "driver", "vmw_ahci"},
    {NMP_HEAD "WARNING: FS3J: 3034: Aborting txn callerID: 0xc1d00006 to slot 211:  File system timeout (Ok to retry)", "fs-timeout", "host", "2017-02-25T17", "volume", NULL},
    {NMP_HEAD "HBX: 2956: 'ssd': HB at offset 3735552 - Waiting for timed out HB:", "heartbeat-timeout", "ssd", "2017-02-25T17", "volume", "ssd"},
    {NMP_HEAD "ALERT: ScsiDeviceIO: 3081: Failed write command to write-quiesced partition naa.77:1", "write-quiesced", "naa.77", "2017-02-25T17", "device", "naa.77"},
    {NMP_HEAD "WARNING: iscsi_vmk: iscsivmk_StopConnection: vmhba64:CH:0 T:0 CN:0: iSCSI connection is being marked \"OFFLINE\" (Event:6)", "iscsi-offline", "vmhba64", "2017-02-25T17", "adapter", "vmhba64"},
    {NMP_HEAD "WARNING: iscsi_vmk: iscsivmk_StartConnection: vmhba64:CH:0 T:0 CN:0: iSCSI connection is being marked \"ONLINE\"", "iscsi-online", "vmhba64", "2017-02-25T17", "adapter", "vmhba64"},
    {NMP_HEAD "vmnic2 : 02:00.4 Link Down", "link-down", "vmnic2", "2017-02-25T17", "nic", "vmnic2"},
    {NMP_HEAD "lpfc820 0000:02:00.2: 0:1305 Link Down Event x2 received Data: x2 x20 x800110 x0 x0", "link-down", "lpfc820 0000:02:00.2", "2017-02-25T17", "driver", "lpfc820"},
    {NMP_HEAD "<6>igb: vmnic_110100 NIC Link is Down", "link-down", "vmnic_110100", "2017-02-25T17", "nic", "vmnic_110100"},
    {NMP_HEAD "INFO (ne1000): vmnic0: Link is Up", "link-up", "vmnic0", "2017-02-25T17", "nic", "vmnic0"},
    {"2020-04-30T07:25:58.464Z: [netCorrelator] 842494443us: [vob.net.pg.uplink.transition.down] Uplink: vmnic6 is down. Affected portgroup: Management Network. 1 uplinks up. Failed criteria: 128",
     "uplink-down", "vmnic6", "2020-04-30T07", "nic", "vmnic6"},
    {"2020-04-30T07:25:58.464Z: [netCorrelator] 842494494us: [vob.net.vmnic.linkstate.down] vmnic vmnic6 linkstate down", "link-down", "vmnic6", "2020-04-30T07", "nic", "vmnic6"},
    {"2020-04-30T07:26:00.002Z: [netCorrelator] 844023129us: [esx.problem.net.redundancy.lost] Lost uplink redundancy on virtual switch \"vSwitch0\". Physical NIC vmnic6 is down. Affected port groups: \"Management Network\"",
     "redundancy-lost", "vmnic6", "2020-04-30T07", "nic", "vmnic6"},
    {NMP_HEAD "i40en: i40en_HandleMddEvent:6829: Malicious Driver Detection event 0x02 on TX queue 0 PF number 0x01 VF number 0x00", "mdd", "i40en", "2017-02-25T17", "driver", "i40en"},
    {NMP_HEAD "INFO (ne1000): false RX hang detected on vmnic0", "rx-hang", "vmnic0", "2017-02-25T17", "nic", "vmnic0"},
    {NMP_HEAD "WARNING: LinNet: netdev_watchdog:3688: NETDEV WATCHDOG: vmnic0: transmit timed out", "tx-timeout", "vmnic0", "2017-02-25T17", "nic", "vmnic0"},
    {NMP_HEAD "ALERT: Bootbank cannot be found at path '/bootbank'", "bootbank-missing", "host", "2017-02-25T17", "device", NULL},
    {"2021-02-02T19:26:34.577Z: [vmfsCorrelator] 2938471510366us: [esx.problem.vmfs.resource.corruptondisk] 5fecb7ff-8662d6b5-7732-000000000081 LOCKER-5fecb7ff",
     "resource-corrupt", "LOCKER-5fecb7ff", "2021-02-02T19", "volume", "LOCKER-5fecb7ff"},
    {NMP_HEAD "Vol3: 1: Lost access to volume 58689-1 (ssd 1) due to connectivity issues.", "lost-access", "ssd 1", "2017-02-25T17", "volume", "ssd 1"},
    {"2017-03-02T09:21:12.557Z: [vmfsCorrelator] 2us: [esx.problem.vmfs.heartbeat.timedout] 5896c4f2-1b7e03a6-5d21-000000000001 data 1",
     "lost-access", "data 1", "2017-03-02T09", "volume", "data 1"},
    {"2017-03-02T09:21:17.660Z: [vmfsCorrelator] 3us: [esx.problem.vmfs.heartbeat.recovered] 5896c4f2-1b7e03a6-5d21-000000000001 data 1",
     "restored-access", "data 1", "2017-03-02T09", "volume", "data 1"},
    {NMP_HEAD "lpfc: lpfc_abort:1: 0:3111 Outstanding FCP I/O Abort Request still pending on nport", "lpfc-abort", "lpfc", "2017-02-25T17", "driver", "lpfc"},
    {NMP_HEAD "qlnativefc: vmhba3(5:0.0): SCM: Ran out of IOCBs, partial data", "iocb-exhausted", "vmhba3", "2017-02-25T17", "adapter", "vmhba3"},
    {NMP_HEAD "bnxtnet: bnxtnet_x:1: [0000:3b:00.0 : 0x1] FW went bad, stop waiting for queue flush", "firmware-dead", "bnxtnet", "2017-02-25T17", "driver", "bnxtnet"},
    {NMP_HEAD "MCA: 190: CE Poll G0 B7 Memory Controller Read Error on Channel 1.", "memory-error", "host", "2017-02-25T17", "device", NULL},
    {NMP_HEAD "WARNING: Heap: 3058: Heap VMKAPI-char-metadata already at its maximum size. Cannot expand.", "heap-full", "VMKAPI-char-metadata", "2017-02-25T17", "volume", NULL},
    {NMP_HEAD "IntrCookie: 1852: Interrupt received on invalid vector", "intr-invalid", "host", "2017-02-25T17", "device", NULL},
    {NMP_HEAD "HBX: 2832: ATS Miscompare detected between test and set HB images at offset 3604480 on vol 'vol-1'", "ats-miscompare", "vol-1", "2017-02-25T17", "count", "1"},
    {"2026-01-07T10:00:01.001Z Wa(180) vmkwarning: cpu12:2098003)WARNING: bnxtnet: hwrm_get_version:1234: [vmnic4 : 0x450c2b1f4000] VER_GET failed- FW_STATUS_REG: 0x89021",
     "firmware-crashed", "vmnic4", "2026-01-07T10", "driver", "bnxtnet"},
    /* KB 370976, KB 2151749, vmkdump_extract of 5.x, KB 429117, KB 426284 with its numbers filled in */
    {"2024-06-21T21:50:40.305Z cpu56:2097460)@BlueScreen: #PF Exception 14 in world 2097460:HELPER_UPLIN IP 0x42002b65ad3b addr 0x8", "crash",
     "HELPER_UPLIN", "2024-06-21T21", "count", "1"},
    {"2015-12-17T20:34:03.603Z cpu3:47209)@BlueScreen: CrashMe", "crash", "host", "2015-12-17T20", "driver", NULL},
    {"2024-06-21T21:50:40.346Z cpu56:2097460)0x453949a1be20:[0x42002b65ad3b]i40en_UplinkPrivStatsGet@(i40en)#<None>+0x45f stack: 0x4307b3a7e050",
     "crash-frame", "i40en_UplinkPrivStatsGet", "2024-06-21T21", "driver", "i40en"},
    {"2017-09-16T15:34:30.908Z cpu6:65645)0x4390c369bd00:[0x41802c496258]UplinkTreePackQueueFilters@vmkernel#nover+0x188 stack: 0xe15427000",
     "crash-frame", "UplinkTreePackQueueFilters", "2017-09-16T15", "driver", NULL},
    {"2012-03-01T10:00:00.100Z cpu6:8236)0x412300b07468:[0x4180368cbfb3]netdev_tx@com.vmware.driverAPI#9.2+0x846 stack: 0x412300b074f8, 0x1, 0x1",
     "crash-frame", "netdev_tx", "2012-03-01T10", "driver", "com.vmware.driverAPI"},
    {"2012-03-01T10:00:00.100Z cpu6:8236)0x412300b07558:[0x418036a2ebf6]NetSchedSFQRunLocked@<None>#<None>+0x1e9 stack: 0x412300b07608, 0x41",
     "crash-frame", "NetSchedSFQRunLocked", "2012-03-01T10", "driver", NULL},
    {"2026-02-01T10:00:00.100Z cpu6:8236)0x453930a1be20:[0x42002b65ad3b]ilo_isr@(ilo)#<None>+0x98", "crash-frame", "ilo_isr", "2026-02-01T10",
     "driver", "ilo"},
    {"2026-02-01T10:00:00Z In(14) LogEFI[2098003]: #PF Exception 14 in world 2097777:lpfc_path_cl IP 0x42002b65ad3b addr 0x8", "crash",
     "lpfc_path_cl", "2026-02-01T10", "count", "1"},
    {"2026-02-01T10:00:00Z In(14) LogEFI[2098003]: Module(s) involved in panic: [lpfc 900.14.4.390.20-36vmw.901.0.24957456 (External)]",
     "crash-module", "lpfc", "2026-02-01T10", "count", "1"},
    {"2026-02-01T10:00:00Z In(14) LogEFI: cpu2:2097777)0x453930a1be20:[0x42002b65ad3b]lpfc_path_claim_handler@(lpfc)#<None>+0x45 stack: 0x4307b3a7e050",
     "crash-frame", "lpfc_path_claim_handler", "2026-02-01T10", "driver", "lpfc"},
};

#define NEVENTS (sizeof events / sizeof *events)

static void each_line_gives_its_event(void **state)
{
    for (size_t i = 0; i < NEVENTS; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);
        struct decoded d;

        buf_printf(&b, "%s%s", events[i].line, i % 2 ? "\n" : "\r\n");
        d = decode(*state, buf_slice(&b));
        assert_int_equal(d.state, DECODE_COMPLETE);
        if (d.n != 1)
            fail_msg("%zu events in: %s", d.n, events[i].line);
        expect_text(&d.records[0], "kind", 0, events[i].kind);
        expect_text(&d.records[0], "subject", 0, events[i].subject);
        expect_text(&d.records[0], "hour", 0, events[i].hour);
        expect_text(&d.records[0], events[i].key, 0, events[i].value);
    }
}

/* KB 370976: a message with a line of its own about the page tables, which the host writes without a time. */
static void a_purple_screen_is_no_damage(void **state)
{
    struct decoded d = decode(*state, SLICE_LIT(
        "2024-06-21T21:50:40.305Z cpu56:2097460)@BlueScreen: #PF Exception 14 in world 2097460:HELPER_UPLIN IP 0x42002b65ad3b addr 0x8\n"
        "PTEs:0xc005426027;0xc004f12007;0x0;\n"
        "2024-06-21T21:50:40.320Z cpu56:2097460)Code start: 0x42002a800000 VMK uptime: 455:21:42:08.477\n"
        "2024-06-21T21:50:40.346Z cpu56:2097460)0x453949a1be20:[0x42002b65ad3b]i40en_UplinkPrivStatsGet@(i40en)#<None>+0x45f stack: 0x4307b3a7e050\n"
        "2024-06-21T21:50:40.373Z cpu56:2097460)0x453949a1be80:[0x42002aa8da15]UplinkDeviceGetStatsAsyncCB@vmkernel#nover+0x2fe stack: 0x420000000001\n"
        "2024-06-21T21:50:40.484Z cpu56:2097460)base fs=0x0 gs=0x42004e000000 Kgs=0x0\n"));

    assert_int_equal(d.state, DECODE_COMPLETE);
    assert_int_equal(d.n, 3);
    expect_text(&d.records[0], "kind", 0, "crash");
    expect_text(&d.records[1], "driver", 0, "i40en");
    expect_text(&d.records[2], "subject", 0, "UplinkDeviceGetStatsAsyncCB");
}

/* KB 432963: the command and its device on one line, the status on the next. */
static void an_error_of_hpp_is_told_on_two_lines(void **state)
{
    static const char first[] = "2023-05-01T08:00:00.100Z cpu10:2098001)WARNING: HPP: HppScsiThrottleLogForDevice:585: Cmd 0x2a (0x45dd530655c0, 0) to"
                                " dev \"naa.6a\" on path vmhba1:C0:T3:L0 Failed:\n";
    static const char second[] = "2023-05-01T08:00:00.100Z cpu10:2098001)WARNING: HPP: HppScsiThrottleLogForDevice:593: Error status H:0x0 D:0x2 P:0x0"
                                 " Valid sense data: 0x4 0x3e 0x1. hppAction=1\n";
    static const char other[] = "2023-05-01T08:00:00.100Z cpu10:2098001)DVFilter: 5898: nothing of interest\n";
    struct decoded d = decode(*state, slice_of(arena_printf(*state, "%s%s", first, second)));

    assert_int_equal(d.state, DECODE_COMPLETE);
    assert_int_equal(d.n, 1);
    expect_text(&d.records[0], "kind", 0, "scsi-error");
    expect_text(&d.records[0], "device", 0, "naa.6a");
    expect_text(&d.records[0], "adapter", 0, "vmhba1");
    expect_text(&d.records[0], "device-status", 0, "0x2");
    expect_text(&d.records[0], "sense", 0, "0x4/0x3e/0x1");
    expect_text(&d.records[0], "commands", 0, "0x2a");
    assert_int_equal(decode(*state, slice_of(second)).n, 0); /* whose it is nobody can tell */
    assert_int_equal(decode(*state, slice_of(arena_printf(*state, "%s%s%s", first, other, second))).n, 0);
    assert_int_equal(decode(*state, slice_of(arena_printf(*state, "%s2023-05-01T08:00:00.100Z cpu11:2098002)%s", first, strchr(second, ')') + 1))).n, 0);
}

/* github.com/spdk/spdk/issues/405 (6.5) and a log of 5.0: no wrapped line, as the second part has them. */
static void a_message_of_several_lines_is_whole(void **state)
{
    static const char *const whole[] = {"0x4d 0x61 0x6c 0x6c 0x6f 0x63 0x30 0x00 0x4d 0x61 0x6c 0x6c 0x6f 0x63 \n",
                                        "<6> command: Write(10): 2a 00 00 1c 25 a2 00 00 80 00\n"};
    static const char *const wrapped[] = {"0x24 0x0.\n", "0x5 0x24 0x0 0x0\n", "0x24 0x0\n", "<6>igb: vmnic2 NIC Link is Down\n", "world 2108\n"};

    for (size_t i = 0; i < 7; i++) {
        const char *text = arena_printf(*state, "%sx\n%s%sx\n", NMP_HEAD, i < 2 ? whole[i] : wrapped[i - 2], NMP_HEAD);

        if (decode(*state, slice_of(text)).state != (i < 2 ? DECODE_COMPLETE : DECODE_PARTIAL))
            fail_msg("%s", text);
    }
}

static void lines_of_no_interest_give_nothing(void **state)
{
    static const char text[] =
        NMP_HEAD "NFSLock: 1469: Start accessing fd 0x43088f61ece0(disk-1-flat.vmdk) again\n"
        NMP_HEAD "PCI: 1401: Skipping device reset on 0000:05:00.0 because PCIe link to the device is down.\n"
        NMP_HEAD "StorageApdHandler: 982: APD Handle  Created with lock[StorageApd-0x430a28b09130]\n"
        NMP_HEAD "HBX: 6214: APD EventType: APD_START (3) for vol 'iSCSI'\n"
        NMP_HEAD "Some: link down of nobody\n"
        "2020-04-30T07:25:58.464Z: [scsiCorrelator] 1us: [vob.scsi.device.io.latency.high] Device naa.1 performance has deteriorated. I/O latency increased from average value of 1 microseconds to 2 microseconds.\n"
        NMP_HEAD "NMP: nmp_ThrottleLogForDevice:3617: Cmd 0x2a (0x4395) to dev \"naa.1\" on path \"vmhba0:C0:T0:L0\" Failed: H:0x\n"
        NMP_HEAD "Boot: 12: Bootbank was found at path '/bootbank'\n";
    struct decoded d = decode(*state, SLICE_LIT(text));

    assert_int_equal(d.state, DECODE_COMPLETE);
    assert_int_equal(d.n, 0);
}

static const char hours[] =
    ":33.403Z cpu5:34435)a first line cut by the rotation of the log\n"
    "2015-01-20T10:40:00.000Z cpu5:34435)WARNING: ScsiDeviceIO: 1: Device naa.1 performance has deteriorated. I/O latency increased from average value of 10 microseconds to 2000 microseconds.\n"
    "2015-01-20T10:30:00.000Z cpu5:34435)WARNING: ScsiDeviceIO: 2: Device naa.1 performance has deteriorated. I/O latency increased from average value of 11 microseconds to 9000 microseconds.\n"
    "2015-01-20T10:31:00.000Z cpu5:34435)WARNING: ScsiDeviceIO: 3: Device naa.2 performance has deteriorated. I/O latency increased from average value of 12 microseconds to 9001 microseconds.\n"
    "2015-01-20T11:30:00.000Z cpu5:34435)WARNING: ScsiDeviceIO: 4: Device naa.1 performance has deteriorated. I/O latency increased from average value of 13 microseconds to 3000 micro$\n"
    "2015-01-20T11:31:00.000Z cpu5:34435)NMP: nmp_ThrottleLogForDevice:1: Cmd 0x28 (0x4, 1) to dev \"naa.1\" on path \"vmhba1:C0:T0:L0\" Failed: H:0x5 D:0x0 P:0x0 Possible sense data: 0x0 0x0 0x0. Act:NONE\n"
    "2015-01-20T11:32:00.000Z cpu5:34435)NMP: nmp_ThrottleLogForDevice:1: Cmd 0x42 (0x4, 1) to dev \"naa.1\" on path \"vmhba2:C0:T0:L0\" Failed: H:0x8 D:0x0 P:0x0 Valid sense data: 0x6 0x29 0x7. Act:NONE\n"
    "2015-01-20T11:33:00.000Z cpu5:34435)NMP: nmp_ThrottleLogForDevice:2: last error status from device naa.1 repeated 40 times\n";

static void events_are_counted_by_subject_and_hour(void **state)
{
    struct decoded d = decode(*state, SLICE_LIT(hours));

    assert_int_equal(d.state, DECODE_COMPLETE);
    assert_int_equal(d.n, 4);
    expect_text(&d.records[0], "count", 0, "2");
    expect_text(&d.records[0], "first", 0, "2015-01-20T10:30:00.000Z");
    expect_text(&d.records[0], "last", 0, "2015-01-20T10:40:00.000Z");
    expect_text(&d.records[0], "worst", 0, "9000");
    expect_text(&d.records[0], "baseline", 0, "11");
    assert_int_equal(d.records[0].line, 2);
    expect_text(&d.records[1], "subject", 0, "naa.2");
    expect_text(&d.records[2], "hour", 0, "2015-01-20T11");
    expect_text(&d.records[2], "worst", 0, NULL); /* the number may be cut */
    expect_text(&d.records[3], "count", 0, "42");
    expect_text(&d.records[3], "adapter", 0, NULL); /* lines name two */
    expect_text(&d.records[3], "host-status", 0, "0x5");
    expect_text(&d.records[3], "host-status", 1, "0x8");
    expect_text(&d.records[3], "device-status", 1, NULL);
    expect_text(&d.records[3], "commands", 1, "0x42");
    expect_text(&d.records[3], "sense", 0, "0x6/0x29/0x7");
    expect_text(&d.records[3], "sense", 1, NULL);
    assert_true(find(&d.records[3], "host-status", 0)->listed);
}

static bool same_event(const struct record *a, const struct record *b)
{
    static const char *const keys[] = {"kind", "subject", "hour"};

    for (size_t i = 0; i < 3; i++)
        if (!slice_eq(find(a, keys[i], 0)->text, find(b, keys[i], 0)->text))
            return false;
    return true;
}

/* What a line lost or moved cannot change: counts and times go with the lines, everything else is as it was. */
static void no_wrong_value(const struct decoded *whole, struct slice text, bool moved)
{
    struct arena *a = arena_new(LIMIT);
    struct decoded d;

    (void)run(text, a, &d);
    for (size_t i = 0; i < d.n; i++)
        for (uint32_t j = 0; j < d.records[i].nfields; j++) {
            const struct field *x = &d.records[i].fields[j];
            bool found = false;

            if (!moved && (slice_eqz(x->key, "count") || slice_eqz(x->key, "first") || slice_eqz(x->key, "last") ||
                           slice_eqz(x->key, "worst") || slice_eqz(x->key, "baseline") || slice_eqz(x->key, "sample") ||
                           slice_eqz(x->key, "adapter")))
                continue;
            for (size_t k = 0; k < whole->n; k++)
                for (uint32_t m = 0; m < whole->records[k].nfields; m++)
                    found |= same_event(&d.records[i], &whole->records[k]) &&
                             slice_eq(whole->records[k].fields[m].key, x->key) &&
                             slice_eq(whole->records[k].fields[m].text, x->text);
            if (!found)
                fail_msg("%.*s is \"%.*s\"", (int)x->key.n, x->key.p, (int)x->text.n, x->text.p);
        }
    arena_free(a);
}

static void a_changed_log_gives_no_wrong_value(void **state)
{
    _cleanup_(buf_done) struct buf all = BUF_INIT(1u << 20);
    struct slice line[128], rest;
    struct decoded whole;
    size_t n = 0;

    buf_addz(&all, hours);
    for (size_t i = 0; i < NEVENTS; i++)
        buf_printf(&all, "%s\n", events[i].line);
    whole = decode(*state, buf_slice(&all));
    rest = buf_slice(&all);
    while (n < 128 && slice_next_line(&rest, &line[n], NULL))
        n++;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i + k < n; i++) { /* k 0: line i left out; 1: exchanged with the next */
            _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);

            for (size_t j = 0; j < n; j++) {
                size_t from = k && j == i ? i + 1 : k && j == i + 1 ? i : j;

                if (k || j != i) {
                    buf_add(&b, line[from]);
                    buf_addc(&b, '\n');
                }
            }
            no_wrong_value(&whole, buf_slice(&b), k == 1);
        }
    for (size_t cut = 0; cut < all.n; cut += cut < sizeof hours ? 1 : 13)
        no_wrong_value(&whole, (struct slice){all.p, cut}, false);
}

static void a_last_line_without_line_end_is_left_out(void **state)
{
    struct decoded d = decode(*state, SLICE_LIT(NMP_HEAD "x: y\n" NMP_HEAD "vmnic1 : 02:00.4 Link Down"));

    assert_int_equal(d.state, DECODE_PARTIAL);
    assert_int_equal(d.n, 0);
}

static void what_is_no_log_is_unusable(void **state)
{
    static const char *const table[] = {
        "",
        "\n",
        "VMware ESXi 8.0.3 build-1\n",
        "2018-07-06T21:02:11.204Z info hostd[B781B70] [Originator@6876 sub=Vimsvc.ha-eventmgr] Event 3026 : x\n",
        "2018-07-06 21:02:11 cpu0:1)x\n",
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct decoded d = decode(*state, slice_of(table[i]));

        assert_int_equal(d.state, DECODE_UNUSABLE);
        assert_string_equal(d.why, i < 2 ? "empty answer" : "no line has the head of a VMkernel log");
    }
}

static void the_sample_is_short_and_safe(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);
    const struct field *x;
    struct decoded d;

    buf_addz(&b, NMP_HEAD "vmnic1 : Link Down \x1b[31m\xff");
    for (unsigned i = 0; i < 200; i++)
        buf_addz(&b, "\xc3\xa9\x01");
    buf_addc(&b, '\n');
    d = decode(*state, buf_slice(&b));
    x = find(&d.records[0], "sample", 0);
    assert_true(x->text.n <= 300 && x->text.n > 290);
    for (size_t i = 0; i < x->text.n; i++)
        assert_true((unsigned char)x->text.p[i] >= 0x20 && (unsigned char)x->text.p[i] != 0xff);
}

static void more_events_than_the_limit_are_partial(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8u << 20);
    struct decoded d;

    for (unsigned i = 0; i < 20010; i++)
        buf_printf(&b, NMP_HEAD "vmnic%u : 02:00.4 Link Down\n", i);
    d = decode(*state, buf_slice(&b));
    assert_int_equal(d.state, DECODE_PARTIAL);
    assert_int_equal(d.n, 20000);
    assert_int_equal(d.line, 20001);
}

static void a_line_of_many_hits_takes_linear_time(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(32u << 20);

    buf_addz(&b, NMP_HEAD "x: y\n");
    for (unsigned line = 0; line < 20; line++) {
        buf_addz(&b, NMP_HEAD);
        for (unsigned i = 0; i < 80000; i++)
            buf_addz(&b, "link down ");
        buf_addc(&b, '\n');
    }
    for (unsigned i = 0; i < 400000; i++) /* and one line over the limit */
        buf_addz(&b, "link is up ");
    buf_addc(&b, '\n');
    assert_int_equal(decode(*state, buf_slice(&b)).n, 0);
}

static void a_full_arena_is_reported_and_survived(void **state)
{
    _cleanup_(buf_done) struct buf all = BUF_INIT(1u << 20);

    (void)state;
    for (size_t i = 0; i < NEVENTS; i++)
        buf_printf(&all, "%s\n", events[i].line);
    for (size_t n = 1;; n++) {
        struct arena *a = arena_new(LIMIT);
        struct decoded d;
        bool full;

        arena_fail_at(a, n);
        full = run(buf_slice(&all), a, &d) == VF_ELIMIT;
        assert_int_equal(full, arena_full(a));
        arena_free(a);
        if (!full)
            break;
    }
}

static void random_bytes_are_survived(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        const char *line = events[round % NEVENTS].line;
        size_t n = strlen(line), len = n - next_random(&seed) % 20;
        struct arena *a = arena_new(LIMIT);
        char *text = xmalloc(len + 1);
        struct decoded d;

        memcpy(text, line, len);
        for (unsigned i = 0; i < round % 9; i++)
            text[next_random(&seed) % len] = (char)next_random(&seed);
        text[len] = '\n';
        (void)run((struct slice){text, len + 1}, a, &d);
        arena_free(a);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(each_line_gives_its_event),
        T(a_purple_screen_is_no_damage),
        T(an_error_of_hpp_is_told_on_two_lines),
        T(a_message_of_several_lines_is_whole),
        T(lines_of_no_interest_give_nothing),
        T(events_are_counted_by_subject_and_hour),
        T(a_changed_log_gives_no_wrong_value),
        T(a_last_line_without_line_end_is_left_out),
        T(what_is_no_log_is_unusable),
        T(the_sample_is_short_and_safe),
        T(more_events_than_the_limit_are_partial),
        T(a_line_of_many_hits_takes_linear_time),
        cmocka_unit_test(a_full_arena_is_reported_and_survived),
        cmocka_unit_test(random_bytes_are_survived),
    };

    return cmocka_run_group_tests_name("decode_vmklog", tests, NULL, NULL);
}
