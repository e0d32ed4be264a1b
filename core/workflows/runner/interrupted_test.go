package runner_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	"github.com/mailhelm/mailhelm/core/workflows/runner"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// strikeKind says what happens to a process when its calls have used up their number.
type strikeKind int

const (
	// crash: all later calls of the process fail, as if it had ended.
	crash strikeKind = iota
	// outage: the call fails as if the database were away, and the next ones work.
	outage
	// fault: the call fails with an error of its own, and the next ones work.
	fault
	strikeKinds
)

var (
	errCrashed = errors.Join(errors.New("the process has ended"), context.Canceled)
	errFault   = errors.New("a fault by the test")
)

// mistake is a mistake that all processes of a world make, "" for none.
type mistake string

const (
	noTransactions mistake = "nothing is rolled back"
	noWakes        mistake = "changes of contacts wake no run"
	noForgetting   mistake = "entries are not removed"
	falseAnswers   mistake = "accepted messages are passed again"
)

// strikes lets one call of a process fail: before it does anything, or after it has done all. So
// a transaction is rolled back at any statement, or committed while the process believes that it
// was not. The zero value lets no call fail.
type strikes struct {
	mu      sync.Mutex
	kind    strikeKind
	left    int
	dead    bool
	mistake mistake
	// moved counts the calls that found something to do.
	moved *atomic.Int64
}

func (s *strikes) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return errCrashed
	}
	if s.left == 0 {
		return nil
	}
	if s.left--; s.left > 0 {
		return nil
	}
	switch s.kind {
	case crash:
		s.dead = true
		return errCrashed
	case outage:
		return core.TemporarilyUnavailable(errFault)
	}
	return errFault
}

