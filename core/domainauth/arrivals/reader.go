package arrivals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// LookEvery is how often a reader looks for files. Usually it is woken before.
const LookEvery = 2 * time.Second

const (
	// maxReading is how many files a process reads at the same time. Each takes a processor, and
	// up to 32 MB of memory.
	maxReading = 2
	// lease is how long no other process reads a file. It is extended while the file is read, so
	// that large ones may take longer, and a file whose process was killed waits a minute only.
	lease, extendEvery = time.Minute, 15 * time.Second
	// readTime bounds an attempt.
	readTime = 30 * time.Minute
	// queueTime bounds a claim, which the end of the process does not interrupt.
	queueTime = 5 * time.Second
	// firstDelay and longestDelay are the shortest and longest wait after a failure. The waits
	// double. After maxAttempts, in four days, the file has failed.
	firstDelay, longestDelay = 5 * time.Second, time.Hour
	maxAttempts              = 100
	// dnsTime bounds the questions about one file. After maxUnanswered attempts, in about six hours,
	// a file about whose reporter DNS does not answer is held: strangers choose its name servers, and
	// those that never answer would take the time of other files.
	dnsTime       = 10 * time.Second
	maxUnanswered = 14
)

// ReaderConfig configures a [Reader]. All fields are required, unless their comments say what the
// zero value means.
type ReaderConfig struct {
	Queue      Queue
	Stores     objects.Stores
	Transactor core.Transactor
	Intake     Intake
	// Resolver returns what asks DNS for one file. It is nil without DNS; then the From domain must be
	// that of the reporter.
	Resolver func() dmarc.Resolver
	// ExtendEvery is how often the lease of a file is extended; 0 means every 15 seconds.
	ExtendEvery time.Duration
	Clock       core.Clock
	Log         *slog.Logger
}

// Reader reads files that arrived. Every process with workers has one; several share the queue.
type Reader struct {
	*workpool.Pool[*claimed]
	cfg     ReaderConfig
	putOffs *workpool.Results[putOff]
}

// claimed is a file that this process has claimed.
type claimed struct {
	File
	// unextended ends the extension of the lease, and waits until it has ended. Otherwise an
	// extension could replace the time at which the file is due next.
	unextended func()
}

// putOff is a file that is due again at a time, or never if that is zero.
type putOff struct {
	File
	due time.Time
}

// NewReader returns a Reader that does nothing yet.
func NewReader(cfg ReaderConfig) *Reader {
	r := &Reader{cfg: cfg}
	r.putOffs = workpool.NewResults(cfg.Clock, r.storePutOff)
	r.Pool = workpool.New(workpool.Config[*claimed]{
		Limit: maxReading, RetryAfter: time.Second, Before: r.putOffs.Retry, Find: r.find, Do: r.do, Clock: cfg.Clock, Log: cfg.Log,
		FindFailed: "DMARC reports that arrived could not be looked for", DoFailed: "a DMARC report that arrived could not be put off",
		Attributes: func(f *claimed) []any { return []any{"org_id", f.OrgID, "file_id", f.ID} },
	})
	return r
}

// Run reads files until ctx ends, and returns when none is being read.
func (r *Reader) Run(ctx context.Context) {
	ticker := time.NewTicker(LookEvery)
	defer ticker.Stop()
	r.Follow(ctx, ticker.C)
	r.putOffs.End(core.WithLane(ctx, core.Background))
}

// ReadDue reads the files that are due now, and returns when they are read. Tests call it in place
// of Run.
func (r *Reader) ReadDue(ctx context.Context) error {
	err := r.Look(ctx)
	r.Join()
	return err
}

// find claims files. The end of ctx does not interrupt it: a claim without a holder would delay
// the file.
func (r *Reader) find(ctx context.Context, room int) ([]*claimed, error) {
	now := r.cfg.Clock()
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), queueTime)
	defer cancel()
	files, err := r.cfg.Queue.ClaimFiles(lasting, now, now.Add(lease), room)
	all := make([]*claimed, len(files))
	for i := range files {
		all[i] = &claimed{File: files[i]}
	}
	if len(files) == room {
		r.Wake() // there may be more
	}
	return all, err
}

// errClaimedAgain means that another process has claimed the file, because this one was slow.
var errClaimedAgain = errors.New("domainauth: the file was claimed again")

