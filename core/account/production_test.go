package account_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

var form = sending.ProductionRequest{
	MailType: sending.Transactional, Website: "https://example.com", UseCase: strings.Repeat("Receipts for orders. ", 3),
}

// newSandboxed returns a test setup whose organization has a simulated account in the
// sandbox.
func newSandboxed(t *testing.T) *bundle {
	t.Helper()
	return setup(t, simulator.Setup{})
}

// showStatus returns the status of production access from the result of account_get; "" if
// it is null.
func (b *bundle) showStatus(t *testing.T) string {
	t.Helper()
	if p := b.mustAccount(t).ProductionAccess; p != nil {
		if (p.GrantedAt != nil) != (p.Status == "granted") {
			t.Errorf("%s with granted_at %v", p.Status, p.GrantedAt)
		}
		return p.Status
	}
	return ""
}

func (b *bundle) ask(t *testing.T) {
	t.Helper()
	if _, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, form); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) follow(t *testing.T, after time.Duration) string {
	t.Helper()
	b.now = b.now.Add(after)
	if err := b.core.Follow(t.Context(), b.org.ID); err != nil {
		t.Fatal(err)
	}
	return b.showStatus(t)
}

func code(err error) core.Code {
	if err == nil {
		return ""
	}
	return core.AsError(err).Code
}

func TestProductionAccessIsGranted(t *testing.T) {
	t.Parallel()
	b := newSandboxed(t)
	if got := b.showStatus(t); got != "" {
		t.Errorf("no request: %q", got)
	}
	b.ask(t)
	if got := b.showStatus(t); got != "under_review" {
		t.Errorf("%q", got)
	}
	if _, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, form); code(err) != core.CodeConflict {
		t.Errorf("a second request: %v", err)
	}
	if got := b.follow(t, 13*24*time.Hour); got != "under_review" {
		t.Errorf("silence: %q", got)
	}
	if err := b.account.SetReview(t.Context(), b.org.ID, sending.ReviewGranted); err != nil {
		t.Fatal(err)
	}
	if got := b.follow(t, time.Minute); got != "granted" {
		t.Errorf("%q", got)
	}
	if _, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, form); code(err) != core.CodeConflict {
		t.Errorf("with production access: %v", err)
	}
}

func TestProductionAccessFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		review sending.Review
		after  time.Duration
		want   string
	}{
		"silence":           {sending.ReviewPending, 14 * 24 * time.Hour, "failed"},
		"refused":           {sending.ReviewFailed, 2 * time.Hour, "failed"},
		"a denial":          {sending.ReviewDenied, 14*24*time.Hour - time.Second, "under_review"},
		"a denial, in time": {sending.ReviewDenied, 14 * 24 * time.Hour, "failed"},
		"an old refusal":    {sending.ReviewFailed, time.Minute, "under_review"},
		"not for some days": {sending.ReviewPending, 24 * time.Hour, "under_review"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandboxed(t)
			b.ask(t)
			if err := b.account.SetReview(t.Context(), b.org.ID, tc.review); err != nil {
				t.Fatal(err)
			}
			if got := b.follow(t, tc.after); got != tc.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestAnAccountThatDoesNotAnswerFailsTheRequest(t *testing.T) {
	t.Parallel()
	b := newSandboxed(t)
	b.account.Faults().Set(simulator.Fault{Method: simulator.MethodRequestProductionAccess, Kind: sending.TimedOut, Times: 1})
	_, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, form)
	if code(err) != core.CodeUpstreamUnavailable || core.AsError(err).HTTPStatus() != 504 {
		t.Errorf("%v", err)
	}
	if got := b.showStatus(t); got != "failed" {
		t.Errorf("%q", got)
	}
	b.ask(t) // a new request is allowed
	if got := b.showStatus(t); got != "under_review" {
		t.Errorf("%q", got)
	}
	if err := b.core.DenyProductionAccess(t.Context(), b.org.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.showStatus(t); got != "denied" {
		t.Errorf("%q", got)
	}
	if err := b.core.DenyProductionAccess(t.Context(), b.org.ID); code(err) != core.CodeConflict {
		t.Errorf("nothing is open: %v", err)
	}
}

func TestARequestThatNeverReachedTheProviderFails(t *testing.T) {
	t.Parallel()
	b := newSandboxed(t)
	r := sending.AccessRequest{ID: core.NewID(), ProductionRequest: form, Status: sending.AccessPending, CreatedAt: b.now, UpdatedAt: b.now}
	if err := b.db.ProductionRequests().InsertRequest(t.Context(), b.org.ID, r); err != nil {
		t.Fatal(err)
	}
	if got := b.follow(t, time.Minute); got != "pending" {
		t.Errorf("%q", got)
	}
	if got := b.follow(t, time.Hour); got != "failed" {
		t.Errorf("%q", got)
	}
}

func TestTheFormOfARequestIsChecked(t *testing.T) {
	t.Parallel()
	b := newSandboxed(t)
	for field, edit := range map[string]func(*sending.ProductionRequest){
		"mail_type": func(r *sending.ProductionRequest) { r.MailType = "BOTH" },
		"website":   func(r *sending.ProductionRequest) { r.Website = "javascript:alert(1)" },
		"use_case":  func(r *sending.ProductionRequest) { r.UseCase = strings.Repeat("x", 49) },
	} {
		r := form
		edit(&r)
		_, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, r)
		if e := core.AsError(err); e == nil || e.Code != core.CodeValidationFailed || len(e.Fields) != 1 || e.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, website := range []string{"", "example.com", "ftp://example.com", "https://", "https://u:p@example.com", "https://a\x00b", "http://" + strings.Repeat("a", 1000)} {
		r := form
		r.Website = website
		if _, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, r); code(err) != core.CodeValidationFailed {
			t.Errorf("%q: %v", website, err)
		}
	}
	if got := b.showStatus(t); got != "" {
		t.Errorf("a refused form left a request: %q", got)
	}
}

func TestAnOldTemplateBlocksARequest(t *testing.T) {
	t.Parallel()
	b := newSandboxed(t)
	c := sending.Connection{OrgID: b.org.ID, Provider: sending.SES, IngestPath: "p", CreatedAt: b.now, UpdatedAt: b.now}
	for version, want := range map[int]core.Code{0: core.CodeConflict, 12: core.CodeConflict} {
		c.TemplateVersion = version
		if err := b.db.Connections(nil).SaveConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if _, err := b.core.RequestProductionAccess(t.Context(), b.db, b.org.ID, form); code(err) != want {
			t.Errorf("version %d: %v", version, err)
		}
		shown := b.mustAccount(t).CloudFormation
		if (shown != nil) != (version > 0) || shown != nil && (shown.UpToDate || shown.LatestVersion != 13 || shown.TemplateVersion != 12) {
			t.Errorf("version %d is shown as %+v", version, shown)
		}
	}
	c.TemplateVersion = 13
	if err := b.db.Connections(nil).SaveConnection(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if shown := b.mustAccount(t).CloudFormation; shown == nil || !shown.UpToDate {
		t.Errorf("%+v", shown)
	}
	b.ask(t)
}
