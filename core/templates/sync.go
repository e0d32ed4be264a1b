package templates

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SyncEvery is how often the mirror follows the sending account.
const SyncEvery = 15 * time.Minute

// SyncArgs are the arguments of the sync.
type SyncArgs struct {
	// OrgID is the organization to sync; empty means all.
	OrgID string `json:"org_id,omitempty"`
}

// Kind names the job.
func (SyncArgs) Kind() string { return "template_sync" }

// SyncWorker brings the templates of every organization's account into the mirror.
func (t *Templates) SyncWorker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{Work: t.syncAll, Every: SyncEvery, Timeout: SyncEvery}
}

// syncAll visits every organization even when one fails.
func (t *Templates) syncAll(ctx context.Context, args SyncArgs) error {
	orgs := []string{args.OrgID}
	if args.OrgID == "" {
		var err error
		if orgs, err = t.Orgs(ctx); err != nil {
			return err
		}
	}
	var failures []error
	for _, org := range orgs {
		if err := t.Sync(ctx, org); err != nil {
			failures = append(failures, fmt.Errorf("templates of organization %s: %w", org, err))
		}
	}
	return errors.Join(failures...)
}

// Sync brings one organization's mirror up to its account. The account tells of a
// template's content only one by one, so each is kept as it is read; what the
// account no longer lists goes away after all were read. An account that has no
// templates to speak of, or none at all, leaves the mirror as it is.
func (t *Templates) Sync(ctx context.Context, orgID string) error {
	names, err := t.names(ctx, orgID)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	kept := []string{}
	for _, n := range names {
		content, err := t.Account.Template(ctx, orgID, n.Name)
		if sending.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		kept = append(kept, n.Name)
		if err := t.Store.SaveTemplate(ctx, orgID, visible(content, n.Name), createdAt(n, t.Clock()), t.Clock()); err != nil {
			return err
		}
	}
	if err := t.Store.KeepTemplates(ctx, orgID, kept); err != nil {
		return err
	}
	t.Log.InfoContext(ctx, "templates synced", "org_id", orgID, "templates", len(kept))
	return nil
}

func (t *Templates) names(ctx context.Context, orgID string) ([]sending.TemplateName, error) {
	var all []sending.TemplateName
	for token := ""; ; {
		page, next, err := t.Account.TemplatesPage(ctx, orgID, token)
		if err != nil {
			return nil, err
		}
		for _, n := range page {
			if n.Name != "" && len(n.Name) <= longestName && storable(n.Name) == n.Name {
				all = append(all, n)
			}
		}
		if next == "" || next == token {
			return all, nil
		}
		token = next
	}
}

const longestName = 256

func absent(err error) bool {
	f, ok := errors.AsType[*sending.Failure](err)
	return sending.IsAbsent(err) || ok && f.Kind == sending.Unsupported
}

// visible is the content as both databases take it, under the name that it was
// listed with.
func visible(t sending.Template, name string) sending.Template {
	return sending.Template{Name: name, Subject: storable(t.Subject), Text: storable(t.Text), HTML: storable(t.HTML)}
}

func storable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func createdAt(n sending.TemplateName, now time.Time) time.Time {
	if n.CreatedAt.IsZero() {
		return now
	}
	return n.CreatedAt
}
