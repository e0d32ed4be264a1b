package domainauth

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/storage"
)

// scene is an organization with a domain, whose reports are read into a database.
type scene struct {
	*testing.T
	db  *storage.DB
	org string
	now time.Time
	ops []core.Operation
	in  *intake.Reader
}

// newScene adds an organization with the domain of all histories, as DNS has it in a history.
func newScene(t *testing.T, db *storage.DB, h *history.History, now time.Time) *scene {
	t.Helper()
	s := &scene{T: t, db: db, org: core.NewID(), now: now}
	s.must(db.Orgs().InsertOrg(t.Context(), core.Org{ID: s.org, Name: "Org", Slug: "org-" + s.org, Tier: "team", RetentionDays: 30}))
	s.must(db.DomainAuth().AddDomain(t.Context(), s.org, history.Domain, now))
	clock := func() time.Time { return now }
	senders := lookup.NewSenders(h.Zone, clock)
	snapshot := lookup.Look(t.Context(), h.Zone, lookup.Domain{Name: history.Domain}, lookup.Snapshot{}, now)
	s.in = intake.New(intake.Config{
		Store: knownReports{db.DMARCReports(), &snapshot}, Transactor: db, Clock: clock, Senders: func() *sources.SenderNetworks { return senders.Networks(t.Context()) },
	})
	store := db.DomainAuth()
	s.ops = domainauth.New(domainauth.Config{Store: knownDomains{store, &snapshot, now}, Figures: store, Sources: store, Timeline: store}).Operations()
	return s
}

// knownReports and knownDomains have what DNS says.
type (
	knownReports struct {
		intake.Store
		snapshot *lookup.Snapshot
	}
	knownDomains struct {
		domainauth.Store
		snapshot *lookup.Snapshot
		at       time.Time
	}
)

func (k knownReports) Target(ctx context.Context, orgID, name string) (intake.Domain, error) {
	d, err := k.Store.Target(ctx, orgID, name)
	d.Snapshot = k.snapshot
	return d, err
}

func (k knownDomains) Domain(ctx context.Context, orgID, name string) (domainauth.Domain, error) {
	d, err := k.Store.Domain(ctx, orgID, name)
	d.Snapshot, d.MeasuredAt = k.snapshot, &k.at
	return d, err
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// read reads files, and checks what is said about each. inOrder says that they are in the order of
// their arrival.
func (s *scene) read(files []history.File, inOrder bool) {
	s.Helper()
	b := s.in.Batch()
	results := make([]*intake.Result, len(files))
	for i, f := range files {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Content)), nil }
		r, err := b.Add(s.Context(), intake.Target{OrgID: s.org, FileID: core.NewID(), ReceivedAt: f.ArrivedAt}, open)
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
}

// call calls an operation, and decodes the answer as REST shows it.
func (s *scene) call(name, arguments string, out any) {
	s.Helper()
	s.must(s.try(s.Context(), name, arguments, out))
}

func (s *scene) try(ctx context.Context, name, arguments string, out any) error {
	op := s.ops[slices.IndexFunc(s.ops, func(o core.Operation) bool { return o.Info().Name == name })]
	in, err := op.Decode(core.REST, []byte(arguments))
	if err != nil {
		return err
	}
	c := &core.Call{Principal: core.Principal{Org: core.Org{ID: s.org}, UserID: "0198c5a0-0000-7000-8000-000000000001"}, Surface: core.REST, Now: s.now}
	defer c.Finish()
	var answer any
	do := func(ctx context.Context) error {
		answer, err = op.Do(ctx, c, in)
		return err
	}
	if op.Info().Effect == core.Reads {
		err = do(ctx)
	} else {
		err = s.db.InTx(ctx, do)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(op.View(core.REST, answer))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}
