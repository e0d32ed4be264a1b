package operations

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/packaging/machinetest"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuidesOnAMachine follows the guides as a person does on a machine of their own: it installs
// a release under systemd beside a PostgreSQL, updates it, rotates its keys, removes it and
// installs it again, first the Debian package and then the archive, and at last runs the container
// image. It needs root, and its machine is a copy of this one. In CI, TestGuidesOfOperators in
// cmd/mailhelm pastes the same commands without systemd, and TestDebianPackageInstalls installs the
// package.
func TestGuidesOnAMachine(t *testing.T) {
	t.Parallel()
	if !enginetest.Full() {
		return // building two releases takes minutes
	}
	p := newPerson(t)
	p.preparePostgres()
	p.installPackage()
	p.checkService()
	p.checkConfinement()
	p.update()
	p.rotateKeys()
	p.removePackage()
	p.installArchive()
	p.runContainer()
}

// The versions that the person installs.
const firstVersion, secondVersion = "1.0.0", "1.1.0"

// person pastes commands of guides on a machine.
type person struct {
	t        *testing.T
	m        *machinetest.Machine
	version  string
	commands []string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	if _, err := exec.LookPath("podman"); err != nil {
		enginetest.SkipMissing(t, "THE GUIDES ON A MACHINE SKIPPED: podman is not installed; apt-get install --no-install-recommends podman crun")
	}
	p := &person{t: t, version: firstVersion, m: machinetest.New(t, machinetest.Systemd)}
	for _, version := range []string{firstVersion, secondVersion} {
		dist := filepath.Join(t.TempDir(), "dist")
		build := exec.CommandContext(t.Context(), "make", "release", "DIST="+dist, "PLATFORMS=linux/"+runtime.GOARCH, "VERSION="+version)
		build.Dir = filepath.Join("..", "..")
		if printed, err := build.CombinedOutput(); err != nil {
			t.Fatalf("make release: %v\n%s", err, printed)
		}
		for _, name := range []string{"mailhelm_" + version + "_" + runtime.GOARCH + ".deb", "mailhelm_" + version + "_linux_" + runtime.GOARCH + ".tar.gz", "mailhelm_" + version + "_image.tar"} {
			content, err := os.ReadFile(filepath.Join(dist, name))
			must(t, err)
			p.m.Write("/root/"+name, content, 0o644)
		}
	}
	p.m.Write("/etc/apt/apt.conf.d/99test", []byte("APT::Install-Recommends \"false\";\n"), 0o644) // they are on other machines
	p.m.Run("rm -f /var/lib/man-db/auto-update")                                                   // an index of all manual pages takes a minute
	if _, err := exec.LookPath("sudo"); err != nil {
		p.m.Write("/usr/local/bin/sudo", []byte("#!/bin/sh\nuser=root\nif [ \"$1\" = -u ]; then user=$2; shift 2; fi\nexec runuser -u $user -- \"$@\"\n"), 0o755)
	}
	return p
}

// open selects the commands below a heading of a guide, those of the whole guide without one.
func (p *person) open(guide, heading string) {
	p.t.Helper()
	p.done()
	source, err := os.ReadFile(filepath.Join(documented, "..", guide))
	must(p.t, err)
	text := string(source)
	if heading != "" {
		var found bool
		if _, text, found = strings.Cut(text, "\n## "+heading+"\n"); !found {
			p.t.Fatalf("%s has no %q", guide, heading)
		}
		text, _, _ = strings.Cut(text, "\n## ")
	}
	for _, block := range regexp.MustCompile("(?s)\n *```sh\n(.*?)```\n").FindAllStringSubmatch("\n"+text, -1) {
		p.commands = append(p.commands, strings.Split(strings.TrimSpace(strings.ReplaceAll(block[1], "\\\n", " ")), "\n")...)
	}
}

// done checks that all selected commands have been run.
func (p *person) done() {
	p.t.Helper()
	if len(p.commands) > 0 {
		p.t.Fatalf("the test does not run %q", p.commands)
	}
}

