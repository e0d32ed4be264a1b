package templates

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SyncEvery is the interval at which templates are copied from the sending accounts.
const SyncEvery = 15 * time.Minute

// SyncArgs has the arguments of the job that copies templates from the sending accounts.
type SyncArgs struct {
	// OrgID is the organization to sync; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job that copies templates from the sending accounts.
func (SyncArgs) Kind() string { return "template_sync" }

// Org returns the id of the organization, or "" for all; see [jobs.OrgArgs].
func (a SyncArgs) Org() string { return a.OrgID }

// SyncWorker returns the job that copies the templates of every organization's account into
// the database.
func (t *Templates) SyncWorker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{Work: t.syncAll, Every: SyncEvery, Timeout: SyncEvery}
}

// syncAll copies the templates of one organization, or of all if args.OrgID is "".
func (t *Templates) syncAll(ctx context.Context, args SyncArgs) error {
	return jobs.ForEachOrg(ctx, args.OrgID, t.Orgs, "templates", sending.RecordSync(t.Results, t.Clock, sending.TemplateSync, t.Sync))
}

// maxRead is the number of template contents that a run reads from one account. readFor is
// the time after which the run stops reading. The limits exist because the provider allows
// about one call a second, with one content per call. The job must also serve other
// organizations.
const (
	maxRead = 200
	readFor = 2 * time.Minute
)

// Sync copies one organization's templates from its account into the database, and deletes
// stored templates that the account no longer lists. It skips the managed templates that
// Mailhelm has deployed, and deploys again those that the account lacks. Contents can be read only one by one,
// so a run reads at most maxRead of them: those of new templates first, then those whose
// last attempt to read was longest ago. Refused attempts count too, so that the same
// refused templates do not come first in every run. Each content is stored after its read,
// so an interrupted run loses nothing.
// If the account refuses to return one content, Sync logs the refusal, keeps the stored
// copy and continues with the next template. Any other failure ends Sync.
// If there is no account, or this server has no adapter for the account's provider, nothing
// is changed. An SMTP server lists no templates. So after a change to SMTP, Sync deletes
// the copies from the previous account, because no message can be sent with these copies.
// Several syncs of an organization may run at the same time; see [Store.DropTemplates].
func (t *Templates) Sync(ctx context.Context, orgID string) error {
	// Get the read times before the account's list. If another sync stores a template in
	// between, its read time then differs from reads, and DropTemplates keeps it.
	reads, err := t.Store.ReadTemplates(ctx, orgID)
	if err != nil {
		return err
	}
	deployed, err := deployedNames(ctx, t.Deployed, orgID)
	if err != nil {
		return err
	}
	listed, err := t.listAccountTemplates(ctx, orgID)
	if sending.IsAbsent(err) || sending.IsUnsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := forgetMissing(ctx, t.Config, orgID, listed, deployed); err != nil {
		return err
	}
	managed, err := t.Managed.ManagedNames(ctx, orgID)
	if err != nil {
		return err
	}
	for _, name := range managed { // the account has a deployed copy
		delete(listed, name)
	}
	lost := maps.Clone(reads)
	for name := range listed {
		delete(lost, name)
	}
	if err := t.Store.DropTemplates(ctx, orgID, lost); err != nil {
		return err
	}
	return t.readContents(ctx, orgID, listed, reads)
}

// readContents reads and stores the contents of listed templates, at most maxRead. The
// parameter reads has the time at which each stored template was last read.
func (t *Templates) readContents(ctx context.Context, orgID string, listed map[string]sending.TemplateName, reads map[string]time.Time) error {
	tried := t.refused.lastTried(orgID, listed, reads)
	next := slices.SortedFunc(maps.Values(listed), func(a, b sending.TemplateName) int {
		return cmp.Or(tried[a.Name].Compare(tried[b.Name]), strings.Compare(a.Name, b.Name))
	})
	read, refused, until := 0, 0, t.Clock().Add(readFor)
	for _, n := range next[:min(maxRead, len(next))] {
		if !t.Clock().Before(until) {
			break
		}
		read++
		err := t.readContent(ctx, orgID, n, reads)
		if sending.IsRefusedObject(err) {
			refused++
			t.refused.note(orgID, n.Name, t.Clock())
			t.Log.WarnContext(ctx, "the sending account refused to return a template", "org_id", orgID, "template", n.Name, "error", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	t.Log.InfoContext(ctx, "templates synced", "org_id", orgID, "templates", len(listed), "read", read-refused, "refused", refused)
	return nil
}

// readContent reads and stores the content of one template. If the account has deleted the
// template since it was listed, readContent deletes the stored copy.
func (t *Templates) readContent(ctx context.Context, orgID string, n sending.TemplateName, reads map[string]time.Time) error {
	content, err := t.Account.Template(ctx, orgID, n.Name)
	if sending.IsNotFound(err) {
		return t.Store.DropTemplates(ctx, orgID, map[string]time.Time{n.Name: reads[n.Name]})
	}
	if err != nil {
		return err
	}
	return t.Store.SaveTemplate(ctx, orgID, visible(content, n.Name), createdAt(n, t.Clock()), t.Clock())
}

// listAccountTemplates returns all templates that the account lists, keyed by name.
func (t *Templates) listAccountTemplates(ctx context.Context, orgID string) (map[string]sending.TemplateName, error) {
	all := map[string]sending.TemplateName{}
	for page, err := range sending.Pages(func(token string) ([]sending.TemplateName, string, error) {
		return t.Account.TemplatesPage(ctx, orgID, token)
	}) {
		if err != nil {
			return nil, err
		}
		for _, n := range page {
			if n.Name != "" && len(n.Name) <= longestName && storable(n.Name) == n.Name {
				all[n.Name] = n
			}
		}
	}
	return all, nil
}

const longestName = 256

// visible returns the template's content under the given name, which is its name in the
// account's list of templates. Characters that SQLite or PostgreSQL cannot store are
// replaced.
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
