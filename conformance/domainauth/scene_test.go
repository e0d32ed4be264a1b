package domainauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage"
)

// scene is an organization with the domain of all histories, whose reports are read into a
// database, and whose records are polled.
type scene struct {
	*testing.T
	db  *storage.DB
	org string
	// domain is the name of the domain, and id its id.
	domain, id string
	now        time.Time
	zone       history.Zone
	ops        []core.Operation
	// server is called over HTTP instead of ops; nil means ops.
	server *server
	in     *intake.Reader
	of     *measuring.Measuring
	// imported says that all files come at once, so that what they show is known now.
	imported bool
	// names has the names of the sources by their ids.
	names map[string]string
}

// newSceneOf adds an organization with a domain, whose operations are called without HTTP.
func newSceneOf(t *testing.T, db *storage.DB, domain string, now time.Time) *scene {
	t.Helper()
	org := core.NewID()
	if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: org, Name: "Org", Slug: "org-" + org, Tier: "team", RetentionDays: 30}); err != nil {
		t.Fatal(err)
	}
	return newSceneIn(t, db, org, domain, nil, now)
}

// newSceneIn adds a domain to an organization.
func newSceneIn(t *testing.T, db *storage.DB, org, domain string, zone history.Zone, now time.Time) *scene {
	t.Helper()
	s := &scene{T: t, db: db, org: org, domain: domain, now: now, zone: maps.Clone(zone), names: map[string]string{}}
	store, polled := db.DomainAuth(), db.DomainMeasuring()
	s.must(store.AddDomain(t.Context(), s.org, domain, now))
	d, err := store.Domain(t.Context(), s.org, domain)
	s.must(err)
	s.id = d.ID
	clock := func() time.Time { return s.now }
	senders := lookup.NewSenders(s.zone, clock)
	s.in = intake.New(intake.Config{
		Store: db.DMARCReports(), Transactor: db, Clock: clock, Senders: func() *sources.SenderNetworks { return senders.Networks(t.Context()) },
	})
	s.of = measuring.New(measuring.Config{
		Polls: polled, Refreshes: polled, Purges: polled, Enroller: store, Tokens: db.Channels(), Resolver: s.zone, Queue: noQueue{},
		IsPolled: func(context.Context, string) (bool, error) { return true, nil },
		RowDays:  domainauth.RowDays, KeptDays: domainauth.RetentionDays,
		Orgs:  func(context.Context) ([]string, error) { return []string{s.org}, nil },
		Clock: clock, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 0 },
	})
	s.ops = domainauth.New(domainauth.Config{Store: store, Figures: store, Sources: store, Timeline: store}).Operations()
	return s
}

// noQueue refuses jobs: the tests call them.
type noQueue struct{}

func (noQueue) Enqueue(context.Context, jobs.Args) error             { return errors.ErrUnsupported }
func (noQueue) EnqueueOnce(context.Context, jobs.Args) (bool, error) { return false, nil }

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// poll asks DNS about the domain.
func (s *scene) poll() {
	s.Helper()
	s.must(s.of.PollWorker().Work(s.Context(), measuring.PollArgs{OrgID: s.org, DomainID: s.id}))
}

// read reads files, computes findings and events, and checks what is said about each file. inOrder
// says that they are in the order of their arrival.
func (s *scene) read(files []history.File, inOrder bool) {
	s.Helper()
	b := s.in.Batch()
	results := make([]*intake.Result, len(files))
	for i, f := range files {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Content)), nil }
		received := f.ArrivedAt
		if s.imported {
			received = s.now
		}
		r, err := b.Add(s.Context(), intake.Target{OrgID: s.org, FileID: core.NewID(), ReceivedAt: received}, open)
		s.must(err)
		results[i] = r
	}
	s.must(b.Flush(s.Context()))
	for i, f := range files {
		r := results[i]
		if r.Foreign != f.Foreign || r.TLSReports != f.TLS || r.Unusable > 0 || r.Reports+r.Duplicates != f.Reports+f.Copies || inOrder && r.Reports != f.Reports {
			s.Errorf("%s has %+v, expected %d reports, %d copies, %d foreign ones and %d about TLS", f.Name, *r, f.Reports, f.Copies, f.Foreign, f.TLS)
		}
	}
	s.must(s.of.Refresh(s.Context(), s.org, s.id))
}

// call calls an operation with arguments beside the domain, and decodes the answer as REST shows it.
func (s *scene) call(name, arguments string, out any) {
	s.Helper()
	arguments = `{"domain":"` + s.domain + `"` + arguments + `}`
	if s.server != nil {
		s.must(json.Unmarshal(s.server.call(s.T, s.now, name, arguments), out))
		return
	}
	op := s.ops[slices.IndexFunc(s.ops, func(o core.Operation) bool { return o.Info().Name == name })]
	in, err := op.Decode(core.REST, []byte(arguments))
	s.must(err)
	c := &core.Call{Principal: core.Principal{Org: core.Org{ID: s.org}, UserID: "0198c5a0-0000-7000-8000-000000000001"}, Surface: core.REST, Now: s.now}
	defer c.Finish()
	var answer any
	do := func(ctx context.Context) error {
		answer, err = op.Do(ctx, c, in)
		return err
	}
	if op.Info().Effect == core.Reads {
		s.must(do(s.Context()))
	} else {
		s.must(s.db.InTx(s.Context(), do))
	}
	text, err := json.Marshal(op.View(core.REST, answer))
	s.must(err)
	s.must(json.Unmarshal(text, out))
}
