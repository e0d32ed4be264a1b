package handover

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// Mailing is the message of a send, and who of its recipients may get it. The package of the
// send implements it, such as the package of broadcasts.
type Mailing interface {
	// Running returns how many of up to want recipients may be claimed now: none if the send
	// does not go on. It is called in the transaction that claims recipients, and locks the
	// record of the send until that ends, so that no recipient is claimed after a pause or an
	// end was stored.
	Running(ctx context.Context, orgID string, want int, now time.Time) (Allowance, error)
	// Claimed is called in the same transaction with the number of recipients that it claims,
	// for a send that has a rate of its own.
	Claimed(ctx context.Context, orgID string, recipients int, now time.Time) error
	// Application returns the id of the application that asked for the send, whose daily cap
	// applies; "" for a person or a key.
	Application() string
	// Filter returns, by key, the tiers of those recipients that must not get the message. It
	// is called in the transaction that claims the others, and reads the consent there.
	Filter(ctx context.Context, orgID string, recipients []Recipient) (map[string]Tier, error)
	// Message returns the message to a recipient. After an error the recipient is failed, and
	// the error is logged.
	Message(ctx context.Context, orgID string, r Recipient) (sending.Message, error)
}

// Sender passes messages to the sending accounts of organizations; see [sending.Sender].
type Sender interface {
	Send(ctx context.Context, orgID string, m sending.Message) (messageID string, err error)
	SendBulk(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error)
}

// Config configures [Handover]. All fields but Accepted are required.
type Config struct {
	Store      Store
	Limits     LimitStore
	Transactor core.Transactor
	Account    Sender
	// Rate returns how many messages a second the account of an organization accepts; 0 means
	// any number. All workers of the organization share it.
	Rate func(ctx context.Context, orgID string) (float64, error)
	// Accepted gets the messages that the account accepted in a step, before their outcomes
	// are stored. It may be nil.
	Accepted func(ctx context.Context, orgID string, sent []SentMessage)
	// ErasedAddresses returns those of the addresses that must get no mail, because a person
	// was erased who had opted out or whose address bounced. nil means none.
	ErasedAddresses func(ctx context.Context, orgID string, emails []string) (map[string]bool, error)
	// Wait waits until the time, or until ctx ends.
	Wait func(ctx context.Context, until time.Time)
	// Process is the id of this server process.
	Process string
	Clock   core.Clock
	Log     *slog.Logger
}

// SentMessage is a message that the account accepted, without its bodies.
type SentMessage struct {
	ID      string // of the provider
	Message sending.Message
	At      time.Time
}

// Handover passes messages to sending accounts.
type Handover struct {
	Config
	// singlesUntil has, by organization, the time until which no bulk call is made, a time.Time.
	singlesUntil sync.Map
}

// New returns a Handover.
func New(cfg Config) *Handover { return &Handover{Config: cfg} }

const (
	// batch is the maximum number of recipients that a step claims. A crash leaves at most this
	// many recipients of each step unresolved. A step claims fewer if the account accepts fewer
	// messages in batchTime, so that a pause of the send takes effect soon.
	batch     = 50
	batchTime = time.Second
	// parallel is the number of messages that a step passes to the account at the same time. An
	// account far away takes some tens of milliseconds for each.
	parallel = 25
	// callTimeout limits a call of the account, and storeTimeout the storing of answers. Both
	// continue when the server stops: the outcome of a call that is cut off is unknown.
	callTimeout  = 20 * time.Second
	storeTimeout = 10 * time.Second
	// maxAhead is how far ahead of its time a worker claims recipients. If the rate of the
	// account is used up for longer, no recipient is claimed.
	maxAhead = 2 * time.Second
	// headroom is how much longer than the rate of the account demands a message takes. An
	// account counts the messages of each second. At its exact rate, two messages that arrive
	// a little nearer to each other than planned would exceed it.
	headroom = 1.05
	// retryAfter is the wait after an account that accepts no message now, unless it asks for
	// another.
	retryAfter = 30 * time.Second
)

