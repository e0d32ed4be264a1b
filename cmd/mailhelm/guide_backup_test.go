package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuideOfBackups copies an installation by the commands of the guide, while its server runs,
// destroys it, and restores it by the commands of the guide. Contacts, credentials, tokens that
// were signed before, received mail with its attachment and what the sending account has must be
// there. A person who was erased after the copy must be erased, and mail must be stopped until it
// is allowed.
func TestGuideOfBackups(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		b := newBackup(t, postgres)
		b.start()
		b.fill()
		b.copy()
		b.s.does("person", "erase", "acme", "erin@example.com", "--confirm", "erin@example.com")
		b.copyJournal()
		b.call(http.MethodPost, "/v1/contacts", `{"email":"late@example.com","unsubscribe_all":true}`, http.StatusCreated)
		b.restore()
		b.check()
		b.end()
	})
}

// backup is an installation that the guide copies and restores.
type backup struct {
	*guide
	s        shell
	postgres bool
	port     int
	server   *process
	restored string // URL of the restored PostgreSQL database

	key, token string // credentials from before the copy
	poll       string // path that reads the received mail
	journal    string // the command that copies the journal
}

func newBackup(t *testing.T, postgres bool) *backup {
	t.Helper()
	s := newShell(t, postgres).migrate()
	b := &backup{guide: openGuide(t, "backup.md"), s: s, postgres: postgres, port: firstOfSixPorts(t)}
	for _, name := range []string{"etc", "var", "root"} {
		if err := os.Mkdir(filepath.Join(b.folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	pairs := []string{
		"/etc/mailhelm", filepath.Join(b.folder, "etc"), "/var/lib/mailhelm", s.database.Dir,
		"/var/backups", filepath.Join(b.folder, "var"), "/root", filepath.Join(b.folder, "root"),
	}
	if postgres {
		pairs = append(pairs, b.usePostgres()...)
	} else if _, err := exec.LookPath("sqlite3"); err != nil {
		enginetest.SkipMissing(t, "the guide about backups needs sqlite3: apt-get install sqlite3")
	}
	b.replace = strings.NewReplacer(pairs...)
	b.configure(s.database.URL)
	b.handle = func(line string) bool {
		switch line {
		case "systemctl stop mailhelm":
			b.server.exit()
			b.destroy()
		case "systemctl start mailhelm":
			b.start()
		default:
			return false
		}
		return true
	}
	return b
}

// usePostgres returns what to replace in the commands for PostgreSQL.
func (b *backup) usePostgres() []string {
	b.t.Helper()
	b.path = enginetest.PostgresPrograms(b.t) + string(os.PathListSeparator) + b.path
	of := func(name string) (string, string) {
		u, err := url.Parse(b.s.database.URL)
		if err != nil {
			b.t.Fatal(err)
		}
		if name != "" {
			u.Path = name
		}
		return u.String(), strings.TrimPrefix(u.Path, "/")
	}
	admin, _ := of("/postgres")
	_, name := of("")
	restored, restoredName := of("/" + name + "_r")
	b.restored = restored
	b.t.Cleanup(func() {
		db, err := sql.Open("postgres", admin)
		if err == nil {
			_, err = db.Exec("DROP DATABASE IF EXISTS " + restoredName + " WITH (FORCE)") //nolint:noctx // the context of the test has ended
			err = errors.Join(err, db.Close())
		}
		if err != nil {
			b.t.Error(err)
		}
	})
	quoted := func(address string) string { return "'" + address + "'" }
	return []string{
		"postgres://mailhelm@db.example.com/mailhelm_restored", quoted(restored), "postgres://postgres@db.example.com/mailhelm_restored", quoted(restored), "postgres://mailhelm@db.example.com/mailhelm", quoted(b.s.database.URL),
		"postgres://postgres@db.example.com/postgres", quoted(admin), "mailhelm_restored", restoredName, "--owner=mailhelm", "--owner=postgres",
	}
}

// configure writes the configuration file of the installation.
func (b *backup) configure(databaseURL string) {
	b.write("etc/mailhelm.toml", fmt.Sprintf("data = %q\ndatabase-url = %q\nport = %d\ninbox-domain = \"in.example.com\"\ndns-servers = \"none\"\n", b.s.database.Dir, databaseURL, b.port))
}

// start starts the server with the configuration file.
func (b *backup) start() {
	b.server = launch(b.t, nil, "serve", "--config", filepath.Join(b.folder, "etc/mailhelm.toml"))
	b.server.awaits(`"msg":"ready"`)
}

// call calls the API and returns the body of the answer.
func (b *backup) call(method, path, body string, status int) string {
	b.t.Helper()
	a := request(b.t, method, fmt.Sprintf("http://localhost:%d%s", b.port, path), b.key, body)
	if a.status != status {
		b.t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.status, status, a.body)
	}
	return a.body
}

// fill stores what the copy must have.
func (b *backup) fill() {
	b.t.Helper()
	b.s.mustRun("org", "create", "acme")
	b.write("secret", "password of the account")
	b.s.mustRun("account", "connect", "acme", "--provider", "smtp", "--endpoint", "127.0.0.1:1", "--access-key-id", "acme", "--secret-file", filepath.Join(b.folder, "secret"))
	b.key = b.s.does("key", "create", "acme", "--name", "CI", "--scopes", "all")["secret"].(string)
	client := b.s.does("client", "create", "acme", "--name", "Agent", "--scopes", "all")
	_, issued := tokens(b.t, b.port+1, "/oauth/token", client, "grant_type", "client_credentials", "resource", fmt.Sprintf("http://localhost:%d", b.port+2))
	b.token, _ = issued["access_token"].(string)
	for _, name := range []string{"ada", "erin"} {
		b.call(http.MethodPost, "/v1/contacts", `{"email":"`+name+`@example.com","unsubscribe_all":true}`, http.StatusCreated)
	}
	var inbox struct{ ID, Address string }
	if err := json.Unmarshal([]byte(b.call(http.MethodPost, "/v1/inboxes", "{}", http.StatusCreated)), &inbox); err != nil {
		b.t.Fatal(err)
	}
	b.poll = "/v1/inboxes/" + inbox.ID + "/messages?wait=20"
	if err := sendMail(fmt.Sprintf("127.0.0.1:%d", b.port+4), inbox.Address, attached); err != nil {
		b.t.Fatal(err)
	}
	b.checkMail()
}

// attached is a mail with an attachment.
const attached = "From: shop@example.net\r\nTo: inbox\r\nSubject: Terms\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain\r\n\r\nAs attached.\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=terms.txt\r\n\r\nThe terms of the shop.\r\n--b--\r\n"

// sendMail sends a mail. The function of the standard library would refuse the self-signed
// certificate of the server.
func sendMail(server, to, raw string) error {
	c, err := smtp.Dial(server)
	if err != nil {
		return err
	}
	if err := errors.Join(c.Mail("shop@example.net"), c.Rcpt(to)); err != nil {
		return errors.Join(err, c.Close())
	}
	w, err := c.Data()
	if err == nil {
		_, err = io.WriteString(w, raw)
		err = errors.Join(err, w.Close(), c.Quit())
	}
	return err
}

// checkMail reads the received mail, its attachment and its raw message.
func (b *backup) checkMail() {
	b.t.Helper()
	var found struct {
		Messages []struct {
			RawURL  string `json:"raw_url"`
			Message struct {
				Attachments []struct{ URL string }
			}
		}
	}
	answer := b.call(http.MethodGet, b.poll, "", http.StatusOK)
	if err := json.Unmarshal([]byte(answer), &found); err != nil || len(found.Messages) != 1 || len(found.Messages[0].Message.Attachments) != 1 {
		b.t.Fatalf("received mail: %v %s", err, answer)
	}
	m := found.Messages[0]
	for _, address := range []string{m.RawURL, m.Message.Attachments[0].URL} {
		if a := request(b.t, http.MethodGet, address, "", ""); a.status != http.StatusOK || !strings.Contains(a.body, "The terms of the shop.") {
			b.t.Errorf("%s: %d %s", address, a.status, a.body)
		}
	}
}

// copy runs the commands that copy the installation.
func (b *backup) copy() {
	b.section("What to copy")
	b.run("")
	b.section("PostgreSQL")
	if b.postgres {
		b.run("")
		b.run("")
	} else {
		b.skip(2)
	}
	b.section("SQLite")
	if !b.postgres {
		b.run("")
		b.run("")
		b.run("")
	} else {
		b.skip(3)
	}
	b.section("Data folder")
	for range 3 {
		b.run("")
	}
	b.journal = b.commands[0]
	b.run("")
}

// copyJournal copies the journal again, as the guide says to do each hour.
func (b *backup) copyJournal() {
	b.execute(b.journal, "")
	if journal := b.read("var/mailhelm-erased.jsonl"); strings.Count(journal, "\n") != 1 {
		b.t.Fatalf("the copied journal has %q", journal)
	}
}

// destroy damages what the restore must not need, after the server was stopped.
func (b *backup) destroy() {
	if err := os.RemoveAll(filepath.Join(b.s.database.Dir, "objects")); err != nil {
		b.t.Fatal(err)
	}
}

// restore runs the commands that restore the installation, and starts the server.
func (b *backup) restore() {
	b.section("Restore the database")
	b.run("")
	if b.postgres {
		b.run("")
		b.run("")
		b.run("")
		b.s.database.URL = b.restored
		b.s = shellOn(b.t, b.s.database)
		b.configure(b.restored)
	} else {
		b.skip(3)
	}
	b.section("Restore the data folder")
	for range 6 {
		b.run("")
	}
	if b.postgres {
		b.skip(1)
	} else {
		b.run("")
	}
	b.section("Before servers start")
	if status := b.run("applied"); strings.Contains(status, "missing") {
		b.t.Errorf("migrations are missing:\n%s", status)
	}
	b.run("No rotation is under way")
	if checked := b.run("acme"); !strings.Contains(strings.Join(strings.Fields(checked), " "), "acme 1 1 0") {
		b.t.Errorf("erased persons:\n%s", checked)
	}
	b.run("acme")
	b.run("stopped")
	b.run("")
	b.run("ready")
}

// check checks the restored installation. No file in the data folder may have the erased address.
func (b *backup) check() {
	b.t.Helper()
	b.checkErased()
	b.call(http.MethodGet, "/v1/contacts/ada@example.com", "", http.StatusOK)
	b.call(http.MethodGet, "/v1/contacts/late@example.com", "", http.StatusNotFound)
	b.call(http.MethodGet, "/v1/contacts/erin@example.com", "", http.StatusNotFound)
	b.call(http.MethodPost, "/v1/contacts", `{"email":"new@example.com","unsubscribe_all":true}`, http.StatusCreated)
	b.checkMail()
	tool := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"ada@example.com"}}}`
	if a := request(b.t, http.MethodPost, fmt.Sprintf("http://localhost:%d/mcp", b.port+2), b.token, tool); a.status != http.StatusOK || !strings.Contains(a.body, "ada@example.com") {
		b.t.Errorf("a token from before the copy: %d %s", a.status, a.body)
	}
	b.run("allowed")
}

func (b *backup) checkErased() {
	b.t.Helper()
	err := filepath.WalkDir(b.s.database.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte("erin@example.com")) {
			b.t.Errorf("%s has the erased address", path)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
}
