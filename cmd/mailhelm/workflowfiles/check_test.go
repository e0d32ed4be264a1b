package workflowfiles_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.workflow": tidy, "b.workflow": faulty, "c.workflow": strings.Replace(tidy, "wait 3 days", "exit\n exit", 1)})
	path := func(name string) string { return filepath.Join(dir, name) }
	r := run(t, "", "check", dir)
	want := path("a.workflow") + ": valid, names not checked\n" +
		path("b.workflow") + `:3:3: unexpected "sned"; expected a step: send, wait, if, split, hold out, repeat, set, add to list or exit; did you mean send?` + "\n" +
		path("b.workflow") + `:4:8: unexpected "3d"; expected a duration in words, such as 3 days (minutes, hours, days, weeks, months); did you mean 3 days?` + "\n" +
		path("c.workflow") + ":6:2: warning: no contact reaches this step, because exit is before it\n" +
		path("c.workflow") + ": valid, names not checked\n"
	if r != (ran{stdout: want, status: cli.ExitFailure}) {
		t.Errorf("got %+v\nwant %s", r, want)
	}
	if r := run(t, tidy, "check", "-"); r != (ran{stdout: "-: valid, names not checked\n"}) {
		t.Errorf("standard input gives %+v", r)
	}
}

// api answers with one template and no other names.
func api(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer secret-key":
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"detail": "The key lacks the scope api.attributes.view."}`))
		case r.URL.Path == "/v1/templates":
			_, _ = w.Write([]byte(`{"data": [{"slug": "welcome"}]}`))
		default:
			_, _ = w.Write([]byte(`{"data": []}`))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestCheckNames(t *testing.T) {
	t.Parallel()
	server := api(t)
	if r := run(t, tidy, "check", "-", "--server", server, "--key", "secret-key"); r != (ran{stdout: "-: valid\n"}) {
		t.Errorf("got %+v", r)
	}
	var got struct {
		Valid bool
		Names bool `json:"names_checked"`
		Files []struct {
			Valid    bool
			Errors   []struct{ Message, Suggestion string }
			Warnings []struct{ Kind string }
		}
	}
	r := run(t, strings.Replace(tidy, "\"welcome\"", "\"wellcome\"\nexit\nadd to list \"vip\"", 1), "check", "-", "--json", "--server", server, "--key", "secret-key")
	r.decode(t, &got)
	if r.status != cli.ExitFailure || got.Valid || !got.Names || len(got.Files) != 1 || len(got.Files[0].Errors) != 2 || got.Files[0].Errors[0].Suggestion != "welcome" {
		t.Errorf("got %+v", r)
	}
	r = run(t, tidy, "check", "-", "--server", server, "--key", "other-key")
	if r.status != cli.ExitFailure || r.stdout != "" || !strings.Contains(r.stderr, "The key lacks the scope api.attributes.view.") || strings.Contains(r.stderr, "other-key") {
		t.Errorf("another key gives %+v", r)
	}
	if r = run(t, tidy, "check", "-", "--server", "nowhere", "--key", "x"); r.status != cli.ExitFailure || !strings.Contains(r.stderr, "https://api.example.com") {
		t.Errorf("a wrong address gives %+v", r)
	}
}
