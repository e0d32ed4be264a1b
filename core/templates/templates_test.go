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
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// world is [templates.Templates] for one organization, with a simulated sending account.
type world struct {
	*templates.Templates
	db      *storage.DB
	managed templates.ManagedStore
	account *simulator.Simulator
	org     string
	now     time.Time
}

// registry has the names of attributes.
type registry []string

func (r registry) AttributeNames(context.Context, string) ([]string, error) { return r, nil }

func each(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := &world{org: core.NewID(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		clock := func() time.Time { return w.now }
		w.account = simulatortest.Open(t, simulator.Options{Clock: clock})
		if err := w.account.Seed(t.Context(), w.org, simulator.Setup{}); err != nil {
			t.Fatal(err)
		}
		w.db, w.managed = db, db.ManagedTemplates()
		w.Templates = templates.New(templates.Config{
			Store: db.Templates(), Managed: w.managed, Registry: registry{"first_name", "city"}, Account: w.account, Clock: clock, Log: slog.New(slog.DiscardHandler),
			Orgs: func(context.Context) ([]string, error) { return []string{w.org}, nil },
		})
		f(t, w)
	})
}

func (w *world) put(t *testing.T, template sending.Template) {
	t.Helper()
	if err := w.account.PutTemplate(t.Context(), w.org, template); err != nil {
		t.Fatal(err)
	}
}

func (w *world) sync(t *testing.T) {
	t.Helper()
	if err := w.SyncWorker().Work(t.Context(), templates.SyncArgs{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) call(t *testing.T, s core.Surface, name, arguments string) (any, error) {
	t.Helper()
	for _, op := range w.Operations() {
		if op.Info().Name != name {
			continue
		}
		in, err := op.Decode(s, []byte(arguments))
		if err != nil {
			return nil, err
		}
		c := &core.Call{Surface: s, Now: w.now, Principal: core.Principal{Org: core.Org{ID: w.org, Slug: "acme"}, Scopes: core.AllScopes()}}
		c.Principal.Credential = core.Credential{Kind: core.OAuthClient, ID: "client"}
		if in, err = op.Prepare(t.Context(), c, in); err != nil {
			return nil, err
		}
		return op.Do(t.Context(), c, in)
	}
	t.Fatalf("there is no operation %s", name)
	return nil, nil
}

func (w *world) slugs(t *testing.T, s core.Surface, arguments string) []string {
	t.Helper()
	out, err := w.call(t, s, "templates_list", arguments)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, row := range out.(core.Page[templates.Template]).Items {
		found = append(found, row.Slug)
	}
	return found
}

func (w *world) get(t *testing.T, slug string) templates.Detail {
	t.Helper()
	out, err := w.call(t, core.REST, "templates_get", `{"slug":"`+slug+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	return out.(templates.Detail)
}

func TestTemplatesFollowTheAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, sending.Template{Name: "Welcome", Subject: "Hello {{name}}", HTML: "<p>{{name}}</p>", Text: "x"})
		w.now = w.now.Add(time.Minute)
		w.put(t, sending.Template{Name: "Receipt", Subject: "Your order", Text: "100 % yours"})
		w.sync(t)
		if got := w.slugs(t, core.REST, ""); !slices.Equal(got, []string{"receipt", "welcome"}) {
			t.Errorf("newest first: %v", got)
		}
		first := w.get(t, "welcome")
		if first.Source != "import" || first.DeployedName != "Welcome" || len(first.Version) != 7 || !strings.HasPrefix(first.ContentHash, first.Version) {
			t.Errorf("%+v", first)
		}
		w.now = w.now.Add(time.Hour)
		w.sync(t)
		if again := w.get(t, "welcome"); !again.LastModified.Equal(first.LastModified) {
			t.Errorf("the same content is modified at %v", again.LastModified)
		}
		w.put(t, sending.Template{Name: "Welcome", Subject: "Hi", Text: "y"})
		w.sync(t)
		if changed := w.get(t, "welcome"); !changed.LastModified.Equal(w.now) || changed.Version == first.Version || changed.Text != "y" || changed.Subject != "Hi" {
			t.Errorf("%+v", changed)
		}
		if err := w.account.DeleteTemplate(t.Context(), w.org, "Receipt"); err != nil {
			t.Fatal(err)
		}
		w.sync(t)
		if _, err := w.call(t, core.REST, "templates_get", `{"slug":"receipt"}`); err == nil || core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("%v", err)
		}
	})
}

