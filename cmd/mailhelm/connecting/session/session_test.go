package session_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/connectingtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/discovery"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/grants"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/session"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/signin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
	"golang.org/x/oauth2"
)

// scene is a server, a clock and a folder that several sessions share, as several bridges of
// one person do.
type scene struct {
	t       *testing.T
	server  *connectingtest.Server
	folder  string
	ahead   atomic.Int64 // how far the clock was moved, in nanoseconds
	signIns atomic.Int32
	refuse  error  // of the sign-in
	refused string // client of the refused sign-in
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{t: t, server: connectingtest.Start(t), folder: filepath.Join(t.TempDir(), "grants")}
}

func (s *scene) clock() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(s.ahead.Load()))
}

// session returns a session of its own on the shared store, as another process would have.
func (s *scene) session() *session.Session {
	s.t.Helper()
	store, err := grants.Open(grants.File, s.folder)
	if err != nil {
		s.t.Fatal(err)
	}
	return session.New(session.Config{
		Address: s.server.Address(), Store: store, Folder: s.folder, HTTP: discovery.Client(), Clock: s.clock,
		Retries: tokens.Retries{Attempts: 2, Wait: func(context.Context, time.Duration) error { return nil }},
		SignIn:  s.signIn,
	})
}

// signIn signs in as a person whose browser grants everything at once.
func (s *scene) signIn(ctx context.Context, client string) (session.Signed, error) {
	s.signIns.Add(1)
	if s.refuse != nil {
		return session.Signed{Granted: signin.Granted{ClientID: s.refused}}, s.refuse
	}
	found, err := discovery.Find(ctx, s.server.Address())
	if err != nil {
		return session.Signed{}, err
	}
	granted, err := signin.Asking{
		Clock: s.clock, Server: found, ClientID: client, Show: func(string) {},
		Open: func(address string) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				return err
			}
			answer, err := (&http.Client{}).Do(r)
			if err == nil {
				err = answer.Body.Close()
			}
			return err
		},
	}.Run(ctx)
	return session.Signed{
		Granted: granted, Issuer: found.Metadata.Issuer, TokenEndpoint: found.Metadata.TokenEndpoint,
		RevokeEndpoint: found.Metadata.RevocationEndpoint, Resource: found.Resource,
	}, err
}

