"""A BMC for tests: an HTTPS server that answers Redfish as one of four vendors, with faults.

    with Bmc("idrac", serial="S000005") as b:
        run(["vmkfit", ..., "--bmc", "root@127.0.0.1:%d" % b.port])
        assert all(method == "GET" for method, path in b.asked)

Shapes and values, as far as they are a vendor's: resource names, types and properties of
  idrac  PERC H730P MX with 25.5.9.0001: Dell's dellemc-openmanage-ansible-modules, role redfish_storage..., pcie_device facts
  ilo4   Smart Array P440 with 5.04: https://docs.rs/crate/libredfish2/latest/source/tests/smart-array.json; links in lower case
  xcc    ThinkSystem RAID 930-8i (1000:0016, subsystem 1d49:0601): PCI ids of MegaRAID Tri-Mode SAS3508
  cimc   UCSC-RAID-M5 with 51.10.0-3612, UCS VIC 1457 with 5.1(3d): https://github.com/akaliwod/iserver, doc/
Serial numbers, UUIDs and MAC addresses are made up.
"""
import base64
import copy
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time

USER, PASSWORD = "root", "calvin-2"
R = "/redfish/v1"


def ref(path):
    return {"@odata.id": path}


def collection(tree, path, members, **more):
    tree[path] = {"@odata.id": path, "@odata.type": "#Collection.Collection", "Members": [ref(m) for m in members], "Members@odata.count": len(members), **more}
    return ref(path)


def put(tree, path, kind, **more):
    tree[path] = {"@odata.id": path, "@odata.type": "#%s.v1_4_0.%s" % (kind, kind), **more}
    return path


def base(serial, uuid, system, sku=None, **more):
    t = {}
    put(t, R, "ServiceRoot", RedfishVersion="1.6.0", Systems=ref(R + "/Systems"), Chassis=ref(R + "/Chassis"), UpdateService=ref(R + "/UpdateService"))
    collection(t, R + "/Systems", [system])
    put(t, system, "ComputerSystem", SerialNumber=serial, SKU=sku, UUID=uuid, **more)
    return t


