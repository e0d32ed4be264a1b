package github_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

const redirect = "https://app.example.com/dashboard/git/github"

// TestOffers checks that people are offered the repositories that GitHub confirms for them: those of
// this app to which they may write.
func TestOffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address, err := w.app.AuthorizeURL(t.Context(), redirect, "st&te")
	if want := w.URL + "/login/oauth/authorize?client_id=Iv23client&redirect_uri=https%3A%2F%2Fapp.example.com%2Fdashboard%2Fgit%2Fgithub&state=st%26te"; err != nil || address != want {
		t.Errorf("%s %v", address, err)
	}
	if address, err = w.app.InstallURL(t.Context()); err != nil || address != w.URL+"/apps/mailhelm-test/installations/new" {
		t.Errorf("%s %v", address, err)
	}
	w.Person("code", "acme/zoo", githubtest.Name, "read:acme/read-only", "acme/../x")
	got, err := w.app.Offers(t.Context(), redirect, "code")
	want := []git.Offer{{Installation: githubtest.Installation, Location: githubtest.Name}, {Installation: githubtest.Installation, Location: "acme/zoo"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if calls := strings.Join(w.Calls(), " "); calls != "app person installations repositories" {
		t.Errorf("%s", calls)
	}
	for _, code := range []string{"", "other", strings.Repeat("c", 201)} {
		if _, err := w.app.Offers(t.Context(), redirect, code); !isRefusal(err) {
			t.Errorf("code %q: %v", code, err)
		}
	}
	w.Refuse(func(shape string, rw http.ResponseWriter, _ *http.Request) bool {
		if shape == "repositories" {
			rw.WriteHeader(http.StatusForbidden)
		}
		return shape == "repositories"
	})
	if _, err := w.app.Offers(t.Context(), redirect, "code"); !isRefusal(err) {
		t.Errorf("forbidden list: %v", err)
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*git.Refusal](err)
	return ok
}

// TestOffersWithoutSecret checks that without a client secret no person can connect a repository.
func TestOffersWithoutSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, err := github.New(github.Config{ID: githubtest.AppID, Key: githubtest.Key(), URL: w.URL, Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(app.Close)
	w.Person("code", githubtest.Name)
	if _, err := app.Offers(t.Context(), redirect, "code"); !isRefusal(err) || len(w.Calls()) != 0 {
		t.Errorf("%v", err)
	}
}