func TestTemplatesAreNarrowed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.put(t, sending.Template{Name: name, Subject: "100 % " + name, Text: "x"})
			w.now = w.now.Add(time.Minute)
		}
		w.sync(t)
		for arguments, want := range map[string][]string{
			`{"untagged":true}`: {"c", "b", "a"}, `{"tag":"sale"}`: {}, `{"limit":2}`: {"c", "b"},
		} {
			if got := w.slugs(t, core.REST, arguments); !slices.Equal(got, want) {
				t.Errorf("%s: %v", arguments, got)
			}
		}
		for arguments, want := range map[string][]string{`{"query":"% B"}`: {"b"}, `{"query":"_"}`: {}, `{"tag":"sale"}`: {}, `{}`: {"c", "b", "a"}} {
			if got := w.slugs(t, core.Agent, arguments); !slices.Equal(got, want) {
				t.Errorf("%s: %v", arguments, got)
			}
		}
		for _, arguments := range []string{`{"tag":"x","untagged":true}`, `{"cursor":"x"}`, `{"limit":0}`, `{"query":"x"}`} {
			if _, err := w.call(t, core.REST, "templates_list", arguments); err == nil || core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("%s: %v", arguments, err)
			}
		}
	})
}

func TestVariables(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	org := core.NewID()
	save := func(text string) templates.Detail {
		t.Helper()
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		if err := db.Templates().SaveTemplate(t.Context(), org, sending.Template{Name: "t", Subject: "{{ subject }}", Text: text}, at, at); err != nil {
			t.Fatal(err)
		}
		w := &world{org: org, Templates: templates.New(templates.Config{Store: db.Templates()})}
		return w.get(t, "t")
	}
	required := func(name string) templates.Variable { return templates.Variable{Name: name, Required: true} }
	asked := func(name string) templates.Variable { return templates.Variable{Name: name} }
	for text, want := range map[string][]templates.Variable{
		"plain": nil,
		"{{name}} {{{raw}}} {{name}} {{order.total}}":             {required("name"), required("raw"), required("order.total")},
		"{{#if vip}}{{perk}}{{else}}{{offer}}{{/if}}":             {asked("vip"), asked("perk"), asked("offer")},
		"{{#if vip}}{{/if}}{{vip}}":                               {required("vip")},
		"{{#each items}}{{title}} {{@index}} {{this}}{{/each}}":   {asked("items")},
		"{{! a comment {{{}} {{>partial}} {{../x}} {{this}}":      nil,
		"{{#with a}}{{b}}{{../c}}{{@root.d.e}}{{/with}}{{[f g]}}": {asked("a"), asked("c"), asked("d.e"), required("[f g]")},
	} {
		got := save(text)
		if diff := cmp.Diff(append([]templates.Variable{required("subject")}, want...), got.Variables); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if got.Validation != "valid" || len(got.Diagnostics) != 0 {
			t.Errorf("%s: %s %v", text, got.Validation, got.Diagnostics)
		}
	}
	for text, want := range map[string][]string{
		"Hi\n {{#if x}}": {"`text` line 2, column 2: the block `if` is not closed; expected `{{/if}}`."},
		"{{/if}}":        {"`text` line 1, column 1: `{{/if}}` closes a block that is not open."},
		"{{#esch x}}{{/esch}}{{}}": {
			"`text` line 1, column 4: there is no block `esch`; expected if, unless, each or with; did you mean each?",
			"`text` line 1, column 21: the tag is empty; expected a name.",
		},
	} {
		got := save(text)
		if diff := cmp.Diff(want, got.Diagnostics); diff != "" || got.Validation != "invalid" {
			t.Errorf("%s: %s %s", text, got.Validation, diff)
		}
	}
}

func TestAnAccountThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, sending.Template{Name: "a", Subject: "a", Text: "x"})
		w.sync(t)
		for _, method := range []simulator.Method{simulator.MethodTemplatesPage, simulator.MethodTemplate} {
			w.account.Faults().Set(simulator.Fault{Method: method, Kind: sending.Throttled, Times: 1})
			if err := w.Sync(t.Context(), w.org); err == nil {
				t.Errorf("%s: no failure", method)
			}
		}
		if got := w.slugs(t, core.REST, ""); len(got) != 1 {
			t.Errorf("%v", got)
		}
		if err := w.Sync(t.Context(), core.NewID()); err != nil {
			t.Errorf("without an account: %v", err)
		}
	})
}

// stuckAccount is a sending account whose list of templates does not end: each page has
// one name, and names the second page as its next page, even the second page itself.
type stuckAccount struct{ *simulator.Simulator }

func (a stuckAccount) TemplatesPage(ctx context.Context, org, token string) ([]sending.TemplateName, string, error) {
	page, _, err := a.Simulator.TemplatesPage(ctx, org, "")
	if token == "" {
		return page[:1], "second", err
	}
	return page[1:2], "second", err
}

// TestAnEndlessListingDeletesNoTemplate checks that a sync fails if a page token of the
// account's list repeats, because it would delete the templates on pages that it did not
// get. If the list is complete and empty, as for an SMTP server, the sync must delete all
// templates.
func TestAnEndlessListingDeletesNoTemplate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		names := []string{"a", "b", "c"}
		for _, name := range names {
			w.put(t, sending.Template{Name: name, Subject: "x", Text: "x"})
		}
		w.sync(t)
		w.Account = stuckAccount{w.account}
		if err := w.Sync(t.Context(), w.org); err == nil {
			t.Error("a repeated page token is no failure")
		}
		if got := w.slugs(t, core.REST, ""); len(got) != len(names) {
			t.Errorf("after the failure: %v", got)
		}
		w.Account = w.account
		for _, name := range names {
			if err := w.account.DeleteTemplate(t.Context(), w.org, name); err != nil {
				t.Fatal(err)
			}
		}
		w.sync(t)
		if got := w.slugs(t, core.REST, ""); len(got) != 0 {
			t.Errorf("the account has no templates: %v", got)
		}
	})
}

// otherAccount is a sending account whose TemplatesPage returns an empty page and the
// error of the function list.
type otherAccount struct {
	*simulator.Simulator
	list func() error
}

func (a otherAccount) TemplatesPage(context.Context, string, string) ([]sending.TemplateName, string, error) {
	return nil, "", a.list()
}

// TestTemplatesOfAnAccountOfAnotherKind checks what a sync does with templates that were
// copied from the account that was connected before. If the new account has no templates,
// such as an SMTP server, it cannot send them, and the copies are deleted. If this server
// has no adapter for the new account, its templates are unknown, and the copies stay.
func TestTemplatesOfAnAccountOfAnotherKind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, sending.Template{Name: "a", Subject: "x", Text: "x"})
		w.sync(t)
		w.Account = otherAccount{w.account, func() error { return &sending.Failure{Kind: sending.Unsupported, Err: errors.New("no adapter")} }}
		w.sync(t)
		if got := w.slugs(t, core.REST, ""); len(got) != 1 {
			t.Errorf("without an adapter: %v", got)
		}
		w.Account = otherAccount{w.account, func() error { return nil }}
		w.sync(t)
		if got := w.slugs(t, core.REST, ""); len(got) != 0 {
			t.Errorf("at an account without templates: %v", got)
		}
	})
}

func FuzzVariables(f *testing.F) {
	for _, seed := range []string{"{{a}}", "{{#if a}}{{/if}}", "{{{{", "}}", "{{#}}", "{{/}}", "{{!}}", "{{#a}}{{/b}}", "{{a.[b c].[0]}}", strings.Repeat("{{#if x}}", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		variables, _ := templates.Scan(sending.Template{Text: text})
		for _, v := range variables {
			if v.Name == "" {
				t.Fatalf("%q of %q", v.Name, text)
			}
		}
	})
}
