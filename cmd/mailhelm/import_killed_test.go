package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/contactimport"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// visitor is a person who is signed in to the dashboard of a server that can be killed and
// started again.
type visitor struct {
	t       *testing.T
	servers servers
	http    *http.Client
	server  *process
	d       demoOutput
	app     string // the address of the dashboard
}

// appURL is the address of the dashboard in the log of a server.
var appURL = regexp.MustCompile(`"app_url":"([^"]+)"`)

// start starts the next server. The session continues, because it is in the database.
func (v *visitor) start() {
	v.t.Helper()
	v.server, v.d = v.servers.launch()
	v.app = appURL.FindStringSubmatch(v.server.stderr.String())[1]
}

// kill kills the server without a chance to finish anything.
func (v *visitor) kill() {
	v.t.Helper()
	v.server.signal(syscall.SIGKILL)
	if !v.server.waits() {
		v.t.Fatal("the server outlives SIGKILL")
	}
}

// send requests a page, or posts a form if body is not nil. It follows redirects, and
// returns the path and the text of the page.
func (v *visitor) send(path, contentType string, body io.Reader) (string, string) {
	v.t.Helper()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.app+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Origin", v.app)
	}
	answer, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %d, %v\n%s", path, answer.StatusCode, err, text)
	}
	return answer.Request.URL.Path, string(text)
}

func (v *visitor) post(path string, form url.Values) (string, string) {
	v.t.Helper()
	return v.send(path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// valueOf returns the value of the field with a name in the first form of the page whose
// action ends with action.
func (v *visitor) valueOf(page, action, name string) string {
	v.t.Helper()
	_, form, _ := strings.Cut(page, action+`"`)
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(form)
	if found == nil {
		v.t.Fatalf("no field %s of the form to %s:\n%s", name, action, page)
	}
	return found[1]
}

// await requests the page of an import until it has the text.
func (v *visitor) await(path, text string) string {
	v.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		_, page := v.send(path, "", nil)
		if strings.Contains(page, text) {
			return page
		}
		if time.Since(began) > startTimeout {
			v.t.Fatalf("%s never says %q:\n%s\n%s", path, text, page, v.server.stderr)
		}
	}
}

// newVisitor starts a server and signs a new person in.
func newVisitor(t *testing.T, postgres bool) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, servers: newServers(t, postgres), http: &http.Client{Jar: jar, Timeout: endTimeout}}
	s := shellOn(t, v.servers.database)
	made := s.does("user", "create", "ada@example.com", "--org", "acme", "--role", "owner")
	v.start()
	v.post("/login", url.Values{"email": {"ada@example.com"}, "password": {made["password"].(string)}})
	return v
}

// upload uploads a contact file, waits until its rows are checked, and returns the path of
// its page.
func (v *visitor) upload(content []byte) string {
	v.t.Helper()
	const path = "/dashboard/contacts/import"
	_, page := v.send(path, "", nil)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("token", v.valueOf(page, path, "token"))
	if err != nil {
		v.t.Fatal(err)
	}
	file, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		v.t.Fatal(err)
	}
	file.Write(content) //nolint:errcheck // in memory
	form.Close()        //nolint:errcheck // in memory
	columns, page := v.send(path, form.FormDataContentType(), &body)
	up, _ := v.post(columns, url.Values{"token": {v.valueOf(page, "/columns", "token")}, "column.0": {"email"}, "column.1": {"attributes.city"}})
	v.await(up, "ready to import")
	return up
}

// killedFile is a contact file for an import that is interrupted.
type killedFile struct {
	content                                []byte
	rows, created, updated, rejected, part int
}

// newKilledFile returns a file of at least one part (5000 rows) more than kills. Some of its
// rows are rejected, some change the contact of the row before.
func newKilledFile(kills int) killedFile {
	f := killedFile{part: 5000}
	f.rows = kills*f.part + 500
	text := bytes.NewBufferString("email,city\n")
	for i := range f.rows {
		switch {
		case i%100 == 99:
			fmt.Fprintf(text, "wrong%d,Graz\n", i)
			f.rejected++
		case i%100 == 50:
			fmt.Fprintf(text, "p%d@example.com,Wien\n", i-1)
			f.updated++
		default:
			fmt.Fprintf(text, "p%d@example.com,Graz\n", i)
			f.created++
		}
	}
	f.content = text.Bytes()
	return f
}

