package actors_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
)

// org is an organization with the member Grace. Alan was a member, and Mary never was.
type org struct{}

func (org) Member(_ context.Context, orgID, userID string) (members.Member, error) {
	if orgID != "org" || userID != "grace" {
		return members.Member{}, core.NotFound("member")
	}
	return members.Member{UserID: userID}, nil
}

func (org) UserByID(_ context.Context, userID string) (access.User, error) {
	user, is := map[string]access.User{"grace": {Name: "Grace", Email: "grace@example.com"}, "alan": {Email: "alan@example.com"}, "ada": {Name: "Ada"}}[userID]
	if !is {
		return access.User{}, core.NotFound("user")
	}
	return user, nil
}

func (org) APIKeysOf(context.Context, string) ([]access.APIKey, error) {
	return []access.APIKey{{ID: "key", Name: "Shop"}}, nil
}

func (org) ClientsOf(context.Context, string) ([]access.Client, error) {
	return []access.Client{{ID: "client", Name: "Helper"}}, nil
}

func (org) ClientByID(_ context.Context, orgID, id string) (access.Client, error) {
	if orgID == "" && id == "assistant" {
		return access.Client{ID: id, Name: "Assistant", ClientID: "https://assistant.example"}, nil
	}
	return access.Client{}, core.NotFound("client")
}

// counted is org with the number of calls.
type counted struct {
	org

	calls map[string]int
}

func (c counted) UserByID(ctx context.Context, userID string) (access.User, error) {
	c.calls["user "+userID]++
	return c.org.UserByID(ctx, userID)
}

func (c counted) APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error) {
	c.calls["keys"]++
	return c.org.APIKeysOf(ctx, orgID)
}

func (c counted) ClientByID(ctx context.Context, orgID, id string) (access.Client, error) {
	c.calls["client "+id]++
	return c.org.ClientByID(ctx, orgID, id)
}

// TestRecords checks the records of people and credentials, and that each is read once.
func TestRecords(t *testing.T) {
	t.Parallel()
	c := counted{calls: map[string]int{}}
	records := actors.Actors{Members: c, Users: c, Keys: c, Clients: c}.Records("org")
	for range 2 {
		for id, want := range map[string]string{"grace": "Grace (grace@example.com)", "alan": "alan@example.com", "mary": ""} {
			if p, err := records.Person(t.Context(), id); p.String() != want || err != nil {
				t.Errorf("%s: %q, %v", id, p, err)
			}
		}
		for id, want := range map[string]string{"key": "API key Shop", "client": "application Helper", "assistant": "application Assistant", "gone": ""} {
			if c, err := records.Credential(t.Context(), id); c.String() != want || err != nil {
				t.Errorf("%s: %q, %v", id, c, err)
			}
		}
	}
	want := map[string]int{"user grace": 1, "user alan": 1, "user mary": 1, "keys": 1, "client assistant": 1, "client gone": 1}
	if diff := cmp.Diff(want, c.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// failing is org whose people cannot be read as long as err is not nil.
type failing struct {
	org

	err error
}

func (f *failing) UserByID(ctx context.Context, userID string) (access.User, error) {
	if f.err != nil {
		return access.User{}, f.err
	}
	return f.org.UserByID(ctx, userID)
}

// TestErrorsAreNotRemembered checks that a person who could not be read is read again.
func TestErrorsAreNotRemembered(t *testing.T) {
	t.Parallel()
	f := &failing{}
	all := actors.Actors{Members: f, Users: f, Keys: f, Clients: f}
	names, records := all.For(people.Visitor{Org: core.Org{ID: "org"}}), all.Records("org")
	for _, f.err = range []error{errors.New("the database does not answer"), nil} {
		for range 2 {
			words, err := names.Person(t.Context(), "grace")
			if !errors.Is(err, f.err) || err == nil && words != "Grace" {
				t.Errorf("Grace is %q, %v, want the error %v", words, err, f.err)
			}
			p, err := records.Person(t.Context(), "grace")
			if !errors.Is(err, f.err) || err == nil && p.Name != "Grace" {
				t.Errorf("the record is %v, %v, want the error %v", p, err, f.err)
			}
		}
	}
}

// TestNamesNeedPermissions checks who sees the names of members, former members, keys and
// applications, for each role and for single permissions. The visitor is Ada.
func TestNamesNeedPermissions(t *testing.T) {
	t.Parallel()
	all := []string{"you", "Grace", "alan@example.com", "a former member", "the API key Shop", "the application Helper", "the application Helper", "an application"}
	credentials := []string{"you", "Grace", "a former member", "a former member", "the API key Shop", "the application Helper", "the application Helper", "an application"}
	former := []string{"you", "Grace", "alan@example.com", "a former member", "an API key", "an application", "the application Helper", "an application"}
	none := []string{"you", "Grace", "a former member", "a former member", "an API key", "an application", "the application Helper", "an application"}
	visitors := map[string]struct {
		may  []members.Permission
		want []string
	}{
		"viewer": {may("viewer"), none}, "marketer": {may("marketer"), none}, "developer": {may("developer"), all}, "owner": {may("owner"), all},
		"credentials": {[]members.Permission{members.MayManageCredentials}, credentials}, "members": {[]members.Permission{members.MayManageMembers}, former},
	}
	for name, v := range visitors {
		visitor := people.Visitor{User: access.User{ID: "ada"}, Org: core.Org{ID: "org"}, Member: members.Member{Role: members.PlainMember, Permissions: v.may}}
		names := actors.Actors{Members: org{}, Users: org{}, Keys: org{}, Clients: org{}}.For(visitor)
		var got []string
		for _, userID := range []string{"ada", "grace", "alan", "mary"} {
			words, err := names.Person(t.Context(), userID)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, words)
		}
		for _, c := range [][2]string{{"key", ""}, {"client", "grace"}, {"client", "ada"}, {"unknown", "grace"}} {
			words, err := names.Credential(t.Context(), c[0], c[1])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, words)
		}
		if diff := cmp.Diff(v.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// may returns the permissions of a named role.
func may(role string) []members.Permission {
	set, _ := members.RoleSetOf(role)
	return set.Permissions
}
