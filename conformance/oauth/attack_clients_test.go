package oauth_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth"
)

// TestAttackClientEnumeration checks that an unknown client, a revoked client and a wrong
// secret get the same answer. Only the request id and the date may differ.
func TestAttackClientEnumeration(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		revoked := s.application(s.p.OrgID, access.MintClientSecret().Secret, callback)
		s.must(s.p.DB.Clients().RevokeClient(t.Context(), s.p.OrgID, revoked.ID, s.p.Clock.Now()))
		wrong := access.MintClientSecret().Secret
		for _, path := range []string{"/oauth/token", "/oauth/revoke"} {
			var first answer
			for name, c := range map[string]registeredClient{
				"unknown":               {Client: access.Client{ClientID: "oc_live_AAAAAAAAAAAAAAAAAAAAAAAAAA"}, secret: wrong},
				"no client id at all":   {Client: access.Client{ClientID: "nobody"}, secret: wrong},
				"wrong secret":          {Client: s.app.Client, secret: wrong},
				"cut secret":            {Client: s.app.Client, secret: s.app.secret[:len(s.app.secret)-1]},
				"empty secret":          {Client: s.app.Client},
				"revoked, right secret": revoked,
				"revoked, wrong secret": {Client: revoked.Client, secret: wrong},
				"public with a secret":  {Client: s.native.Client, secret: wrong},
			} {
				a := s.post(path, c, "grant_type", "client_credentials", "token", "x")
				for _, header := range []string{"X-Request-Id", "Date"} {
					a.header.Del(header)
				}
				if a.status != http.StatusUnauthorized {
					t.Errorf("%s at %s: %d", name, path, a.status)
				}
				if first.status == 0 {
					first = a
				}
				if a.body != first.body || len(a.header) != len(first.header) || a.header.Get("WWW-Authenticate") != first.header.Get("WWW-Authenticate") {
					t.Errorf("%s at %s is told from the others: %v %s", name, path, a.header, a.body)
				}
			}
		}
	})
}

// TestAttackClientSecretTiming checks that the time of a refusal reveals nothing about the
// client. It measures no time. It checks that each refusal reads the store once. It also
// reads the source code of VerifyClient, which must compare the secret unless the store
// fails.
func TestAttackClientSecretTiming(t *testing.T) {
	t.Parallel()
	t.Run("as many questions to the store", func(t *testing.T) {
		protocol(t, func(t *testing.T, w *world) {
			store := &countingStore{ClientStore: w.db.Clients()}
			cfg := w.config
			cfg.Stores.Clients = store
			server, err := oauth.New(cfg)
			w.must(err)
			listener := httptest.NewServer(server.Handler())
			t.Cleanup(listener.Close)
			w.issuer = listener.URL
			for name, c := range map[string]registeredClient{
				"unknown":      {Client: access.Client{ClientID: "oc_live_AAAAAAAAAAAAAAAAAAAAAAAAAA"}, secret: w.live.secret},
				"wrong secret": {Client: w.live.Client, secret: w.other.secret},
				"revoked":      w.revoked,
			} {
				before := store.clients.Load()
				w.expectError(w.token(c), http.StatusUnauthorized, "invalid_client")
				if asked := store.clients.Load() - before; asked != 1 {
					t.Errorf("%s: the store was asked %d times", name, asked)
				}
			}
		})
	})
	t.Run("the same comparison", func(t *testing.T) {
		file, err := parser.ParseFile(token.NewFileSet(), "../../oauth/clients.go", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == "VerifyClient" {
				expectUnconditional(t, f)
				return
			}
		}
		t.Error("VerifyClient is somewhere else now")
	})
}

// expectUnconditional checks the source code of the function f, which must always compare
// the hashes of the client secret. Before that comparison, f may return only because of an
// error (a condition err != nil).
func expectUnconditional(t *testing.T, f *ast.FuncDecl) {
	t.Helper()
	for _, statement := range f.Body.List {
		switch s := statement.(type) {
		case *ast.AssignStmt:
			if calls(s, "SecretMatches") {
				return
			}
		case *ast.IfStmt:
			condition, ok := s.Cond.(*ast.BinaryExpr)
			if !ok || condition.Op != token.NEQ || !calls(condition.X, "err") || s.Else != nil {
				t.Error("something is decided before the hashes are compared")
			}
		default:
			t.Errorf("a %T before the hashes are compared", s)
		}
	}
	t.Error("the hashes are not compared, or only sometimes")
}

func calls(n ast.Node, function string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && name.Name == function {
			found = true
		}
		return !found
	})
	return found
}
