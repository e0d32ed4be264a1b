package repository_test

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/repository"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with a page about its repository, and a queue that counts.
type office struct {
	*frametest.Office
	db       *storage.DB
	settings git.Settings
	pages    http.Handler
	queued   int
	promoted []string
	refuse   error
}

func (o *office) Enqueue(context.Context, jobs.Args) error { o.queued++; return nil }

func (o *office) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, o.Enqueue(ctx, args)
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Repository"}), db: db}
	key, err := signing.NewMasterKey(bytes.Repeat([]byte{1}, 32))
	o.Must(err)
	o.settings = git.Settings{Store: db.Git(key), Adoptions: db.Git(key), Queue: o, Clock: frametest.Now, Kinds: []git.Kind{git.Remote, git.Local}}
	room, err := pages.New(o.Frame, pages.Config{
		Settings: o.settings, GitHub: "/dashboard/git/github",
		Definitions: func(ctx context.Context, orgID string) (managed []core.RepositoryDefinition, found []definitions.Ref, err error) {
			managed = []core.RepositoryDefinition{{Kind: "segment", Key: "vip"}, {Kind: "workflow", Key: "trial"}}
			all, err := db.Segments().AllSegments(ctx, orgID)
			for _, s := range all {
				if s.Origin == segments.Git {
					found = append(found, definitions.Ref{Kind: definitions.KindSegment, Key: s.Key})
				}
			}
			return managed, found, err
		},
		Promote: func(_ context.Context, orgID string, d core.RepositoryDefinition) (core.PullRequest, error) {
			o.promoted = append(o.promoted, orgID+" "+d.Key)
			return core.PullRequest{}, o.refuse
		},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// post sends a form and checks the status of the answer.
func (o *office) post(t *testing.T, path string, form url.Values, want int) string {
	t.Helper()
	status, text := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path+path, form)
	if status != want {
		t.Fatalf("%s: %d %s", path, status, text)
	}
	return text
}

// ids matches ids of connections, which differ in each run.
var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// compare compares the page with a golden file.
func (o *office) compare(t *testing.T, name string) {
	t.Helper()
	_, page := frametest.Get(t, o.pages, pages.Path)
	frametest.CompareGolden(t, name, ids.ReplaceAllString(page, "00000000-0000-0000-0000-000000000000"), *update)
}

// defines inserts segments that the repository defines.
func (o *office) defines(keys ...string) {
	for _, key := range keys {
		o.Must(o.db.Segments().InsertSegment(context.Background(), o.Org.ID, segments.Segment{
			ID: core.NewID(), Key: key, Name: key, Source: "true", Status: segments.Active, Origin: segments.Git, CreatedAt: frametest.Now(), UpdatedAt: frametest.Now(),
		}))
	}
}

// TestAdoptions adopts a definition and returns it, with and without the permission.
func TestAdoptions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	vip := url.Values{"definition": {"segment vip"}}
	o.post(t, "/adopt", vip, http.StatusConflict)
	o.post(t, "", url.Values{"kind": {"local"}, "location": {"/srv/definitions.git"}}, http.StatusSeeOther)
	o.defines("vip")
	for _, unknown := range []string{"", "vip", "segment other", "list vip", "workflow vip", "segment vip ", "<b> vip"} {
		if text := o.post(t, "/adopt", url.Values{"definition": {unknown}}, http.StatusConflict); !strings.Contains(text, "no longer defines it") {
			t.Errorf("%q: %s", unknown, text)
		}
	}
	state := func() []any {
		adopted, err := o.settings.Adoptions.Adopted(t.Context(), o.Org.ID)
		o.Must(err)
		lines, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Action: "git.adopted", Limit: 9})
		o.Must(err)
		returned, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Action: "git.returned", Limit: 9})
		o.Must(err)
		return []any{len(adopted), len(lines), len(returned)}
	}
	o.CheckPermissions(o.pages, state,
		frametest.Form{Name: "adopt", Needs: members.MayManageOrg, Path: pages.Path + "/adopt", Done: http.StatusSeeOther, Form: vip},
		frametest.Form{Name: "return", Needs: members.MayManageOrg, Path: pages.Path + "/return", Done: http.StatusSeeOther, Form: vip},
	)
	if got := state(); !slices.Equal(got, []any{0, 1, 1}) {
		t.Errorf("adopted and lines of the audit log: %v", got)
	}
	if text := o.post(t, "/return", vip, http.StatusConflict); !strings.Contains(text, "no longer adopted") {
		t.Errorf("returned twice: %s", text)
	}
	o.defines("running")
	_, _, _, err := o.settings.Store.ClaimSync(t.Context(), o.Org.ID, "claim", frametest.Now(), frametest.Now().Add(time.Minute))
	o.Must(err)
	if text := o.post(t, "/adopt", url.Values{"definition": {"segment running"}}, http.StatusConflict); !strings.Contains(text, "is being read") {
		t.Errorf("adopted while a sync runs: %s", text)
	}
}

