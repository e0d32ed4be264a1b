package git

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// SyncEvery is the period after which a repository is read without a request, and maxSync the maximum
// duration of one sync.
const (
	SyncEvery = 10 * time.Minute
	maxSync   = 5 * time.Minute
)

// maxOpen is the number of open proposals whose states a sync asks for.
const maxOpen = 100

// maxDiagnostics is the maximum number of stored diagnostics.
const maxDiagnostics = 200

// Applier applies the definitions of a repository to an organization.
type Applier interface {
	// Apply makes the definitions of the repository those of the snapshot, except adopted ones,
	// which it leaves as they are. A definition that is invalid is kept as invalid with its reason.
	// One that the repository defined before and the snapshot does not have is archived. Apply may
	// be repeated. An error means that not everything was applied.
	Apply(ctx context.Context, org core.Org, s Snapshot, adopted map[definitions.Ref]bool) (Report, error)
}

// Report says what an Applier did.
type Report struct {
	// Diagnostics are what is wrong with files, with paths as in the tree.
	Diagnostics []definitions.Diagnostic
	// Changed is the number of definitions that were created, changed or archived.
	Changed int
	// Absent are the adopted definitions that the snapshot does not name.
	Absent []definitions.Ref
}

// SyncArgs are the arguments of the job that reads repositories. OrgID is "" for those of all
// organizations.
type SyncArgs struct {
	OrgID string `json:"org_id"`
}

// Kind returns the name of the job.
func (SyncArgs) Kind() string { return "git_sync" }

// SyncConfig configures [Syncs]. All fields are required.
type SyncConfig struct {
	Store     Store
	Adoptions Adoptions
	// Hosts has the Host of each kind that this server can read.
	Hosts   map[Kind]Host
	Applier Applier
	// Org returns an organization.
	Org   func(ctx context.Context, orgID string) (core.Org, error)
	Clock core.Clock
	Log   *slog.Logger
}

// Syncs reads repositories and has them applied.
type Syncs struct{ SyncConfig }

// NewSyncs returns Syncs.
func NewSyncs(cfg SyncConfig) *Syncs { return &Syncs{cfg} }

// Worker returns the worker of the job, which also runs periodically.
func (s *Syncs) Worker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{
		Work: func(ctx context.Context, args SyncArgs) error {
			return jobs.ForEachOrg(ctx, args.OrgID, s.Store.ConnectedOrgs, "sync of the repository", s.Sync)
		},
		Timeout: 4 * maxSync, Every: SyncEvery,
	}
}

// Sync reads the repository of an organization and has it applied, again for requests that arrive
// while it runs. If another sync of the organization runs, that one does the work. Without a
// connection it does nothing. What people can correct is no error: it is stored with the
// connection.
func (s *Syncs) Sync(ctx context.Context, orgID string) error {
	claim := core.NewID()
	for {
		now := s.Clock()
		c, covered, ok, err := s.Store.ClaimSync(ctx, orgID, claim, now, now.Add(maxSync+time.Minute))
		if core.IsNotFound(err) || err == nil && !ok {
			return nil
		}
		if err != nil {
			return err
		}
		failure := s.once(ctx, &c)
		// The result is stored even if the time for reading is over.
		again, err := s.Store.FinishSync(context.WithoutCancel(ctx), c, claim, covered)
		if core.IsNotFound(err) {
			err = nil // disconnected while it was read
		}
		if failure != nil || err != nil || !again {
			return errors.Join(failure, err)
		}
	}
}

