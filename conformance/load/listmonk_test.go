package load

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/lib/pq" // the driver "postgres"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

const (
	// listmonkVariable is the environment variable with the path of a listmonk program that
	// includes its static files. RESULTS.md says how to build it.
	listmonkVariable = "MAILHELM_BENCH_LISTMONK"
	// listmonkWait is the time limit for the start of listmonk, and for its import.
	listmonkWait  = 3 * time.Minute
	listmonkLooks = 20 * time.Millisecond
	// listmonkList is the id of the contact list for the import, the first of two that
	// listmonk creates at its installation.
	listmonkList = 1

	listmonkColumns = "email,name,attributes"
)

func listmonkRow(n int) string {
	attributes := fmt.Sprintf(`{"plan":"pro","city":"Rome","mrr":%d.5,"vip":true,"signed_up":"2026-01-02"}`, n%1000)
	return fmt.Sprintf(`person%d@example.com,Person,"%s"`, n, strings.ReplaceAll(attributes, `"`, `""`))
}

// importListmonk installs listmonk with a new database and imports the CSV file. It returns
// the time from the upload of the file until listmonk reports that the import is finished.
func importListmonk(b *testing.B, binary, file string) time.Duration {
	b.Helper()
	l := startListmonk(b, binary)
	defer l.stop()
	form, kind := l.form(b, file)
	started := time.Now()
	if _, err := l.call(http.MethodPost, kind, form); err != nil {
		b.Fatal(err)
	}
	ticker := time.NewTicker(listmonkLooks)
	defer ticker.Stop()
	for range ticker.C {
		state, err := l.call(http.MethodGet, "", nil)
		took := time.Since(started)
		if err != nil || took > listmonkWait {
			b.Fatalf("listmonk: %+v after %v: %v", state, took, err)
		}
		if state.Status == "importing" {
			continue
		}
		if state.Status != "finished" || state.Imported != importedContacts {
			b.Fatalf("listmonk: %+v", state)
		}
		return took
	}
	return 0
}

// listmonk is a running listmonk server.
type listmonk struct {
	url, token string
	http       *http.Client
	stop       func()
}

func startListmonk(b *testing.B, binary string) *listmonk {
	b.Helper()
	dir := b.TempDir()
	address := "127.0.0.1:" + freePort(b)
	database := emptyDatabase(b)
	config := listmonkConfig(address, database)
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	environment := []string{
		"TMPDIR=" + dir,
		"LISTMONK_ADMIN_USER=owner", "LISTMONK_ADMIN_PASSWORD=" + uuid.NewString(), "LISTMONK_ADMIN_API_USER=importer",
	}
	install := exec.Command(binary, "--install", "--yes", "--config", file)
	install.Dir, install.Env = dir, append(os.Environ(), environment...)
	output, err := install.CombinedOutput()
	token := regexp.MustCompile(`LISTMONK_ADMIN_API_TOKEN="(.+)"`).FindSubmatch(output)
	if err != nil || token == nil {
		b.Fatalf("listmonk does not install: %v\n%s", err, output)
	}
	blockOutboundConnections(b, database)
	l := &listmonk{
		url: "http://" + address + "/api/import/subscribers", token: "token importer:" + string(token[1]),
		http: &http.Client{Timeout: listmonkWait},
	}
	l.stop = serveListmonk(b, dir, environment, binary, "--config", file)
	l.ready(b)
	return l
}

// serveListmonk starts the listmonk server and returns a function that stops it.
func serveListmonk(b *testing.B, dir string, environment []string, program ...string) func() {
	b.Helper()
	running, err := daemon.Start(daemon.Config{Command: program, Dir: dir, Environment: environment})
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		running.Stop()
		if b.Failed() {
			b.Logf("listmonk said:\n%s", running.Output())
		}
	}
}

