package rest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// TestARepositoryOwnsDefinitions checks that an organization with a connected git
// repository cannot change definitions (such as topics) over the API. The error must name
// the repository. Other organizations can change their definitions.
func TestARepositoryOwnsDefinitions(t *testing.T) {
	t.Parallel()
	writes := 0
	s := newStack(t, []core.Operation{core.Declare(core.Op[readIn, readIn]{
		Name: "probe_define", Title: "Define", Purpose: "Changes a definition.", Effect: core.Writes, GitOwned: core.GitRefused,
		Do: func(context.Context, *core.Call, readIn) (readIn, error) { writes++; return readIn{}, nil },
	})}, rest.Route{Method: "DELETE", Path: "/v1/definitions/{name}", Operation: "probe_define", Success: 204})
	connected := core.Org{ID: core.NewID(), Name: "Connected", Slug: "connected", Tier: "team", RetentionDays: 90, GitConnected: true}
	if err := s.db.Orgs().InsertOrg(t.Context(), connected); err != nil {
		t.Fatal(err)
	}
	key := s.key(connected.ID, core.Live, core.AllScopes())
	got := s.do(t, "DELETE", "/v1/definitions/d1", "", "Authorization", "Bearer "+key)
	if got.Code != 409 || !strings.Contains(got.Body.String(), `"code":"conflict"`) || !strings.Contains(got.Body.String(), "in the repository") || writes != 0 {
		t.Errorf("connected: %d %s, %d writes", got.Code, got.Body, writes)
	}
	if got := s.do(t, "DELETE", "/v1/definitions/d1", ""); got.Code != 204 || writes != 1 {
		t.Errorf("not connected: %d %s, %d writes", got.Code, got.Body, writes)
	}
}