// once reads the repository once and changes the connection accordingly. It returns an error that may
// pass by itself.
func (s *Syncs) once(ctx context.Context, c *Connection) error {
	ctx, cancel := context.WithTimeout(ctx, maxSync)
	defer cancel()
	err := s.readAndApply(ctx, c)
	if later, ok := errors.AsType[*Later](err); ok {
		// Nothing has failed, and a job reads the repository again after the period.
		s.Log.InfoContext(ctx, "repository not synced yet", slog.String("org_id", c.OrgID), slog.Time("until", later.Until))
		return nil
	}
	c.ReadAt = s.Clock()
	if err == nil {
		c.State, c.Failure = Synced, ""
		return nil
	}
	c.State = Failed
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		c.Failure = strings.ToValidUTF8(refusal.Reason, "\uFFFD")
		return nil
	}
	c.Failure = "The repository could not be read or applied. It is tried again every 10 minutes; if it fails for hours, ask the operator of the server for the cause."
	s.Log.WarnContext(ctx, "repository not synced", slog.String("org_id", c.OrgID), slog.Any("cause", err))
	return fmt.Errorf("sync the repository: %w", err)
}

func (s *Syncs) readAndApply(ctx context.Context, c *Connection) error {
	host, ok := s.Hosts[c.Kind]
	if !ok {
		return &Refusal{"This server reads no repositories of the kind " + core.Quote(string(c.Kind)) + "."}
	}
	org, err := s.Org(ctx, c.OrgID)
	if err != nil {
		return err
	}
	open, err := s.openProposals(ctx, c.OrgID)
	if err != nil {
		return err
	}
	snapshot, err := host.Fetch(ctx, *c, open)
	if err != nil {
		return err
	}
	if name := snapshot.Revision.Branch; !isStorable(name) {
		return &Refusal{"The name of the default branch is " + core.Quote(strings.ToValidUTF8(name, "\uFFFD")) + ", which is not UTF-8. Rename the branch."}
	}
	report, err := s.apply(ctx, org, snapshot)
	if err != nil {
		return err
	}
	diagnostics := append(snapshot.Diagnostics, report.Diagnostics...)
	if before := c.Revision.Branch; before != "" && before != snapshot.Revision.Branch {
		diagnostics = append([]definitions.Diagnostic{{
			Severity: definitions.Warning, Code: CodeBranchRenamed,
			Message: "The default branch is now " + core.Quote(snapshot.Revision.Branch) + "; it was " + core.Quote(before) + ".",
		}}, diagnostics...)
	}
	c.Revision, c.Manifest = snapshot.Revision, snapshot.Tree[archive.ManifestPath]
	if !isStorable(string(c.Manifest)) {
		c.Manifest = nil // no JSON
	}
	c.TestData = testDataOf(snapshot.Tree)
	c.Diagnostics = diagnostics[:min(len(diagnostics), maxDiagnostics)]
	for _, p := range open {
		if state := snapshot.States[p.Branch]; state == Merged || state == Closed {
			if err := s.Store.DecideProposal(ctx, c.OrgID, p.Branch, state); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply has the files of a repository applied, except adopted definitions. The adoption of a definition
// that the repository no longer names ends, so that a later one with its key is taken again.
func (s *Syncs) apply(ctx context.Context, org core.Org, snapshot Snapshot) (Report, error) {
	all, err := s.Adoptions.Adopted(ctx, org.ID)
	if err != nil {
		return Report{}, err
	}
	adopted := map[definitions.Ref]bool{}
	for _, a := range all {
		adopted[a.Ref] = true
	}
	report, err := s.Applier.Apply(ctx, org, snapshot, adopted)
	if err != nil {
		return Report{}, err
	}
	for _, ref := range report.Absent {
		if err := s.Adoptions.EndAdoption(ctx, org.ID, ref); err != nil && !core.IsNotFound(err) {
			return Report{}, err
		}
	}
	return report, nil
}

// isStorable reports whether all databases can store a text of a repository.
func isStorable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// openProposals returns the proposals that are not decided.
func (s *Syncs) openProposals(ctx context.Context, orgID string) ([]Proposal, error) {
	all, err := s.Store.Proposals(ctx, orgID, maxOpen)
	if err != nil {
		return nil, err
	}
	var open []Proposal
	for _, p := range all {
		if p.State == Open {
			open = append(open, p)
		}
	}
	return open, nil
}
