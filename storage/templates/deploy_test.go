package templates_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// deployments is the store with two managed templates of one organization.
type deployments struct {
	templates.DeployStore
	managed  templates.ManagedStore
	copies   templates.Store
	org      string
	one, two templates.ManagedTemplate
}

func eachDeployments(t *testing.T, f func(*testing.T, deployments)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := deployments{DeployStore: db.Deployments(), managed: db.ManagedTemplates(), copies: db.Templates(), org: core.NewID()}
		insert := func(id, slug string) templates.ManagedTemplate {
			m := templates.ManagedTemplate{ID: id, Slug: slug, DeployedName: "acme--" + slug, CreatedAt: start, Newest: version(1, slug)}
			must(t, d.managed.InsertManaged(t.Context(), d.org, m))
			return m
		}
		d.one, d.two = insert("01900000-0000-7000-8000-000000000001", "one"), insert("01900000-0000-7000-8000-000000000002", "two")
		must(t, d.copies.SaveTemplate(t.Context(), d.org, sending.Template{Name: "copy"}, start, start))
		f(t, d)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantDue checks which templates are due. finished is the time of the last change of the
// mail settings.
func (d deployments) wantDue(t *testing.T, what string, finished time.Time, want ...templates.Undeployed) {
	t.Helper()
	got, err := d.Undeployed(t.Context(), d.org, finished, 10)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%s: %v %s", what, err, diff)
	}
}

func (d deployments) wantDeployed(t *testing.T, slug string, want templates.Deployment) {
	t.Helper()
	got, _, err := d.copies.Template(t.Context(), d.org, slug)
	if diff := cmp.Diff(want, got.Deployed); diff != "" || err != nil {
		t.Errorf("%s: %v %s", slug, err, diff)
	}
}

func TestDeployments(t *testing.T) {
	t.Parallel()
	eachDeployments(t, func(t *testing.T, d deployments) {
		ctx, never := t.Context(), time.Time{}
		hour := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
		one := templates.Undeployed{ID: d.one.ID, Slug: "one", Newest: 1}
		two := templates.Undeployed{ID: d.two.ID, Slug: "two", Newest: 1}
		d.wantDue(t, "new templates", never, one, two)
		must(t, d.SaveDeployFailure(ctx, d.org, one.ID, sending.Throttled, hour(1)))
		d.wantDue(t, "the last tried comes last", never, two, one)
		must(t, d.ClaimName(ctx, d.org, one.ID))
		one.Claimed = true
		d.wantDue(t, "claimed", never, two, one)
		must(t, d.SaveDeployed(ctx, d.org, one, 1, hour(2)))
		d.wantDeployed(t, "one", templates.Deployment{Version: 1, At: hour(2)})
		d.wantDue(t, "deployed", never, two)
		one.Version = 1
		d.wantDue(t, "deployed before the settings changed", hour(2), two, one)
		d.wantDue(t, "deployed after the settings changed", hour(2).Add(-time.Microsecond), two)

		must(t, d.SaveDeployFailure(ctx, d.org, two.ID, sending.Invalid, hour(3)))
		d.wantDeployed(t, "two", templates.Deployment{Failure: sending.Invalid})
		d.wantDue(t, "refused content", never)
		d.wantDue(t, "refused content, other settings", hour(3), one, two)
		d.two.Newest = version(2, "two, again")
		must(t, d.managed.AddVersion(ctx, d.org, version(1, "two").Hash, d.two))
		two.Newest = 2
		d.wantDeployed(t, "two", templates.Deployment{})
		d.wantDue(t, "refused content, a new version", never, two)

		must(t, d.RefuseDeployments(ctx, d.org, never, sending.Unsupported, hour(4)))
		d.wantDeployed(t, "two", templates.Deployment{Failure: sending.Unsupported})
		d.wantDeployed(t, "one", templates.Deployment{Version: 1, At: hour(2)})
		d.wantDue(t, "an account without templates is tried again", never, two)
	})
}

// TestConcurrentDeployments stores two deployments of one template that began at the same
// state. Which content came last is not known, so the template is due again.
func TestConcurrentDeployments(t *testing.T) {
	t.Parallel()
	eachDeployments(t, func(t *testing.T, d deployments) {
		ctx := t.Context()
		one := templates.Undeployed{ID: d.one.ID, Slug: "one", Newest: 1}
		must(t, d.SaveDeployed(ctx, d.org, one, 2, start))
		must(t, d.SaveDeployed(ctx, d.org, one, 1, start))
		d.wantDeployed(t, "one", templates.Deployment{At: start})
		must(t, d.SaveDeployed(ctx, d.org, one, 1, start))
		must(t, d.SaveDeployed(ctx, d.org, one, 1, start)) // the same version twice
		d.wantDeployed(t, "one", templates.Deployment{Version: 1, At: start})
	})
}

func TestForgetDeployed(t *testing.T) {
	t.Parallel()
	eachDeployments(t, func(t *testing.T, d deployments) {
		ctx := t.Context()
		for _, m := range []templates.ManagedTemplate{d.one, d.two} {
			must(t, d.ClaimName(ctx, d.org, m.ID))
			must(t, d.SaveDeployed(ctx, d.org, templates.Undeployed{ID: m.ID}, 1, start))
		}
		names, err := d.DeployedNames(ctx, d.org)
		if diff := cmp.Diff(map[string]time.Time{"acme--one": start, "acme--two": start}, names); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		names["acme--two"] = start.Add(-time.Microsecond) // deployed again since
		must(t, d.ForgetDeployed(ctx, d.org, names))
		d.wantDeployed(t, "one", templates.Deployment{})
		d.wantDeployed(t, "two", templates.Deployment{Version: 1, At: start})
		d.wantDue(t, "forgotten", time.Time{}, templates.Undeployed{ID: d.one.ID, Slug: "one", Newest: 1})
	})
}
