#!/usr/bin/python3
"""healthy_hosts.py FOLDER: writes the answers of hosts that nothing is wrong with, one folder for each release from 6.0 to 8.0 U3 and vendor.

They are composed, not captured: the answers in the text forms of esxcli that were seen in the field, with devices that the vendor sells in such
a server, under the driver that claims them on that release. The versions are those of the release's own image where a public list has them (see
INBOX), else those of the nearest earlier release; VENDOR adds what the vendor's image brings. Nothing here is a measure of the rules: what a rule
may say of such a host is a note at most.
"""
import os
import sys

# release as rules write it: version, build, image profile, update, first digits of VIB targets
RELEASES = {
    "6.0": ("6.0.0", 2494585, "ESXi-6.0.0-2494585-standard", 0), "6.0u1": ("6.0.0", 3029758, "ESXi-6.0.0-20150902001-standard", 1),
    "6.0u2": ("6.0.0", 3620759, "ESXi-6.0.0-20160302001-standard", 2), "6.0u3": ("6.0.0", 5050593, "ESXi-6.0.0-20170202001-standard", 3),
    "6.5": ("6.5.0", 4564106, "ESXi-6.5.0-4564106-standard", 0), "6.5u1": ("6.5.0", 5969303, "ESXi-6.5.0-20170702001-standard", 1),
    "6.5u2": ("6.5.0", 8294253, "ESXi-6.5.0-20180502001-standard", 2), "6.5u3": ("6.5.0", 13932383, "ESXi-6.5.0-20190702001-standard", 3),
    "6.7": ("6.7.0", 8169922, "ESXi-6.7.0-8169922-standard", 0), "6.7u1": ("6.7.0", 10302608, "ESXi-6.7.0-20181002001-standard", 1),
    "6.7u2": ("6.7.0", 13006603, "ESXi-6.7.0-20190402001-standard", 2), "6.7u3": ("6.7.0", 15160138, "ESXi-6.7.0-20191204001-standard", 3),
    "7.0": ("7.0.0", 15843807, "ESXi-7.0.0-15843807-standard", 0), "7.0u1": ("7.0.1", 16850804, "ESXi-7.0U1-16850804-standard", 1),
    "7.0u2": ("7.0.2", 17867351, "ESXi-7.0U2a-17867351-standard", 2), "7.0u3": ("7.0.3", 22348816, "ESXi-7.0U3o-22348816-standard", 3),
    "8.0": ("8.0.0", 20513097, "ESXi-8.0.0-20513097-standard", 0), "8.0u1": ("8.0.1", 21495797, "ESXi-8.0U1-21495797-standard", 1),
    "8.0u2": ("8.0.2", 22380479, "ESXi-8.0U2-22380479-standard", 2), "8.0u3": ("8.0.3", 24280767, "ESXi-8.0U3b-24280767-standard", 3),
}