// TestImportOutlivesAKilledServer kills servers during an import of an uploaded file, each
// at another moment, and starts the next one on the same database. The import must end by
// itself. Its page must count each row once, and each row must be stored once.
//
// On PostgreSQL a server waits for seconds until it knows that the killed one has ended. So
// that engine is tested only with MAILHELM_TEST_FULL; core/contactimport tests both.
func TestImportOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	if enginetest.Full() {
		enginetest.EachEngine(t, checkImportSurvivesKills)
		return
	}
	checkImportSurvivesKills(t, false)
}

func checkImportSurvivesKills(t *testing.T, postgres bool) {
	t.Helper()
	v, f, chance := newVisitor(t, postgres), newKilledFile(*kills), rand.New(rand.NewPCG(7, uint64(*kills)))
	up := v.upload(f.content)
	_, page := v.send(up, "", nil)
	v.post(up+"/start", url.Values{"token": {v.valueOf(page, "/start", "token")}, "check": {v.valueOf(page, "/start", "check")}})
	for i := range *kills {
		// Wait for a row in the i-th part, so that the server is killed while it stores the
		// rest. A third of the later servers is killed as soon as they run.
		if i == 0 || chance.IntN(3) > 0 {
			v.awaitContact(fmt.Sprintf("p%d@example.com", i*f.part+chance.IntN(f.part/100)*100))
		}
		v.kill()
		t.Logf("kill %d: the import is %s", i, v.statusOf(up))
		v.start()
	}
	v.checkImported(v.await(up, "Import another file"), f)
}

// statusOf returns the stored status and the number of counted rows of an import, while no
// server runs.
func (v *visitor) statusOf(path string) string {
	v.t.Helper()
	db, err := storage.Open(v.t.Context(), v.servers.database)
	if err != nil {
		v.t.Fatal(err)
	}
	up, err := contactimport.New(db.DB).Upload(v.t.Context(), v.d["org_id"], path[strings.LastIndex(path, "/")+1:])
	if err = errors.Join(err, db.Close()); err != nil {
		v.t.Fatal(err)
	}
	return fmt.Sprintf("%s after %d rows", up.Status, up.Import.Rows)
}

// awaitContact waits until a contact with the address is stored.
func (v *visitor) awaitContact(email string) {
	v.t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		a := request(v.t, http.MethodGet, v.d["base_url"]+"/v1/contacts/"+email, v.d["api_key"], "")
		if a.status == http.StatusOK {
			return
		}
		if time.Since(began) > startTimeout {
			v.t.Fatalf("%s is not stored: %d %s\n%s", email, a.status, a.body, v.server.stderr)
		}
	}
}

// checkImported checks the counts on the page of the import, the file of its rejected rows,
// and all contacts.
func (v *visitor) checkImported(page string, f killedFile) {
	v.t.Helper()
	for name, n := range map[string]int{"rows": f.rows, "created": f.created, "updated": f.updated, "rejected": f.rejected} {
		digits := strings.ReplaceAll(page, ",", "")
		if !strings.Contains(digits, fmt.Sprintf("<strong>%d</strong>%s<", n, name)) {
			v.t.Errorf("the page does not count %d %s:\n%s", n, name, page)
		}
	}
	file := regexp.MustCompile(`href="([^"]+rejected\.csv)"`).FindStringSubmatch(page)
	if file == nil {
		v.t.Fatalf("no file of rejected rows:\n%s", page)
	}
	_, rejected := v.send(file[1], "", nil)
	for i, line := range strings.Split(strings.TrimSpace(rejected), "\n")[1:] {
		if want := fmt.Sprintf("wrong%d,Graz,%d,", i*100+99, i*100+101); !strings.HasPrefix(line, want) {
			v.t.Fatalf("rejected row %d is %q, want %q", i, line, want)
		}
	}
	if n := strings.Count(rejected, "\n") - 1; n != f.rejected {
		v.t.Errorf("%d rejected rows in their file, want %d", n, f.rejected)
	}
	stored := map[string]bool{}
	for _, one := range pages(v.t, v.d, "/v1/contacts?limit=200") {
		var c struct {
			Email      string
			Attributes struct{ City string }
		}
		if err := json.Unmarshal(one, &c); err != nil {
			v.t.Fatal(err)
		}
		var i int
		if _, err := fmt.Sscanf(c.Email, "p%d@example.com", &i); err != nil {
			v.t.Fatalf("contact %q: %v", c.Email, err)
		}
		want := "Graz"
		if i%100 == 49 {
			want = "Wien"
		}
		if stored[c.Email] || c.Attributes.City != want {
			v.t.Errorf("contact %+v, stored before %v, want %s", c, stored[c.Email], want)
		}
		stored[c.Email] = true
	}
	if len(stored) != f.created {
		v.t.Errorf("%d contacts are stored, want %d", len(stored), f.created)
	}
}