def idrac(serial, uuid):
    """The service tag is the SKU, the serial number the board's."""
    s, c = R + "/Systems/System.Embedded.1", R + "/Chassis/System.Embedded.1"
    t = base("CNIVC000000001", uuid, s, sku=serial, Manufacturer="Dell Inc.", Model="PowerEdge R650", BiosVersion="1.6.5", Storage=ref(s + "/Storage"),
             PCIeDevices=[ref(c + "/PCIeDevices/59-0"), ref(c + "/PCIeDevices/202-0")])
    raid, function = s + "/Storage/RAID.Integrated.1-1", c + "/PCIeDevices/59-0/PCIeFunctions/59-0-0"
    drive = raid + "/Drives/Disk.Bay.0:Enclosure.Internal.0-1:RAID.Integrated.1-1"
    nvme = s + "/Storage/CPU.1/Drives/Disk.Bay.1:Enclosure.Internal.0-2"
    collection(t, s + "/Storage", [raid, s + "/Storage/CPU.1"])
    put(t, raid, "Storage", Name="PERC H730P MX", Drives=[ref(drive)],
        StorageControllers=[{"@odata.id": raid + "#/StorageControllers/0", "MemberId": "RAID.Integrated.1-1", "Model": "PERC H730P MX", "Name": "PERC H730P MX",
                             "FirmwareVersion": "25.5.9.0001", "Identifiers": [{"DurableName": "544A842000001111", "DurableNameFormat": "NAA"}],
                             "Links": {"PCIeFunctions": [ref(function)]}}])
    put(t, s + "/Storage/CPU.1", "Storage", Name="CPU.1", StorageControllers=[], Drives=[ref(nvme)])
    put(t, drive, "Drive", Name="SSD 0", Model="MZILT960HBHQ0D3", SerialNumber="S000000000000901", Revision="DSG8",
        Identifiers=[{"DurableName": "5002538B00000010", "DurableNameFormat": "NAA"}])
    put(t, nvme, "Drive", Name="PCIe SSD 1", Model="Dell Ent NVMe v2 AGN RI U.2 1.92TB", SerialNumber="S000000000000551", Revision="2.3.0", Protocol="NVMe")
    put(t, c + "/PCIeDevices/59-0", "PCIeDevice", Name="PERC H730P MX", FirmwareVersion="25.5.9.0001", Links={"PCIeFunctions": [ref(function)]})
    put(t, function, "PCIeFunction", Name="PERC H730P MX", VendorId="0x1000", DeviceId="0x005d", SubsystemVendorId="0x1028", SubsystemId="0x1fd1")
    put(t, c + "/PCIeDevices/202-0", "PCIeDevice", Name="NVMe", FirmwareVersion="2.3.0", Links={"PCIeFunctions": []})
    collection(t, R + "/Chassis", [c])
    put(t, c, "Chassis", NetworkAdapters=ref(c + "/NetworkAdapters"))
    nic = c + "/NetworkAdapters/NIC.Slot.1"
    collection(t, c + "/NetworkAdapters", [nic])
    put(t, nic, "NetworkAdapter", Model="Intel(R) E810-XXV", SerialNumber="B49691050050", Controllers=[{"FirmwarePackageVersion": "21.5.9"}],
        NetworkPorts=ref(nic + "/NetworkPorts"), NetworkDeviceFunctions=ref(nic + "/NetworkDeviceFunctions"))
    collection(t, nic + "/NetworkPorts", [nic + "/NetworkPorts/NIC.Slot.1-1"])
    put(t, nic + "/NetworkPorts/NIC.Slot.1-1", "NetworkPort", AssociatedNetworkAddresses=["B4:96:91:05:00:50"])
    collection(t, nic + "/NetworkDeviceFunctions", [nic + "/NetworkDeviceFunctions/NIC.Slot.1-1-1"])
    put(t, nic + "/NetworkDeviceFunctions/NIC.Slot.1-1-1", "NetworkDeviceFunction", Ethernet={"MACAddress": "B4:96:91:05:00:50", "PermanentMACAddress": "B4:96:91:05:00:50"})
    put(t, R + "/UpdateService", "UpdateService", FirmwareInventory=ref(R + "/UpdateService/FirmwareInventory"))
    one = R + "/UpdateService/FirmwareInventory/Installed-159-1.6.5"
    collection(t, R + "/UpdateService/FirmwareInventory", [one])
    put(t, one, "SoftwareInventory", Name="BIOS", Version="1.6.5")
    return t