// Progress is the result of a step.
type Progress struct {
	// Claimed and Filtered are the numbers of recipients that the step claimed and filtered.
	// Both are 0 if no recipient is due, if the send does not run, or if Wait is set.
	Claimed, Filtered int
	// Released is the number of claimed recipients that are pending again, because the account
	// did not accept their messages now.
	Released int
	// Wait is the time before which the next step has nothing to do, because the account's
	// rate or that of the send is used up or the account is throttling; zero if there is no
	// reason to wait.
	Wait time.Time
	// Hold is the limit because of which nothing was claimed, "" for none.
	Hold Hold
}

// Step passes the messages of up to 50 recipients of a send to the account, at the account's
// rate, and stores their outcomes. Several processes may call it for one send at the
// same time.
func (h *Handover) Step(ctx context.Context, orgID, sendID string, m Mailing) (Progress, error) {
	each, err := h.each(ctx, orgID)
	if err != nil {
		return Progress{}, err
	}
	free, err := h.Store.FreeAt(ctx, orgID)
	if err != nil {
		return Progress{}, err
	}
	if begin := free.Add(-maxAhead); begin.After(h.Clock()) {
		return Progress{Wait: begin}, nil
	}
	claimed, err := h.claim(ctx, orgID, sendID, m, each)
	if err != nil || len(claimed.recipients) == 0 {
		return Progress{Filtered: claimed.filtered, Wait: claimed.allowance.Until, Hold: claimed.allowance.Hold}, err
	}
	answers, sent := h.passAll(ctx, orgID, m, claimed)
	h.report(ctx, orgID, sent)
	done := Progress{Claimed: len(claimed.recipients), Filtered: claimed.filtered, Released: countReleased(answers), Wait: pausedUntil(answers)}
	err = h.storeInTime(ctx, func(ctx context.Context, again bool) error {
		return h.storeAnswers(ctx, orgID, sendID, m, claimed.day, answers, again)
	})
	if !done.Wait.IsZero() {
		err = errors.Join(err, h.storeInTime(ctx, func(ctx context.Context, _ bool) error { return h.Store.Pause(ctx, orgID, done.Wait) }))
	}
	return done, err
}

// storeInTime stores an answer of the account, also after an outage of the database of up to Patience,
// when the attempts are given up.
func (h *Handover) storeInTime(ctx context.Context, store func(ctx context.Context, again bool) error) error {
	return workpool.Persist{Clock: h.Clock, Timeout: storeTimeout, Wait: h.Wait}.Until(ctx, h.Clock().Add(Patience), store)
}

// report passes messages to Accepted. It has a time limit of its own, so that the outcomes are
// stored also if Accepted hangs.
func (h *Handover) report(ctx context.Context, orgID string, sent []SentMessage) {
	if h.Accepted == nil || len(sent) == 0 {
		return
	}
	reporting, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	h.Accepted(reporting, orgID, sent)
}

// storeAnswers stores the answers of the account. Recipients that it released do not count in
// the cap of the application on the day of their claim, because they got no mail. If again is
// true, they do: an earlier call may have been committed, and must not give them back twice.
func (h *Handover) storeAnswers(ctx context.Context, orgID, sendID string, m Mailing, day int, answers []Answer, again bool) error {
	released := countReleased(answers)
	if released == 0 || again || m.Application() == "" {
		return h.Store.Answer(ctx, orgID, sendID, answers, h.Clock())
	}
	return h.Transactor.InTx(ctx, func(ctx context.Context) error {
		// first the day and then the recipients, as a claim locks them
		if err := h.Limits.GiveBack(ctx, orgID, m.Application(), day, released); err != nil {
			return err
		}
		return h.Store.Answer(ctx, orgID, sendID, answers, h.Clock())
	})
}

// countReleased returns the number of answers after which a recipient is pending again.
func countReleased(answers []Answer) int {
	released := 0
	for _, a := range answers {
		if a.Verdict == Released {
			released++
		}
	}
	return released
}

