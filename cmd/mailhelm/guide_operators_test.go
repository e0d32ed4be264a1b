package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuidesOfOperators runs the commands of the guides that install, update and run a server, in
// one installation on PostgreSQL whose database the commands create. The files of the package are
// the packaged ones, and its server is started as the packaged unit says. It needs no rights:
// TestGuidesOnAMachine in conformance/operations runs the same commands in full, as root, under
// systemd.
func TestGuidesOfOperators(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.install()
	o.update()
	o.runSeveral()
	o.server.exit()
}

// operator is a person who follows the guides on one machine.
type operator struct {
	t *testing.T
	// folder has the files of the machine, and machine replaces names of the guides by those of it.
	folder  string
	machine *strings.Replacer
	// cluster has the variables that lead the programs of PostgreSQL to the database server.
	cluster  []string
	programs string
	database string // URL
	server   *process
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t, folder: t.TempDir(), programs: enginetest.PostgresPrograms(t)}
	cluster, err := url.Parse(enginetest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(cluster.Path, "/") + "_o"
	u := *cluster
	u.Path, u.User = "/"+name, url.UserPassword(name, "PASSWORD")
	o.database = u.String()
	password, _ := cluster.User.Password()
	o.cluster = []string{"PGHOST=" + cmp.Or(cluster.Query().Get("host"), cluster.Hostname()), "PGUSER=" + cluster.User.Username(), "PGPASSWORD=" + password, "PGSSLMODE=disable"}
	if port := cluster.Port(); port != "" {
		o.cluster = append(o.cluster, "PGPORT="+port)
	}
	t.Cleanup(func() {
		g := &guide{t: t, path: o.programs, environment: append(o.cluster, "PGDATABASE=postgres")}
		if printed, err := g.shell("psql --command='DROP DATABASE IF EXISTS " + name + " WITH (FORCE)' --command='DROP ROLE IF EXISTS " + name + "'"); err != nil {
			t.Errorf("%v\n%s", err, printed)
		}
	})
	o.machine = strings.NewReplacer(
		"/etc/mailhelm", o.path("etc/mailhelm"), "/var/lib/mailhelm", o.path("var/lib/mailhelm"), "/opt/mailhelm-new/usr/bin/mailhelm", "mailhelm",
		"ROLE mailhelm", "ROLE "+name, "--owner=mailhelm", "--owner="+name, "--encoding=UTF8 mailhelm", "--encoding=UTF8 "+name,
	)
	return o
}

func (o *operator) path(name string) string { return filepath.Join(o.folder, name) }

// follow opens a guide whose commands run on the machine.
func (o *operator) follow(name string) *guide {
	o.t.Helper()
	g := openGuide(o.t, name)
	g.replace, g.handle = o.machine, o.handle
	g.path = o.programs + string(os.PathListSeparator) + g.path
	g.environment = append(o.cluster, "PGDATABASE=postgres")
	return g
}

// handle does what needs root or systemd.
func (o *operator) handle(line string) bool {
	o.t.Helper()
	switch {
	case strings.HasPrefix(line, "apt-get install ./mailhelm_"):
		o.unpack()
	case strings.HasPrefix(line, "dpkg-deb --extract ./mailhelm_"), strings.HasPrefix(line, "sudoedit "):
	case line == "systemctl enable --now mailhelm":
		o.start()
	case line == "systemctl restart mailhelm":
		o.server.exit()
		o.start()
	default:
		return false
	}
	return true
}

// unpack writes what the package installs, at the first time, and restarts a running server as
// the script of the package does.
func (o *operator) unpack() {
	o.t.Helper()
	if o.server != nil {
		o.server.exit()
		o.start()
		return
	}
	content := o.packaged("mailhelm.toml")
	if err := errors.Join(os.MkdirAll(o.path("etc/mailhelm"), 0o700), os.MkdirAll(o.path("var/lib/mailhelm"), 0o700), os.WriteFile(o.path("etc/mailhelm/mailhelm.toml"), []byte(content), 0o600)); err != nil {
		o.t.Fatal(err)
	}
}