// blockOutboundConnections changes listmonk's settings so that it connects to no other
// host: it turns off the check for updates and all e-mail.
func blockOutboundConnections(b *testing.B, database *url.URL) {
	b.Helper()
	db := openDatabase(b, database.String())
	defer func() { _ = db.Close() }()
	for key, value := range map[string]string{"app.check_updates": "false", "app.notify_emails": "[]", "smtp": "[]"} {
		if _, err := db.ExecContext(b.Context(), "UPDATE settings SET value = $1 WHERE key = $2", value, key); err != nil {
			b.Fatal(err)
		}
	}
}

// listmonkConfig returns the text of a listmonk configuration file. If the database URL has
// a "host" parameter, such as the folder of a socket, that is the database host.
func listmonkConfig(address string, database *url.URL) string {
	host := database.Query().Get("host")
	if host == "" {
		host = database.Hostname()
	}
	port := database.Port()
	if port == "" {
		port = "0" // means PostgreSQL's default port
	}
	password, _ := database.User.Password()
	return fmt.Sprintf("[app]\naddress = %q\n[db]\nhost = %q\nport = %s\nuser = %q\npassword = %q\ndatabase = %q\nssl_mode = \"disable\"\nmax_open = 25\nmax_idle = 25\nmax_lifetime = \"300s\"\n",
		address, host, port, database.User.Username(), password, strings.TrimPrefix(database.Path, "/"))
}

func (l *listmonk) ready(b *testing.B) {
	b.Helper()
	ticker := time.NewTicker(listmonkLooks)
	defer ticker.Stop()
	for started := time.Now(); time.Since(started) < listmonkWait; <-ticker.C {
		if _, err := l.call(http.MethodGet, "", nil); err == nil {
			return
		}
	}
	b.Fatal("listmonk does not answer")
}

type listmonkState struct {
	Status   string `json:"status"`
	Imported int    `json:"imported"`
}

// call sends a request to listmonk's import API and returns the state of the import. kind
// is the content type of the body. A status other than 200 is an error.
func (l *listmonk) call(method, kind string, body io.Reader) (listmonkState, error) {
	r, err := http.NewRequest(method, l.url, body)
	if err != nil {
		return listmonkState{}, err
	}
	r.Header.Set("Authorization", l.token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	res, err := l.http.Do(r)
	if err != nil {
		return listmonkState{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, err := io.ReadAll(res.Body)
		return listmonkState{}, errors.Join(fmt.Errorf("listmonk: %s: %s", res.Status, body), err)
	}
	var answer struct {
		Data listmonkState `json:"data"`
	}
	return answer.Data, json.NewDecoder(res.Body).Decode(&answer)
}

// form returns a multipart form that contains the CSV file, for listmonk's import API. It
// also returns the content type of the form.
func (l *listmonk) form(b *testing.B, file string) (io.Reader, string) {
	b.Helper()
	people, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	parameters := fmt.Sprintf(`{"mode":"subscribe","subscription_status":"confirmed","delim":",","lists":[%d],"overwrite":true}`, listmonkList)
	err = form.WriteField("params", parameters)
	part, partErr := form.CreateFormFile("file", filepath.Base(file))
	if err = errors.Join(err, partErr); err == nil {
		_, err = part.Write(people)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		b.Fatal(err)
	}
	return &body, form.FormDataContentType()
}

// emptyDatabase creates a PostgreSQL database on the server that the benchmark of
// Mailhelm's import uses, and returns its URL. The database is dropped when the benchmark
// ends.
func emptyDatabase(b *testing.B) *url.URL {
	b.Helper()
	address, err := url.Parse(enginetest.PostgresURL(b))
	if err != nil {
		b.Fatal(err)
	}
	admin := openDatabase(b, address.String())
	b.Cleanup(func() { _ = admin.Close() })
	name := "listmonk_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := admin.ExecContext(b.Context(), "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			b.Error(err)
		}
	})
	address.Path = "/" + name
	return address
}

func openDatabase(b *testing.B, address string) *sql.DB {
	b.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		b.Fatal(err)
	}
	return db
}