// each returns the time that each message takes a little below the rate of the account, 0 for
// an account without a limit.
func (h *Handover) each(ctx context.Context, orgID string) (time.Duration, error) {
	perSecond, err := h.Rate(ctx, orgID)
	if err != nil || perSecond <= 0 {
		return 0, err
	}
	return time.Duration(float64(time.Second) * headroom / perSecond), nil
}

// batchAt returns how many recipients a step claims if each message takes the time each.
func batchAt(each time.Duration) int {
	if each == 0 {
		return batch
	}
	return max(1, min(batch, int(batchTime/each)))
}

// pausedUntil returns the latest time before which the account accepts no message, as its
// answers say; zero if none does.
func pausedUntil(answers []Answer) time.Time {
	var until time.Time
	for _, a := range answers {
		if a.Verdict == Released && a.NotBefore.After(until) {
			until = a.NotBefore
		}
	}
	return until
}

// claim is the result of claiming recipients.
type claim struct {
	// allowance says why nothing was claimed, if that is because of a limit.
	allowance  Allowance
	recipients []Recipient
	filtered   int // the number of recipients that were filtered
	// start is when the first message may be passed, and each the time from one message to
	// the next.
	start time.Time
	each  time.Duration
	// day is the day in whose cap the recipients count.
	day int
}

// claim filters and claims recipients in one transaction, and reserves the time for their
// messages.
func (h *Handover) claim(ctx context.Context, orgID, sendID string, m Mailing, each time.Duration) (claim, error) {
	var done claim
	err := h.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := h.Clock()
		done = claim{each: each, day: dayOf(now)} // the transaction may run again
		due, err := h.due(ctx, orgID, sendID, m, &done, now)
		if err != nil || len(due) == 0 {
			return err
		}
		tiers, err := m.Filter(ctx, orgID, due)
		if err == nil {
			tiers, err = h.filterErased(ctx, orgID, due, tiers)
		}
		if err != nil {
			return err
		}
		var filtered []Recipient
		for _, r := range due {
			next, ok := r.Claim(h.Process, now)
			if tier, out := tiers[r.Key]; out {
				r.Tier = tier
				filtered = append(filtered, r)
			} else if ok {
				done.recipients = append(done.recipients, next)
			}
		}
		done.filtered = len(filtered)
		if err := h.Store.Filter(ctx, orgID, sendID, filtered, now); err != nil {
			return err
		}
		if err := h.Store.Claim(ctx, orgID, sendID, done.recipients, h.Process, now); err != nil {
			return err
		}
		if err := h.count(ctx, orgID, m, len(done.recipients), now); err != nil {
			return err
		}
		done.start, err = h.Store.Reserve(ctx, orgID, len(done.recipients), each, now) // last: it is what workers wait for
		return err
	})
	if err != nil {
		return claim{}, err
	}
	return done, nil
}

// due returns the recipients that the send and the limits permit to claim now. If a limit
// permits none, it stores that in done.
func (h *Handover) due(ctx context.Context, orgID, sendID string, m Mailing, done *claim, now time.Time) ([]Recipient, error) {
	allowed, err := m.Running(ctx, orgID, batchAt(done.each), now)
	if err == nil && allowed.Recipients > 0 {
		allowed, err = h.allow(ctx, orgID, m, allowed.Recipients, now)
	}
	if err != nil || allowed.Recipients == 0 {
		done.allowance = allowed
		return nil, err
	}
	return h.Store.Pending(ctx, orgID, sendID, now, allowed.Recipients)
}

// count counts claimed recipients for the rate of the send and the cap of its application.
func (h *Handover) count(ctx context.Context, orgID string, m Mailing, recipients int, now time.Time) error {
	if recipients == 0 {
		return nil
	}
	if err := m.Claimed(ctx, orgID, recipients, now); err != nil || m.Application() == "" {
		return err
	}
	return h.Limits.Use(ctx, orgID, m.Application(), dayOf(now), recipients)
}

// passed is a message that was passed to the account, without its bodies, and the answer.
type passed struct {
	answer  Answer
	message sending.Message
}

