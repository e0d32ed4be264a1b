package segments_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// call runs an operation and returns its result as the JSON of the surface (REST or agent).
func (w *world) call(t *testing.T, s core.Surface, name, arguments string) (string, *core.Error) {
	t.Helper()
	for _, op := range w.Operations() {
		if op.Info().Name != name {
			continue
		}
		in, err := op.Decode(s, []byte(arguments))
		if err != nil {
			return "", core.AsError(err)
		}
		c := &core.Call{Principal: core.Principal{Org: core.Org{ID: w.org}}, Surface: s, Now: w.clock()}
		defer c.Finish()
		out, err := op.Do(t.Context(), c, in)
		if err != nil {
			return "", core.AsError(err)
		}
		raw, err := json.Marshal(op.View(s, out))
		must(t, err)
		if err := op.Output(s).Check(raw); err != nil {
			t.Errorf("%s: the result does not fit its schema: %v\n%s", name, err, raw)
		}
		return string(raw), nil
	}
	t.Fatalf("no operation %s", name)
	return "", nil
}

func TestPreviewCountsAndSavesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for i := range 12 {
			w.put(t, fmt.Sprintf("c%02d", i), map[string]any{"mrr": float64(i)})
		}
		got, err := w.call(t, core.REST, "segments_preview_predicate", `{"source":"attr.mrr >= 11"}`)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"count":1,"eval_class":"incremental","sample":[{"contact_id":%q,"email":"c11@example.com","mailable":true}]}`, w.contacts["c11"].ID)
		if got != want {
			t.Errorf("over REST %s, want %s", got, want)
		}
		got, err = w.call(t, core.Agent, "segments_preview_predicate", `{"source":"attr.mrr != 3"}`)
		if err != nil || !strings.Contains(got, `"count":11,`) || strings.Count(got, `"email"`) != 10 || !strings.Contains(got, `"lint":[{"message":"contacts without attr.mrr are left out here","line":1,"column":1,`) {
			t.Errorf("to an agent %s, %v", got, err)
		}
		w.recordPurchase(t, "buyer", `{}`)
		got, err = w.call(t, core.Agent, "segments_preview_predicate", `{"source":"exists(activity.purchas)"}`)
		if err != nil || !strings.Contains(got, `"lint":[{"message":"no activity \"purchas\" has been recorded so far","line":1,"column":8,"suggestion":"purchase"}]`) {
			t.Errorf("to an agent %s, %v", got, err)
		}
		if listed, err := w.call(t, core.REST, "segments_list", `{}`); err != nil || listed != `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}` {
			t.Errorf("a preview left %s, %v", listed, err)
		}
	})
}

func TestPreviewSaysWhereThePredicateIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	const arguments = `{"source":"attr.plna = \"pro\" and\n attr.mrr = \"1\""}`
	_, err := w.call(t, core.REST, "segments_preview_predicate", arguments)
	if err == nil || err.HTTPStatus() != 422 || len(err.Fields) != 2 || err.Fields[0].Field != "source" ||
		!strings.HasPrefix(err.Fields[0].Reason, `line 1, column 1: attribute "plna" is not registered`) || !strings.HasSuffix(err.Fields[0].Reason, "did you mean attr.plan?") ||
		!strings.HasPrefix(err.Fields[1].Reason, "line 2, column 13: ") {
		t.Errorf("over REST %+v", err)
	}
	got, err := w.call(t, core.Agent, "segments_preview_predicate", arguments)
	want := `{"count":0,"sample":[],"lint":[],"error":{"message":"attribute \"plna\" is not registered; did you mean attr.plan?","line":1,"column":1}}`
	if err != nil || got != want {
		t.Errorf("to an agent %s, %v", got, err)
	}
}

// TestPreviewNamesWhatIsArchived checks that both surfaces say of an archived list and of an
// archived segment that it is archived, and what to do.
func TestPreviewNamesWhatIsArchived(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		must(t, w.db.Lists().InsertList(t.Context(), w.org, lists.List{ID: core.NewID(), Key: "vip", Name: "VIP", Status: "archived", CreatedAt: w.now, UpdatedAt: w.now}))
		saved := w.save(t, "old", "attr.mrr > 1")
		if _, err := w.SetStatus(t.Context(), w.org, saved.ID, segments.Archived); err != nil {
			t.Fatal(err)
		}
		for source, want := range map[string]string{
			`in list "vip"`:    `the list "vip" is archived; define it in its repository again, or name another list; there are none`,
			`in segment "old"`: `the segment "old" is archived; restore it on its page in the dashboard, or name another segment; there are none`,
		} {
			arguments := fmt.Sprintf(`{"source":%q}`, source)
			_, err := w.call(t, core.REST, "segments_preview_predicate", arguments)
			if err == nil || len(err.Fields) != 1 || !strings.HasSuffix(err.Fields[0].Reason, ": "+want) {
				t.Errorf("%s over REST: %+v", source, err)
			}
			got, err := w.call(t, core.Agent, "segments_preview_predicate", arguments)
			if err != nil || !strings.Contains(got, fmt.Sprintf(`"error":{"message":%q,`, want)) {
				t.Errorf("%s to an agent: %s, %v", source, got, err)
			}
		}
	})
}

func TestPreviewGivesUpInTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.PreviewTime = time.Nanosecond
		_, err := w.call(t, core.REST, "segments_preview_predicate", `{"source":"has attr.mrr"}`)
		if err == nil || err.Code != core.CodeValidationFailed || !strings.Contains(err.Message, "takes longer to answer than 1ns") {
			t.Errorf("a slow preview is refused with %v", err)
		}
		// If the caller cancels the call, the error is not validation_failed.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w.PreviewTime = time.Hour
		for _, op := range w.Operations() {
			if op.Info().Name == "segments_preview_predicate" {
				in := segments.PreviewIn{Source: "has attr.mrr"}
				_, err := op.Do(ctx, &core.Call{Principal: core.Principal{Org: core.Org{ID: w.org}}, Now: w.clock()}, in)
				if err == nil || core.AsError(err).Code == core.CodeValidationFailed {
					t.Errorf("a canceled preview: %v", err)
				}
			}
		}
	})
}

func TestReadsOfSegments(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro"})
		w.advance(time.Second)
		w.put(t, "bob", map[string]any{"plan": "pro"})
		pros := w.save(t, "pros", `attr.plan = "pro"`)
		must(t, w.write(t.Context(), "cid", func(c *contacts.Contact) {
			c.Email, c.Attributes = "cid@xn--bcher-kva.example", map[string]any{"plan": "pro"}
		}))
		w.follow(t)
		w.advance(time.Second)
		w.save(t, "other", `has attr.mrr`)
		for _, name := range []string{"segments_get", "segments_members", "segments_check_member"} {
			arguments := `{"id":"nothing"}`
			if name == "segments_check_member" {
				arguments = `{"id":"nothing","contact":"ann@example.com"}`
			}
			if _, err := w.call(t, core.REST, name, arguments); err == nil || err.Code != core.CodeNotFound || err.Resource != "segment" {
				t.Errorf("%s: %v", name, err)
			}
		}
		got, err := w.call(t, core.REST, "segments_get", `{"id":"pros"}`)
		if err != nil || !strings.Contains(got, `"id":"`+pros.ID+`"`) || strings.Contains(got, "eval_warning") || !strings.Contains(got, `"member_count":3`) {
			t.Errorf("the segment is %s, %v", got, err)
		}
		page, err := w.call(t, core.REST, "segments_members", `{"id":"`+pros.ID+`","limit":1}`)
		if err != nil || !strings.Contains(page, `"has_more":true`) || !strings.Contains(page, `"entered_at":"2026-03-01T12:00:01Z"`) {
			t.Errorf("the first page is %s, %v", page, err)
		}
		for contact, is := range map[string]bool{"Ann@Example.com": true, "Cid@B\u00fccher.example": true, "cid@xn--bcher-kva.example": true, w.contacts["bob"].ID: true, "nobody@b\u00fccher.example": false, core.NewID(): false} {
			got, err := w.call(t, core.REST, "segments_check_member", fmt.Sprintf(`{"id":"pros","contact":%q}`, contact))
			if err != nil || got != fmt.Sprintf(`{"is_member":%v}`, is) {
				t.Errorf("%s: %s, %v", contact, got, err)
			}
		}
		if _, err := w.call(t, core.REST, "segments_check_member", `{"id":"pros","contact":"x"}`); err == nil || err.Code != core.CodeValidationFailed {
			t.Errorf("a text that is no contact: %v", err)
		}
		listed, err := w.call(t, core.Agent, "segments_list", `{"query":"PRO","status":"active"}`)
		if err != nil || !strings.Contains(listed, `"total":1`) || !strings.Contains(listed, `"key":"pros"`) {
			t.Errorf("an agent finds %s, %v", listed, err)
		}
		first, err := w.call(t, core.REST, "segments_list", `{"limit":1}`)
		if err != nil || !strings.Contains(first, `"key":"other"`) || !strings.Contains(first, `"has_more":true`) {
			t.Errorf("the newest is not first: %s, %v", first, err)
		}
	})
}

func TestDefinitionsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	good := segments.Definition{Key: "good", Name: "Good", Source: `has attr.mrr`, Origin: segments.Managed}
	for field, spoil := range map[string]func(*segments.Definition){
		"key":         func(d *segments.Definition) { d.Key = "Not a key" },
		"name":        func(d *segments.Definition) { d.Name = " " },
		"description": func(d *segments.Definition) { d.Description = strings.Repeat("x", 501) },
		"origin":      func(d *segments.Definition) { d.Origin = "" },
		"source":      func(d *segments.Definition) { d.Source = "attr.mrr >" },
	} {
		bad := good
		spoil(&bad)
		_, err := w.Save(t.Context(), w.org, bad)
		if e := core.AsError(err); e == nil || len(e.Fields) != 1 || e.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	// A definition from a Git repository may replace one that was saved through the API. A
	// definition that is saved through the API may not replace one from a repository.
	_, err := w.Save(t.Context(), w.org, good)
	must(t, err)
	git := good
	git.Origin, git.SourcePath = segments.Git, "segments/good.seg"
	saved, err := w.Save(t.Context(), w.org, git)
	must(t, err)
	if saved.Origin != segments.Git || saved.SourcePath != git.SourcePath {
		t.Errorf("the repository's is %+v", saved)
	}
	if _, err = w.Save(t.Context(), w.org, good); core.AsError(err) == nil || core.AsError(err).Code != core.CodeConflict {
		t.Errorf("a managed one over the repository's: %v", err)
	}
	if _, err = w.SetStatus(t.Context(), w.org, saved.ID, segments.Archived); err != nil {
		t.Fatal(err)
	}
	if saved, err = w.Save(t.Context(), w.org, good); err != nil || saved.Status != segments.Active {
		t.Errorf("an archived one is %s after it is saved, %v", saved.Status, err)
	}
}

// TestPreviewRefusesWhatItCannotAfford checks that a predicate that takes too many steps is
// refused before its query starts. A predicate with fewer text searches over the same rows
// must be accepted.
func TestPreviewRefusesWhatItCannotAfford(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for i := range 12 {
			w.put(t, fmt.Sprintf("c%02d", i), map[string]any{"plan": "pro"})
		}
		w.openMail(t, "c01")
		w.openMail(t, "c02")
		w.openMail(t, "c03")
		w.advance(time.Minute)
		counts := strings.TrimSuffix(strings.Repeat(`count(open where `+strings.TrimSuffix(strings.Repeat(`subject contains "a" or `, 22), " or ")+` within 3650d) > 9 or `, 8), " or ")
		contacts := strings.TrimSuffix(strings.Repeat(`attr.plan contains "x" or `, 22), " or ")
		preview := func(source string) *core.Error {
			_, err := w.call(t, core.REST, "segments_preview_predicate", `{"source":`+strconv.Quote(source)+`}`)
			return err
		}
		// the variable counts has a predicate that takes 712 steps for each of 3 events; the
		// predicate in contacts takes 88 steps for each of 12 contacts
		w.PreviewSteps = 2000
		if err := preview(counts); err == nil || err.Code != core.CodeValidationFailed || len(err.Fields) != 1 || err.Fields[0].Field != "source" ||
			!strings.Contains(err.Message, "712 steps for each of at least 3 rows (open events), and a preview may take 2,000 steps in all") || err.Next == "" {
			t.Errorf("eight counts of 22 searches: %v", err)
		}
		for _, source := range []string{contacts, `count(open within 3650d) > 9`, strings.Replace(counts, "3650d", "1s", 8)} {
			if err := preview(source); err != nil {
				t.Errorf("%.60s: %v", source, err)
			}
		}
		w.PreviewSteps = 1000
		if err := preview(contacts); err == nil || !strings.Contains(err.Message, "88 steps for each of at least 12 rows (contacts)") {
			t.Errorf("22 searches of contacts: %v", err)
		}
		w.PreviewSteps = 1 << 40
		if err := preview(counts); err != nil {
			t.Errorf("what can be afforded: %v", err)
		}
	})
}

// TestNewSegmentNeedsANewKey checks that Create does not replace a segment, even if two
// create the same key at the same time.
func TestNewSegmentNeedsANewKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		d := segments.Definition{Key: "twice", Name: "Twice", Source: `has attr.mrr`, Origin: segments.Managed}
		results := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := w.Create(t.Context(), w.org, d)
				results <- err
			}()
		}
		first, second := <-results, <-results
		if (first == nil) == (second == nil) {
			t.Fatalf("%v, %v", first, second)
		}
		// Without a segment there is no row to lock. The unique index then refuses the second
		// insert.
		if e := core.AsError(cmp.Or(first, second)); e.Code != core.CodeValidationFailed && e.Code != core.CodeConflict {
			t.Errorf("the second is refused with %v", e)
		}
		if _, err := w.Create(t.Context(), w.org, d); core.AsError(err) == nil || core.AsError(err).Code != core.CodeValidationFailed || core.AsError(err).Fields[0].Field != "key" {
			t.Errorf("a third is refused with %v", err)
		}
	})
}

// TestStatesOfASegment checks each change of the state of a segment.
func TestStatesOfASegment(t *testing.T) {
	t.Parallel()
	all := []segments.Status{segments.Active, segments.Paused, segments.Invalid, segments.Archived}
	refused := map[segments.Status][]segments.Status{
		segments.Active: {segments.Invalid}, segments.Paused: {segments.Invalid},
		segments.Invalid: {segments.Active}, segments.Archived: {segments.Paused, segments.Invalid},
	}
	for _, from := range all {
		for _, to := range all {
			if got, want := from.CanBecome(to), !slices.Contains(refused[from], to); got != want {
				t.Errorf("%s can become %s: %t", from, to, got)
			}
		}
	}
	w := newWorld(t, storagetest.SQLite(t))
	saved := w.save(t, "gone", `has attr.mrr`)
	if _, err := w.SetStatus(t.Context(), w.org, saved.ID, segments.Archived); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SetStatus(t.Context(), w.org, saved.ID, segments.Paused); core.AsError(err) == nil || core.AsError(err).Code != core.CodeConflict {
		t.Errorf("an archived segment is paused: %v", err)
	}
}

// changingMembers changes contacts between the two queries of a preview, in either order.
type changingMembers struct {
	segments.MemberStore
	change func()
}

func (m changingMembers) Examples(ctx context.Context, q segments.Question, limit int) ([]segments.Example, error) {
	defer m.change()
	return m.MemberStore.Examples(ctx, q, limit)
}

func (m changingMembers) CountMatching(ctx context.Context, q segments.Question) (int, error) {
	defer m.change()
	return m.MemberStore.CountMatching(ctx, q)
}

// TestPreviewCountMatchesItsSample adds a contact, and removes one, after each query of a
// preview. The count must be that of the sample, if the sample has all matching contacts.
func TestPreviewCountMatchesItsSample(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for i := range 10 {
			w.put(t, fmt.Sprintf("c%02d", i), map[string]any{"mrr": float64(i)})
		}
		added, found := 0, w.Members
		w.Members = changingMembers{found, func() {
			added++
			w.put(t, fmt.Sprintf("new%d", added), map[string]any{"mrr": float64(20)})
			w.put(t, fmt.Sprintf("c%02d", added), map[string]any{"mrr": float64(-1)})
			w.put(t, fmt.Sprintf("c%02d", added+4), map[string]any{"mrr": float64(-1)})
		}}
		for _, source := range []string{"attr.mrr >= 0", "attr.mrr > 3"} {
			got, refused := w.call(t, core.REST, "segments_preview_predicate", fmt.Sprintf(`{"source":%q}`, source))
			if refused != nil {
				t.Fatal(refused)
			}
			var preview segments.Preview
			must(t, json.Unmarshal([]byte(got), &preview))
			if len(preview.Sample) != min(preview.Count, 10) {
				t.Errorf("%s: a count of %d with a sample of %d", source, preview.Count, len(preview.Sample))
			}
		}
	})
}
