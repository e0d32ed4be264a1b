package templates_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// counting is a sending account that records the names of the templates whose content was
// read.
type counting struct {
	content map[string]string
	asked   []string
	gone    string // name of a template that is listed but not found when read
	broken  string // beginning of the names of templates whose content the account refuses to return; "" means none
	failsAt int    // number of the read that fails, from 1; 0 means none
	taking  func() // called at each read of a template's content
	listed  func() // called by the next TemplatesPage before it returns its page, and then set to nil
}

func (c *counting) TemplatesPage(_ context.Context, _, token string) ([]sending.TemplateName, string, error) {
	var page []sending.TemplateName
	for name := range c.content {
		if name > token {
			page = append(page, sending.TemplateName{Name: name})
		}
	}
	slices.SortFunc(page, func(a, b sending.TemplateName) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	if listed := c.listed; listed != nil {
		c.listed = nil
		listed()
	}
	const size = 100
	if len(page) <= size {
		return page, "", nil
	}
	return page[:size], page[size-1].Name, nil
}

func (c *counting) Template(_ context.Context, _, name string) (sending.Template, error) {
	c.asked = append(c.asked, name)
	if c.taking != nil {
		c.taking()
	}
	if len(c.asked) == c.failsAt {
		return sending.Template{}, &sending.Failure{Kind: sending.Throttled}
	}
	if c.broken != "" && strings.HasPrefix(name, c.broken) {
		return sending.Template{}, &sending.Failure{Kind: sending.Invalid, Err: errors.New("the content is invalid")}
	}
	text, ok := c.content[name]
	if !ok || name == c.gone {
		return sending.Template{}, &sending.Failure{Kind: sending.NotFound}
	}
	return sending.Template{Name: name, Subject: name, Text: text}, nil
}

type manyTemplates struct {
	*templates.Templates
	account *counting
	org     string
	now     time.Time
}

// manyOf is the number of templates of the test's account, and aRun the maximum number of
// contents that one sync reads.
const (
	manyOf = 3 * aRun
	aRun   = 200
)

func many(db *storage.DB) *manyTemplates {
	m := &manyTemplates{account: &counting{content: map[string]string{}}, org: core.NewID(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	m.Templates = templates.New(templates.Config{
		Store: db.Templates(), Managed: db.ManagedTemplates(), Account: m.account, Clock: func() time.Time { return m.now }, Log: slog.New(slog.DiscardHandler),
	})
	for i := range manyOf {
		m.account.content[fmt.Sprintf("t%04d", i)] = "first"
	}
	return m
}

// run syncs once and returns the names of the templates whose content was read.
func (m *manyTemplates) run(t *testing.T) []string {
	t.Helper()
	m.account.asked, m.now = nil, m.now.Add(templates.SyncEvery)
	if err := m.Sync(t.Context(), m.org); err != nil {
		t.Fatal(err)
	}
	return m.account.asked
}

func (m *manyTemplates) count(t *testing.T) int {
	t.Helper()
	n, err := m.Store.CountTemplates(t.Context(), m.org, templates.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (m *manyTemplates) text(t *testing.T, slug string) string {
	t.Helper()
	_, content, err := m.Store.Template(t.Context(), m.org, slug)
	if err != nil {
		return err.Error()
	}
	return content.Text
}

func TestManyTemplatesAreReadInTurn(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		m := many(db)
		for round := range manyOf / aRun {
			if asked := m.run(t); len(asked) != aRun || m.count(t) != (round+1)*aRun {
				t.Fatalf("run %d read %d, and %d are kept", round, len(asked), m.count(t))
			}
		}

		// A new template is read first, and a deleted one is removed. The other reads are of
		// the templates that were read longest ago.
		m.account.content["z-new"] = "new"
		delete(m.account.content, "t0599") // read last of all
		asked := m.run(t)
		if len(asked) != aRun || asked[0] != "z-new" || asked[1] != "t0000" || asked[aRun-1] != "t0198" {
			t.Errorf("read %d: %v", len(asked), asked)
		}
		if got := m.text(t, "z-new"); got != "new" || m.count(t) != manyOf {
			t.Errorf("%q of %d", got, m.count(t))
		}
		if got := m.text(t, "t0599"); got == "first" {
			t.Error("what is gone is still there")
		}

		// All changes are found after as many runs as it takes to read all templates once.
		for name := range m.account.content {
			m.account.content[name] = "second"
		}
		for range manyOf / aRun {
			m.run(t)
		}
		for _, slug := range []string{"t0000", "t0198", "t0199", "t0598", "z-new"} {
			if got := m.text(t, slug); got != "second" {
				t.Errorf("%s is %q", slug, got)
			}
		}
	})
}

// TestAnInterruptedSyncKeepsItsTemplates checks that an interrupted sync keeps the templates
// that it read, and that the next run continues after them.
func TestAnInterruptedSyncKeepsItsTemplates(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		m := many(db)
		m.account.failsAt = 51
		if err := m.Sync(t.Context(), m.org); err == nil {
			t.Fatal("no failure")
		}
		m.account.failsAt, m.account.gone = 0, "t0060"
		if n, asked := m.count(t), m.run(t); n != 50 || asked[0] != "t0050" || m.count(t) != 50+aRun-1 {
			t.Errorf("%d were kept, then came %v, and %d are there", n, asked[:3], m.count(t))
		}
	})
}

// TestALaterSyncKeepsItsTemplates runs a second sync after the first one has listed the
// account's templates and before the first one deletes any. The first one must not delete
// the templates that the second one stores: "new", and "back", which the account did not
// have when the first one listed it. The template "lost", which the account has deleted,
// must be deleted.
func TestALaterSyncKeepsItsTemplates(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		m := many(db)
		m.account.content = map[string]string{"a": "first", "back": "first", "lost": "first"}
		m.run(t)
		delete(m.account.content, "back")
		delete(m.account.content, "lost")
		m.account.listed = func() {
			m.account.content["back"], m.account.content["new"] = "first", "first"
			m.run(t)
		}
		m.run(t)
		for name, want := range map[string]string{"a": "first", "back": "first", "new": "first"} {
			if got := m.text(t, name); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
		if n := m.count(t); n != 3 {
			t.Errorf("%d are stored, want 3", n)
		}
	})
}