def ilo4(serial, uuid):
    """Links in lower case with href, paths that end with a slash, types without '#'."""
    s = R + "/Systems/1/"
    t = {}
    t[R] = {"@odata.id": R + "/", "@odata.type": "#ServiceRoot.1.0.0.ServiceRoot", "Systems": ref(R + "/Systems/"), "Chassis": ref(R + "/Chassis/")}
    t[R + "/Systems"] = {"@odata.id": R + "/Systems/", "Members": [ref(s)], "Members@odata.count": 1}
    t[R + "/Chassis"] = {"@odata.id": R + "/Chassis/", "Members": [], "Members@odata.count": 0}
    smart = s + "SmartStorage/"
    t[s.rstrip("/")] = {"@odata.id": s, "@odata.type": "#ComputerSystem.1.0.1.ComputerSystem", "SerialNumber": serial + "  ", "SKU": "719064-B21",
                        "UUID": uuid, "Manufacturer": "HP", "Model": "ProLiant DL380 Gen9",
                        "Oem": {"Hp": {"links": {"SmartStorage": {"href": smart}, "NetworkAdapters": {"href": s + "NetworkAdapters/"},
                                                 "PCIDevices": {"href": s + "PCIDevices/"}}}}}
    t[smart.rstrip("/")] = {"@odata.id": smart, "@odata.type": "#HpSmartStorage.1.0.0.HpSmartStorage", "links": {"ArrayControllers": {"href": smart + "ArrayControllers/"}}}
    t[smart + "ArrayControllers"] = {"@odata.id": smart + "ArrayControllers/", "Members": [ref(smart + "ArrayControllers/1/")], "Members@odata.count": 1}
    t[smart + "ArrayControllers/1"] = {
        "@odata.id": smart + "ArrayControllers/1/", "@odata.type": "#HpSmartStorageArrayController.1.1.0.HpSmartStorageArrayController", "CurrentOperatingMode": "HBA",
        "FirmwareVersion": {"Current": {"VersionString": "5.04"}}, "Model": "Smart Array P440 Controller", "Name": "HpSmartStorageArrayController",
        "SerialNumber": "PDNMF0ARH00001", "links": {"PhysicalDrives": {"href": smart + "ArrayControllers/1/DiskDrives/"}}}
    t[smart + "ArrayControllers/1/DiskDrives"] = {"@odata.id": smart + "ArrayControllers/1/DiskDrives/", "Members": [ref(smart + "ArrayControllers/1/DiskDrives/0/")]}
    t[smart + "ArrayControllers/1/DiskDrives/0"] = {
        "@odata.id": smart + "ArrayControllers/1/DiskDrives/0/", "@odata.type": "#HpSmartStorageDiskDrive.1.1.0.HpSmartStorageDiskDrive",
        "FirmwareVersion": {"Current": {"VersionString": "HPD4"}}, "Model": "EG000600JWJNH", "SerialNumber": "39Q0A0000001"}
    t[s + "NetworkAdapters"] = {"@odata.id": s + "NetworkAdapters/", "Members": [ref(s + "NetworkAdapters/1/")]}
    t[s + "NetworkAdapters/1"] = {"@odata.id": s + "NetworkAdapters/1/", "@odata.type": "#HpBaseNetworkAdapter.1.1.0.HpBaseNetworkAdapter",
                                  "Name": "HP Ethernet 1Gb 4-port 331i Adapter", "Firmware": {"Current": {"VersionString": "17.4.41"}},
                                  "PhysicalPorts": [{"MacAddress": "b4:96:91:05:00:50"}, {"MacAddress": None}]}
    t[s + "PCIDevices"] = {"@odata.id": s + "PCIDevices/", "Members": [ref(s + "PCIDevices/1/")]}
    t[s + "PCIDevices/1"] = {"@odata.id": s + "PCIDevices/1/", "@odata.type": "#HpServerPciDevice.1.0.0.HpServerPciDevice", "Name": "Smart Array P440 Controller",
                             "VendorID": 0x103c, "DeviceID": 0x3239, "SubsystemVendorID": 0x103c, "SubsystemDeviceID": 0x21c0,
                             "BusNumber": 5, "DeviceNumber": 0, "FunctionNumber": 0, "SegmentNumber": 0}
    return t


def xcc(serial, uuid):
    """Controllers name no PCI function; the card has the version, and the firmware inventory what it is about."""
    s, c = R + "/Systems/1", R + "/Chassis/1"
    t = base(serial, uuid, s, sku="7Z73CTO1WW", Manufacturer="Lenovo", Model="ThinkSystem SR650 V2", Storage=ref(s + "/Storage"), PCIeDevices=[ref(c + "/PCIeDevices/slot_1")])
    collection(t, s + "/Storage", [s + "/Storage/RAID_Slot1"])
    put(t, s + "/Storage/RAID_Slot1", "Storage", Drives=[], Controllers=ref(s + "/Storage/RAID_Slot1/Controllers"))
    collection(t, s + "/Storage/RAID_Slot1/Controllers", [s + "/Storage/RAID_Slot1/Controllers/1"])
    put(t, s + "/Storage/RAID_Slot1/Controllers/1", "StorageController", Model="ThinkSystem RAID 930-8i 2GB Flash", FirmwareVersion=None)
    put(t, c + "/PCIeDevices/slot_1", "PCIeDevice", Name="slot_1", Model="ThinkSystem RAID 930-8i 2GB Flash", FirmwareVersion=None,
        Links={"PCIeFunctions": [ref(c + "/PCIeDevices/slot_1/PCIeFunctions/slot_1.00")]})
    put(t, c + "/PCIeDevices/slot_1/PCIeFunctions/slot_1.00", "PCIeFunction", VendorId="0x1000", DeviceId="0x0016", SubsystemVendorId="0x1D49", SubsystemId="0x0601",
        Links={"PCIeDevice": ref(c + "/PCIeDevices/slot_1")})
    collection(t, R + "/Chassis", [c])
    put(t, c, "Chassis", PCIeDevices=ref(c + "/PCIeDevices"))
    put(t, R + "/UpdateService", "UpdateService", FirmwareInventory=ref(R + "/UpdateService/FirmwareInventory"))
    collection(t, R + "/UpdateService/FirmwareInventory", [R + "/UpdateService/FirmwareInventory/Slot_1.Bundle"])
    put(t, R + "/UpdateService/FirmwareInventory/Slot_1.Bundle", "SoftwareInventory", Name="Firmware:PCIe Slot 1", Version="51.16.0-4076",
        RelatedItem=[ref(c + "/PCIeDevices/slot_1")])
    return t


