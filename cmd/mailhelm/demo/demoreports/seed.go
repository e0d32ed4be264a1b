package demoreports

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage"
)

// Seeder gives the demo's organization DMARC reports. All fields are required.
type Seeder struct {
	DB    *storage.DB
	OrgID string
	// UserID is the person who decides about sources.
	UserID string
	// Address returns the address that receives the reports of the domain with a token. nil means
	// a mailbox of the owner, as for a server that others cannot reach.
	Address func(token string) string
	Clock   core.Clock
}

// Ensure polls the records of the domain as they were in the past, reads the reports, and decides
// about some sources. It does nothing if the domain has reports. It may be repeated after an
// interruption.
func (s Seeder) Ensure(ctx context.Context) error {
	now := s.Clock()
	store := s.DB.DomainAuth()
	if err := store.Enrol(ctx, s.OrgID, now.Add(-Days*day)); err != nil {
		return err
	}
	d, err := store.Domain(ctx, s.OrgID, Domain)
	if err != nil || d.LastReportAt != nil {
		return err
	}
	tokens, err := s.DB.Channels().Tokens(ctx, s.OrgID, []string{Domain})
	if err != nil {
		return err
	}
	address := "dmarc@" + Domain
	if s.Address != nil {
		address = s.Address(d.Token)
	}
	z := &zone{now: now, at: now, address: address, tokens: tokens[Domain]}
	m := s.measuring(z)
	if err := s.poll(ctx, m, z, d.ID); err != nil {
		return err
	}
	return s.DB.InTx(ctx, func(ctx context.Context) error {
		if err := s.read(ctx, z); err != nil {
			return err
		}
		if err := m.Refresh(ctx, s.OrgID, d.ID); err != nil {
			return err
		}
		return s.decide(ctx, d.ID, now)
	})
}

// measuring returns what polls the zone at its time, and computes findings and events.
func (s Seeder) measuring(z *zone) *measuring.Measuring {
	store := s.DB.DomainMeasuring()
	return measuring.New(measuring.Config{
		Polls: store, Refreshes: store, Purges: store, Enroller: s.DB.DomainAuth(), Tokens: s.DB.Channels(), Resolver: z, Queue: noQueue{},
		IsPolled: func(context.Context, string) (bool, error) { return true, nil },
		RowDays:  domainauth.RowDays, KeptDays: domainauth.RetentionDays,
		Orgs:  func(context.Context) ([]string, error) { return []string{s.OrgID}, nil },
		Clock: func() time.Time { return z.at }, Log: slog.New(slog.DiscardHandler),
	})
}

// noQueue takes no jobs: what the seeding needs is done at once.
type noQueue struct{}

func (noQueue) Enqueue(context.Context, jobs.Args) error             { return errors.ErrUnsupported }
func (noQueue) EnqueueOnce(context.Context, jobs.Args) (bool, error) { return false, nil }

// poll polls the domain before and after each change of its records, and now.
func (s Seeder) poll(ctx context.Context, m *measuring.Measuring, z *zone, domainID string) error {
	today := z.now.UTC().Truncate(day)
	times := []time.Time{today.Add(-Days * day)}
	for _, ago := range []time.Duration{SPFDay, PolicyDay} {
		changed := today.Add(-ago*day + changeTime)
		times = append(times, changed.Add(-20*time.Minute), changed.Add(100*time.Minute))
	}
	// A job of the server may have enrolled the domain already, with a poll that is due now.
	if _, _, err := s.DB.DomainMeasuring().Request(ctx, s.OrgID, domainID, times[0], times[0]); err != nil {
		return err
	}
	for _, at := range append(times, z.now) {
		z.at = at
		if err := m.PollWorker().Work(ctx, measuring.PollArgs{OrgID: s.OrgID, DomainID: domainID}); err != nil {
			return err
		}
	}
	return nil
}