# Versions of the images' own drivers. 6.0 U1, 6.5 U2, 6.7: results of "esxcli software profile update" in public upgrade logs; 6.7 U1: the same
# (in part); 6.7 U3: a public VIB list; 7.0: result of an update; 7.0 U2: a public VIB list of a Dell image (the VMW rows); 8.0 U3: result of an update.
INBOX = {
    "6.0": """sata-ahci 3.0-22vmw.600.1.17.3029758; ata-libata-92 3.00.9.2-16vmw.600.0.0.2494585; lsi-mr3 6.605.08.00-7vmw.600.1.17.3029758
        lsi-msgpt3 06.255.12.00-8vmw.600.1.17.3029758; scsi-hpsa 6.0.0.44-4vmw.600.0.0.2494585; net-tg3 3.131d.v60.4-1vmw.600.0.0.2494585
        net-bnx2x 1.78.80.v60.12-1vmw.600.0.0.2494585; net-igb 5.0.5.1.1-5vmw.600.0.0.2494585; net-ixgbe 3.7.13.7.14iov-20vmw.600.0.0.2494585
        nmlx4-core 3.0.0.0-1vmw.600.0.0.2494585; nvme 1.0e.0.35-1vmw.600.1.17.3029758; net-enic 2.1.2.38-2vmw.600.0.0.2494585
        scsi-fnic 1.5.0.45-3vmw.600.0.0.2494585; lpfc 10.2.309.8-2vmw.600.0.0.2494585; qlnativefc 2.0.12.0-5vmw.600.0.0.2494585
        net-mlx4-core 1.9.7.0-1vmw.600.0.0.2494585; misc-drivers 6.0.0-1.17.3029758; xhci-xhci 1.0-2vmw.600.1.17.3029758
        usbcore-usb 1.0-3vmw.600.0.0.2494585; scsi-mpt2sas 19.00.00.00-1vmw.600.0.0.2494585; scsi-megaraid-sas 6.603.55.00-2vmw.600.0.0.2494585""",
    "6.5": """sata-ahci 3.0-26vmw.650.1.26.5969303; ata-libata-92 3.00.9.2-16vmw.650.0.0.4564106; vmw-ahci 1.1.1-1vmw.650.2.50.8294253
        lsi-mr3 7.702.13.00-3vmw.650.2.50.8294253; lsi-msgpt3 16.00.01.00-1vmw.650.2.50.8294253; nhpsa 2.0.22-3vmw.650.2.50.8294253
        scsi-hpsa 6.0.0.84-1vmw.650.0.0.4564106; smartpqi 1.0.1.553-10vmw.650.2.50.8294253; ntg3 4.1.3.0-1vmw.650.1.36.7388607
        net-tg3 3.131d.v60.4-2vmw.650.0.0.4564106; qfle3 1.0.2.7-1vmw.650.0.0.4564106; net-bnx2x 1.78.80.v60.12-1vmw.650.0.0.4564106
        igbn 0.1.0.0-15vmw.650.1.36.7388607; ixgben 1.4.1-12vmw.650.2.50.8294253; i40en 1.3.1-19vmw.650.2.50.8294253
        nmlx5-core 4.16.0.0-1vmw.650.0.0.4564106; nvme 1.2.1.34-1vmw.650.2.50.8294253; nenic 1.0.0.2-1vmw.650.0.0.4564106
        scsi-fnic 1.5.0.45-3vmw.650.0.0.4564106; lpfc 11.4.33.1-6vmw.650.2.50.8294253; qlnativefc 2.1.50.0-1vmw.650.1.26.5969303
        vmkusb 0.1-1vmw.650.2.50.8294253; misc-drivers 6.5.0-2.50.8294253; scsi-libfc-92 1.0.40.9.3-5vmw.650.0.0.4564106""",
    "6.7": """sata-ahci 3.0-26vmw.670.0.0.8169922; ata-libata-92 3.00.9.2-16vmw.670.0.0.8169922; vmw-ahci 1.2.0-6vmw.670.0.0.8169922
        lsi-mr3 7.702.13.00-4vmw.670.0.0.8169922; lsi-msgpt3 16.00.01.00-1vmw.670.0.0.8169922; nhpsa 2.0.22-1vmw.670.0.0.8169922
        scsi-hpsa 6.0.0.84-3vmw.670.0.0.8169922; smartpqi 1.0.1.553-10vmw.670.0.0.8169922; ntg3 4.1.3.0-1vmw.670.0.0.8169922
        net-tg3 3.131d.v60.4-2vmw.670.0.0.8169922; qfle3 1.0.50.11-9vmw.670.0.0.8169922; qcnic 1.0.2.0.4-1vmw.670.0.0.8169922
        qfle3f 1.0.25.0.2-14vmw.670.0.0.8169922; qfle3i 1.0.2.3.9-3vmw.670.0.0.8169922; net-bnx2x 1.78.80.v60.12-2vmw.670.0.0.8169922
        igbn 0.1.0.0-15vmw.670.0.0.8169922; ixgben 1.4.1-11vmw.670.0.0.8169922; i40en 1.3.1-18vmw.670.0.0.8169922
        nmlx5-core 4.17.9.12-1vmw.670.0.0.8169922; nvme 1.2.1.34-1vmw.670.0.0.8169922; nenic 1.0.11.0-1vmw.670.0.0.8169922
        scsi-fnic 1.5.0.45-3vmw.670.0.0.8169922; lpfc 11.4.33.1-6vmw.670.0.0.8169922; qlnativefc 3.0.1.0-5vmw.670.0.0.8169922
        vmkusb 0.1-1vmw.670.0.0.8169922; misc-drivers 6.7.0-0.0.8169922; scsi-libfc-92 1.0.40.9.3-5vmw.670.0.0.8169922""",
    "6.7u1": """i40en 1.3.1-22vmw.670.1.28.10302608; ixgben 1.4.1-16vmw.670.1.28.10302608; lpfc 11.4.33.3-11vmw.670.1.28.10302608
        lsi-mr3 7.702.13.00-5vmw.670.1.28.10302608; lsi-msgpt3 16.00.01.00-3vmw.670.1.28.10302608; nenic 1.0.21.0-1vmw.670.1.28.10302608
        nfnic 4.0.0.14-0vmw.670.1.28.10302608; nhpsa 2.0.22-3vmw.670.1.28.10302608; ntg3 4.1.3.2-1vmw.670.1.28.10302608
        nvme 1.2.2.17-1vmw.670.1.28.10302608""",
    "6.7u3": """nfnic 4.0.0.29-0vmw.670.3.73.14320388; nmlx5-core 4.17.13.1-1vmw.670.3.73.14320388; nvme 1.2.2.28-1vmw.670.3.73.14320388
        smartpqi 1.0.1.553-28vmw.670.3.73.14320388; vmkusb 0.1-1vmw.670.3.89.15160138; vmw-ahci 1.2.8-1vmw.670.3.73.14320388
        qlnativefc 3.1.8.0-5vmw.670.3.73.14320388""",
    "7.0": """vmw-ahci 1.3.9-1vmw.700.1.0.15843807; lsi-mr3 7.712.50.00-1vmw.700.1.0.15843807; lsi-msgpt3 17.00.10.00-1vmw.700.1.0.15843807
        nhpsa 2.0.50-1vmw.700.1.0.15843807; smartpqi 1.0.4.3011-1vmw.700.1.0.15843807; ntg3 4.1.4.1-1vmw.700.1.0.15843807
        qfle3 1.0.66.0-5vmw.700.1.0.15843807; qcnic 1.0.15.0-8vmw.700.1.0.15843807; qfle3f 1.0.51.0-12vmw.700.1.0.15843807
        qfle3i 1.0.15.0-6vmw.700.1.0.15843807; igbn 0.1.1.0-6vmw.700.1.0.15843807; ixgben 1.7.1.26-1vmw.700.1.0.15843807
        i40en 1.8.1.16-1vmw.700.1.0.15843807; nmlx5-core 4.19.16.7-1vmw.700.1.0.15843807; nvme-pcie 1.2.2.6-1vmw.700.1.0.15843807
        nenic 1.0.29.0-1vmw.700.1.0.15843807; nfnic 4.0.0.44-1vmw.700.1.0.15843807; lpfc 12.4.293.3-5vmw.700.1.0.15843807
        qlnativefc 4.0.1.0-3vmw.700.1.0.15843807; vmkusb 0.1-1vmw.700.1.0.15843807""",
    "7.0u2": """vmw-ahci 2.0.9-1vmw.702.0.0.17867351; lsi-mr3 7.716.03.00-1vmw.702.0.0.17867351; lsi-msgpt3 17.00.10.00-2vmw.702.0.0.17867351
        nhpsa 70.0051.0.100-2vmw.702.0.0.17867351; smartpqi 70.4000.0.100-6vmw.702.0.0.17867351; ntg3 4.1.5.0-0vmw.702.0.0.17867351
        nvme-pcie 1.2.3.11-1vmw.702.0.0.17867351; nenic 1.0.33.0-1vmw.702.0.0.17867351; nfnic 4.0.0.63-1vmw.702.0.0.17867351
        vmkusb 0.1-1vmw.702.0.0.17867351; qfle3 1.0.67.0-9vmw.702.0.0.17867351; i40en 1.8.1.136-1vmw.702.0.0.17867351""",
    "7.0u3": """vmw-ahci 2.0.11-2vmw.703.0.105.22348816; lsi-mr3 7.718.02.00-1vmw.703.0.20.19193900; i40en 1.11.1.31-1vmw.703.0.20.19193900
        nvme-pcie 1.2.3.16-3vmw.703.0.105.22348816; lpfc 14.0.169.26-5vmw.703.0.50.20036589; vmkusb 0.1-8vmw.703.0.85.21424296""",
    "8.0": """vmw-ahci 2.0.14-1vmw.800.1.0.20513097; lsi-mr3 7.722.02.00-1vmw.800.1.0.20513097; nvme-pcie 1.2.4.1-1vmw.800.1.0.20513097
        vmkusb 0.1-14vmw.800.1.0.20513097; smartpqi 80.4253.0.5000-2vmw.800.1.0.20513097""",
    "8.0u3": """vmw-ahci 2.0.17-1vmw.803.0.0.24022510; lsi-mr3 7.728.02.00-1vmw.803.0.0.24022510; lsi-msgpt3 17.00.13.00-3vmw.803.0.0.24022510
        nhpsa 70.0051.0.100-5vmw.803.0.0.24022510; smartpqi 80.4700.0.5000-2vmw.803.0.0.24022510; ntg3 4.1.14.0-4vmw.803.0.0.24022510
        qfle3 1.0.67.0-36vmw.803.0.0.24022510; qcnic 1.0.15.0-23vmw.803.0.0.24022510; qfle3f 1.0.51.0-34vmw.803.0.0.24022510
        qfle3i 1.0.15.0-20vmw.803.0.0.24022510; igbn 1.4.11.7-2vmw.803.0.0.24022510; ixgben 1.7.1.44-1vmw.803.0.0.24022510
        i40en 1.11.4.6-1vmw.803.0.0.24022510; nmlx5-core 4.23.6.2-7vmw.803.0.0.24022510; nvme-pcie 1.2.4.15-1vmw.803.0.0.24022510
        nenic 1.0.35.0-7vmw.803.0.0.24022510; nfnic 5.0.0.42-1vmw.803.0.0.24022510; lpfc 14.4.0.39-35vmw.803.0.0.24022510
        qlnativefc 5.4.80.1-15vmw.803.0.0.24022510; vmkusb 0.1-22vmw.803.0.0.24022510""",
}