def cimc(serial, uuid):
    """Everything of PCIe twice, below system and chassis; serial numbers in paths; a controller whose @odata.id is its storage's."""
    s, c = R + "/Systems/" + serial, R + "/Chassis/1"
    t = base(serial, uuid, s, Manufacturer="Cisco Systems Inc", Model="UCSC-C240-M5SN", Storage=ref(s + "/Storage"),
             PCIeDevices=[ref(s + "/PCIeDevices/MRAID")], PCIeFunctions=[ref(s + "/PCIeFunctions/MRAID")])
    collection(t, s + "/Storage", [s + "/Storage/MRAID"])
    put(t, s + "/Storage/MRAID", "Storage", Name="MRAID",
        StorageControllers=[{"@odata.id": s + "/Storage/MRAID", "MemberId": "MRAID", "Model": "UCSC-RAID-M5", "FirmwareVersion": "51.10.0-3612",
                             "Name": "Cisco 12G Modular Raid Controller with 2GB cache (max 16 drives)", "SerialNumber": "SK00000001"}])
    for top in (s, c):
        put(t, top + "/PCIeDevices/MRAID", "PCIeDevice", Name="Cisco 12G Modular Raid Controller with 2GB cache (max 16 drives)", FirmwareVersion="51.10.0-3612",
            PCIeFunctions=ref(top + "/PCIeDevices/MRAID/PCIeFunctions"), Links={"PCIeFunctions": [ref(top + "/PCIeDevices/MRAID/PCIeFunctions/MRAID")]})
        collection(t, top + "/PCIeDevices/MRAID/PCIeFunctions", [top + "/PCIeDevices/MRAID/PCIeFunctions/MRAID"])
        put(t, top + "/PCIeDevices/MRAID/PCIeFunctions/MRAID", "PCIeFunction", VendorId="0x1000", DeviceId="0x0014", SubsystemVendorId="0x1137", SubsystemId="0x020e",
            Links={"PCIeDevice": ref(top + "/PCIeDevices/MRAID"), "StorageControllers": [ref(s + "/Storage/MRAID")]})
    collection(t, c + "/PCIeDevices", [c + "/PCIeDevices/MRAID"])
    collection(t, R + "/Chassis", [c])
    nic = c + "/NetworkAdapters/UCSC-MLOM-C25Q-04_FCH00000001"
    put(t, c, "Chassis", NetworkAdapters=ref(c + "/NetworkAdapters"), PCIeDevices=ref(c + "/PCIeDevices"))
    collection(t, c + "/NetworkAdapters", [nic])
    put(t, nic, "NetworkAdapter", Model="UCSC-MLOM-C25Q-04", Name="UCS VIC 1457", SerialNumber="FCH00000001", Controllers=[{"FirmwarePackageVersion": "5.1(3d)"}],
        NetworkDeviceFunctions=ref(nic + "/NetworkDeviceFunctions"))
    collection(t, nic + "/NetworkDeviceFunctions", [nic + "/NetworkDeviceFunctions/eth0"])
    put(t, nic + "/NetworkDeviceFunctions/eth0", "NetworkDeviceFunction", Ethernet={"MACAddress": "B4:96:91:05:00:50"})
    put(t, R + "/UpdateService", "UpdateService")
    return t


