package contacts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// searched returns the local parts of the addresses that the search finds on its first page,
// with the total.
func (b bundle) searched(t *testing.T, s contacts.Search) string {
	t.Helper()
	found, err := contacts.NewDirectory(b.Contacts).Search(t.Context(), b.Org.ID, s)
	if err != nil {
		return core.AsError(err).Message
	}
	var names []string
	for _, c := range found.Items {
		name, _, _ := strings.Cut(c.Email, "@")
		names = append(names, name)
	}
	return fmt.Sprintf("%s (%d)", strings.Join(names, " "), found.Total)
}

// audience makes contacts with names in several alphabets and with characters that LIKE and
// JSON treat specially.
func (b bundle) audience(t *testing.T) {
	t.Helper()
	for _, name := range []string{"first_name", "last_name"} {
		if err := b.DB.Attributes().InsertAttribute(t.Context(), b.Org.ID, attributes.Attribute{
			ID: core.NewID(), Name: name, Type: attributes.String, Origin: core.ManagedOrigin, CreatedAt: b.Clock(), UpdatedAt: b.Clock(),
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range []string{
		`{"email":"ada@example.com","attributes":{"first_name":"Ada","last_name":"Almeida","plan":"pro","age":30},"lists":{"add":["beta"]}}`,
		`{"email":"elodie@example.org","attributes":{"first_name":"Élodie","last_name":"O'Connor <b>\"q\"</b>","plan":"free","age":31},"topic_preferences":{"news":"OPT_OUT"}}`,
		`{"email":"per_cent@example.com","attributes":{"first_name":"100%","plan":"pro"},"unsubscribe_all":true}`,
		`{"email":"gone@example.com","attributes":{"first_name":"Gone"}}`,
		`{"email":"zoe@xn--mnchen-3ya.example"}`,
	} {
		b.Want(t, "contacts_create", arguments)
		b.Advance(time.Second)
	}
	b.Want(t, "contacts_upsert_by_external_id", `{"external_id":"CRM-77","email":"crm@example.net"}`)
	b.Want(t, "contacts_archive", `{"email":"gone@example.com"}`)
	b.SyncNow(t)
}

func TestSearchFindsPartsOfAddressesIdsAndNames(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.audience(t)
		ada, err := b.DB.Contacts().ContactByEmail(t.Context(), b.Org.ID, "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		all := "crm zoe per_cent elodie ada (5)"
		for text, want := range map[string]string{
			"":                 all,
			"  ":               all,
			"ADA@":             "ada (1)",
			"da@example.co":    "ada (1)", // a whole address may be a part of another one
			"example.org":      "elodie (1)",
			"crm-77":           "crm (1)",
			"a almeida":        "ada (1)",
			"élodie":           "elodie (1)",
			"ÉLODIE":           "elodie (1)",
			"lodie o'c":        "elodie (1)",
			`<b>"q"</`:         "elodie (1)",
			"r_c":              "per_cent (1)",
			"_":                "per_cent (1)",
			"100%":             "per_cent (1)",
			"%":                "per_cent (1)",
			`\`:                " (0)",
			"münchen":          "zoe (1)",
			"zoe@münchen.exam": "zoe (1)",
			ada.ID:             "ada (1)",
			core.NewID():       " (0)",
			"gone":             " (0)",
			`' OR 1=1 --`:      " (0)",
		} {
			if got := b.searched(t, contacts.Search{Text: text}); got != want {
				t.Errorf("%q found %s, want %s", text, got, want)
			}
		}
	})
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.audience(t)
		beta, err := b.DB.Lists().List(t.Context(), b.Org.ID, "beta")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			contacts.Search
			want string
		}{
			{"mailable", contacts.Search{State: contacts.OnlyMailable}, "crm zoe elodie ada (4)"},
			{"not mailable", contacts.Search{State: contacts.Unmailable}, "per_cent (1)"},
			{"archived", contacts.Search{State: contacts.OnlyArchived, Text: "gone"}, "gone (1)"},
			{"topic", contacts.Search{Topic: "news", Text: "example.org"}, " (0)"},
			{"out of a topic", contacts.Search{Topic: "news", Subscription: sending.OptOut}, "elodie (1)"},
			{"list", contacts.Search{List: beta.ID}, "ada (1)"},
			{"no list", contacts.Search{List: core.NewID()}, " (0)"},
			{"segment without members", contacts.Search{Segment: core.NewID()}, " (0)"},
			{"text attribute", contacts.Search{AttributeKey: "plan", AttributeValue: "pro"}, "per_cent ada (2)"},
			{"number attribute", contacts.Search{AttributeKey: "age", AttributeValue: "31"}, "elodie (1)"},
			{"all", contacts.Search{AttributeKey: "plan", AttributeValue: "pro", State: contacts.OnlyMailable, List: beta.ID, Topic: "news", Text: "ada"}, "ada (1)"},
			{"page", contacts.Search{Limit: 2}, "crm zoe (5)"},
			{"unknown attribute", contacts.Search{AttributeKey: "x'--", AttributeValue: "1"}, "`attribute` is not a registered attribute: \"x'--\"."},
			{"no attribute", contacts.Search{AttributeValue: "1"}, "`attribute` is missing for the value \"1\"."},
			{"hidden character", contacts.Search{Text: "a\u202eb"}, "`q` must be at most 254 visible characters of an address, an id or a name."},
			{"long", contacts.Search{Text: strings.Repeat("a", 255)}, "`q` must be at most 254 visible characters of an address, an id or a name."},
		} {
			if got := b.searched(t, c.Search); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
	})
}

// TestSearchPagesAreTheWholeResult checks the pages of a search and that a cursor is valid
// only with the filters of its page.
func TestSearchPagesAreTheWholeResult(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.audience(t)
		s, got := contacts.Search{Text: "example", Limit: 2}, []string{}
		for range 5 {
			found, err := contacts.NewDirectory(b.Contacts).Search(t.Context(), b.Org.ID, s)
			if err != nil || found.Total != 5 {
				t.Fatalf("%v, total %d", err, found.Total)
			}
			for _, c := range found.Items {
				got = append(got, c.Email)
			}
			if s.Cursor = found.Next; s.Cursor == "" {
				break
			}
			if _, err := contacts.NewDirectory(b.Contacts).Search(t.Context(), b.Org.ID, contacts.Search{Text: "other", Cursor: s.Cursor}); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("cursor of another search: %v", err)
			}
		}
		var each []string
		all, after, err := contacts.NewDirectory(b.Contacts).Export(t.Context(), b.Org.ID, contacts.Search{Text: "example"}, nil)
		if err != nil || after != nil {
			t.Fatal(err, after)
		}
		for _, c := range all {
			each = append(each, c.Email)
			if want := map[bool]string{true: "beta"}[c.Email == "ada@example.com"]; len(c.Lists) > 0 != (want != "") || want != "" && c.Lists[0].Key != want {
				t.Errorf("%s is on the lists %v", c.Email, c.Lists)
			}
		}
		want := []string{"crm@example.net", "zoe@xn--mnchen-3ya.example", "per_cent@example.com", "elodie@example.org", "ada@example.com"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, each); diff != "" {
			t.Error(diff)
		}
	})
}
