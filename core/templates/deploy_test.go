package templates_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/templates"
)

// accountOfDeployments is a simulated account that records the names of the templates that
// are put into it.
type accountOfDeployments struct {
	*simulator.Simulator
	puts []string
	// fail returns why a put fails, or nil. during is called in each put.
	fail   func(name string) error
	during func()
}

func (a *accountOfDeployments) PutTemplate(ctx context.Context, orgID string, t sending.Template) error {
	a.puts = append(a.puts, t.Name)
	if a.during != nil {
		a.during()
	}
	if a.fail != nil {
		if err := a.fail(t.Name); err != nil {
			return err
		}
	}
	return a.Simulator.PutTemplate(ctx, orgID, t)
}

// failing returns a function that fails with the kind for the deployed names.
func failing(kind sending.FailureKind, names ...string) func(string) error {
	return func(name string) error {
		if len(names) == 0 || slices.Contains(names, name) {
			return &sending.Failure{Kind: kind, Err: errors.New("no")}
		}
		return nil
	}
}

// recordedJobs is a queue that keeps the enqueued jobs.
type recordedJobs []jobs.Args

func (q *recordedJobs) Enqueue(_ context.Context, args jobs.Args) error {
	*q = append(*q, args)
	return nil
}

func (q *recordedJobs) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, q.Enqueue(ctx, args)
}

// settingsOf are the mail settings of every organization.
type settingsOf struct{ mailsettings.Settings }

func (s *settingsOf) Of(context.Context, string) (mailsettings.Settings, error) {
	return s.Settings, nil
}

// deployWorld is a world whose templates are deployed.
type deployWorld struct {
	*world
	*templates.Deployer
	account  *accountOfDeployments
	queue    *recordedJobs
	settings *settingsOf
	waits    int
}

func eachDeployed(t *testing.T, f func(*testing.T, *deployWorld)) {
	t.Helper()
	each(t, func(t *testing.T, w *world) {
		d := &deployWorld{world: w, account: &accountOfDeployments{Simulator: w.account}, queue: &recordedJobs{}, settings: &settingsOf{mailsettings.Default()}}
		cfg := w.Config
		cfg.Queue, cfg.Deployed = d.queue, w.db.Deployments()
		w.Templates = templates.New(cfg)
		d.Deployer = templates.NewDeployer(templates.DeployConfig{
			Store: cfg.Deployed, Managed: w.managed, Account: d.account, Settings: d.settings, Orgs: cfg.Orgs, Clock: cfg.Clock, Log: slog.New(slog.DiscardHandler),
			Wait: func(ctx context.Context, by time.Duration) error {
				d.waits++
				w.now = w.now.Add(by)
				return ctx.Err()
			},
		})
		f(t, d)
	})
}