// TestATemplateThatCannotBeRead checks that a sync reads the other templates if the account
// refuses one, and reports the refused one in the log. The stored copy of a template that
// the account refuses later must stay.
func TestATemplateThatCannotBeRead(t *testing.T) {
	t.Parallel()
	m := many(storagetest.SQLite(t))
	maps.DeleteFunc(m.account.content, func(name, _ string) bool { return name > "t0009" })
	var log strings.Builder
	m.Log = slog.New(slog.NewTextHandler(&log, nil))
	m.account.broken = "t0003"
	if asked := m.run(t); len(asked) != 10 || m.count(t) != 9 || m.text(t, "t0004") != "first" {
		t.Errorf("read %v, and %d are kept", asked, m.count(t))
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "template=t0003") || !strings.Contains(log.String(), "the content is invalid") {
		t.Errorf("the log has:\n%s", &log)
	}
	m.account.broken = ""
	m.run(t)
	m.account.broken, m.account.content["t0009"] = "t0003", "second"
	if asked := m.run(t); len(asked) != 10 || m.count(t) != 10 || m.text(t, "t0003") != "first" || m.text(t, "t0009") != "second" {
		t.Errorf("read %v, and %d are kept", asked, m.count(t))
	}
}

// TestUnreadableTemplatesDoNotUseUpEveryRun checks an account with more unreadable
// templates than one run reads. The other templates must be read too, because an
// unreadable template is tried again only after the others.
func TestUnreadableTemplatesDoNotUseUpEveryRun(t *testing.T) {
	t.Parallel()
	m := many(storagetest.SQLite(t))
	m.account.content, m.account.broken = map[string]string{}, "bad"
	for i := range aRun + 50 {
		m.account.content[fmt.Sprintf("bad%03d", i)] = "first"
	}
	for i := range aRun {
		m.account.content[fmt.Sprintf("good%03d", i)] = "first"
	}
	for run, want := range []int{0, 150, aRun} {
		m.run(t)
		if got := m.count(t); got != want {
			t.Errorf("after run %d, %d are stored, want %d", run+1, got, want)
		}
	}
	// A template that the account no longer refuses is read in its turn.
	m.account.content["good000"], m.account.broken = "second", "bad1"
	for range 3 {
		m.run(t)
	}
	if got := m.text(t, "bad000"); got != "first" || m.text(t, "good000") != "second" {
		t.Errorf("%s, %s", got, m.text(t, "good000"))
	}
}

// TestASlowAccountGoesOnInTheNextRun checks that a sync reads at most two minutes from one
// account, because the job must also serve other organizations.
func TestASlowAccountGoesOnInTheNextRun(t *testing.T) {
	t.Parallel()
	m := many(storagetest.SQLite(t))
	m.account.taking = func() { m.now = m.now.Add(10 * time.Second) }
	for run := range 3 {
		if asked := m.run(t); len(asked) != 12 || asked[0] != fmt.Sprintf("t%04d", 12*run) || m.count(t) != 12*(run+1) {
			t.Errorf("run %d read %d: %v, and %d are kept", run, len(asked), asked, m.count(t))
		}
	}
}