// paste runs the next command, which must print a text, and returns what it prints.
func (p *person) paste(prints string) string {
	p.t.Helper()
	printed := p.m.Run(p.next())
	if !strings.Contains(printed, prints) {
		p.t.Errorf("the command prints\n%s, want %q", printed, prints)
	}
	return printed
}

// next returns the next command.
func (p *person) next() string {
	p.t.Helper()
	if len(p.commands) == 0 {
		p.t.Fatal("there is no further command")
	}
	command := strings.NewReplacer("VERSION_amd64", p.version+"_"+runtime.GOARCH, "VERSION", p.version).Replace(strings.TrimSpace(p.commands[0]))
	p.commands = p.commands[1:]
	return command
}

// edit runs the next command, sudoedit, with an editor that appends lines.
func (p *person) edit(lines ...string) {
	p.t.Helper()
	file, found := strings.CutPrefix(p.next(), "sudoedit ")
	if !found {
		p.t.Fatalf("the command is no sudoedit of %s", file)
	}
	p.m.Run("cat >>" + file + " <<'END'\n" + strings.Join(lines, "\n") + "\nEND")
}

const configuration = "--config /etc/mailhelm/mailhelm.toml"

// awaitReady waits until the server is ready.
func (p *person) awaitReady() {
	p.t.Helper()
	p.m.Run("until sudo -u mailhelm mailhelm ready " + configuration + " >/tmp/ready 2>&1; do sleep 0.1; done")
}

// state returns a property of the service.
func (p *person) state(property string) string {
	p.t.Helper()
	return strings.TrimSpace(p.m.Run("systemctl show --value --property=" + property + " mailhelm"))
}

// preparePostgres starts a PostgreSQL as the package of Debian does, and creates the database.
func (p *person) preparePostgres() {
	p.t.Helper()
	enginetest.PostgresPrograms(p.t)
	p.m.Run(`rm -rf /etc/postgresql/* /var/lib/postgresql/*
version=$(ls /usr/lib/postgresql | tail -n 1)
pg_createcluster $version main
systemctl daemon-reload
systemctl start postgresql@$version-main`)
	p.open("install.md", "PostgreSQL")
	p.paste("CREATE ROLE")
	p.paste("")
}

// databaseURL is what the guide says for a PostgreSQL on the same machine.
const databaseURL = `database-url = "postgres://mailhelm@/mailhelm?host=/var/run/postgresql"`

// installPackage follows the guide that installs the Debian package.
func (p *person) installPackage() {
	p.t.Helper()
	p.open("install.md", "Debian and systemd")
	p.paste("Mailhelm is installed")
	p.edit(databaseURL)
	p.paste("")
	p.awaitReady()
	if said := p.paste("postgres answers"); strings.Contains(said, "\nfail ") {
		p.t.Errorf("doctor prints\n%s", said)
	}
	p.paste("acme")
	p.paste("password")
	p.useKey(p.paste("sk_live_"))
	p.commands = p.commands[:0] // the archive follows later
}

// useKey calls the API with the key that a command has printed.
func (p *person) useKey(printed string) {
	p.t.Helper()
	key := regexp.MustCompile(`sk_live_\S{20,}`).FindString(printed)
	p.m.Run("curl --silent --show-error --fail --header 'Authorization: Bearer " + key + "' http://127.0.0.1:8080/v1/contacts")
}

// checkService checks what systemd does with the service: restarts after a crash, stops without a
// failure, a journal of JSON lines, and the start at boot.
func (p *person) checkService() {
	p.t.Helper()
	before := p.state("MainPID")
	p.m.Run("systemctl kill --signal=KILL mailhelm; while [ $(systemctl show --value --property=NRestarts mailhelm) = 0 ]; do sleep 0.1; done")
	p.awaitReady()
	if after := p.state("MainPID"); after == before || after == "0" {
		p.t.Errorf("the process was %s and is %s", before, after)
	}
	p.m.Run("systemctl restart mailhelm")
	p.awaitReady()
	p.m.Run("systemctl stop mailhelm")
	if result := p.state("Result") + " " + p.state("ExecMainStatus") + " " + p.state("ActiveState"); result != "success 0 inactive" {
		p.t.Errorf("the stopped service is %s", result)
	}
	p.m.Run("systemctl start mailhelm")
	p.awaitReady()
	for line := range strings.Lines(p.m.Run("journalctl --unit=mailhelm --output=cat _COMM=mailhelm")) {
		if !strings.HasPrefix(line, "{") {
			p.t.Errorf("the journal has %s", line)
		}
	}
	if said := p.m.Run("systemctl is-enabled mailhelm; journalctl --unit=mailhelm --output=cat"); !strings.HasPrefix(said, "enabled\n") || !strings.Contains(said, `"msg":"ready"`) {
		p.t.Errorf("the service is\n%s", said)
	}
}