# Name of the module where it is not the VIB's with '_' for '-'; and which drivers are vmklinux ones.
MODULES = {"sata-ahci": "ahci", "ata-libata-92": "libata", "scsi-hpsa": "hpsa", "net-tg3": "tg3", "net-bnx2x": "bnx2x", "net-igb": "igb",
           "net-ixgbe": "ixgbe", "net-enic": "enic", "scsi-fnic": "fnic", "scsi-mpt2sas": "mpt2sas", "scsi-megaraid-sas": "megaraid_sas",
           "net-mlx4-core": "mlx4_core", "misc-drivers": "vmklinux_9", "xhci-xhci": "xhci", "usbcore-usb": "usb", "scsi-libfc-92": "libfc_92"}

# What a device is: class, drivers in the order in which they are looked for on a release (the first whose VIB the image has), name.
AHCI = ("0106", "01", ["vmw-ahci", "sata-ahci"])
NVME = ("0108", "02", ["nvme-pcie", "nvme"])
LAN = ("0200", "00")
VENDORS = {
    "dell": ("PowerEdge R640", "Dell Inc.", "1028", [
        ("0000:00:11.5", "8086:a1d2", "1028:0716", *AHCI, "Lewisburg SSATA Controller [AHCI mode]"),
        ("0000:18:00.0", "1000:005d", "1028:1f47", "0104", "00", ["lsi-mr3"], "PERC H730P Mini"),
        ("0000:19:00.0", "14e4:165f", "1028:0716", *LAN, ["ntg3", "net-tg3"], "NetXtreme BCM5720 Gigabit Ethernet"),
        ("0000:19:00.1", "14e4:165f", "1028:0716", *LAN, ["ntg3", "net-tg3"], "NetXtreme BCM5720 Gigabit Ethernet"),
        ("0000:3b:00.0", "1077:2261", "1077:02a8", "0c04", "00", ["qlnativefc"], "ISP2722-based 16/32Gb Fibre Channel to PCIe Adapter")]),
    "hpe": ("ProLiant DL380 Gen9", "HP", "103c", [
        ("0000:00:1f.2", "8086:8d02", "103c:8030", *AHCI, "Wellsburg AHCI Controller"),
        ("0000:03:00.0", "103c:3239", "103c:21c0", "0104", "00", ["nhpsa", "scsi-hpsa"], "Smart Array P440ar"),
        ("0000:02:00.0", "14e4:1657", "103c:22be", *LAN, ["ntg3", "net-tg3"], "NetXtreme BCM5719 Gigabit Ethernet"),
        ("0000:04:00.0", "14e4:168e", "103c:17a5", *LAN, ["qfle3", "net-bnx2x"], "NetXtreme II BCM57810 10 Gigabit Ethernet"),
        ("0000:05:00.0", "10df:e200", "103c:197f", "0c04", "00", ["lpfc"], "LightPulse LPe16000")]),
    "lenovo": ("ThinkSystem SR650 -[7X06CTO1WW]-", "Lenovo", "17aa", [
        ("0000:00:17.0", "8086:a182", "17aa:7805", *AHCI, "Lewisburg SATA AHCI Controller"),
        ("0000:12:00.0", "1000:005d", "1d49:0602", "0104", "00", ["lsi-mr3"], "ThinkSystem RAID 930-8i"),
        ("0000:b1:00.0", "8086:37d2", "17aa:4023", *LAN, ["i40en", None], "Ethernet Connection X722 for 10GBASE-T"),
        ("0000:5e:00.0", "15b3:1015", "15b3:0004", *LAN, ["nmlx5-core", None], "MT27710 Family [ConnectX-4 Lx]"),
        ("0000:19:00.0", "8086:1521", "17aa:1074", *LAN, ["igbn", "net-igb"], "I350 Gigabit Network Connection"),
        ("0000:af:00.0", "144d:a821", "17aa:1002", *NVME, "NVMe SSD Controller 171X")]),
    "cisco": ("UCSB-B200-M4", "Cisco Systems Inc", "1137", [
        ("0000:00:1f.2", "8086:8d02", "1137:0101", *AHCI, "Wellsburg AHCI Controller"),
        ("0000:0b:00.0", "1000:005d", "1137:00db", "0104", "00", ["lsi-mr3"], "Cisco 12G SAS Modular Raid Controller"),
        ("0000:06:00.0", "1137:0043", "1137:012c", *LAN, ["nenic", "net-enic"], "VIC Ethernet NIC"),
        ("0000:07:00.0", "1137:0043", "1137:012c", *LAN, ["nenic", "net-enic"], "VIC Ethernet NIC"),
        ("0000:08:00.0", "1137:0045", "1137:012c", "0c04", "00", ["nfnic", "scsi-fnic"], "VIC FCoE HBA")]),
    "supermicro": ("SYS-6028R-TR", "Supermicro", "15d9", [
        ("0000:00:11.4", "8086:8d62", "15d9:0832", *AHCI, "Wellsburg AHCI Controller"),
        ("0000:00:1f.2", "8086:8d02", "15d9:0832", *AHCI, "Wellsburg AHCI Controller"),
        ("0000:02:00.0", "1000:0097", "15d9:0808", "0107", "00", ["lsi-msgpt3"], "LSI3008 PCI-Express Fusion-MPT SAS-3"),
        ("0000:04:00.0", "8086:1521", "15d9:1521", *LAN, ["igbn", "net-igb"], "I350 Gigabit Network Connection"),
        ("0000:05:00.0", "8086:1528", "15d9:0734", *LAN, ["ixgben", "net-ixgbe"], "Ethernet Controller 10-Gigabit X540-AT2")]),
}

