package suppression

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// account is a simulated sending account with a suppression list. The list is sorted by
// address, so its pages are not in order of time. The account counts requests and can fail.
type account struct {
	mu      sync.Mutex
	entries []sending.Suppressed
	calls   int
	fail    func(call int) error
	now     time.Time
}

const accountPage = 1000

func (a *account) FindSuppressed(context.Context, string, string) (sending.Suppressed, error) {
	return sending.Suppressed{}, &sending.Failure{Kind: sending.NotFound}
}

func (a *account) SuppressedPage(ctx context.Context, _ string, since, until time.Time, token string) ([]sending.Suppressed, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, "", &sending.Failure{Kind: sending.TimedOut, Err: err}
	}
	a.calls++
	if a.fail != nil {
		if err := a.fail(a.calls); err != nil {
			return nil, "", err
		}
	}
	from, _ := strconv.Atoi(token)
	var page []sending.Suppressed
	for i := from; i < len(a.entries); i++ {
		e := a.entries[i]
		if !since.IsZero() && e.At.Before(since) || !until.IsZero() && !e.At.Before(until) {
			continue
		}
		if len(page) == accountPage {
			return page, strconv.Itoa(i), nil
		}
		page = append(page, e)
	}
	return page, "", nil
}

func (a *account) clock() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

func (a *account) pass(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.now.Add(d)
}

// newAccount returns an account with n entries, added at intervals of step, the newest one
// at noon.
func newAccount(n int, step time.Duration) *account {
	a := &account{now: noon}
	for i := range n {
		reason := sending.SuppressedByBounce
		if i%100 == 0 {
			reason = sending.SuppressedByComplaint
		}
		a.entries = append(a.entries, sending.Suppressed{
			Email: fmt.Sprintf("%x@example.com", i*7919%1000003), Reason: reason, At: noon.Add(-time.Duration(i) * step),
		})
	}
	slices.SortFunc(a.entries, func(x, y sending.Suppressed) int { return cmp.Compare(x.Email, y.Email) })
	return a
}

func (a *account) newestEntries() []sending.Suppressed {
	all := slices.Clone(a.entries)
	slices.SortFunc(all, compareNewest)
	return all
}

type listing struct {
	t *testing.T
	s *Suppression
}

func listingOf(t *testing.T, a *account) listing {
	return listing{t, New(Config{Account: a, Clock: a.clock})}
}

func (l listing) ask(surface core.Surface, in ListSuppressionsIn) (core.Page[Suppressed], error) {
	l.t.Helper()
	call := &core.Call{Principal: core.Principal{Org: core.Org{ID: "org"}}, Surface: surface}
	in, err := l.s.prepareSuppressions(l.t.Context(), call, in)
	return in.page, err
}

func (l listing) must(surface core.Surface, in ListSuppressionsIn) core.Page[Suppressed] {
	l.t.Helper()
	page, err := l.ask(surface, in)
	if err != nil {
		l.t.Fatal(err)
	}
	return page
}

func emails(items []Suppressed) []string {
	var all []string
	for _, e := range items {
		all = append(all, e.Email)
	}
	return all
}

// TestSmallListIsReadOnce checks that a list that fits on one page is read with one
// request. For the next minute, all pages that callers request come from the cache.
func TestSmallListIsReadOnce(t *testing.T) {
	t.Parallel()
	a := newAccount(300, time.Hour)
	l := listingOf(t, a)
	var got []string
	in := ListSuppressionsIn{Limit: 70}
	for {
		page := l.must(core.REST, in)
		got = append(got, emails(page.Items)...)
		if in.Cursor = page.Next; in.Cursor == "" {
			break
		}
	}
	var want []string
	for _, e := range a.newestEntries() {
		want = append(want, e.Email)
	}
	if !slices.Equal(got, want) || a.calls != 1 {
		t.Errorf("%d entries of %d with %d calls", len(got), len(want), a.calls)
	}
	sample := l.must(core.Agent, ListSuppressionsIn{Limit: 10, Reason: sending.SuppressedByComplaint})
	if sample.Total != 3 || len(sample.Items) != 3 || a.calls != 1 {
		t.Errorf("complaints: %d of %d with %d calls", len(sample.Items), sample.Total, a.calls)
	}
	a.pass(time.Minute - time.Microsecond)
	l.must(core.REST, ListSuppressionsIn{})
	a.pass(time.Microsecond)
	if l.must(core.REST, ListSuppressionsIn{}); a.calls != 2 {
		t.Errorf("after a minute: %d calls", a.calls)
	}
}