// checkConfinement checks what the unit takes from the process.
func (p *person) checkConfinement() {
	p.t.Helper()
	pid := p.state("MainPID")
	status := p.m.Run("cat /proc/" + pid + "/status")
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			p.t.Errorf("the process lacks %q:\n%s", want, status)
		}
	}
	for file, writable := range map[string]bool{"/var/lib/mailhelm/x": true, "/tmp/x": true, "/etc/mailhelm/x": false, "/usr/x": false, "/var/lib/x": false, "/root/x": false, "/home/x": false, "/sys/fs/cgroup/x": false} {
		printed, err := p.m.Try("nsenter --target " + pid + " --mount touch " + file)
		if (err == nil) != writable {
			p.t.Errorf("%s: %v\n%s", file, err, printed)
		}
	}
	if found := p.m.Run("find /var/lib/mailhelm ! -name x ! -user mailhelm; find /var/lib/mailhelm -perm /077"); found != "" && found != "/var/lib/mailhelm/x\n" {
		p.t.Errorf("others than mailhelm have\n%s", found)
	}
}

// update follows the guides about updates. The new version keeps the settings and the data.
func (p *person) update() {
	p.t.Helper()
	p.version = secondVersion
	p.open("update.md", "")
	p.paste("")
	if said := p.paste("applied"); strings.Contains(said, "missing") {
		p.t.Errorf("migrations are missing:\n%s", said)
	}
	p.paste("up to date")
	before := p.state("MainPID")
	p.open("operations.md", "Roll out an update")
	if said := p.paste("Unpacking mailhelm (" + secondVersion); strings.Contains(said, "Mailhelm is installed. Edit") {
		p.t.Errorf("the update prints\n%s", said)
	}
	p.awaitReady()
	p.paste("ready")
	if after := p.state("MainPID"); after == before || p.state("ActiveState") != "active" {
		p.t.Errorf("the process was %s and is %s", before, after)
	}
	p.hasAll()
}

// hasAll checks the installed version, the settings and the data.
func (p *person) hasAll() {
	p.t.Helper()
	p.awaitReady()
	if said := p.m.Run("mailhelm version; tail -n 1 /etc/mailhelm/mailhelm.toml; sudo -u mailhelm mailhelm admin org list " + configuration); !strings.Contains(said, p.version) || !strings.Contains(said, databaseURL) || !strings.Contains(said, "acme") {
		p.t.Errorf("after the installation of %s, the machine has\n%s", p.version, said)
	}
}

// rotateKeys follows the guide that replaces keys.
func (p *person) rotateKeys() {
	p.t.Helper()
	p.open("operations.md", "Rotate the master key")
	p.paste("sealed anew")
	p.paste("")
	p.paste("")
	p.awaitReady()
	p.paste("Give every server the current key")
	if said, err := p.m.Try(p.next()); err == nil || !strings.Contains(said, "24 hours") {
		p.t.Errorf("the former key is retired too early: %v\n%s", err, said)
	}
	p.open("operations.md", "Replace the key that signs access tokens")
	p.paste("signing")
	p.paste("")
	p.done()
}

