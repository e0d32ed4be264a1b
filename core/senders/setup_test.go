package senders_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an organization with two members, and a mail server that keeps letters.
type world struct {
	*senders.Senders
	db       *storage.DB
	org      core.Org
	ada, bob core.Principal

	mu   sync.Mutex
	now  time.Time
	jobs []senders.MailCodeArgs
	sent []letters.Letter
	down bool // the mail server refuses letters
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	w := &world{db: db, now: start}
	w.org = core.Org{ID: core.NewID(), Name: "Acme", Tier: "team", RetentionDays: 30}
	w.org.Slug = w.org.ID
	must(t, db.Orgs().InsertOrg(t.Context(), w.org))
	w.ada, w.bob = w.newMember(t, "ada"), w.newMember(t, "bob")
	w.Senders = senders.New(senders.Config{
		Store: db.VerifiedSenders(), Starts: db.SenderStarts(), Transactor: db, Queue: w, Letters: w,
		Orgs: db.Orgs(), People: db.Users(), CodeKey: make([]byte, senders.CodeKeyBytes), Clock: w.clock,
	})
	return w
}

// newMember adds a member to the organization.
func (w *world) newMember(t testing.TB, name string) core.Principal {
	t.Helper()
	id := core.NewID()
	must(t, w.db.Users().InsertUser(t.Context(), access.User{ID: id, Email: name + "-" + id + "@acme.example", Name: name, CreatedAt: start}))
	must(t, w.db.Members().AddMember(t.Context(), w.org.ID, id, "owner"))
	return core.Principal{Org: w.org, UserID: id, Credential: core.Credential{Kind: core.Person, ID: id}}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Enqueue keeps a job until deliver runs it.
func (w *world) Enqueue(_ context.Context, args jobs.Args) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, args.(senders.MailCodeArgs))
	return nil
}

// EnqueueOnce is not used.
func (w *world) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, w.Enqueue(ctx, args)
}

var errDown = errors.New("the mail server is down")

// Send keeps a letter.
func (w *world) Send(_ context.Context, l letters.Letter) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return errDown
	}
	w.sent = append(w.sent, l)
	return nil
}

// deliver runs the waiting jobs and returns the letters that they sent. A job that failed
// waits again.
func (w *world) deliver(t testing.TB) []letters.Letter {
	t.Helper()
	w.mu.Lock()
	waiting := w.jobs
	w.jobs, w.sent = nil, nil
	w.mu.Unlock()
	for _, args := range waiting {
		if err := w.Worker().Work(t.Context(), args); err != nil {
			if !errors.Is(err, errDown) {
				t.Fatal(err)
			}
			must(t, w.Enqueue(t.Context(), args))
		}
	}
	return w.sent
}

var sixDigits = regexp.MustCompile(`(?m)^[0-9]{6}$`)

// codeOf returns the code in a letter.
func codeOf(t testing.TB, l letters.Letter) string {
	t.Helper()
	found := sixDigits.FindAllString(l.Text, -1)
	if len(found) != 1 {
		t.Fatalf("the letter has no code on a line of its own:\n%s", l.Text)
	}
	return found[0]
}

// otherThan returns another code.
func otherThan(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

// call makes a call of an operation as the guardrails do.
func (w *world) call(ctx context.Context, p core.Principal, name, arguments string) (any, error) {
	for _, op := range w.Operations() {
		if op.Info().Name != name {
			continue
		}
		in, err := op.Decode(core.REST, []byte(arguments))
		if err != nil {
			return nil, err
		}
		c := &core.Call{Principal: p, Surface: core.REST, Now: w.clock()}
		if in, err = op.Prepare(ctx, c, in); err != nil {
			return nil, err
		}
		if op.Info().Effect == core.Reads {
			return op.Do(ctx, c, in)
		}
		var out any
		err = w.db.InTx(ctx, func(ctx context.Context) (err error) {
			out, err = op.Do(ctx, c, in)
			return err
		})
		return out, err
	}
	return nil, errors.New("no operation " + name)
}

func (w *world) start(t testing.TB, p core.Principal, email string) (senders.VerifiedSender, error) {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"email": email})
	must(t, err)
	out, err := w.call(t.Context(), p, "verified_senders_create", string(arguments))
	v, _ := out.(senders.VerifiedSender)
	return v, err
}

func (w *world) confirm(t testing.TB, p core.Principal, id, code string) (senders.VerifiedSender, error) {
	t.Helper()
	out, err := w.call(t.Context(), p, "verified_senders_confirm", `{"id":"`+id+`","code":"`+code+`"}`)
	v, _ := out.(senders.VerifiedSender)
	return v, err
}

func (w *world) remove(t testing.TB, p core.Principal, id string) error {
	t.Helper()
	_, err := w.call(t.Context(), p, "verified_senders_delete", `{"id":"`+id+`"}`)
	return err
}

func (w *world) list(t testing.TB, p core.Principal) []senders.VerifiedSender {
	t.Helper()
	out, err := w.call(t.Context(), p, "verified_senders_list", `{}`)
	must(t, err)
	return out.(core.Page[senders.VerifiedSender]).Items
}

// claimed starts the verification of an address and returns the claim and the mailed code.
func (w *world) claimed(t testing.TB, p core.Principal, email string) (senders.VerifiedSender, string) {
	t.Helper()
	v, err := w.start(t, p, email)
	must(t, err)
	sent := w.deliver(t)
	if len(sent) != 1 || sent[0].To != email {
		t.Fatalf("letters: %+v", sent)
	}
	return v, codeOf(t, sent[0])
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused fails the test unless the error has the code and its message contains the text.
func refused(t testing.TB, err error, code core.Code, text string) {
	t.Helper()
	if e := core.AsError(err); e == nil || e.Code != code || !regexp.MustCompile(text).MatchString(e.Message+" "+e.NextStep()) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}