// do reads a file. After a failure it is due again later. One that the end of the process
// interrupted is due at once. A result that an outage of the database interrupts is stored when it
// answers again.
func (r *Reader) do(ctx context.Context, f *claimed) (time.Time, error) {
	err := r.guarded(ctx, f)
	if err == nil || errors.Is(err, errClaimedAgain) {
		return time.Time{}, nil
	}
	result := putOff{File: f.File, due: r.cfg.Clock()}
	until := result.due.Add(lease) // it was extended at any time until now
	if ctx.Err() == nil {
		delay := delayAfter(f.Attempts)
		r.cfg.Log.ErrorContext(ctx, "a DMARC report that arrived could not be read; it is tried again",
			"org_id", f.OrgID, "file_id", f.ID, "attempts", f.Attempts, "next_in", delay, "error", err)
		result.due = result.due.Add(delay)
		if f.Attempts >= maxAttempts {
			result.due = time.Time{}
		}
	}
	return time.Time{}, r.putOffs.Store(ctx, result, until)
}

// storePutOff makes a file due again, or gives it up.
func (r *Reader) storePutOff(ctx context.Context, o putOff) error {
	if o.due.IsZero() {
		return r.giveUp(ctx, o.File)
	}
	_, err := r.cfg.Queue.PutOff(ctx, o.File, o.due)
	return err
}

// giveUp ends the attempts to read a file, or to delete its objects. The sweep of received mail
// deletes these later.
func (r *Reader) giveUp(ctx context.Context, f File) error {
	if f.State == Waiting || f.State == Held {
		f.State, f.Problem = Failed, "This file could not be read, although it was tried for several days. The log of the server says why."
	}
	f.Stored, f.DueAt, f.UpdatedAt = Stored{}, time.Time{}, r.cfg.Clock()
	_, err := r.cfg.Queue.SaveFile(ctx, f)
	return err
}

// delayAfter returns the wait after a number of failed attempts.
func delayAfter(attempts int) time.Duration {
	delay := firstDelay
	for i := 1; i < attempts && delay < longestDelay; i++ {
		delay *= 2
	}
	return min(delay, longestDelay)
}

// guarded reads a file while it extends the lease. A panic becomes an error.
func (r *Reader) guarded(ctx context.Context, f *claimed) (err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	bounded, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	leased, unlease := context.WithCancel(bounded)
	defer unlease()
	var extending sync.WaitGroup
	file := f.File
	extending.Go(func() { r.extend(leased, file, end) })
	f.unextended = func() {
		unlease()
		extending.Wait()
	}
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(core.PanicText(v))
		}
		f.unextended()
		if errors.Is(context.Cause(ctx), errClaimedAgain) {
			err = errClaimedAgain
		}
	}()
	return r.read(bounded, f)
}

// extend extends the lease of a file until ctx ends. If the lease was lost, it ends the attempt.
func (r *Reader) extend(ctx context.Context, f File, end context.CancelCauseFunc) {
	ticker := time.NewTicker(cmp.Or(r.cfg.ExtendEvery, extendEvery))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// After an error the lease may still be extended before it ends.
		if held, err := r.cfg.Queue.PutOff(ctx, f, r.cfg.Clock().Add(lease)); err == nil && !held {
			end(errClaimedAgain)
			return
		}
	}
}

// read decides about a file, reads it and deletes its objects.
func (r *Reader) read(ctx context.Context, f *claimed) error {
	switch {
	case f.State == Read || f.State == Failed: // only its objects are left
		f.unextended()
		return r.discard(ctx, f.File)
	case !r.cfg.Clock().Before(f.ReceivedAt.Add(Kept)):
		return r.finish(ctx, f, Failed, "The reporter was not accepted within 90 days, so the file was deleted.")
	}
	domain, err := r.cfg.Queue.DomainName(ctx, f.OrgID, f.DomainID)
	if core.IsNotFound(err) {
		return r.finish(ctx, f, Failed, "The domain to which this report was sent is not monitored any more.")
	}
	if err != nil {
		return err
	}
	answer, err := r.admission(ctx, f.File, domain)
	if core.IsNotFound(err) {
		return r.finish(ctx, f, Failed, "This file is not in the storage of received mail any more.")
	}
	if err != nil {
		return err
	}
	f.Reporter = answer.reporter
	if answer.problem != "" {
		return r.hold(ctx, f, answer.problem)
	}
	return r.take(ctx, f, domain)
}

// admission decides whether a file counts.
func (r *Reader) admission(ctx context.Context, f File, domain string) (admission, error) {
	body, err := open(ctx, r.cfg.Stores, f)
	if err != nil {
		return admission{}, err
	}
	defer body.Close()
	reporters, err := reportersOf(body, domain, r.cfg.Intake.ReporterOf)
	if err != nil {
		return admission{}, fmt.Errorf("domainauth: read file: %w", err)
	}
	decisions, err := r.cfg.Queue.Decisions(ctx, f.OrgID, reporters)
	if err != nil {
		return admission{}, err
	}
	var dns dmarc.Resolver
	if r.cfg.Resolver != nil {
		dns = r.cfg.Resolver()
	}
	bounded, cancel := context.WithTimeout(ctx, dnsTime)
	defer cancel()
	answer, err := admit(bounded, dns, f, reporters, decisions)
	if err != nil && ctx.Err() == nil && f.Attempts >= maxUnanswered {
		return answer, nil
	}
	return answer, err
}

