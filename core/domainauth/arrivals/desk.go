package arrivals

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// maxReporter is the length of the name of a reporter in bytes: that of a domain.
const maxReporter = 253

// MaxReporters is the maximum number of reporters in a list.
const MaxReporters = 500

// Reporter is a reporter that has held files, or about which a person decided.
type Reporter struct {
	// Name is its domain, or the name of its organization if it states no domain. It is what the
	// files claim.
	Name     string
	Decision Decision
	// DecidedBy is the id of the person, "" without a decision.
	DecidedBy string
	// DecidedAt is the time of the decision. Without one it is when the first file was held.
	DecidedAt time.Time
	// Held is the number of its held files, and LastHeldAt when the last one was received.
	Held       int
	LastHeldAt *time.Time
}

// Desk has what people see of files and decide about reporters. It does not check permissions:
// callers do. Each change and its entry in the audit log are one transaction. All fields are
// required except Wake.
type Desk struct {
	Store      DeskStore
	Transactor core.Transactor
	Audit      access.AuditAppender
	Clock      core.Clock
	// Wake lets the reader of this process look at once; nil leaves that to the readers.
	Wake func()
}

// Files returns files that were received, newest first.
func (k Desk) Files(ctx context.Context, orgID string, f FileFilter, after *core.After, limit int) ([]File, error) {
	return k.Store.Files(ctx, orgID, f, after, limit)
}

// Reporters returns the reporters with a decision, then others with held files, by name.
func (k Desk) Reporters(ctx context.Context, orgID string) ([]Reporter, error) {
	return k.Store.Reporters(ctx, orgID, MaxReporters)
}

// decisionDetail is the detail of the audit entry of a decision.
type decisionDetail struct {
	Reporter string `json:"reporter"`
	Files    int    `json:"held_files"`
}

// Accept makes all mailed files of a reporter count: those that are held already, and later ones
// without a DMARC pass. It returns the number of held files that are read now. It may be repeated.
func (k Desk) Accept(ctx context.Context, actor access.Actor, orgID, reporter string) (int, error) {
	detail := &decisionDetail{}
	err := k.decide(ctx, actor, orgID, reporter, Accepted, detail, func(ctx context.Context, reporter string, now time.Time) (err error) {
		detail.Files, err = k.Store.ReleaseFiles(ctx, orgID, reporter, now)
		return err
	})
	if err == nil && k.Wake != nil {
		k.Wake()
	}
	return detail.Files, err
}

// Reject makes all mailed files of a reporter be held, also those for which DMARC passes. Reports
// that were counted stay. It may be repeated.
func (k Desk) Reject(ctx context.Context, actor access.Actor, orgID, reporter string) error {
	return k.decide(ctx, actor, orgID, reporter, Rejected, &decisionDetail{}, nil)
}

// decide stores a decision with an entry in the audit log. It adds no entry for the present
// decision.
func (k Desk) decide(
	ctx context.Context, actor access.Actor, orgID, reporter string, d Decision, detail *decisionDetail, then func(context.Context, string, time.Time) error,
) error {
	isText := utf8.ValidString(reporter) && !strings.ContainsRune(reporter, 0)
	reporter = strings.ToLower(strings.TrimSpace(reporter))
	if reporter == "" || len(reporter) > maxReporter || !isText {
		return core.Invalid("reporter", "must be the name of a reporter, as the list of reporters has it")
	}
	return k.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := k.Clock()
		detail.Reporter = reporter
		changed, err := k.Store.Decide(ctx, orgID, reporter, d, actor.ID, now)
		if err != nil {
			return err
		}
		if then != nil {
			if err := then(ctx, reporter, now); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		return access.RecordAudit(ctx, k.Audit, now, access.AuditEntry{
			Actor: actor, Action: "dmarc_reporter." + string(d), OrgID: orgID, Detail: detail,
		})
	})
}
