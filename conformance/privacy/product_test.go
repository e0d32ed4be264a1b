package privacy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/smtp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

const erasedEmail = "Erin.Example@example.org"

// TestErasedPersonStaysErased erases a contact of a running server, who also sent mail. Afterwards
// neither the data folder nor the log at the level debug may have the address, and the log must not
// have had it before. The server must refuse the address in calls and bulk writes, and must not
// store it with events that arrive late.
func TestErasedPersonStaysErased(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		log := &lines{}
		p := product.Start(t, product.Options{Postgres: postgres, Log: log})
		erased := persons.Erased(p.DB.Privacy(), p.MasterKey)
		events := serve.Events(p.DB, erased, p.Clock.Now, slog.New(slog.DiscardHandler))
		call(t, p, http.MethodPost, "/v1/contacts", `{"email":"`+erasedEmail+`","unsubscribe_all":true,"attributes":{}}`, http.StatusCreated)
		record(t, p, events, messages.Send)
		writeToInbox(t, p)
		if traces := tracesIn(t, p.DataDir); len(traces) == 0 {
			t.Error("the search finds nothing before the erasure")
		}

		report, err := eraser(t, p).Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail)
		must(t, err)
		for _, trace := range tracesIn(t, p.DataDir) {
			t.Errorf("after the erasure there is %s", trace)
		}
		if report.Refuses != privacy.OptedOut || report.Account.Contact == nil {
			t.Errorf("the report is %+v", report)
		}

		call(t, p, http.MethodGet, "/v1/contacts/"+erasedEmail, "", http.StatusNotFound)
		refusal := call(t, p, http.MethodPost, "/v1/contacts", `{"email":"`+erasedEmail+`"}`, http.StatusUnprocessableEntity)
		if !strings.Contains(refusal, "was erased") {
			t.Errorf("a new contact is refused with %s", refusal)
		}
		checkBulk(t, p)
		record(t, p, events, messages.Open)
		record(t, p, events, messages.Delivery)
		if sent := call(t, p, http.MethodGet, "/v1/recipients/"+erasedEmail+"/messages", "", http.StatusOK); !strings.Contains(sent, `"data":[]`) {
			t.Errorf("messages of the erased person: %s", sent)
		}
		w := newPlanted(t, p.DB)
		for _, row := range mentioning(w.dump(t), core.EmailKey(erasedEmail)) {
			t.Errorf("after the erasure there is %s", row)
		}
		// The write-ahead log of SQLite has the rows of the bulk write until it is emptied.
		if report, err = eraser(t, p).Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail); err != nil || !report.Empty() {
			t.Errorf("erasing again: %+v, %v", report, err)
		}
		for _, trace := range append(tracesIn(t, p.DataDir), log.mentioning(core.EmailKey(erasedEmail), secretOfMail)...) {
			t.Errorf("at the end there is %s", trace)
		}
	})
}

// TestErasingDeletesInBuckets erases a person whose mail is in a bucket of the organization. While
// the bucket refuses to delete, the erasure must fail and keep the rows that name the objects. It
// must delete them when it is repeated.
func TestErasingDeletesInBuckets(t *testing.T) {
	t.Parallel()
	s3 := enginetest.S3(t)
	backend, err := url.Parse(s3.URL)
	must(t, err)
	var refuses atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(backend)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && refuses.Load() {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	p := product.Start(t, product.Options{LoopbackBuckets: true})
	p.UseBucket(t, p.OrgID, objects.Bucket{
		Endpoint: front.URL, Region: enginetest.S3Region, Name: enginetest.S3Bucket, PathStyle: true, AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	})
	p.Clock.Advance(6 * time.Second)
	writeToInbox(t, p)
	if traces := tracesIn(t, s3.Dir); len(traces) == 0 {
		t.Error("the bucket has no mail of the person")
	}

	refuses.Store(true)
	erase := eraser(t, p)
	_, err = erase.Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail)
	if failure, ok := errors.AsType[*objects.Failure](err); !ok || failure.Cause != objects.Denied {
		t.Errorf("while the bucket refuses: %v", err)
	}
	left, err := erase.Count(t.Context(), p.OrgID, erasedEmail)
	must(t, err)
	if len(left.Tables) == 0 || len(tracesIn(t, s3.Dir)) == 0 {
		t.Errorf("after the refusal there are rows of %v", left.Tables)
	}

	refuses.Store(false)
	report, err := erase.Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail)
	must(t, err)
	if len(report.Tables) == 0 {
		t.Error("the repeated erasure finds nothing")
	}
	for _, trace := range append(tracesIn(t, s3.Dir), tracesIn(t, p.DataDir)...) {
		t.Errorf("after the erasure there is %s", trace)
	}
}

// eraser returns what `mailhelm admin person erase` uses beside a running server.
func eraser(t *testing.T, p *product.Product) *privacy.Privacy {
	t.Helper()
	return eraserAt(t, p, p.Simulator)
}

// eraserAt is eraser with another sending account.
func eraserAt(t *testing.T, p *product.Product, account privacy.Account) *privacy.Privacy {
	t.Helper()
	master, err := p.MasterKey()
	must(t, err)
	stores, err := mailstores.Open(config.Config{DataDir: p.DataDir, BucketNetworks: []string{"127.0.0.0/8"}, Clock: p.Clock.Now}, p.DB.MailBuckets(master), p.DB, master, p.FetchURL)
	must(t, err)
	t.Cleanup(stores.Close)
	found, err := persons.New(privacy.Config{
		Store: p.DB.Privacy(), Account: account, Runs: workflows.NewTimerStore(p.DB.DB), Audit: p.DB.Audit(), Transactor: p.DB, Clock: p.Clock.Now, Journal: &journal{},
	}, persons.Erased(p.DB.Privacy(), p.MasterKey), stores.Locator)
	must(t, err)
	return found
}