// save saves a version of the template with the slug.
func (d *deployWorld) save(t *testing.T, slug, html, base string) templates.AuthoredTemplate {
	t.Helper()
	d.now = d.now.Add(time.Minute)
	arguments := []any{"slug", slug, "html", html}
	if base != "" {
		arguments = append(arguments, "base_content_hash", base)
	}
	out, err := d.author(t, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// deploy runs the job a minute later. It returns the names of the templates that the run put
// into the account, and its error.
func (d *deployWorld) deploy(t *testing.T) ([]string, error) {
	t.Helper()
	d.account.puts, d.now = nil, d.now.Add(time.Minute)
	err := d.Deployer.Worker().Work(t.Context(), templates.DeployArgs{OrgID: d.org})
	return d.account.puts, err
}

func (d *deployWorld) wantDeployed(t *testing.T, what string, want ...string) {
	t.Helper()
	puts, err := d.deploy(t)
	if !slices.Equal(puts, want) || err != nil {
		t.Fatalf("%s: put %v, %v, want %v", what, puts, err, want)
	}
}

// wantState checks the deployed version and the failure of a template, as the operation
// shows them. version is 0 for none, and failure part of the sentence, "" for none.
func (d *deployWorld) wantState(t *testing.T, slug string, version int, failure string) {
	t.Helper()
	got, shown, why := d.get(t, slug), 0, ""
	if got.DeployedVersion != nil {
		shown = *got.DeployedVersion
	}
	if got.DeployFailure != nil {
		why = *got.DeployFailure
	}
	if shown != version || failure == "" && why != "" || !strings.Contains(why, failure) {
		t.Errorf("%s: version %d is deployed, failure %q, want %d, %q", slug, shown, why, version, failure)
	}
}

func TestDeploy(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		first := d.save(t, "news/weekly", "<p>One</p>", "")
		d.save(t, "welcome", "<p>Hi {{name}}</p>", "")
		if diff := cmp.Diff(recordedJobs{templates.DeployArgs{OrgID: d.org}, templates.DeployArgs{OrgID: d.org}}, *d.queue); diff != "" {
			t.Error(diff)
		}
		d.wantState(t, "welcome", 0, "")
		both := []string{"acme--news--weekly", "acme--welcome"}
		puts, err := d.deploy(t)
		slices.Sort(puts)
		if diff := cmp.Diff(both, puts); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		if d.waits != 3 { // two calls for each of two templates
			t.Errorf("%d waits", d.waits)
		}
		got, err := d.account.Template(t.Context(), d.org, "acme--welcome")
		want := templates.Finish(sending.Template{Name: "acme--welcome", Subject: "welcome", HTML: "<p>Hi {{name}}</p>"}, mailsettings.Default())
		if diff := cmp.Diff(want, got); diff != "" || err != nil || !strings.Contains(got.Text, "{{unsubscribe_url}}") {
			t.Error(err, diff)
		}
		d.wantState(t, "welcome", 1, "")
		d.wantDeployed(t, "nothing to do")

		d.save(t, "news/weekly", "<p>One</p>", first.ContentHash) // the same content
		if len(*d.queue) != 2 {
			t.Errorf("queue %v", *d.queue)
		}
		d.save(t, "news/weekly", "<p>Two</p>", first.ContentHash)
		d.wantState(t, "news/weekly", 1, "")
		d.wantDeployed(t, "a new version", "acme--news--weekly")
		d.wantState(t, "news/weekly", 2, "")

		d.now = d.now.Add(time.Minute)
		d.settings.Language, d.settings.UpdatedAt = "de", d.now
		puts, err = d.deploy(t)
		slices.Sort(puts)
		if diff := cmp.Diff(both, puts); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if got, err = d.account.Template(t.Context(), d.org, "acme--welcome"); err != nil || !strings.Contains(got.HTML, "Abmelden") {
			t.Errorf("%s, %v", got.HTML, err)
		}
		d.wantDeployed(t, "nothing to do")
	})
}

// TestDeployedCopiesAreNoImports syncs after a deployment, and after the account has lost a
// deployed template.
func TestDeployedCopiesAreNoImports(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		d.save(t, "news", "<p>One</p>", "")
		d.save(t, "welcome", "<p>One</p>", "")
		if _, err := d.deploy(t); err != nil {
			t.Fatal(err)
		}
		*d.queue = nil
		d.sync(t)
		if slugs := d.slugs(t, core.REST, `{}`); len(slugs) != 2 || len(*d.queue) != 0 {
			t.Errorf("templates %v, jobs %v", slugs, *d.queue)
		}
		if err := d.account.DeleteTemplate(t.Context(), d.org, "acme--news"); err != nil {
			t.Fatal(err)
		}
		d.sync(t)
		d.wantState(t, "news", 0, "")
		d.wantState(t, "welcome", 1, "")
		if len(*d.queue) != 1 {
			t.Errorf("jobs %v", *d.queue)
		}
		d.wantDeployed(t, "the lost one", "acme--news")
		d.wantState(t, "news", 1, "")
	})
}

// TestDeployReplacesNoOtherTemplate deploys to an account that has another template of the
// deployed name, and one with the content that an interrupted run has left.
func TestDeployReplacesNoOtherTemplate(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		stranger := sending.Template{Name: "acme--news", Subject: "of somebody else"}
		d.put(t, stranger)
		left := templates.Finish(sending.Template{Subject: "left", HTML: "<p>One</p>"}, mailsettings.Default())
		left.Name = "acme--left"
		d.put(t, left)
		d.save(t, "news", "<p>One</p>", "")
		d.save(t, "left", "<p>One</p>", "")
		d.save(t, "welcome", "<p>One</p>", "")
		for range 2 {
			puts, err := d.deploy(t)
			if slices.Contains(puts, "acme--news") || err != nil {
				t.Errorf("put %v, %v", puts, err)
			}
			got, err := d.account.Template(t.Context(), d.org, "acme--news")
			if got != stranger || err != nil {
				t.Errorf("the other template became %+v, %v", got, err)
			}
			d.wantState(t, "news", 0, "another template")
			d.wantState(t, "left", 1, "")
			d.wantState(t, "welcome", 1, "")
		}
		if err := d.account.DeleteTemplate(t.Context(), d.org, "acme--news"); err != nil {
			t.Fatal(err)
		}
		d.wantDeployed(t, "the name is free", "acme--news")
		d.wantState(t, "news", 1, "")
	})
}