// hold keeps a file for a decision. If a person accepted the reporter in the same moment, it is due
// at once.
func (r *Reader) hold(ctx context.Context, f *claimed, problem string) error {
	f.unextended()
	return r.cfg.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := r.cfg.Clock()
		decision, err := r.cfg.Queue.LockDecision(ctx, f.OrgID, f.Reporter, now)
		if err != nil {
			return err
		}
		held := f.File
		held.State, held.Problem, held.UpdatedAt, held.DueAt = Held, problem, now, f.ReceivedAt.Add(Kept)
		if decision == Accepted {
			held.DueAt = now
		}
		return saved(r.cfg.Queue.SaveFile(ctx, held))
	})
}

// take passes a file to the intake, and stores what it had.
func (r *Reader) take(ctx context.Context, f *claimed, domain string) error {
	found, err := r.cfg.Intake.Read(ctx, f.File, domain, func() (io.ReadCloser, error) {
		return open(ctx, r.cfg.Stores, f.File)
	})
	problem := problemOf(err)
	if err != nil && problem == "" {
		return err
	}
	if f.Counts, err = countsOf(ctx, r.cfg.Queue, f.File, found); err != nil {
		return err
	}
	state, problem := conclude(f.Counts, found.Unusable, problem)
	return r.finish(ctx, f, state, problem)
}

// countsOf returns what a file had. Reports that an interrupted attempt counted are no duplicates.
func countsOf(ctx context.Context, q Queue, f File, found Found) (Counts, error) {
	c := found.Counts
	if c.Duplicates == 0 {
		return c, nil
	}
	counted, err := q.CountReports(ctx, f.OrgID, f.ID)
	if before := counted - c.Reports; before > 0 {
		c.Reports, c.Duplicates = counted, max(0, c.Duplicates-before)
	}
	return c, err
}

// conclude returns the state of a file that was read, and its problem.
func conclude(c Counts, unusable int, problem string) (State, string) {
	if unusable > 0 {
		problem = strings.TrimSpace("Some reports were left out: they do not say which day they are about, or it is too long ago or in the future. " + problem)
	}
	switch {
	case c != (Counts{}):
		return Read, problem
	case problem == "":
		problem = problemOf(report.ErrNotReport)
	}
	return Failed, problem
}

// problemOf returns the text for people about content that cannot be read, "" for any other error.
func problemOf(err error) string {
	switch {
	case errors.Is(err, report.ErrTooLarge):
		return "This file was not read to its end, because it is far larger than any DMARC report when it is unpacked."
	case errors.Is(err, errEncrypted):
		return "This file is encrypted by the service that stored it, so it cannot be read. Turn off message encryption there."
	case errors.Is(err, report.ErrCorrupt):
		return "This file is damaged, so it cannot be unpacked."
	case errors.Is(err, report.ErrTLSReport):
		return "This is a report about encryption between mail servers (TLS), which has nothing about who sends in your name."
	case errors.Is(err, report.ErrNotReport):
		return "This file is not a DMARC report."
	}
	return ""
}

// finish stores the result of a file, and deletes its objects. If the process ends in between, the
// file is due again.
func (r *Reader) finish(ctx context.Context, f *claimed, s State, problem string) error {
	f.unextended()
	next, now := f.File, r.cfg.Clock()
	next.State, next.Problem, next.UpdatedAt, next.DueAt = s, problem, now, now.Add(lease)
	if err := saved(r.cfg.Queue.SaveFile(ctx, next)); err != nil {
		return err
	}
	f.File = next // a failure below must not undo it
	return r.discard(ctx, next)
}

// discard deletes the objects of a file that is not read again. A store that the organization no
// longer has keeps them.
func (r *Reader) discard(ctx context.Context, f File) error {
	store, err := r.cfg.Stores.At(ctx, f.OrgID, f.Stored.StoreID)
	switch {
	case core.IsNotFound(err):
		r.cfg.Log.WarnContext(ctx, "objects of received mail stay in a store that the organization no longer has", "org_id", f.OrgID, "message_id", f.MessageID)
	case err != nil:
		return err
	default:
		if err := store.Delete(ctx, f.Stored.keys()...); err != nil {
			return fmt.Errorf("domainauth: delete file: %w", err)
		}
	}
	f.Stored, f.DueAt = Stored{}, time.Time{}
	return saved(r.cfg.Queue.SaveFile(ctx, f))
}

// saved returns the error of a call of SaveFile.
func saved(done bool, err error) error {
	if err == nil && !done {
		err = errClaimedAgain
	}
	return err
}