func TestGoldenRepository(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.compare(t, "none")
	refused := o.post(t, "", url.Values{"kind": {"remote"}, "location": {"http://git.example.com/a.git"}, "secret": {"hunter2"}}, http.StatusUnprocessableEntity)
	if !strings.Contains(refused, "The address must be an https URL") || strings.Contains(refused, "hunter2") {
		t.Errorf("refused: %s", refused)
	}
	if text := o.post(t, "", url.Values{"kind": {"github"}, "location": {"owner/name"}}, http.StatusUnprocessableEntity); !strings.Contains(text, "The kind") {
		t.Errorf("GitHub without a proof: %s", text)
	}
	o.post(t, "", url.Values{"kind": {"remote"}, "location": {"https://git.example.com/team/definitions.git"}, "path_prefix": {"mail"}, "secret": {"hunter2"}}, http.StatusSeeOther)
	o.post(t, "/sync", nil, http.StatusSeeOther)
	ctx, org := t.Context(), o.Site.Visitor.Org.ID
	c, _, err := o.settings.Of(ctx, org)
	o.Must(err)
	if o.queued != 2 || c.Secret != "hunter2" {
		t.Errorf("%d jobs, %+v", o.queued, c)
	}
	_, covered, _, err := o.settings.Store.ClaimSync(ctx, org, "claim", frametest.Now(), frametest.Now())
	o.Must(err)
	c.State, c.ReadAt = git.Synced, frametest.Now()
	c.Revision = git.Revision{Branch: "main", Commit: strings.Repeat("c0ffee", 6), CommittedAt: frametest.Now()}
	c.Diagnostics = []definitions.Diagnostic{
		{Severity: definitions.Error, Code: "x", Message: "There is no attribute <b>.", Path: "audience/vip.predicate", Line: 2, Column: 5},
		{Severity: definitions.Warning, Code: git.CodeBranchRenamed, Message: "The default branch is now main."},
	}
	_, err = o.settings.Store.FinishSync(ctx, c, "claim", covered)
	o.Must(err)
	o.Must(o.settings.Store.SaveProposal(ctx, org, git.Proposal{Branch: "mailhelm/templates_author-1", Title: "Save the template <welcome>", State: git.Open, CreatedAt: frametest.Now()}))
	o.Must(o.settings.Store.SaveProposal(ctx, org, git.Proposal{Branch: "mailhelm/a", Title: "Save the workflow trial", URL: "https://git.example.com/1", State: git.Merged, CreatedAt: frametest.Now()}))
	o.defines("adults", "seniors")
	o.post(t, "/adopt", url.Values{"definition": {"segment adults"}}, http.StatusSeeOther)
	o.compare(t, "synced")
	o.post(t, "/promote", url.Values{"definition": {"workflow trial"}}, http.StatusSeeOther)
	o.post(t, "/promote", url.Values{"definition": {"workflow other"}}, http.StatusConflict)
	o.refuse = core.Conflict("The branch has it already.", "")
	if text := o.post(t, "/promote", url.Values{"definition": {"segment vip"}}, http.StatusConflict); !strings.Contains(text, "has it already") || !slices.Equal(o.promoted, []string{org + " trial", org + " vip"}) {
		t.Errorf("promoted %v: %s", o.promoted, text)
	}
	o.post(t, "/disconnect", url.Values{"id": {"another"}}, http.StatusConflict)
	o.post(t, "/disconnect", url.Values{"id": {c.ID}}, http.StatusSeeOther)
	if _, connected, err := o.settings.Of(ctx, org); err != nil || connected {
		t.Errorf("%v, connected %t", err, connected)
	}
}