// TestDeployFailures deploys while the account fails in each way.
func TestDeployFailures(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		bad := d.save(t, "bad", "<p>One</p>", "")
		d.save(t, "good", "<p>One</p>", "")

		for _, kind := range []sending.FailureKind{sending.NotConnected, sending.Unsupported} {
			d.account.fail = failing(kind)
			if puts, err := d.deploy(t); len(puts) != 1 || err != nil {
				t.Errorf("%s: put %v, %v", kind, puts, err)
			}
			words := map[sending.FailureKind]string{sending.NotConnected: "no sending account", sending.Unsupported: "stores no templates"}[kind]
			d.wantState(t, "bad", 0, words)
			d.wantState(t, "good", 0, words)
		}
		for _, kind := range []sending.FailureKind{sending.Throttled, sending.TimedOut, sending.Refused} {
			d.account.fail = failing(kind)
			puts, err := d.deploy(t)
			if f, ok := errors.AsType[*sending.Failure](err); len(puts) != 1 || !ok || f.Kind != kind {
				t.Errorf("%s: put %v, %v", kind, puts, err)
			}
		}
		d.account.fail = failing(sending.Full, "acme--bad")
		if puts, err := d.deploy(t); len(puts) != 2 || err != nil {
			t.Errorf("full: put %v, %v", puts, err)
		}
		d.wantState(t, "good", 1, "")
		d.wantState(t, "bad", 0, "as many templates")
		d.account.fail = failing(sending.Invalid, "acme--bad")
		d.wantDeployed(t, "full is retried", "acme--bad")
		d.wantState(t, "bad", 0, "refused the content")
		d.wantDeployed(t, "refused content is not retried")
		d.now = d.now.Add(time.Minute)
		d.settings.UpdatedAt = d.now
		puts, err := d.deploy(t)
		if slices.Sort(puts); !slices.Equal(puts, []string{"acme--bad", "acme--good"}) || err != nil {
			t.Errorf("with other settings: put %v, %v", puts, err)
		}
		d.account.fail = nil
		d.save(t, "bad", "<p>Two</p>", bad.ContentHash)
		d.wantState(t, "bad", 0, "")
		d.wantDeployed(t, "another version", "acme--bad")
		d.wantState(t, "bad", 2, "")
	})
}

// TestDeployIsInterrupted ends a run between two templates, and continues with the other
// one.
func TestDeployIsInterrupted(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		d.save(t, "one", "<p>One</p>", "")
		d.save(t, "two", "<p>One</p>", "")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		d.account.during = cancel
		if err := d.Deploy(ctx, d.org); err == nil || len(d.account.puts) != 1 {
			t.Fatalf("put %v, %v", d.account.puts, err)
		}
		d.account.during = nil
		before := d.account.puts[0]
		puts, err := d.deploy(t)
		if len(puts) == 0 || err != nil {
			t.Fatalf("put %v, %v, before %s", puts, err, before)
		}
		d.wantState(t, "one", 1, "")
		d.wantState(t, "two", 1, "")
		d.wantDeployed(t, "nothing to do")
	})
}

// TestDeployWhileDeploying saves a version and runs a second job while the first puts the
// version before. The second returns at once, and the first deploys the new version.
func TestDeployWhileDeploying(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		first := d.save(t, "one", "<p>One</p>", "")
		d.account.during = func() {
			d.account.during = nil
			d.save(t, "one", "<p>Two</p>", first.ContentHash)
			if err := d.Deploy(t.Context(), d.org); err != nil || len(d.account.puts) != 1 {
				t.Errorf("the second run: put %v, %v", d.account.puts, err)
			}
		}
		d.wantDeployed(t, "both versions", "acme--one", "acme--one")
		d.wantState(t, "one", 2, "")
		got, err := d.account.Template(t.Context(), d.org, "acme--one")
		if err != nil || !strings.HasPrefix(got.HTML, "<p>Two</p>") {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestManyTemplatesAreDeployedInRuns checks that a run ends after four minutes, and that
// the next run continues.
func TestManyTemplatesAreDeployedInRuns(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		for _, slug := range []string{"a", "b", "c", "d", "e", "f"} {
			d.save(t, slug, "<p>One</p>", "")
		}
		d.account.during = func() { d.now = d.now.Add(time.Minute) }
		seen := map[string]bool{}
		for _, want := range []int{4, 2, 0} {
			puts, err := d.deploy(t)
			if len(puts) != want || err != nil {
				t.Errorf("put %v, %v, want %d", puts, err, want)
			}
			for _, name := range puts {
				seen[name] = true
			}
		}
		if len(seen) != 6 {
			t.Errorf("deployed %v", seen)
		}
	})
}