// read reads the reports, each as if it had been read when it arrived.
func (s Seeder) read(ctx context.Context, z *zone) error {
	selector := "oven"
	if len(z.tokens) > 0 {
		selector = z.tokens[0]
	}
	files, err := Reports(z.now, selector)
	if err != nil {
		return err
	}
	senders := lookup.NewSenders(z, s.Clock).Networks(ctx)
	batch := intake.New(intake.Config{
		Store: s.DB.DMARCReports(), Transactor: s.DB, Clock: s.Clock, Senders: func() *sources.SenderNetworks { return senders },
	}).Batch()
	for _, f := range files {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Content)), nil }
		if _, err := batch.Add(ctx, intake.Target{OrgID: s.OrgID, ReceivedAt: f.ArrivedAt}, open); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// decision is what the person did about a source, a number of days ago.
type decision struct {
	source string
	figures.Decision
	ago int
}

// decisions has what the person decided. The rest is left to people who try the demo.
var decisions = []decision{
	{"Own mail of " + Domain, figures.Confirmed, 88},
	{"Google Workspace", figures.Confirmed, 88},
	{"Freshdesk", figures.Confirmed, 51},
	{"198.18.40.0/24", figures.Rejected, 31},
}

// decide stores the decisions, and a note.
func (s Seeder) decide(ctx context.Context, domainID string, now time.Time) error {
	store := s.DB.DomainAuth()
	names, err := store.Names(ctx, s.OrgID, domainID)
	if err != nil {
		return err
	}
	ids := map[string]string{}
	for id, name := range names {
		ids[name] = id
	}
	for _, d := range decisions {
		at := now.Add(-time.Duration(d.ago) * day)
		if err := store.Decide(ctx, s.OrgID, domainID, ids[d.source], d.Decision, s.UserID, at); err != nil {
			return err
		}
		title := core.Quote(d.source) + " was " + string(d.Decision)
		if err := s.event(ctx, domainID, domainauth.Event{Kind: timeline.SourceDecisions, Title: title, OccurredAt: at}); err != nil {
			return err
		}
	}
	note := "The helpdesk signs its mail now: we published the key that Freshdesk gave us."
	return s.event(ctx, domainID, domainauth.Event{Kind: timeline.Note, Title: "Note", Note: &note, OccurredAt: now.Add(-SignedDay * day)})
}

func (s Seeder) event(ctx context.Context, domainID string, e domainauth.Event) error {
	e.ID, e.ObservedAt = core.NewID(), e.OccurredAt
	return s.DB.DomainAuth().InsertEvent(ctx, s.OrgID, domainID, e, s.UserID)
}

// zone has the records of DNS at a time.
type zone struct {
	now, at time.Time
	address string
	// tokens are the selectors of the sending account.
	tokens []string
}

// TXT returns the TXT records of a name. The host of the report address agrees to receive reports.
func (z *zone) TXT(_ context.Context, name string) ([]string, error) {
	_, host, _ := strings.Cut(z.address, "@")
	if name == Domain+"._report._dmarc."+host {
		return []string{"v=DMARC1"}, nil
	}
	if text, found := Records(z.now, z.at, z.address)[name]; found {
		return []string{text}, nil
	}
	return nil, nil
}

// Exists reports whether a name has records.
func (z *zone) Exists(ctx context.Context, name string) (bool, error) {
	texts, err := z.TXT(ctx, name)
	return len(texts) > 0, err
}

// Alias returns the target of a key of the sending account.
func (z *zone) Alias(_ context.Context, name string) (string, error) {
	for _, token := range z.tokens {
		if name == token+"._domainkey."+Domain {
			return token + ".dkim.amazonses.com", nil
		}
	}
	return "", nil
}

// Addresses returns none.
func (*zone) Addresses(context.Context, string) ([]netip.Addr, error) { return nil, nil }

// Exchanges returns none.
func (*zone) Exchanges(context.Context, string) ([]string, error) { return nil, nil }

// Names returns none.
func (*zone) Names(context.Context, netip.Addr) ([]string, error) { return nil, nil }