def table(*rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    line = lambda r: "  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip()
    return "\n".join([line(rows[0]), "  ".join("-" * w for w in widths)] + [line(r) for r in rows[1:]]) + "\n"


def block(name, *fields):
    return name + "\n" + "".join("   %s: %s\n" % f for f in fields) + "\n"


def inbox(release):
    """VIBs of the image: those of the nearest list of the same line at or before the release, newer ones in place of older."""
    vibs = {}
    for known, text in INBOX.items():
        if known.split("u")[0] == release.split("u")[0] and known <= release or (release[0] == "8" and known == "8.0u3"):
            for entry in text.replace("\n", ";").split(";"):
                if entry.strip():
                    name, version = entry.split()
                    if release[0] == "8" and known == "8.0u3" and release != "8.0u3":
                        version = version.replace("vmw.803.0.0.24022510", "vmw.80%s.0.0.%d" % (release[4:] or "0", RELEASES[release][1]))
                        vibs.setdefault(name, version)
                    else:
                        vibs[name] = version
    return vibs


def host(release, vendor):
    version, build, profile, update = RELEASES[release]
    model, maker, sub, devices = VENDORS[vendor]
    vibs = inbox(release)
    module = lambda vib: MODULES.get(vib, vib.replace("-", "_"))
    found, hbas, nics = [], [], []
    for address, ident, subsystem, cls, prog, drivers, name in devices:
        driver = next((d for d in drivers if d in vibs), None)
        if driver is None:
            continue  # a server that is sold with this release does not have the card
        kind = hbas if cls[:2] in ("01", "0c") else nics
        alias = ("vmhba%d" if kind is hbas else "vmnic%d") % len(kind)
        kind.append((alias, module(driver), address, name))
        found.append((address, ident, subsystem, cls, prog, alias, module(driver), name))
    a = {}
    a["vmware -vl"] = "VMware ESXi %s build-%d\nVMware ESXi %s %s\n" % (version, build, version, "Update %d" % update if update else "GA")
    a["esxcli system version get"] = "   Product: VMware ESXi\n   Version: %s\n   Build: Releasebuild-%d\n   Update: %d\n   Patch: 0\n" % (version, build, update)
    a["esxcli hardware platform get"] = block("Platform Information", ("UUID", "0x4c 0x4c 0x45 0x44 0x0 0x31 0x32 0x10 0x80 0x33 0xb4 0xc0 0x4f 0x34 0x35 0x36"),
                                              ("Product Name", model), ("Vendor Name", maker), ("Serial Number", "0000001"), ("IPMI Supported", "true"))
    a["esxcli software profile get"] = block(profile, ("Name", profile), ("Vendor", "VMware, Inc."),
                                             ("Creation Time", "2020-01-01T00:00:00"), ("Modification Time", "2020-01-01T00:00:00"), ("Stateless Ready", "True"))
    a["esxcli hardware pci list"] = "".join(
        block(ad, ("Address", ad), ("Segment", "0x0000"), ("Bus", "0x" + ad[5:7]), ("Slot", "0x" + ad[8:10]), ("Function", "0x" + ad[11:]),
              ("VMkernel Name", alias), ("Vendor Name", ""), ("Device Name", name), ("Configured Owner", "VMkernel"), ("Current Owner", "VMkernel"),
              ("Vendor ID", "0x" + ident[:4]), ("Device ID", "0x" + ident[5:]), ("SubVendor ID", "0x" + subsystem[:4]),
              ("SubDevice ID", "0x" + subsystem[5:]), ("Device Class", "0x" + cls), ("Device Class Name", ""), ("Programming Interface", "0x" + prog),
              ("Revision ID", "0x01"), ("Module ID", "10"), ("Module Name", mod), ("Chassis", "0"), ("Physical Slot", "4294967295"),
              ("Slot Description", ""), ("Passthru Capable", "true"), ("Parent Device", "PCI 0:0:1:0"), ("Dependent Device", "PCI 0:0:1:0"),
              ("Reset Method", "Function reset"), ("FPT Sharable", "true")) for ad, ident, subsystem, cls, prog, alias, mod, name in found)
    uid = {"lpfc": "fc.20000090fa000001:10000090fa000001", "qlnativefc": "fc.20000024ff000001:21000024ff000001",
           "nfnic": "fc.20000025b5000001:20000025b50a0001", "fnic": "fc.20000025b5000001:20000025b50a0001",
           "lsi_msgpt3": "sas.500304801ec00001", "lsi_mr3": "sas.500056b300000001", "nhpsa": "sas.5001438000000001", "hpsa": "sas.5001438000000001"}
    a["esxcli storage core adapter list"] = table(("HBA Name", "Driver", "Link State", "UID", "Capabilities", "Description"), *[
        (n, d, "link-up" if d in ("lpfc", "qlnativefc", "nfnic", "fnic") else "link-n/a",
         uid.get(d, ("pcie." if d.startswith("nvme") else "sata.") + n), "", "(%s) %s" % (ad, name)) for n, d, ad, name in hbas])
    raid = next(h for h in hbas if h[1] in ("lsi_mr3", "nhpsa", "hpsa", "lsi_msgpt3"))
    disk, file_system = "naa.600508e000000000a1b2c3d4e5f60001", "5d000001-00000001-0001-005056000001"
    sas = uid[raid[1]].split(".")[1]
    a["esxcli storage core device list"] = block(
        disk, ("Display Name", "Local Disk (%s)" % disk), ("Size", "952720"), ("Device Type", "Direct-Access "), ("Multipath Plugin", "NMP"),
        ("Vendor", "DELL    "), ("Model", "RAID volume     "), ("Revision", "4.27"), ("Is Pseudo", "false"), ("Status", "on"), ("Is Local", "true"),
        ("Is Removable", "false"), ("Is SSD", "false"), ("Is Offline", "false"), ("Is Perennially Reserved", "false"), ("Queue Full Sample Size", "0"),
        ("Queue Full Threshold", "0"), ("Thin Provisioning Status", "unknown"), ("VAAI Status", "unsupported"), ("Is Shared Clusterwide", "false"),
        ("Is SAS", "true"), ("Is USB", "false"), ("Is Boot USB Device", "false"), ("Is Boot Device", "true"), ("Device Max Queue Depth", "128"),
        ("No of outstanding IOs with competing worlds", "32"), ("Drive Type", "logical"), ("RAID Level", "RAID1"))
    path = "sas.%s-sas.%s-%s" % (sas, sas, disk)
    a["esxcli storage core path list"] = block(
        path, ("UID", path), ("Runtime Name", raid[0] + ":C2:T0:L0"), ("Device", disk), ("Device Display Name", "Local Disk (%s)" % disk),
        ("Adapter", raid[0]), ("Channel", "2"), ("Target", "0"), ("LUN", "0"), ("Plugin", "NMP"), ("State", "active"), ("Transport", "sas"),
        ("Adapter Identifier", "sas." + sas), ("Target Identifier", "sas." + sas), ("Maximum IO Size", "1048576"))
    a["esxcli storage nmp device list"] = block(
        disk, ("Device Display Name", "Local Disk (%s)" % disk), ("Storage Array Type", "VMW_SATP_LOCAL"),
        ("Storage Array Type Device Config", "SATP VMW_SATP_LOCAL does not support device configuration."), ("Path Selection Policy", "VMW_PSP_FIXED"),
        ("Path Selection Policy Device Config", "{preferred=%s:C2:T0:L0;current=%s:C2:T0:L0}" % (raid[0], raid[0])),
        ("Working Paths", raid[0] + ":C2:T0:L0"), ("Is USB", "false"))
    vmfs = "VMFS-5" if release < "6.5" else "VMFS-6"
    a["esxcli storage filesystem list"] = table(
        ("Mount Point", "Volume Name", "UUID", "Mounted", "Type", "Size", "Free"),
        ("/vmfs/volumes/" + file_system, "datastore1", file_system, "true", vmfs, "990526832640", "640526832640"),
        ("/vmfs/volumes/5d000002-00000002-0002-005056000002", "BOOTBANK1" if release >= "7" else "", "5d000002-00000002-0002-005056000002", "true", "vfat", "261853184", "91848704"),
        ("/vmfs/volumes/5d000003-00000003-0003-005056000003", "BOOTBANK2" if release >= "7" else "", "5d000003-00000003-0003-005056000003", "true", "vfat", "261853184", "91987968"))
    a["esxcli storage vmfs extent list"] = table(("Volume Name", "VMFS UUID", "Extent Number", "Device Name", "Partition"),
                                                 ("datastore1", file_system, "0", disk, "3"))
    a["esxcli storage nfs list"] = ""
    a["esxcli network nic list"] = table(
        ("Name", "PCI Device", "Driver", "Admin Status", "Link Status", "Speed", "Duplex", "MAC Address", "MTU", "Description"),
        *[(n, ad, d, "Up", "Up", "1000" if d in ("tg3", "ntg3", "igb", "igbn") else "10000", "Full", "00:53:00:00:00:0%d" % i, "1500", name)
          for i, (n, d, ad, name) in enumerate(nics)])
    a["esxcli network ip interface list"] = block(
        "vmk0", ("Name", "vmk0"), ("MAC Address", "00:53:00:00:00:00"), ("Enabled", "true"), ("Portset", "vSwitch0"),
        ("Portgroup", "Management Network"), ("Netstack Instance", "defaultTcpipStack"), ("VDS Name", "N/A"), ("MTU", "1500"), ("TSO MSS", "65535"))
    a["esxcli network ip interface ipv4 get"] = table(
        ("Name", "IPv4 Address", "IPv4 Netmask", "IPv4 Broadcast", "Address Type", "Gateway", "DHCP DNS"),
        ("vmk0", "192.0.2.11", "255.255.255.0", "192.0.2.255", "STATIC", "192.0.2.1", "false"))
    a["esxcli network vswitch standard list"] = block(
        "vSwitch0", ("Name", "vSwitch0"), ("Class", "etherswitch" if release < "6.7" else "cswitch"), ("Num Ports", "7680"), ("Used Ports", "5"),
        ("Configured Ports", "128"), ("MTU", "1500"), ("CDP Status", "listen"), ("Uplinks", ", ".join(n[0] for n in nics[:2])),
        ("Portgroups", "VM Network, Management Network"))
    drivers = sorted({h[1] for h in hbas} | {n[1] for n in nics})
    rest = [module(v) for v in vibs if module(v) not in drivers]
    a["esxcli system module list"] = table(("Name", "Is Loaded", "Is Enabled"), ("vmkernel", "true", "true"),
                                           *[(m, "true", "true") for m in drivers],
                                           *[(m, "true" if m in ("vmklinux_9", "libata", "vmkusb", "qcnic") else "false", "true") for m in rest])
    a["esxcli software vib list"] = table(
        ("Name", "Version", "Vendor", "Acceptance Level", "Install Date"),
        *[(n, v, "VMW", "VMwareCertified", "2020-01-01") for n, v in sorted(vibs.items())],
        ("esx-base", "%s-%d.0.%d" % (version, update, build), "VMware", "VMwareCertified", "2020-01-01"))
    a["esxcli software acceptance get"] = "PartnerSupported\n"
    a["esxcli system settings kernel list -o iovDisableIR"] = table(("Name", "Type", "Configured", "Runtime", "Default", "Description"),
                                                                    ("iovDisableIR", "Bool", "FALSE", "FALSE", "FALSE", "Disable Interrupt Routing in the IOMMU"))
    a["esxcli system maintenanceMode get"] = "Disabled\n"
    a["esxcli system stats uptime get"] = "1814400000000\n"
    modules = " --- ".join(["jumpstrt.gz", "k.b00", "sb.v00"] + [v.replace("-", "_")[:8] + ".v00" for v in sorted(vibs)])
    for bank, counter in (("bootbank", 4), ("altbootbank", 3)):
        a["/%s/boot.cfg" % bank] = ("bootstate=0\ntitle=Loading VMware ESXi\ntimeout=5\nprefix=\nkernel=b.b00\nkernelopt=\nmodules=%s\nbuild=%s-%d.0.%d\nupdated=%d\n"
                                    % (modules, version, update, build, counter))
    a["/var/log/vmkernel.log"] = "".join(
        "2020-01-%02dT%02d:00:01.118Z cpu4:66001)ScsiScan: 1105: Path %s:C2:T0:L0: Type: 0x0, ANSI rev: 5, TPGS: 0 (none)\n" % (d, h, raid[0])
        for d in range(2, 5) for h in range(0, 24, 3))
    return a


def main():
    root = sys.argv[1]
    for release in RELEASES:
        for vendor in VENDORS:
            folder = os.path.join(root, release + "-" + vendor)
            for ask, text in host(release, vendor).items():
                path = os.path.join(folder, ask[1:] if ask[0] == "/" else ask.replace(" ", "_").replace("/", "_") + ".txt")
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    f.write(text)


if __name__ == "__main__":
    main()