// around calls f, unless the process fails before.
func (s *strikes) around(f func() error) error {
	if err := s.err(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return s.err()
}

// found is around for a call that returns what it has found.
func found[T any](s *strikes, f func() (T, error)) (got T, err error) {
	err = s.around(func() error { got, err = f(); return err })
	if n, isNumber := any(got).(int); isNumber && n > 0 {
		s.moved.Add(1)
	}
	return got, err
}

type struckTransactor struct {
	core.Transactor
	*strikes
}

func (s struckTransactor) InTx(ctx context.Context, f func(context.Context) error) error {
	return s.around(func() error {
		if s.mistake == noTransactions {
			return s.around(func() error { return f(ctx) })
		}
		return s.Transactor.InTx(ctx, func(ctx context.Context) error { return s.around(func() error { return f(ctx) }) })
	})
}

type struckStore struct {
	workflows.Store
	*strikes
}

func (s struckStore) Workflow(ctx context.Context, orgID, ref string) (workflows.Workflow, error) {
	return found(s.strikes, func() (workflows.Workflow, error) { return s.Store.Workflow(ctx, orgID, ref) })
}

func (s struckStore) Update(ctx context.Context, orgID string, w workflows.Workflow) error {
	return s.around(func() error { return s.Store.Update(ctx, orgID, w) })
}

// everyOrg is a limit of organizations that is never reached, because those of other seeds have
// work too.
const everyOrg = 1_000_000

type struckTimers struct {
	workflows.TimerStore
	*strikes
	org string
}

func (s struckTimers) Busy(ctx context.Context, now time.Time, _ int) ([]workflows.Busy, error) {
	all, err := s.TimerStore.Busy(ctx, now, everyOrg)
	return slices.DeleteFunc(all, func(b workflows.Busy) bool { return b.OrgID != s.org }), err
}

func (s struckTimers) Due(ctx context.Context, orgID, workflowID string, now time.Time, limit int) ([]workflows.Run, error) {
	due, err := found(s.strikes, func() ([]workflows.Run, error) { return s.TimerStore.Due(ctx, orgID, workflowID, now, limit) })
	s.moved.Add(int64(len(due)))
	return due, err
}

func (s struckTimers) Move(ctx context.Context, orgID, workflowID string, runs []workflows.Run, events []workflows.Event) error {
	return s.around(func() error { return s.TimerStore.Move(ctx, orgID, workflowID, runs, events) })
}

func (s struckTimers) EndRuns(ctx context.Context, orgID, workflowID string, now time.Time, limit int) (int, error) {
	return found(s.strikes, func() (int, error) { return s.TimerStore.EndRuns(ctx, orgID, workflowID, now, limit) })
}

type struckEntries struct {
	workflows.EntryStore
	*strikes
}

func (s struckEntries) Entries(ctx context.Context, orgID, workflowID string, limit int) ([]workflows.Entry, error) {
	entries, err := found(s.strikes, func() ([]workflows.Entry, error) { return s.EntryStore.Entries(ctx, orgID, workflowID, limit) })
	s.moved.Add(int64(len(entries)))
	return entries, err
}

func (s struckEntries) Forget(ctx context.Context, orgID, workflowID string, ids []string) error {
	if s.mistake == noForgetting {
		return nil
	}
	return s.around(func() error { return s.EntryStore.Forget(ctx, orgID, workflowID, ids) })
}

func (s struckEntries) Enroll(ctx context.Context, orgID, workflowID string, runs []workflows.Run, once bool) (int, error) {
	return found(s.strikes, func() (int, error) { return s.EntryStore.Enroll(ctx, orgID, workflowID, runs, once) })
}

type struckChanges struct {
	workflows.ChangeStore
	*strikes
	org string
}

func (s struckChanges) Touched(ctx context.Context, _ int) ([]string, error) {
	all, err := s.ChangeStore.Touched(ctx, everyOrg)
	return slices.DeleteFunc(all, func(id string) bool { return id != s.org }), err
}

func (s struckChanges) Wake(ctx context.Context, orgID string, now time.Time, limit int) (int, error) {
	if s.mistake == noWakes {
		return 0, nil
	}
	return found(s.strikes, func() (int, error) { return s.ChangeStore.Wake(ctx, orgID, now, limit) })
}

type struckMails struct {
	workflows.MailStore
	*strikes
	org string
}

func (s struckMails) OpenSends(ctx context.Context, _ int) ([]workflows.OpenSend, error) {
	all, err := s.MailStore.OpenSends(ctx, everyOrg)
	return slices.DeleteFunc(all, func(o workflows.OpenSend) bool { return o.OrgID != s.org }), err
}

func (s struckMails) AddMails(ctx context.Context, orgID string, mails []workflows.Mail, now time.Time) error {
	return s.around(func() error { return s.MailStore.AddMails(ctx, orgID, mails, now) })
}

func (s struckMails) Recipients(ctx context.Context, orgID string, of workflows.Send, keys []string) (map[string]workflows.Recipient, error) {
	return found(s.strikes, func() (map[string]workflows.Recipient, error) { return s.MailStore.Recipients(ctx, orgID, of, keys) })
}

func (s struckMails) Settle(ctx context.Context, orgID, sendID string, now time.Time, limit int) (int, error) {
	return found(s.strikes, func() (int, error) { return s.MailStore.Settle(ctx, orgID, sendID, now, limit) })
}

type struckSubjects struct {
	segments.SubjectStore
	*strikes
}

func (s struckSubjects) Subjects(ctx context.Context, q segments.SubjectQuery) (map[string]predicate.Subject, error) {
	return found(s.strikes, func() (map[string]predicate.Subject, error) { return s.SubjectStore.Subjects(ctx, q) })
}

type struckContacts struct {
	runner.Contacts
	*strikes
}

func (s struckContacts) SetAttributes(ctx context.Context, orgID, contactID string, values map[string]any) error {
	return s.around(func() error { return s.Contacts.SetAttributes(ctx, orgID, contactID, values) })
}

func (s struckContacts) AddToLists(ctx context.Context, orgID, contactID string, listIDs []string) error {
	return s.around(func() error { return s.Contacts.AddToLists(ctx, orgID, contactID, listIDs) })
}

type struckHandover struct {
	handover.Store
	*strikes
}

func (s struckHandover) Claim(ctx context.Context, orgID, sendID string, claimed []handover.Recipient, process string, now time.Time) error {
	s.moved.Add(int64(len(claimed)))
	return s.around(func() error { return s.Store.Claim(ctx, orgID, sendID, claimed, process, now) })
}

func (s struckHandover) Answer(ctx context.Context, orgID, sendID string, answers []handover.Answer, now time.Time) error {
	return s.around(func() error { return s.Store.Answer(ctx, orgID, sendID, answers, now) })
}

type struckAccount struct {
	handover.Sender
	*strikes
}

func (s struckAccount) Send(ctx context.Context, orgID string, m sending.Message) (string, error) {
	id, err := found(s.strikes, func() (string, error) { return s.Sender.Send(ctx, orgID, m) })
	if s.mistake == falseAnswers {
		return "", &sending.Failure{Kind: sending.Throttled, Err: errFault}
	}
	return id, err
}

// process is a server process with a runner and a mailer.
type process struct {
	runner *runner.Runner
	mailer *mailing.Mailer
	// stop stops the mailer when it waits for the account, because the clock stands still.
	stop context.CancelFunc
}

// newProcess returns a process whose calls fail as the strikes say.
func (w *world) newProcess(s *strikes) *process {
	s.mistake = w.mistake
	log := slog.New(slog.DiscardHandler)
	tx, mails := struckTransactor{w.db, s}, struckMails{workflowstore.NewMailStore(w.db.DB), s, w.org}
	steps := handover.New(handover.Config{
		Store: struckHandover{w.db.Handover(), s}, Limits: w.db.HandoverLimits(), Transactor: tx, Account: struckAccount{w, s}, Process: core.NewID(),
		Clock: w.Now, Wait: func(context.Context, time.Time) {}, Log: log,
		Rate: func(context.Context, string) (float64, error) { return 0, nil },
	})
	p := &process{}
	p.runner = runner.New(runner.Config{
		Store: struckStore{workflowstore.New(w.db.DB), s}, Timers: struckTimers{workflowstore.NewTimerStore(w.db.DB), s, w.org},
		Entries: struckEntries{workflowstore.NewEntryStore(w.db.DB), s}, Changes: struckChanges{workflowstore.NewChangeStore(w.db.DB), s, w.org},
		Mails: mails, Transactor: tx, Subjects: struckSubjects{w.db.Subjects(), s}, Schemas: w, Contacts: struckContacts{w, s},
		Revalidate: w.Revalidate, Clock: w.Now, Log: log,
	})
	p.mailer = mailing.New(mailing.Config{
		Store: mails, Steps: steps, Templates: w, Senders: w, Links: w, Wait: func(context.Context, time.Time) { p.stop() }, Clock: w.Now, Log: log,
		Finish: func(_ context.Context, _ string, c sending.Template) (sending.Template, error) { return c, nil },
	})
	return p
}

// look does the work that is due. It ignores errors: the process looks again, or it has ended.
func (p *process) look(ctx context.Context) {
	_ = p.runner.Look(ctx)
	p.runner.Join()
	ctx, p.stop = context.WithCancel(ctx)
	defer p.stop()
	_ = p.mailer.Look(ctx)
	p.mailer.Join()
}

// interrupt lets one or two processes work at the same time, each of which fails at a random
// call.
func (w *world) interrupt(ctx context.Context, random *rand.Rand, moved *atomic.Int64) {
	all := make([]*process, 1+random.IntN(2))
	for i := range all {
		all[i] = w.newProcess(&strikes{kind: strikeKind(random.IntN(int(strikeKinds))), left: 1 + random.IntN(60), moved: moved})
	}
	looks := 1 + random.IntN(3)
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() {
			for range looks {
				p.look(ctx)
			}
		})
	}
	running.Wait()
}