SHAPES = {"idrac": idrac, "ilo4": ilo4, "xcc": xcc, "cimc": cimc}


class Bmc:
    """faults: path (without a slash at its end) to a function of the request handler, or to a status; change: a function of the tree."""

    def __init__(self, shape="idrac", serial="S000005", uuid="4C4C4544-0030-3010-8031-000000000005", faults=None, change=None, password=PASSWORD):
        self.tree = copy.deepcopy(SHAPES[shape](serial, uuid))
        if change:
            change(self.tree)
        self.faults, self.password = faults or {}, password
        self.asked, self.logins = [], 0
        self.folder = tempfile.mkdtemp(prefix="vmkfit-bmc-")
        self.server = None
        self.certificate()

    def certificate(self):
        """A new self-signed one."""
        self.key, self.cert = os.path.join(self.folder, "key"), os.path.join(self.folder, "cert")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.key, "-out", self.cert,
                        "-days", "3650", "-subj", "/CN=bmc.example.com", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)

    def fingerprint(self):
        """By openssl, not by the program under test."""
        public = subprocess.run(["openssl", "x509", "-in", self.cert, "-pubkey", "-noout"], check=True, capture_output=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, check=True, capture_output=True).stdout
        digest = subprocess.run(["openssl", "dgst", "-sha256", "-binary"], input=der, check=True, capture_output=True).stdout
        return "SHA256:" + base64.b64encode(digest).decode()

    def __enter__(self):
        bmc = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65536  # head and body in one write: in two, each waits for the other side's acknowledgement

            def answer(self, status, body, kind="application/json", length=None, **headers):
                body = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def refuse(self, status, text="", **headers):
                self.answer(status, json.dumps({"error": {"code": "Base.1.0.GeneralError", "message": "general", "@Message.ExtendedInfo": [{"Message": text}] if text else []}}),
                            **headers)

            def do_GET(self):
                path = self.path.split("?")[0].rstrip("/")
                bmc.asked.append(("GET", self.path))
                wanted = "Basic " + base64.b64encode(("%s:%s" % (USER, bmc.password)).encode()).decode()
                given = self.headers.get("Authorization")
                bmc.logins += given is not None
                fault = bmc.faults.get(path) or bmc.faults.get("*")
                if fault is not None and not isinstance(fault, int):
                    return fault(self)
                if fault:
                    return self.refuse(fault)
                if path != R and given != wanted:
                    return self.refuse(401, "unauthorized")
                if path not in bmc.tree:
                    return self.refuse(404, "not here")
                return self.answer(200, json.dumps(bmc.tree[path]))

            def other(self):
                bmc.asked.append((self.command, self.path))
                self.refuse(405)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = other

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *what):
        self.server.shutdown()
        self.server.server_close()
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    @property
    def name(self):
        return "127.0.0.1:%d" % self.port


# Faults: what a handler does instead of answering.
def page(handler):
    handler.answer(200, "<!DOCTYPE html><html><body>Log in</body></html>", kind="text/html")


def broken(handler):
    handler.answer(200, '{"@odata.id": "/redfish/v1", ')


def cut(handler):
    handler.answer(200, '{"@odata.id": "/redfish/v1/Systems", "Mem', length=5000)
    handler.close_connection = True


def huge(handler):
    handler.answer(200, b'{"x": "' + b"a" * (5 << 20) + b'"}')


def redirect(handler):
    handler.answer(302, "", Location="https://192.0.2.1/redfish/v1")


def busy(handler):
    handler.refuse(503, "The service is starting", Retry_After="30")


def unlicensed(handler):
    handler.refuse(403, "Unable to complete the operation because the required license is missing.")


def slow(handler):
    time.sleep(60)