// secretOfMail is a text in the mail and the attachment of the person.
const secretOfMail = "umbrella-7731"

// writeToInbox sends mail with an attachment from the person to a temporary inbox, and waits for it.
func writeToInbox(t *testing.T, p *product.Product) {
	t.Helper()
	var inbox struct{ Address string }
	must(t, json.Unmarshal([]byte(call(t, p, http.MethodPost, "/v1/inboxes", `{}`, http.StatusCreated)), &inbox))
	c, err := smtp.Dial(p.SMTPAddr)
	must(t, err)
	defer c.Close() //nolint:errcheck // the replies to the commands count
	must(t, errors.Join(c.Mail(erasedEmail), c.Rcpt(inbox.Address)))
	w, err := c.Data()
	must(t, err)
	_, err = io.WriteString(w, strings.ReplaceAll(`From: Erin <`+erasedEmail+`>
To: `+inbox.Address+`
Subject: About the `+secretOfMail+`
Message-ID: <erin-1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

It is Erin who lost the `+secretOfMail+`.
--b
Content-Type: text/plain; name=umbrella.txt
Content-Disposition: attachment; filename=umbrella.txt

A drawing of the `+secretOfMail+`.
`+strings.Repeat("Lines of the drawing.\n", 5000)+`
--b--
`, "\n", "\r\n"))
	must(t, errors.Join(err, w.Close(), c.Quit()))
	product.Await(t, 30*time.Second, func() error {
		var n int
		if err := p.DB.Reader().QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM inbox_messages) - (SELECT count(*) FROM received_mail)").Scan(&n); err != nil || n == 1 {
			return err
		}
		return core.NotFound("mail in the inbox")
	})
}

// tracesIn returns the files of a folder that have the address of the person or the text of the mail.
func tracesIn(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of the server
		}
		for _, trace := range []string{core.EmailKey(erasedEmail), secretOfMail} {
			if n := bytes.Count(bytes.ToLower(content), []byte(trace)); n > 0 {
				found = append(found, fmt.Sprintf("%d times %s in %s", n, trace, path))
			}
		}
		return err
	}))
	return found
}

// lines is a log. It is safe for concurrent use.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(line))
	return len(line), nil
}

// mentioning returns the lines with one of the texts, ignoring case.
func (l *lines) mentioning(texts ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.all), func(line string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(line), text) })
	})
}

// record records an event of a message to the person, as an import of events does.
func record(t *testing.T, p *product.Product, into *messages.Messages, kind messages.EventType) {
	t.Helper()
	at := p.Clock.Now().Add(-time.Hour)
	e := messages.Event{ID: core.NewID(), MessageID: "message-to-erin", Type: kind, OccurredAt: at, Recipient: erasedEmail, Mail: messages.Mail{
		From: "shop@example.com", To: []string{erasedEmail}, SentAt: at, Subject: "Erin, your order",
	}}
	if kind != messages.Send {
		e.Metadata = json.RawMessage(`{"smtp_response":"250 ok ` + strings.ToLower(erasedEmail) + `"}`)
	}
	_, err := into.Record(t.Context(), p.OrgID, []messages.Event{e})
	must(t, err)
}

// checkBulk sends the address in a bulk write. The rows must fail, and their outcomes must not
// store the address: the rest of the test searches the database for it.
func checkBulk(t *testing.T, p *product.Product) {
	t.Helper()
	var job struct {
		ID     string `json:"job_id"`
		Status string `json:"status"`
		Failed int    `json:"failed"`
	}
	answer := call(t, p, http.MethodPost, "/v1/contacts/bulk", `{"contacts":[{"external_id":"erin-1","email":"`+erasedEmail+`"},{"external_id":"erin-1","email":"`+erasedEmail+`","attributes":{"unknown":1}}]}`, http.StatusAccepted)
	must(t, json.Unmarshal([]byte(answer), &job))
	product.Await(t, 30*time.Second, func() error {
		answer = call(t, p, http.MethodGet, "/v1/contacts/bulk/"+job.ID, "", http.StatusOK)
		if err := json.Unmarshal([]byte(answer), &job); err != nil || job.Status == "completed" {
			return err
		}
		return core.NotFound("end of the bulk write")
	})
	if job.Failed != 2 {
		t.Errorf("the bulk write ended with %s", answer)
	}
	if !strings.Contains(answer, "was erased") || strings.Contains(strings.ToLower(answer), core.EmailKey(erasedEmail)) || strings.Contains(answer, "erin-1") {
		t.Errorf("the outcomes of the bulk write are %s", answer)
	}
}

// call sends a request of the organization and returns the body of the answer, which must have
// the status.
func call(t *testing.T, p *product.Product, method, path, body string, status int) string {
	t.Helper()
	answer := p.Send(t, product.Request{Method: method, URL: p.BaseURL + path, Bearer: p.Live.APIKey, Body: body})
	if answer.Status != status {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, answer.Status, status, answer.Body)
	}
	return answer.Body
}