func (o *operator) packaged(name string) string {
	o.t.Helper()
	content, err := os.ReadFile(filepath.Join("packaging", "files", name))
	if err != nil {
		o.t.Fatal(err)
	}
	return o.machine.Replace(string(content))
}

// edit changes the configuration file as a person does with sudoedit: it replaces comments with
// settings by these settings, and adds others at the end.
func (o *operator) edit(settings map[string]string) {
	o.t.Helper()
	file := o.path("etc/mailhelm/mailhelm.toml")
	content, err := os.ReadFile(file)
	if err != nil {
		o.t.Fatal(err)
	}
	for name, value := range settings {
		line := fmt.Appendf(nil, "%s = %q\n", name, value)
		if at := regexp.MustCompile(`(?m)^(# )?` + name + ` = .*\n`); at.Match(content) {
			content = at.ReplaceAllLiteral(content, line)
		} else {
			content = append(content, line...)
		}
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// start starts the server as the unit of the package says.
func (o *operator) start() {
	o.t.Helper()
	unit := o.packaged("mailhelm.service")
	command := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/mailhelm (.*)$`).FindStringSubmatch(unit)
	file := regexp.MustCompile(`(?m)^EnvironmentFile=-(.*)$`).FindStringSubmatch(unit)
	if command == nil || file == nil {
		o.t.Fatalf("the unit has no command or no file of variables:\n%s", unit)
	}
	content, err := os.ReadFile(file[1])
	if err != nil {
		o.t.Fatal(err)
	}
	o.server = launch(o.t, strings.Fields(string(bytes.TrimSpace(content))), strings.Fields(command[1])...)
	o.server.awaits(`"msg":"ready"`)
}

// install follows the guide that installs a server.
func (o *operator) install() {
	g := o.follow("install.md")
	g.section("PostgreSQL")
	g.run("CREATE ROLE")
	g.run("")
	g.section("Debian and systemd")
	g.run("")
	o.edit(map[string]string{"database-url": o.database, "port": fmt.Sprint(firstOfSixPorts(o.t))})
	if err := os.WriteFile(o.path("etc/mailhelm/environment"), []byte("MAILHELM_DNS_SERVERS=none\n"), 0o600); err != nil {
		o.t.Fatal(err)
	}
	g.run("")
	g.run("")
	if said := g.run("master key"); strings.Contains(said, "\nfail ") || !strings.Contains(said, "postgres answers") {
		o.t.Errorf("doctor prints\n%s", said)
	}
	g.run("acme")
	g.run("password")
	g.run("sk_live_")
}

// update follows the guide about updates.
func (o *operator) update() {
	g := o.follow("update.md")
	g.run("")
	if said := g.run("applied"); strings.Contains(said, "missing") {
		o.t.Errorf("migrations are missing:\n%s", said)
	}
	g.run("up to date")
	g.end()
}

// runSeveral follows the guide about several servers: the configuration file that it shows, an
// update, and the rotation of keys.
func (o *operator) runSeveral() {
	g := o.follow("operations.md")
	port := firstOfSixPorts(o.t)
	settings := map[string]string{"smtp-addr": fmt.Sprintf("127.0.0.1:%d", port+2)}
	here := strings.NewReplacer("10.0.0.11:8080", fmt.Sprintf("127.0.0.1:%d", port), "10.0.0.11:9090", fmt.Sprintf("127.0.0.1:%d", port+1), `"10s"`, `"0s"`)
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+) = "(.*)"$`).FindAllStringSubmatch(here.Replace(blocks(g.text, "toml")[0]), -1) {
		settings[m[1]] = m[2]
	}
	if len(settings) != 14 {
		o.t.Errorf("the guide shows the settings %v", settings)
	}
	o.edit(settings)
	g.skip(2) // a failed primary becomes a standby, which TestTopology in conformance/cluster does
	g.run("")
	g.run("ready")
	g.run("sealed anew")
	g.run("")
	g.run("")
	g.run("Give every server the current key")
	g.refuse("24 hours")
	g.run("signing")
	g.run("")
	g.end()
}
