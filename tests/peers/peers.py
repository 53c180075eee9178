"""The test peers for Python tests: Peer is a real sshd that plays an ESXi host, FaultHost an SSH server that does as it is told.

    with Peer(recording="fixtures/healthy-7.0u3/recording", hang="esxcli storage") as p:
        run(["vmkfit", ..., str(p.port), "--known-hosts", p.write_known_hosts()])
        p.set("hostd", "down")
        assert all(is_read_only(c) for c in p.commands())

Everything is stopped and removed when the program ends, however it ends. See README.md for faults and options.
"""
import atexit
import fcntl
import getpass
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("VMKFIT_BUILD") or os.path.join(ROOT, "build")
if not os.path.isabs(BUILD):
    BUILD = os.path.join(ROOT, BUILD)

# What a host has besides its own commands: a BusyBox, played by the machine's programs.
TOOLS = """awk basename cat chmod cksum cmp cp cut date dd df dirname env expr find flock grep gunzip gzip head hostname id kill ln ls
           md5sum mkdir mv nl od printenv ps readlink rm rmdir sed seq sh sha1sum sha256sum sleep sort stat stty tail tar tee timeout
           touch tr uniq wc xargs zcat""".split()
# Never the machine's: what a host answers itself.
OWN = """esxcli localcli vmware vmkchdev lspci smbiosDump esxcfg-scsidevs esxcfg-mpath esxcfg-nics esxcfg-vswitch esxcfg-vmknic
         esxcfg-module esxcfg-info esxcfg-advcfg esxcfg-rescan vmkload_mod ethtool vsish vim-cmd uptime date uname dmesg reboot poweroff
         vm-support chkconfig hostd vobd dcui esxtop vmkfstools""".split()
TOOLS = [t for t in TOOLS if t not in OWN]
SECURE_BOOT = "/usr/lib/vmware/secureboot/bin/secureBoot.py"

ESXI = """Ciphers aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr
KexAlgorithms ecdh-sha2-nistp256,ecdh-sha2-nistp384,ecdh-sha2-nistp521,diffie-hellman-group-exchange-sha256
MACs hmac-sha2-256,hmac-sha2-512
"""
SHA1 = "HostKeyAlgorithms +ssh-rsa\nPubkeyAcceptedAlgorithms +ssh-rsa\n"
PROFILES = {  # host keys, lines of sshd_config
    "esxi65": (["rsa", "ecdsa"], ESXI + SHA1),
    "esxi67": (["rsa", "ecdsa"], ESXI + SHA1),
    "esxi70": (["rsa", "ecdsa"], ESXI + SHA1),
    "esxi80": (["rsa", "ecdsa"], ESXI),
    "rsahost80": (["rsa"], ESXI),
    "modern": (["ed25519"], ""),
}

_running = []


@atexit.register
def stop_all():
    """Stops what still runs."""
    for peer in list(_running):
        peer.stop()


def _end(number, frame):
    raise SystemExit(128 + number)