func (s *scene) token(from *session.Session) string {
	s.t.Helper()
	token, err := from.Token(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// TestOneSignInLasts checks that a person signs in once, that a token is refreshed before it
// ends, and that a later process needs no sign-in.
func TestOneSignInLasts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := s.session()
	first := s.token(one)
	if s.token(one) != first || s.token(s.session()) != first {
		t.Error("a valid token was replaced")
	}
	s.ahead.Add(int64((connectingtest.Life - 61) * time.Second))
	if s.token(one) != first {
		t.Error("a token was replaced more than a minute before its end")
	}
	for range 8 { // two hours
		s.ahead.Add(int64(connectingtest.Life * time.Second))
		s.token(one)
	}
	later := s.session()
	if s.token(later) != s.token(one) || s.signIns.Load() != 1 || s.server.Requests("refresh_token") != 8 || !s.server.Granted() {
		t.Errorf("%d sign-ins, %d refreshes", s.signIns.Load(), s.server.Requests("refresh_token"))
	}
}

// TestSeveralBridgesShareAGrant checks that concurrent sessions over one store never use a
// refresh token twice, which would end the grant.
func TestSeveralBridgesShareAGrant(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	bridges := []*session.Session{s.session(), s.session(), s.session()}
	for range 4 {
		var running sync.WaitGroup
		for _, b := range bridges {
			for range 4 {
				running.Go(func() {
					if _, err := b.Token(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
		}
		running.Wait()
		s.ahead.Add(int64(connectingtest.Life * time.Second))
	}
	if s.server.Reused() || !s.server.Granted() || s.signIns.Load() != 1 || s.server.Requests("refresh_token") != 3 {
		t.Errorf("%d sign-ins, %d refreshes, reused %v", s.signIns.Load(), s.server.Requests("refresh_token"), s.server.Reused())
	}
}

// TestRenew checks that a refused token is replaced once, however many calls it refused.
func TestRenew(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one, other := s.session(), s.session()
	old := s.token(one)
	s.token(other)
	s.server.EndAccess()
	next, err := one.Renew(t.Context(), old)
	if err != nil || next == old {
		t.Fatalf("%s, %v", next, err)
	}
	for _, from := range []*session.Session{one, other} {
		if got, err := from.Renew(t.Context(), old); got != next || err != nil {
			t.Errorf("%s, %v, want %s", got, err, next)
		}
	}
	if got := s.server.Requests("refresh_token"); got != 1 {
		t.Errorf("%d refreshes", got)
	}
}

// TestEndedGrant checks that the person is asked again after the grant was revoked, and only
// once if the sign-in fails.
func TestEndedGrant(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := s.session()
	old := s.token(one)
	s.server.EndGrant()
	next, err := one.Renew(t.Context(), old)
	if err != nil || s.signIns.Load() != 2 {
		t.Fatalf("%v after %d sign-ins", err, s.signIns.Load())
	}
	s.server.EndGrant()
	s.refuse = errors.New("refused")
	for range 3 {
		if _, err := one.Renew(t.Context(), next); !errors.Is(err, s.refuse) {
			t.Errorf("%v", err)
		}
	}
	if s.signIns.Load() != 3 {
		t.Errorf("%d sign-ins", s.signIns.Load())
	}
	s.refuse = nil
	if _, err := s.session().SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Token(t.Context()); err != nil || s.signIns.Load() != 4 {
		t.Errorf("a sign-in of another process is not used: %v, %d sign-ins", err, s.signIns.Load())
	}
}

// TestFailedSignInKeepsTheGrant checks that a sign-in that fails leaves a valid grant in the
// store, and that only a refusal of the client removes it.
func TestFailedSignInKeepsTheGrant(t *testing.T) {
	t.Parallel()
	refused := func(code string) error {
		return tokens.Explain(&oauth2.RetrieveError{Response: &http.Response{StatusCode: http.StatusBadRequest}, ErrorCode: code})
	}
	for name, tc := range map[string]struct {
		err    error
		client string // that was refused
		keeps  bool
	}{
		"the person refuses":  {errors.New("refused"), "registered", true},
		"time limit":          {signin.ErrTimeLimit, "registered", true},
		"code refused":        {refused("invalid_grant"), "registered", true},
		"other client":        {refused("invalid_client"), "another", true},
		"client removed":      {refused("invalid_client"), "registered", false},
		"client unauthorized": {refused("unauthorized_client"), "registered", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			first := s.token(s.session())
			s.refuse, s.refused = tc.err, tc.client
			if _, err := s.session().SignIn(t.Context()); !errors.Is(err, tc.err) {
				t.Errorf("%v", err)
			}
			got, err := s.session().Token(t.Context())
			if tc.keeps && (got != first || err != nil) || !tc.keeps && err == nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestSignInReplacesTheGrant checks that a new sign-in revokes the grant that it replaces,
// and that the new grant stays valid.
func TestSignInReplacesTheGrant(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.token(s.session())
	if _, err := s.session().SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"refresh-1"}, s.server.Revoked()); diff != "" {
		t.Error(diff)
	}
	if got := s.token(s.session()); got == first || !s.server.Granted() {
		t.Errorf("%s, granted %v", got, s.server.Granted())
	}
	s.server.Change = func(d map[string]any) {
		if _, ok := d["revocation_endpoint"]; ok {
			d["revocation_endpoint"] = s.server.URL + "/nowhere"
		}
	}
	for _, want := range []string{"", "not revoked"} { // the second one replaces a grant that cannot be revoked
		_, err := s.session().SignIn(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		s.token(s.session())
	}
	if s.signIns.Load() != 4 {
		t.Errorf("%d sign-ins", s.signIns.Load())
	}
}

// TestLostAnswer checks what a lost answer to a refresh costs: the server has replaced the
// refresh token, so the repetition ends the grant, and the person signs in once more.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := s.session()
	s.token(one)
	s.ahead.Add(int64(connectingtest.Life * time.Second))
	s.server.LoseNext("refresh_token")
	s.token(one)
	if s.signIns.Load() != 2 || s.server.Requests("refresh_token") != 2 || !s.server.Granted() {
		t.Errorf("%d sign-ins, %d refreshes", s.signIns.Load(), s.server.Requests("refresh_token"))
	}
}

// TestRefreshSurvivesOutages checks that an outage does not end the grant, and that the end
// of the program does not interrupt a refresh.
func TestRefreshSurvivesOutages(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := s.session()
	s.token(one)
	s.ahead.Add(int64(connectingtest.Life * time.Second))
	down := true
	s.server.Fail = func(w http.ResponseWriter) bool {
		if down {
			w.WriteHeader(http.StatusBadGateway)
		}
		return down
	}
	if _, err := one.Token(t.Context()); err == nil {
		t.Error("a token during an outage")
	}
	down = false
	ctx, cancel := context.WithCancel(t.Context())
	s.server.Fail = func(http.ResponseWriter) bool { cancel(); return false }
	if _, err := one.Token(ctx); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	s.ahead.Add(int64(connectingtest.Life * time.Second))
	s.server.Fail = nil
	if s.token(s.session()); s.signIns.Load() != 1 || s.server.Reused() {
		t.Errorf("%d sign-ins", s.signIns.Load())
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.token(s.session())
	if err := s.session().SignOut(t.Context()); err != nil || s.server.Granted() {
		t.Errorf("granted %v, %v", s.server.Granted(), err)
	}
	if err := s.session().SignOut(t.Context()); !errors.Is(err, grants.ErrNone) {
		t.Errorf("a second time: %v", err)
	}
	s.token(s.session())
	s.server.Close()
	if err := s.session().SignOut(t.Context()); err == nil {
		t.Error("no error, although the server did not revoke the grant")
	}
	if err := s.session().SignOut(t.Context()); !errors.Is(err, grants.ErrNone) {
		t.Errorf("the grant is still stored: %v", err)
	}
}
