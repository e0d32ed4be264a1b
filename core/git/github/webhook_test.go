package github_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/git/github"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

const webhookSecret = "secret of the webhook"

func sign(event, id, body string) github.Delivery {
	return github.Delivery{Event: event, ID: id, Signature: githubtest.Sign(webhookSecret, body), Body: []byte(body)}
}

const source = `"repository": {"full_name": "acme/definitions", "name": "definitions", "default_branch": "main"}, "installation": {"id": 99}`

func TestDeliveries(t *testing.T) {
	t.Parallel()
	d := github.NewDeliveries([]byte(webhookSecret), time.Now)
	one, all := github.Look{Installation: 99, Repository: "acme/definitions"}, github.Look{Installation: 99}
	for name, c := range map[string]struct {
		event, body string
		want        github.Look
		err         error
	}{
		"push":                {"push", `{"ref": "refs/heads/main", ` + source + `}`, one, nil},
		"push elsewhere":      {"push", `{"ref": "refs/heads/other", ` + source + `}`, github.Look{}, nil},
		"tag":                 {"push", `{"ref": "refs/tags/main", ` + source + `}`, github.Look{}, nil},
		"proposal":            {"pull_request", `{"action": "closed", "pull_request": {"head": {"ref": "mailhelm/x"}}, ` + source + `}`, one, nil},
		"other pull request":  {"pull_request", `{"action": "closed", "pull_request": {"head": {"ref": "x"}}, ` + source + `}`, github.Look{}, nil},
		"default branch":      {"repository", `{"action": "edited", "changes": {"default_branch": {"from": "master"}}, ` + source + `}`, one, nil},
		"renamed":             {"repository", `{"action": "renamed", "changes": {"repository": {"name": {"from": "before"}}}, ` + source + `}`, github.Look{Installation: 99, Repository: "acme/before"}, nil},
		"uninstalled":         {"installation", `{"action": "deleted", "installation": {"id": 99}}`, all, nil},
		"repository removed":  {"installation_repositories", `{"action": "removed", "installation": {"id": 99}}`, all, nil},
		"ping":                {"ping", `{"zen": "x"}`, github.Look{}, nil},
		"other event":         {"star", `[]`, github.Look{}, github.ErrMalformed},
		"no installation":     {"push", `{"ref": "refs/heads/main", "repository": {"full_name": "acme/definitions", "default_branch": "main"}}`, github.Look{}, github.ErrMalformed},
		"installation of 0":   {"installation", `{"installation": {"id": 0}}`, github.Look{}, github.ErrMalformed},
		"path in the name":    {"repository", `{"repository": {"full_name": "acme/../x"}, "installation": {"id": 9}}`, github.Look{}, github.ErrMalformed},
		"text for number":     {"push", `{"installation": {"id": "99"}}`, github.Look{}, github.ErrMalformed},
		"number out of range": {"push", `{"installation": {"id": 1e99}}`, github.Look{}, github.ErrMalformed},
		"no JSON":             {"push", `{`, github.Look{}, github.ErrMalformed},
		"form":                {"push", `payload=%7B%7D`, github.Look{}, github.ErrMalformed},
		"empty":               {"push", ``, github.Look{}, github.ErrMalformed},
	} {
		got, err := d.Read(sign(c.event, name, c.body))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestSignaturesAndRepetitions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	d := github.NewDeliveries([]byte(webhookSecret), func() time.Time { return now })
	good := sign("ping", "1", `{}`)
	for name, change := range map[string]func(*github.Delivery){
		"none":       func(d *github.Delivery) { d.Signature = "" },
		"other body": func(d *github.Delivery) { d.Body = []byte(`{ }`) },
		"SHA-1":      func(d *github.Delivery) { d.Signature = strings.Replace(d.Signature, "sha256=", "sha1=", 1) },
		"no prefix":  func(d *github.Delivery) { d.Signature = strings.TrimPrefix(d.Signature, "sha256=") },
		"shorter":    func(d *github.Delivery) { d.Signature = d.Signature[:len(d.Signature)-2] },
		"no digits":  func(d *github.Delivery) { d.Signature = "sha256=" + strings.Repeat("g", 64) },
	} {
		bad := good
		change(&bad)
		if _, err := d.Read(bad); !errors.Is(err, github.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := github.NewDeliveries(nil, time.Now).Read(sign("ping", "1", `{}`)); !errors.Is(err, github.ErrSignature) {
		t.Errorf("without a secret: %v", err)
	}
	for i, want := range []error{nil, github.ErrRepeated, nil, github.ErrRepeated} {
		if i == 2 {
			d.Forget(good) // it could not be done
		}
		if _, err := d.Read(good); !errors.Is(err, want) {
			t.Errorf("attempt %d: %v, want %v", i, err, want)
		}
	}
	now = now.Add(24 * time.Hour)
	if _, err := d.Read(good); err != nil {
		t.Errorf("a day later: %v", err)
	}
	if _, err := d.Read(sign("ping", "", `{}`)); !errors.Is(err, github.ErrMalformed) {
		t.Errorf("without id: %v", err)
	}
}

// FuzzDelivery checks that a signed delivery of any form names a repository of an installation, or is
// refused, and that an unsigned one is refused.
func FuzzDelivery(f *testing.F) {
	for _, seed := range []string{`{"ref": "refs/heads/main", ` + source + `}`, `{"action": "renamed", "changes": {"repository": {"name": {"from": "a/b"}}}, ` + source + `}`, `{`, `[[[`, ``} {
		for _, event := range []string{"push", "repository", "installation", "pull_request", "ping"} {
			f.Add(event, "id", seed)
		}
	}
	f.Fuzz(func(t *testing.T, event, id, body string) {
		d := github.NewDeliveries([]byte(webhookSecret), time.Now)
		look, err := d.Read(sign(event, id, body))
		owner, name, found := strings.Cut(look.Repository, "/")
		if look.Installation < 0 || look.Repository != "" && (look.Installation == 0 || !found || owner == "" || name == "" || strings.ContainsAny(look.Repository, "?#%\x00 ") || strings.Count(look.Repository, "/") != 1) {
			t.Fatalf("%+v", look)
		}
		if err != nil && look != (github.Look{}) {
			t.Fatalf("%+v %v", look, err)
		}
		if _, err := d.Read(github.Delivery{Event: event, ID: id, Signature: body, Body: []byte(body)}); !errors.Is(err, github.ErrSignature) {
			t.Fatalf("unsigned: %v", err)
		}
	})
}