// passAll passes the messages to the account. It returns its answers and the messages that it
// accepted. There is no answer for a recipient whose outcome is unknown. After the account has
// said that it accepts no message now, the remaining recipients are released without a call.
func (h *Handover) passAll(ctx context.Context, orgID string, m Mailing, claimed claim) (answers []Answer, sent []SentMessage) {
	var mu sync.Mutex
	var until time.Time // when the account may accept messages again
	note := func(p passed) {
		mu.Lock()
		defer mu.Unlock()
		a := p.answer
		if a.Verdict == Accepted {
			sent = append(sent, SentMessage{a.MessageID, p.message, h.Clock()})
		}
		if a.Verdict == Released && a.NotBefore.After(until) {
			until = a.NotBefore
		}
		answers = append(answers, a)
	}
	paused := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return until
	}
	var running sync.WaitGroup
	size := h.bulkSize(orgID, m, claimed.each)
	calls := slices.Collect(slices.Chunk(claimed.recipients, size))
	for first := range min(parallel, len(calls)) {
		running.Go(func() {
			for i := first; i < len(calls); i += parallel {
				h.Wait(ctx, claimed.start.Add(time.Duration(i*size)*claimed.each))
				if wait := paused(); !wait.IsZero() || ctx.Err() != nil {
					for _, r := range calls[i] {
						note(passed{answer: r.released(later(wait, h.Clock()))})
					}
					continue
				}
				h.passCall(ctx, orgID, m, calls[i], note)
			}
		})
	}
	running.Wait()
	return answers, sent
}

// passCall passes the messages of one call: one message, or several in a bulk.
func (h *Handover) passCall(ctx context.Context, orgID string, m Mailing, recipients []Recipient, note func(passed)) {
	if bulk, ok := m.(BulkMailing); ok && len(recipients) > 1 {
		h.passBulk(ctx, orgID, bulk, recipients, note)
		return
	}
	h.passSingles(ctx, orgID, m, recipients, note)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pass passes the message to one recipient. It reports false if the outcome is unknown.
func (h *Handover) pass(ctx context.Context, orgID string, m Mailing, r Recipient) (done passed, known bool) {
	defer func() {
		if v := recover(); v != nil {
			h.Log.ErrorContext(ctx, "passing a message panicked", "org_id", orgID, "send_id", r.SendID, "recipient", r.Key, "error", core.PanicText(v))
			known = false
		}
	}()
	answer := r.answered("")
	message, err := makeMessage(ctx, orgID, m, r)
	if err != nil {
		return passed{answer: h.unmade(ctx, orgID, r, err)}, true
	}
	message.Tags = withTags(map[string]string{core.SendTag: r.SendID, core.RecipientTag: r.Key}, message.Tags)
	calling, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	answer.MessageID, err = h.Account.Send(calling, orgID, message)
	if err != nil {
		h.Log.WarnContext(ctx, "the sending account did not accept a message", "org_id", orgID, "send_id", r.SendID, "recipient", r.Key, "error", err)
		answer, known = judge(answer, err, h.Clock())
		return passed{answer: answer}, known
	}
	answer.Verdict = Accepted
	message.Content.Text, message.Content.HTML = "", "" // frees the memory
	return passed{answer, message}, true
}

// unmade logs that the message to a recipient could not be made, and returns the answer.
func (h *Handover) unmade(ctx context.Context, orgID string, r Recipient, err error) Answer {
	h.Log.WarnContext(ctx, "a message could not be made", "org_id", orgID, "send_id", r.SendID, "recipient", r.Key, "error", err)
	return r.refused("The message could not be made from its template.")
}

// withTags returns tags with those of a message.
func withTags(tags, ofMessage map[string]string) map[string]string {
	all := maps.Clone(tags)
	maps.Copy(all, ofMessage)
	return all
}

// makeMessage returns the message to a recipient. A panic becomes an error.
func makeMessage(ctx context.Context, orgID string, m Mailing, r Recipient) (message sending.Message, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(core.PanicText(v))
		}
	}()
	return m.Message(ctx, orgID, r)
}
