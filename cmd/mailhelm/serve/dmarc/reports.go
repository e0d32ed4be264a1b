// Package dmarc assembles what a server needs for domain authentication: what receives DMARC
// reports by mail, what polls DNS, and the operations. It satisfies the interfaces that these
// parts declare.
package dmarc

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/sending"
)

// FileStore stores files that arrive.
type FileStore interface {
	arrivals.RouteStore
	arrivals.FileStore
	arrivals.Queue
	arrivals.DeskStore
	arrivals.PurgeStore
}

// Stores are what the parts use. All fields are required.
type Stores struct {
	Files      FileStore
	Reports    intake.Store
	Objects    objects.Stores
	Transactor core.Transactor
	Audit      access.AuditAppender
	Lookups    Lookups
	Domains    DomainStore
	Measuring  MeasuringStore
	// Notices has what members are mailed, Recipients the recipients of mail, Readers who may see
	// domains, and Senders from which address an organization sends.
	Notices    NoticeStore
	Recipients notices.Recipients
	Readers    notices.Readers
	Senders    notices.Senders
	// Tokens has the DKIM tokens of sending domains.
	Tokens      measuring.Tokens
	Connections sending.Connections
	Queue       jobs.Queue
	// Orgs returns the ids of all organizations.
	Orgs func(context.Context) ([]string, error)
}

// Reports has the parts. Router finds routes for receivers, and Destination takes the mail.
type Reports struct {
	Router      *arrivals.Router
	Destination *arrivals.Destination
	Reader      *arrivals.Reader
	Desk        arrivals.Desk
	// Intake stores what files say.
	Intake *intake.Reader
	// Measuring polls DNS, and computes findings and events.
	Measuring *measuring.Measuring

	stores  Stores
	files   FileStore
	domains DomainStore
	orgs    func(context.Context) ([]string, error)
	domain  string
	// public is true if the domain of addresses is not one of this machine only.
	public  bool
	clock   core.Clock
	log     *slog.Logger
	lookups Lookups
	// ctx is that of what waits for DNS. end ends it.
	ctx context.Context //nolint:containedctx // it ends with the parts
	end context.CancelFunc
}

// New returns the parts, which do nothing yet.
func New(cfg config.Config, s Stores) *Reports {
	ctx, end := context.WithCancel(context.Background())
	settings := intake.Config{Store: s.Reports, Transactor: s.Transactor, Clock: cfg.Clock, Senders: s.Lookups.networks(ctx)}
	var dns func() dmarc.Resolver
	if s.Lookups.Resolver != nil {
		settings.ReverseNames = s.Lookups.Reverse.ReverseNames
		dns = func() dmarc.Resolver { return s.Lookups.Resolver }
	}
	r := &Reports{
		Router: arrivals.NewRouter(s.Files, cfg.MailDomain(), cfg.Clock), Intake: intake.New(settings), stores: s, files: s.Files, domain: cfg.MailDomain(), clock: cfg.Clock, log: cfg.Log,
		Measuring: newMeasuring(cfg, s), domains: s.Domains, orgs: s.Orgs, public: !strings.HasSuffix("."+cfg.MailDomain(), ".localhost"),
		lookups: s.Lookups, ctx: ctx, end: end,
	}
	r.Reader = arrivals.NewReader(arrivals.ReaderConfig{
		Queue: s.Files, Stores: s.Objects, Transactor: s.Transactor, Intake: Intake{r.Intake}, Resolver: dns, Clock: cfg.Clock, Log: cfg.Log,
	})
	r.Destination = arrivals.NewDestination(s.Files, cfg.Clock, r.Reader.Wake, cfg.Log)
	r.Desk = arrivals.Desk{Store: s.Files, Transactor: s.Transactor, Audit: s.Audit, Clock: cfg.Clock, Wake: r.Reader.Wake}
	return r
}

// Address returns the address that receives the reports of the domain with a token.
func (r *Reports) Address(token string) string { return arrivals.AddressOf(token, r.domain) }

// Follow starts the reader unless the process only answers calls. The returned function stops it
// and waits for the end of its attempts, which it interrupts. Call it once.
func (r *Reports) Follow(role config.Role) func() {
	var running sync.WaitGroup
	if role != config.API {
		running.Go(func() { r.Reader.Run(r.ctx) })
		running.Go(func() { r.lookups.follow(r.ctx) })
	}
	return func() {
		r.end()
		running.Wait()
	}
}

// purgeWorker returns the job that deletes old entries of the list of files.
func (r *Reports) purgeWorker() jobs.Worker[arrivals.PurgeArgs] {
	return arrivals.PurgeWorker(r.files, r.orgs, r.clock)
}

// Intake is the [arrivals.Intake] of the product.
type Intake struct{ *intake.Reader }

// ReporterOf returns the name under which a report counts.
func (Intake) ReporterOf(r *report.Report) string { return intake.ReporterOf(r) }

// Read reads a file that was mailed to the address of a domain, or that an operator chose.
func (x Intake) Read(ctx context.Context, f arrivals.File, domain string, open func() (io.ReadCloser, error)) (arrivals.Found, error) {
	found, err := x.Reader.Read(ctx, intake.Target{OrgID: f.OrgID, Addressed: domain, FileID: f.ID, ReceivedAt: f.ReceivedAt}, open)
	return arrivals.Found{
		Counts:   arrivals.Counts{Reports: found.Reports, Duplicates: found.Duplicates, TLSReports: found.TLSReports, Foreign: found.Foreign},
		Unusable: found.Unusable,
	}, err
}
