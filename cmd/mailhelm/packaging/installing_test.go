package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/packaging/machinetest"
)

// TestDebianPackageInstalls installs, updates, removes and purges the package with apt-get and
// dpkg, in a copy of this machine. It ends at once for a user or in a container that may not mount
// file systems; TestGuidesOfOperators in cmd/mailhelm runs the commands without rights. The program
// in the package is a stand-in; TestGuidesOnAMachine in conformance/operations installs a release.
func TestDebianPackageInstalls(t *testing.T) {
	if err := machinetest.Permitted(t); err != nil {
		t.Logf("the package is not installed, because no copy of the machine can be made: %v", err)
		return
	}
	t.Chdir("../../..") // LICENSE is there
	m := machinetest.New(t, machinetest.Idle)
	first, second := standInPackage(t, m, "1.2.3-rc.1"), standInPackage(t, m, "1.2.3")
	m.Run(forget)
	expect := func(line, want string) {
		t.Helper()
		if printed := m.Run(line); strings.TrimSpace(printed) != want {
			t.Errorf("%s prints\n%s, want\n%s", line, printed, want)
		}
	}

	if said := m.Run("apt-get install " + first); !strings.Contains(said, "Mailhelm is installed. Edit /etc/mailhelm/mailhelm.toml") {
		t.Errorf("the installation says\n%s", said)
	}
	expect("dpkg --verify mailhelm; mailhelm", "this is 1.2.3-rc.1")
	expect("getent passwd mailhelm | cut -d: -f6,7; id --name --groups mailhelm", "/var/lib/mailhelm:/usr/sbin/nologin\nmailhelm")
	const files = "stat --format='%n %U %G %a' /etc/mailhelm /etc/mailhelm/mailhelm.toml /var/lib/mailhelm"
	const installed = "/etc/mailhelm root mailhelm 750\n/etc/mailhelm/mailhelm.toml root mailhelm 640\n/var/lib/mailhelm mailhelm mailhelm 700"
	expect(files, installed)
	expect("runuser -u mailhelm -- head -c 1 /etc/mailhelm/mailhelm.toml", "#")
	if printed, err := m.Try("runuser -u daemon -- cat /etc/mailhelm/mailhelm.toml"); err == nil {
		t.Errorf("everyone reads the configuration:\n%s", printed)
	}

	m.Run(`echo 'log-level = "warn"' >>/etc/mailhelm/mailhelm.toml
echo MAILHELM_SYSTEM_SMTP=smtp://localhost >/etc/mailhelm/environment
runuser -u mailhelm -- sh -c 'umask 077; echo key >/var/lib/mailhelm/master.key'`)
	if said := m.Run("apt-get install " + second); strings.Contains(said, "Mailhelm is installed") {
		t.Errorf("the update says\n%s", said)
	}
	const kept = "tail -n 1 /etc/mailhelm/mailhelm.toml; cat /var/lib/mailhelm/master.key; cat /etc/mailhelm/environment"
	const content = "log-level = \"warn\"\nkey\nMAILHELM_SYSTEM_SMTP=smtp://localhost"
	expect("mailhelm", "this is 1.2.3")
	expect(files, installed)
	expect(kept, content)

	m.Run("apt-get remove --yes mailhelm")
	expect("ls /usr/bin/mailhelm /usr/lib/systemd/system/mailhelm.service /usr/share/mailhelm 2>/dev/null || "+kept, content)
	m.Run("apt-get install " + second)
	expect(files, installed)
	expect(kept, content)

	if said := m.Run("apt-get purge --yes mailhelm"); !strings.Contains(said, "The data of Mailhelm stays in /var/lib/mailhelm") {
		t.Errorf("the purge says\n%s", said)
	}
	expect("ls -d /etc/mailhelm 2>/dev/null || cat /var/lib/mailhelm/master.key", "key")
}

// forget leaves of the installed packages only those that this one depends on, without their own
// dependencies, and no package that could be downloaded. Reading the database of some hundred
// packages again and again would take most of the time.
const forget = `dpkg-query --status adduser ca-certificates | grep -v Depends: >/tmp/status
mount -t tmpfs forgotten /var/lib/dpkg
mkdir /var/lib/dpkg/info /var/lib/dpkg/updates /var/lib/dpkg/triggers /var/lib/dpkg/alternatives
touch /var/lib/dpkg/info/adduser.list /var/lib/dpkg/info/ca-certificates.list
cp /tmp/status /var/lib/dpkg/status
mount -t tmpfs forgotten /var/lib/apt/lists
mount -t tmpfs forgotten /var/cache/apt
`

// standInPackage writes a package of a version into the copy and returns its name. Its program
// prints the version.
func standInPackage(t *testing.T, m *machinetest.Machine, version string) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "mailhelm")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho this is "+version+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := release{version: version, at: time.Unix(1_790_000_000, 0).UTC(), dist: dir}
	if err := r.debian(platform{system: "linux", arch: runtime.GOARCH, binary: program}, extras{}); err != nil {
		t.Fatal(err)
	}
	name := "mailhelm_" + debianVersion(version) + "_" + runtime.GOARCH + ".deb"
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	m.Write("/root/"+name, content, 0o644)
	return "./" + name
}
