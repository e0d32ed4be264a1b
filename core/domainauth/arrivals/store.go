package arrivals

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// RouteStore finds report addresses.
type RouteStore interface {
	// TokenDomain returns the domain with a token, of any organization. It fails with
	// core.CodeNotFound for an unknown token.
	TokenDomain(ctx context.Context, token string) (Target, error)
}

// Target identifies a domain of domain authentication.
type Target struct{ OrgID, DomainID string }

// FileStore stores new files. It takes part in the transaction of ctx.
type FileStore interface {
	// KnownDomains returns those of the ids that are domains of the organization.
	KnownDomains(ctx context.Context, orgID string, ids []string) ([]string, error)
	// CountFiles returns the number of files that the domain received by mail after since, at most
	// limit.
	CountFiles(ctx context.Context, t Target, since time.Time, limit int) (int, error)
	// KnownFiles returns those of the ids that are files of the organization.
	KnownFiles(ctx context.Context, orgID string, ids []string) ([]string, error)
	// AddFiles stores files of the organization, and returns the ids of those that it did not have
	// before. Others stay as they are.
	AddFiles(ctx context.Context, orgID string, files []File) ([]string, error)
}

// Queue has the files of all organizations that are due. The methods that change a claimed file
// change nothing, and report false, if the file was claimed again since.
type Queue interface {
	// ClaimFiles leases at most limit files of all organizations that are due at now, until the
	// time until. The file that was due first comes first.
	ClaimFiles(ctx context.Context, now, until time.Time, limit int) ([]File, error)
	// PutOff moves the end of the lease, or the time of the next attempt.
	PutOff(ctx context.Context, f File, due time.Time) (bool, error)
	// SaveFile stores the state, the problem, the reporter, the counts, where the file is, and the
	// time at which it is due.
	SaveFile(ctx context.Context, f File) (bool, error)
	// CountReports returns the number of reports of a file that count.
	CountReports(ctx context.Context, orgID, fileID string) (int, error)
	// DomainName returns the name of a domain. It fails with core.CodeNotFound for an unknown one.
	DomainName(ctx context.Context, orgID, domainID string) (string, error)
	// Decisions returns what is decided about those of the reporters about which something is.
	Decisions(ctx context.Context, orgID string, reporters []string) (map[string]Decision, error)
	// LockDecision returns what is decided about a reporter. No other transaction changes it until
	// the transaction of ctx ends. It remembers the reporter as one whose files are held.
	LockDecision(ctx context.Context, orgID, reporter string, now time.Time) (Decision, error)
}

// FileFilter selects files. Fields with their zero value select all.
type FileFilter struct {
	State    State
	DomainID string
}

// DeskStore stores what people see and decide.
type DeskStore interface {
	// Files returns files, newest first by ReceivedAt and id, without Stored.
	Files(ctx context.Context, orgID string, f FileFilter, after *core.After, limit int) ([]File, error)
	// Reporters returns the reporters about which a person decided, then others that have held
	// files, each in the order of their names, at most limit. Strangers can invent many of the
	// latter.
	Reporters(ctx context.Context, orgID string, limit int) ([]Reporter, error)
	// Decide stores a decision. It reports false if it is the present one.
	Decide(ctx context.Context, orgID, reporter string, d Decision, by string, now time.Time) (bool, error)
	// ReleaseFiles makes the held files of a reporter due, and returns their number.
	ReleaseFiles(ctx context.Context, orgID, reporter string, now time.Time) (int, error)
}

// PurgeStore deletes what is old.
type PurgeStore interface {
	// DeleteFiles deletes at most limit files that were received before a time and have no objects,
	// and returns their number.
	DeleteFiles(ctx context.Context, orgID string, before time.Time, limit int) (int, error)
	// ForgetReporters deletes reporters without a decision and without held files that were first held
	// before a time.
	ForgetReporters(ctx context.Context, orgID string, before time.Time) error
}
