package frame

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestEntriesNeedPermissions checks that the sidebar shows an entry only to visitors with
// its permission, and a group only if it has an entry.
func TestEntriesNeedPermissions(t *testing.T) {
	t.Parallel()
	f := New(Config{Organizations: storagetest.SQLite(t).Members(), Areas: []Area{
		{Path: Path, Name: "Home"},
		{Group: "Audience", Path: Path + "/contacts", Name: "Contacts", Needs: members.MayViewContacts},
		{Group: "Audience", Path: Path + "/lists", Name: "Lists", Needs: members.MayViewLists},
		{Group: "Organization", Path: Path + "/audit", Name: "Audit log", Needs: members.MayViewAudit},
	}})
	for name, c := range map[string]struct {
		member members.Member
		want   []group
	}{
		"owner": {members.Member{Role: members.Owner}, []group{
			{"", []link{{Path: Path, Name: "Home"}}},
			{"Audience", []link{{Path: Path + "/contacts", Name: "Contacts", Current: "true"}, {Path: Path + "/lists", Name: "Lists"}}},
			{"Organization", []link{{Path: Path + "/audit", Name: "Audit log"}}},
		}},
		"member": {members.Member{Role: members.PlainMember, Permissions: []members.Permission{members.MayViewLists}}, []group{
			{"", []link{{Path: Path, Name: "Home"}}},
			{"Audience", []link{{Path: Path + "/lists", Name: "Lists"}}},
		}},
	} {
		n, err := f.navigation(httptest.NewRequestWithContext(t.Context(), "GET", Path+"/contacts/1", nil), people.Visitor{Member: c.member})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, n.Groups); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHeadLeadsBack checks the links above the heading: to the page of the area, unless it
// is the page itself, and to the parents.
func TestHeadLeadsBack(t *testing.T) {
	t.Parallel()
	f := New(Config{Areas: []Area{{Path: Path, Name: "Home"}, {Group: "Audience", Path: Path + "/contacts", Name: "Contacts"}}})
	ada := Link{Path + "/contacts/1", "Ada"}
	for path, c := range map[string]struct {
		parents []Link
		want    []Link
	}{
		Path + "/contacts":        {nil, nil},
		Path + "/contacts/1":      {nil, []Link{{Path + "/contacts", "Contacts"}}},
		Path + "/contacts/1/edit": {[]Link{ada}, []Link{{Path + "/contacts", "Contacts"}, ada}},
		Path:                      {nil, nil},
	} {
		got := f.headOf(httptest.NewRequestWithContext(t.Context(), "GET", path, nil), Screen{Title: "x", Head: Head{Parents: c.parents}})
		if diff := cmp.Diff(c.want, got.Crumbs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestPagers checks the range and the links below a list.
func TestPagers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query string
		rows  int
		next  string
		total int64
		want  Pager
	}{
		"nothing":      {"", 0, "", 0, Pager{}},
		"one page":     {"q=a", 3, "", 3, Pager{Range: "1 to 3 of 3"}},
		"first page":   {"q=a&from=9", 50, "C2", 12431, Pager{Range: "9 to 58 of 12,431", Next: "/x?cursor=C2&from=59&q=a"}},
		"second page":  {"q=a&cursor=C2&from=51", 50, "C3", -1, Pager{Range: "51 to 100", First: "/x?q=a", Next: "/x?cursor=C3&from=101&q=a"}},
		"past the end": {"cursor=C4&from=101", 0, "", -1, Pager{Range: "No more rows", First: "/x"}},
		"hostile":      {"cursor=C&from=-5", 1, "", -1, Pager{Range: "1 to 1", First: "/x"}},
	} {
		query, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, PagerOf("/x", query, c.rows, c.next, c.total)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRelativeTimes checks the words for the distance of an instant from now.
func TestRelativeTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC)
	for want, distance := range map[string]time.Duration{
		"now": -30 * time.Second, "3 min ago": -3*time.Minute - time.Second, "2 h ago": -2 * time.Hour, "1 day ago": -30 * time.Hour,
		"29 days ago": -29*24*time.Hour - time.Hour, "10 Feb 2026": -30 * 24 * time.Hour, "in 5 min": 5 * time.Minute, "in 3 days": 3 * 24 * time.Hour,
	} {
		if got := relative(now, now.Add(distance)); got != want {
			t.Errorf("%v: %q, want %q", distance, got, want)
		}
	}
	f := New(Config{Clock: func() time.Time { return now }})
	if got := f.WhenText("2026-03-12T14:30:00Z"); got != (When{"2026-03-12T14:30:00Z", "12 March 2026, 14:30:00 UTC", "1 h ago"}) {
		t.Errorf("%+v", got)
	}
	if got := f.WhenText(""); got != (When{}) {
		t.Errorf("%+v", got)
	}
}