// TestLongListIsReadFromItsNewEnd checks that each page of a long list takes a few
// requests, and that the pages together are the whole list.
func TestLongListIsReadFromItsNewEnd(t *testing.T) {
	t.Parallel()
	a := newAccount(120_000, 20*time.Minute) // the entries extend over more than four and a half years
	l := listingOf(t, a)
	want, in := a.newestEntries(), ListSuppressionsIn{Limit: 200}
	for page := range 30 {
		before := a.calls
		got := l.must(core.REST, in)
		for i, e := range got.Items {
			if e.Email != want[page*200+i].Email {
				t.Fatalf("page %d, entry %d: %s, want %s", page, i, e.Email, want[page*200+i].Email)
			}
		}
		if spent := a.calls - before; spent > 12 || len(got.Items) != 200 {
			t.Errorf("page %d: %d entries with %d calls", page, len(got.Items), spent)
		}
		in.Cursor = got.Next
	}
	from, to := noon.AddDate(-3, 0, 0), noon.AddDate(-3, 0, 7)
	week := l.must(core.REST, ListSuppressionsIn{From: &from, To: &to, Limit: 200})
	if len(week.Items) != 200 || !week.Items[0].SuppressedAt.Before(to) || week.Items[199].SuppressedAt.Before(from) {
		t.Errorf("a week three years ago: %d", len(week.Items))
	}
}

// TestLongListIsReadInTurns checks that a search reads the whole list, even if one call
// cannot read all pages. Such a call must fail, and the next call must continue after the
// pages already read.
func TestLongListIsReadInTurns(t *testing.T) {
	t.Parallel()
	a := newAccount(120_000, time.Minute)
	l := listingOf(t, a)
	refusals := 0
	for {
		page, err := l.ask(core.REST, ListSuppressionsIn{Email: "ABC"})
		if err == nil {
			if len(page.Items) == 0 || page.Next != "" {
				t.Errorf("%d matches, next %q", len(page.Items), page.Next)
			}
			break
		}
		e := core.AsError(err)
		if refusals++; e.Code != core.CodeUpstreamUnavailable || e.RetryAfter == 0 || refusals > 5 {
			t.Fatal(err)
		}
	}
	if refusals != 2 || a.calls != 120 {
		t.Errorf("%d refusals, %d calls for 120 pages", refusals, a.calls)
	}
}

func TestWhatWasReadOutlivesAFailure(t *testing.T) {
	t.Parallel()
	for kind, c := range map[sending.FailureKind]struct{ status, calls int }{
		sending.Throttled: {503, 4}, sending.TimedOut: {504, 4},
		// after these failures, reading starts again at the first page
		sending.Refused: {503, 5}, sending.Invalid: {503, 5},
	} {
		a := newAccount(2500, time.Hour)
		a.fail = func(call int) error {
			if call == 2 {
				return &sending.Failure{Kind: kind, RetryAfter: 7 * time.Second, Err: errors.New("secret")}
			}
			return nil
		}
		l := listingOf(t, a)
		_, err := l.ask(core.Agent, ListSuppressionsIn{})
		if e := core.AsError(err); e == nil || e.HTTPStatus() != c.status {
			t.Errorf("%s: %v", kind, err)
		}
		if page := l.must(core.Agent, ListSuppressionsIn{Limit: 50}); page.Total != 2500 || len(page.Items) != 50 || a.calls != c.calls {
			t.Errorf("%s: %d of %d with %d calls", kind, len(page.Items), page.Total, a.calls)
		}
	}
}

// TestCallersShareAReading checks that concurrent calls share one read of a suppression
// list. If a call is cancelled, the next call must still succeed.
func TestCallersShareAReading(t *testing.T) {
	t.Parallel()
	a := newAccount(20_000, time.Minute)
	l := listingOf(t, a)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			reading := l.s.lists.newReading("org")
			if entries, err := reading.readAll(t.Context(), span{}); err != nil || len(entries) != 20_000 {
				t.Errorf("%d entries, %v", len(entries), err)
			}
		})
	}
	callers.Wait()
	if a.calls != 20 {
		t.Errorf("%d calls", a.calls)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := l.s.lists.newReading("other").readAll(gone, span{}); err == nil {
		t.Error("a caller who left was answered")
	}
	if entries, err := l.s.lists.newReading("other").readAll(t.Context(), span{}); err != nil || len(entries) != 20_000 {
		t.Errorf("after one who left: %d, %v", len(entries), err)
	}
}