def stop_on_signals():
    """A test that is ended by a signal stops its peers too. For programs that set no handler of their own."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def temp_folder():
    """A private folder that is removed at the end."""
    path = tempfile.mkdtemp(prefix="vmkfit-peer-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def keys(folder=None):
    """Makes the keys once: host_TYPE, user_TYPE (rsa, ecdsa, ed25519) and other_TYPE, a second host key and a user key nobody knows."""
    if not folder:
        folder = os.path.join(BUILD, "peers", "keys")
        made = os.path.exists(folder)
        if not os.access(folder if made else os.path.dirname(folder), os.W_OK):  # another user's
            folder = temp_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for who in ("host", "user", "other"):
            for kind in ("rsa", "ecdsa", "ed25519"):
                path = os.path.join(folder, who + "_" + kind)
                if os.path.exists(path + ".pub"):
                    continue
                # PEM, for clients that read no other form
                subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", who + "_" + kind, "-f", path]
                               + (["-m", "PEM"] if kind != "ed25519" else []) + (["-b", "2048"] if kind == "rsa" else []),
                               check=True, stdin=subprocess.DEVNULL)
    return folder


def copy_recording(source, to, answers=(), without=()):
    """A copy of a recording to change: answers is a list of dicts like those of recording.json, with "body" (bytes) instead of "file";
    they replace the answers to the same ask. without: asks that the copy lacks."""
    shutil.copytree(source, to)
    path = os.path.join(to, "recording.json")
    with open(path) as f:
        doc = json.load(f)
    gone = {a["ask"] for a in answers} | set(without)
    doc["answers"] = [a for a in doc["answers"] if a["ask"] not in gone]
    for i, answer in enumerate(answers):
        answer = dict(answer)
        body = answer.pop("body", None)
        if body is not None:
            answer["file"] = "added-%d.%s" % (i, answer.pop("form", "txt"))
            answer["bytes"] = len(body)
            with open(os.path.join(to, answer["file"]), "wb") as f:
                f.write(body)
        answer.setdefault("status", "ok")
        answer.setdefault("exit", 0)
        doc["answers"].append(answer)
    with open(path, "w") as f:
        json.dump(doc, f)
    return to


class _Folder:
    """What both peers have: a work folder with the file "faults", keys, a port."""

    def _open(self, work, key_folder, faults):
        self.work = os.path.abspath(work) if work else temp_folder()
        os.makedirs(self.work, mode=0o700, exist_ok=True)
        self.keys = os.path.abspath(keys(key_folder))
        self.port = None
        self._faults = []
        for name, value in faults.items():
            self._add(name, value)
        self._write_faults()

    def _add(self, name, value):
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is not None and v is not False:
                self._faults.append((name, "" if v is True else str(v)))

    def set(self, name, value=True):
        """Sets a fault while the peer runs, in place of what it was; None or False ends it."""
        self._faults = [f for f in self._faults if f[0] != name]
        self._add(name, value)
        self._write_faults()

    def add(self, name, value=True):
        """One more of a fault that can be set several times."""
        self._add(name, value)
        self._write_faults()

    def clear(self):
        self._faults = []
        self._write_faults()

    def _write_faults(self):
        write(os.path.join(self.work, "faults"),
              "".join(n + ("=" + v.replace("\\", "\\\\").replace("\n", "\\n") if v else "") + "\n" for n, v in self._faults))

    def path(self, name):
        return os.path.join(self.work, name)

    def bytes(self, name):
        try:
            with open(self.path(name), "rb") as f:
                return f.read()
        except FileNotFoundError:
            return b""

    def lines(self, name):
        return self.bytes(name).decode("utf-8", "replace").splitlines()

    def key(self, kind="ecdsa", who="user"):
        """The path of a private key."""
        return os.path.join(self.keys, who + "_" + kind)

    def known_hosts(self, *kinds, who="host", host=None):
        """Lines for known_hosts: of the keys that the server has, or of other ones."""
        name = host or "[127.0.0.1]:%d" % self.port
        text = ""
        for kind in kinds or self.host_keys:
            with open(self.key(kind, who) + ".pub") as f:
                text += name + " " + " ".join(f.read().split()[:2]) + "\n"
        return text

    def write_known_hosts(self, *kinds, path=None, who="host", host=None):
        """Writes them; returns the path."""
        path = path or self.path("known_hosts")
        write(path, self.known_hosts(*kinds, who=who, host=host))
        return path

    def ssh(self, *command, key="ecdsa", user=None, stdin=b"", options=(), timeout=20):
        """The system's ssh, without a password: (status, stdout, stderr)."""
        done = subprocess.run(self.ssh_line(key, user, options) + list(command), input=stdin, capture_output=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def ssh_line(self, key="ecdsa", user=None, options=()):
        line = ["ssh", "-F", "none", "-p", str(self.port), "-l", user or self.user, "-o", "UserKnownHostsFile=" + self.write_known_hosts(),
                "-o", "GlobalKnownHostsFile=none", "-o", "StrictHostKeyChecking=yes", "-o", "IdentityAgent=none", "-o", "IdentitiesOnly=yes"]
        for option in options:
            line += ["-o", option]
        if key:
            line += ["-o", "BatchMode=yes", "-i", self.key(key)]
        return line + ["127.0.0.1"]

    def login_with_password(self, password, command="true", user=None, answers=(), timeout=20):
        """The system's ssh by keyboard-interactive: status and output. One try; answers: to the prompts after the first."""
        ask = self.path("askpass")
        for i, text in enumerate((password,) + tuple(answers)):
            write(self.path("askpass.%d" % i), text + "\n", 0o600)
        write(self.path("askpass.next"), "0")
        write(ask, "#!/bin/sh\nn=$(cat '%s/askpass.next')\necho $((n + 1)) >'%s/askpass.next'\ncat '%s/askpass.'$n\n"
              % (self.work, self.work, self.work), 0o700)
        done = subprocess.run(self.ssh_line(None, user, ["PreferredAuthentications=keyboard-interactive", "NumberOfPasswordPrompts=1"])
                              + [command], env=dict(os.environ, SSH_ASKPASS=ask, SSH_ASKPASS_REQUIRE="force", DISPLAY=":"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                              start_new_session=True)
        return done.returncode, done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


class Peer(_Folder):
    """sshd on 127.0.0.1 that is an ESXi host made from a recording, or from a folder of tables (host)."""

    def __init__(self, recording=None, profile="esxi70", host=None, work=None, port=0, password="secret", options=(), users=(),
                 key_folder=None, keep=False, **faults):
        self.profile, self.password, self.options, self.recording = profile, password, list(options), recording
        self.host_keys, self.algorithms = PROFILES[profile]
        self.user = "root"
        self.users = ["root", getpass.getuser()] + list(users)
        self.pid = None
        self._keep = keep
        self._open(work, key_folder, faults)
        try:
            self._host_folder(recording, host)
            self._start(port)
        except BaseException:
            self.stop()
            raise

    def _write_faults(self):
        super()._write_faults()
        banner = [v for n, v in self._faults if n == "banner"]
        if banner:
            write(self.path("banner"), banner[-1] + "\n")
        elif os.path.exists(self.path("banner")):
            os.unlink(self.path("banner"))

    # --- the host: commands, answers, files ---

    def _host_folder(self, recording, host):
        for name in ("sent", "commands", "execs", "failures", "logins", "changes", "pids", "log"):
            write(self.path(name), "", 0o600)
        for folder in ("bin", "tools", "bin.foreign", "root", "root.foreign", "scripts"):
            shutil.rmtree(self.path(folder), ignore_errors=True)
            os.makedirs(self.path(folder))
        os.chmod(self.path("root"), 0o755)
        link(os.path.join(BUILD, "peers", "rootdir.so"), self.path("rootdir.so"))
        command = os.path.join(BUILD, "peers", "command")
        for name in OWN + TOOLS:
            link(command, self.path("bin/" + name))
        for name in TOOLS + ["uname", "hostname", "uptime", "date"]:
            real = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
            if real:
                if name in TOOLS:
                    link(real, self.path("tools/" + name))
                link(real, self.path("bin.foreign/" + name))
        for folder in ("bin", "bin.foreign"):  # the shell itself is no command that is written down
            link("/bin/dash" if os.path.exists("/bin/dash") else "/bin/sh", self.path(folder + "/sh"))
        for name in ("etc/vmware", "var/run/log", "var/log", "tmp", "vmfs/volumes", "bootbank", "altbootbank", "scratch"):
            os.makedirs(self.path("root/" + name))
        for name in ("etc", "var/log", "tmp"):
            os.makedirs(self.path("root.foreign/" + name))
        for name in ("bin", "sbin"):
            os.symlink("../bin", self.path("root/" + name))
            os.symlink("../bin.foreign", self.path("root.foreign/" + name))
        os.symlink("../var/run/log", self.path("root/scratch/log"))
        write(self.path("root.foreign/etc/os-release"), 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n')
        os.makedirs(os.path.dirname(self.path("root" + SECURE_BOOT)))
        link(command, self.path("root" + SECURE_BOOT))
        self._answers(recording) if recording else self._tables(host)

    def _answers(self, recording):
        recording = os.path.abspath(recording)
        with open(os.path.join(recording, "recording.json")) as f:
            answers = json.load(f)["answers"]
        index, faults, version = [], "", {}
        for a in answers:
            ask, status, name = " ".join(a["ask"].split()), a.get("status", "ok"), a.get("file") or ""
            file = os.path.join(recording, name)
            if ask.startswith("/") and " " in ask:  # a command that is asked by its path
                path = self.path("root" + ask.split()[0])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if not os.path.lexists(path):
                    link(os.path.join(BUILD, "peers", "command"), path)
            elif ask.startswith("/"):
                faults += self._file(ask, status, file, name)
                continue
            cli = "-"
            if ask.split()[0] in ("esxcli", "localcli"):
                cli, ask = ask.split(" ", 1)
                cli = "localcli" if os.path.basename(name).startswith("localcli") else cli
                if ask == "system version get" and os.path.isfile(file):
                    with open(file, encoding="utf-8", errors="replace") as f:
                        version = version or dict(re.findall(r'(?:name=")?(Version|Build)"?[>:]\s*(?:<string>)?([^<\s]+)', f.read()))
            index.append("\t".join([cli, os.path.splitext(name)[1][1:] or "txt", status, str(a.get("exit", 0) or 0), file, ask]))
            if ask == "vmware -vl" and not any(b["ask"] == "vmware -v" for b in answers) and os.path.isfile(file):
                with open(file, "rb") as f:
                    write(self.path("vmware_-v.txt"), f.readline())
                index.append("\t".join(["-", "txt", status, "0", self.path("vmware_-v.txt"), "vmware -v"]))
        text = "VMkernel host.example.com %s #1 SMP Release %s x86_64 x86_64 x86_64 ESXi" % (
            version.get("Version", "6.5.0"), version.get("Build", "Releasebuild-4564106").replace("Releasebuild", "build"))
        for option, value in (("", "VMkernel"), (" -s", "VMkernel"), (" -a", text), (" -r", version.get("Version", "6.5.0"))):
            if not any(b["ask"] == "uname" + option for b in answers):
                write(self.path("uname" + option.strip()), value + "\n")
                index.append("\t".join(["-", "txt", "ok", "0", self.path("uname" + option.strip()), "uname" + option]))
        write(self.path("answers"), "".join(line + "\n" for line in index))
        write(self.path("faults.recording"), faults)

    def _file(self, ask, status, file, name):
        """A file of the host; what faults it needs when its recording says that it could not be read."""
        if status != "ok" or not os.path.isfile(file):
            return {"denied": "deny=%s\n" % ask, "timeout": "hang=cat %s\n" % ask, "lost": "cut=cat %s\n" % ask,
                    "failed": "exit=cat %s:1\n" % ask}.get(status, "")
        path = "/" + name if "*" in ask else ask
        folder, base = os.path.split(path)
        if folder in ("/var/log", "/var/run/log", "/scratch/log"):  # one folder under three names, as on a host
            to = self.path("root/var/run/log/" + base)
            shutil.copyfile(file, to)
            if base.endswith(".log"):
                link("../run/log/" + base, self.path("root/var/log/" + base))
            return ""
        os.makedirs(self.path("root" + folder), exist_ok=True)
        shutil.copyfile(file, self.path("root" + path))
        return ""

    def _tables(self, host):
        shutil.rmtree(self.path("host"), ignore_errors=True)
        shutil.copytree(host, self.path("host"), copy_function=shutil.copyfile)
        for folder, unused, files in os.walk(self.path("host")):
            os.chmod(folder, 0o700)
        for name in ("esxcli", "vmware", "reboot"):
            link(os.path.join(HERE, "tables", name), self.path("scripts/" + name))
        write(self.path("answers"), "")

    def add_file(self, path, body):
        """One more file of the host, or other contents."""
        path = self.path("root" + path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, body)

    # --- the server ---

    def _config(self, port):
        text = """ListenAddress 127.0.0.1
Port %d
PidFile %s
AuthorizedKeysFile %s
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication yes
UsePAM yes
UseDNS no
PrintMotd no
PrintLastLog no
LogLevel VERBOSE
Banner %s
SetEnv PEER=%s
Subsystem sftp internal-sftp
""" % (port, self.path("pid"), self.path("authorized_keys"), self.path("banner"), self.work)
        # sshd takes the first line of a keyword
        return ("".join(o + "\n" for o in self.options) + text + "".join("HostKey %s\n" % self.key(k, "host") for k in self.host_keys)
                + self.algorithms)

    def _start(self, port):
        authorized = ""
        for kind in ("rsa", "ecdsa", "ed25519"):
            with open(self.key(kind) + ".pub") as f:
                authorized += f.read()
        write(self.path("authorized_keys"), authorized, 0o600)
        write(self.path("password"), self.password + "\n", 0o600)
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        sshd = os.path.join(BUILD, "peers/sshd")
        if not os.path.exists(sshd):
            sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not sshd:
            raise RuntimeError("there is no sshd: make peers takes it out of its package")
        env = dict(PATH="/usr/bin:/bin:/usr/sbin:/sbin", LD_PRELOAD=os.path.join(BUILD, "peers", "login.so"), PEER=self.work,
                   PEER_USERS=",".join(self.users), PEER_SHELL=os.path.join(BUILD, "peers", "hostsh"))
        for attempt in range(10):
            self.port = port or free_port()
            if os.path.exists(self.path("pid")):
                os.unlink(self.path("pid"))
            write(self.path("sshd_config"), self._config(self.port), 0o600)
            with open(self.path("log"), "ab") as log:
                server = subprocess.Popen([sshd, "-D", "-e", "-f", self.path("sshd_config")], env=env, stdin=subprocess.DEVNULL, stdout=log,
                                          stderr=log, start_new_session=True, cwd="/")
            self.pid = server.pid
            while server.poll() is None and not self.bytes("pid"):
                time.sleep(0.002)
            if server.returncode is None:
                break
            if port or b"Address already in use" not in self.bytes("log"):
                raise RuntimeError("sshd does not start: " + self.bytes("log").decode("utf-8", "replace"))
        else:
            raise RuntimeError("sshd found no free port in ten tries")
        self._server = server
        server.returncode = server.returncode if not self._keep else 0  # no warning about a child that goes on
        write(self.path("env"), "port=%d\nuser=%s\npid=%d\nkey=%s\nwork=%s\nprofile=%s\n" % (
            self.port, self.user, self.pid, self.key(), self.work, self.profile))
        if not self._keep:
            _running.append(self)

    def stop(self):
        if self in _running:
            _running.remove(self)
        if self.pid:
            stop_peer(self.work, self.pid)
            self._server.wait()
            self.pid = None

    # --- what it was sent ---

    def sent(self):
        """Every byte that came for the shell."""
        return self.bytes("sent")

    def commands(self):
        """Every command that was run, as lists of words."""
        return [shlex.split(line) for line in self.lines("commands")]

    def execs(self):
        """The command of each exec request."""
        return self.lines("execs")

    def failures(self):
        """Failed passwords: (time, user)."""
        return [(float(t), u) for t, u in (line.split(" ", 1) for line in self.lines("failures"))]

    def logins(self):
        """Passwords that were right: (time, user)."""
        return [(float(t), u) for t, u in (line.split(" ", 1) for line in self.lines("logins"))]

    def forget(self):
        """Empties what was written down."""
        for name in ("sent", "commands", "execs", "failures", "logins", "changes"):
            write(self.path(name), "", 0o600)


class FaultHost(_Folder):
    """faulthost: an SSH server with faults in the protocol itself."""

    def __init__(self, work=None, port=0, password="secret", path=None, key_folder=None, **faults):
        self.user, self.host_keys, self._process = "root", ["ecdsa"], None
        self._open(work, key_folder, faults)
        write(self.path("password"), password + "\n", 0o600)
        self._process = subprocess.Popen(
            [os.path.join(BUILD, "peers", "faulthost"), "-w", self.work, "-p", str(port), "-k", self.key("ecdsa", "host"),
             "-K", self.key("ecdsa", "other"), "-a", self.key() + ".pub", "-P", path or "/usr/bin:/bin"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        line = self._process.stdout.readline().decode()
        if not line.startswith("port="):
            raise RuntimeError("faulthost does not start")
        self.port = int(line.split()[0][5:])
        self.pid = self._process.pid
        _running.append(self)

    def events(self, name=None):
        """What came: dicts with "time", "connection", "event" and what else the event has; only those of a name."""
        found = []
        for line in self.lines("events"):
            words = shlex.split(line)
            event = dict(w.split("=", 1) for w in words[3:])
            event.update(time=float(words[0]), connection=int(words[1]), event=words[2])
            if name in (None, event["event"]):
                found.append(event)
        return found

    def failures(self):
        """Failed passwords."""
        return [e for e in self.events("password") if e["result"] == "refused"]

    def forget(self):
        write(self.path("events"), "", 0o600)

    def stop(self):
        if self in _running:
            _running.remove(self)
        if self._process:
            for pid in _session(self._process.pid):
                _kill(pid)
            self._process.wait()
            self._process.stdout.close()


def write(path, text, mode=None):
    """Replaces a file in one step."""
    data = text if isinstance(text, bytes) else text.encode()
    fd, temp = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(path))
    with os.fdopen(fd, "wb") as f:
        f.write(data)
    os.chmod(temp, 0o644 if mode is None else mode)
    os.rename(temp, path)


def link(target, path):
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(target, path)


def stop_peer(work, server):
    """Ends the server of a work folder and all that runs in its sessions: its own processes, told by their name or environment."""
    mark = b"PEER=" + os.fsencode(work)
    seen = [server]
    try:
        with open(os.path.join(work, "pids")) as f:
            seen += [int(line) for line in f]
    except (OSError, ValueError):
        pass
    for pid in seen:
        if _comm(pid) == "sshd" and _command_line_names(pid, work if pid == server else "sshd"):
            _kill(pid)
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if mark in f.read().split(b"\0"):
                    _kill(int(name))
        except OSError:
            continue


def _session(leader):
    """All processes of a session, the leader first: it makes no new ones then."""
    found = [leader]
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name) as f:
                if int(f.read().rsplit(")", 1)[1].split()[3]) == leader and int(name) != leader:
                    found.append(int(name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def _comm(pid):
    try:
        with open("/proc/%d/comm" % pid) as f:
            return f.read().strip()
    except OSError:
        return ""


def _command_line_names(pid, text):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return os.fsencode(text) in f.read()
    except OSError:
        return False


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