// removePackage removes the package, which keeps settings and data, installs it again, and purges
// it, which keeps the data.
func (p *person) removePackage() {
	p.t.Helper()
	p.m.Run("sudo apt-get remove --yes mailhelm")
	if said, err := p.m.Try("systemctl is-active mailhelm || systemctl is-enabled mailhelm || pgrep --exact mailhelm"); err == nil {
		p.t.Errorf("the removed service stays\n%s", said)
	}
	p.m.Run("sudo apt-get install ./mailhelm_" + p.version + "_" + runtime.GOARCH + ".deb; sudo systemctl enable --now mailhelm")
	p.hasAll()
	p.m.Run("sudo apt-get purge --yes mailhelm")
	if said := p.m.Run("ls /etc/mailhelm 2>/dev/null || ls /var/lib/mailhelm"); !strings.Contains(said, "master.key") {
		p.t.Errorf("the purge leaves\n%s", said)
	}
}

// installArchive follows the guide that installs the archive, on the machine whose data folder and
// database are left from the package, and whose user is not.
func (p *person) installArchive() {
	p.t.Helper()
	p.open("install.md", "Debian and systemd")
	p.commands = p.commands[7:] // those about the package
	folder := "mailhelm_" + p.version + "_linux_" + runtime.GOARCH
	p.m.Run("userdel mailhelm; tar --extract --file=" + folder + ".tar.gz")
	for len(p.commands) > 0 {
		p.m.Run("cd " + folder + "; " + p.next())
	}
	p.m.Run("chown --recursive mailhelm: /var/lib/mailhelm; echo '" + databaseURL + "' >>/etc/mailhelm/mailhelm.toml; systemctl enable --now mailhelm")
	p.hasAll()
	if said := p.m.Run("stat --format='%U %G %a' /etc/mailhelm /etc/mailhelm/mailhelm.toml /var/lib/mailhelm"); said != "root mailhelm 750\nroot mailhelm 640\nmailhelm mailhelm 700\n" {
		p.t.Errorf("the files are\n%s", said)
	}
}

// podmanSettings let Podman work in a copy of a machine, whose root folder is an overlay already,
// and which may have no right to raise the limits that control groups need.
const podmanSettings = `mkdir --parents /etc/containers
cat >/etc/containers/storage.conf <<'END'
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
cat >/etc/containers/containers.conf <<'END'
[containers]
cgroups = "disabled"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
END
rm -rf /var/lib/containers
mkdir /var/lib/containers
mount -t tmpfs containers /var/lib/containers
printf '#!/bin/sh\nexec podman "$@"\n' >/usr/local/bin/docker
chmod +x /usr/local/bin/docker
`

// runContainer follows the guide that runs the image. Podman, which Debian has, takes the commands
// of Docker.
func (p *person) runContainer() {
	p.t.Helper()
	p.m.Run("systemctl disable --now mailhelm")
	p.m.Run(podmanSettings)
	p.open("install.md", "Container")
	p.paste("mailhelm:" + p.version)
	p.paste("")
	const await = "until docker exec mailhelm /mailhelm ready 2>/tmp/ready; do sleep 0.1; done"
	p.m.Run(await)
	if said := p.paste("ok  database"); strings.Contains(said, "\nfail ") {
		p.t.Errorf("doctor prints\n%s", said)
	}
	p.done()
	// The published ports lead to the services, and the volume outlives the container.
	p.m.Run("for path in 8080/v1/_health 8081/docs/ 8082/mcp/_health 8083/_health; do curl --silent --show-error --fail --output /dev/null http://127.0.0.1:$path; done")
	p.m.Run("docker exec mailhelm /mailhelm admin org create acme --name Acme")
	if said := p.m.Run("docker stop mailhelm >/dev/null; docker inspect mailhelm --format '{{.State.ExitCode}} {{.Config.User}} {{.HostConfig.ReadonlyRootfs}}'"); said != "0 65532:65532 true\n" {
		p.t.Errorf("the stopped container is %s", said)
	}
	p.m.Run("docker start mailhelm")
	p.m.Run(await)
	if said := p.m.Run("docker exec mailhelm /mailhelm admin org list"); !strings.Contains(said, "acme") {
		p.t.Errorf("the container has lost its data:\n%s", said)
	}
}