// TestSuppressionsOfASpan checks that the argument `from` of suppressions_list is inclusive
// and `to` is exclusive.
func TestSuppressionsOfASpan(t *testing.T) {
	t.Parallel()
	a := newAccount(10, time.Hour)
	l := listingOf(t, a)
	from, to := noon.Add(-5*time.Hour), noon.Add(-2*time.Hour)
	for name, c := range map[string]struct {
		in   ListSuppressionsIn
		want int // age of the newest expected entry, in hours before noon
		n    int
	}{
		"from":        {ListSuppressionsIn{From: &from}, 0, 6},
		"to":          {ListSuppressionsIn{To: &to}, 3, 7},
		"from and to": {ListSuppressionsIn{From: &from, To: &to}, 3, 3},
	} {
		var got, want []time.Time
		for _, e := range l.must(core.REST, c.in).Items {
			got = append(got, e.SuppressedAt)
		}
		for i := range c.n {
			want = append(want, noon.Add(-time.Duration(c.want+i)*time.Hour).UTC())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestSlowReadingIsNotShownStale checks that a list is not returned if reading all its
// pages takes longer than its lifetime in the cache.
func TestSlowReadingIsNotShownStale(t *testing.T) {
	t.Parallel()
	a := newAccount(120_000, time.Minute)
	l := listingOf(t, a)
	for range 4 {
		if _, err := l.ask(core.Agent, ListSuppressionsIn{}); core.AsError(err).Code != core.CodeUpstreamUnavailable {
			t.Fatal(err)
		}
		a.pass(45 * time.Second)
	}
	since := noon.AddDate(0, 0, -2)
	if page := l.must(core.Agent, ListSuppressionsIn{Since: &since}); page.Total == 0 {
		t.Error("a shorter time is not answered")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	a := newAccount(60_000, time.Minute)
	l := listingOf(t, a)
	read := func(org string) {
		t.Helper()
		for range 3 {
			if _, err := l.s.lists.newReading(org).readAll(t.Context(), span{}); err == nil {
				return
			}
		}
		t.Errorf("%s was not read", org)
	}
	for i := range 12 {
		read(fmt.Sprint("org ", i))
		total := 0
		for _, part := range l.s.lists.parts {
			total += part.size
		}
		if total > maxRemembered {
			t.Errorf("%d entries are remembered", total)
		}
	}
	a.pass(listLife)
	if read("one more"); len(l.s.lists.parts) != 1 {
		t.Errorf("%d parts are remembered a minute later", len(l.s.lists.parts))
	}
}

func TestSuppressionsAreRefusedByName(t *testing.T) {
	t.Parallel()
	l := listingOf(t, newAccount(10, time.Hour))
	early, late := noon, noon.Add(time.Hour)
	for field, c := range map[string]struct {
		surface core.Surface
		in      ListSuppressionsIn
	}{
		"from":   {core.REST, ListSuppressionsIn{From: &late, To: &early}},
		"cursor": {core.REST, ListSuppressionsIn{Cursor: "nonsense"}},
	} {
		_, err := l.ask(c.surface, c.in)
		if e := core.AsError(err); e == nil || len(e.Fields) != 1 || e.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	list := l.s.suppressionsList()
	for limit, refused := range map[string]bool{`{"limit":50}`: false, `{"limit":51}`: true} {
		if _, err := list.Decode(core.Agent, []byte(limit)); (err != nil) != refused {
			t.Errorf("an agent asks for %s: %v", limit, err)
		}
	}
	if _, err := list.Decode(core.REST, []byte(`{"limit":200}`)); err != nil {
		t.Errorf("over REST: %v", err)
	}
	first := l.must(core.REST, ListSuppressionsIn{Limit: 3})
	if _, err := l.ask(core.REST, ListSuppressionsIn{Cursor: first.Next, Reason: sending.SuppressedByBounce}); core.AsError(err) == nil {
		t.Error("a cursor of a list with other filters is taken")
	}
	if _, err := l.ask(core.REST, ListSuppressionsIn{Cursor: first.Next, Email: "a"}); core.AsError(err) == nil {
		t.Error("a cursor is taken with an address")
	}
}
