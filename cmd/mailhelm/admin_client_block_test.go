package main

import (
	"strings"
	"testing"
)

func TestAdminBlocksClients(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.does("org", "create", "acme", "--name", "Acme Ltd")
	const id = "https://agent.example.com/client.json"
	if response := s.does("client", "block", "acme", id); response["blocked"] != true || response["client_id"] != id {
		t.Errorf("block: %v", response)
	}
	if listed := s.mustRun("client", "blocked", "acme"); !strings.Contains(listed, id) {
		t.Errorf("blocked: %s", listed)
	}
	if response := s.does("client", "unblock", "acme", id); response["blocked"] != false {
		t.Errorf("unblock: %v", response)
	}
	if listed, ok := s.does("client", "blocked", "acme")["blocked_clients"].([]any); !ok || len(listed) != 0 {
		t.Errorf("blocked afterwards: %v", listed)
	}
	if audit := s.mustRun("audit", "list", "acme"); !strings.Contains(audit, "oauth_client.blocked") || !strings.Contains(audit, "oauth_client.unblocked") {
		t.Errorf("the audit log: %s", audit)
	}
	own := s.does("client", "create", "acme", "--name", "Own", "--scopes", "read")
	s.refuses("belongs to the organization itself", "client", "block", "acme", own["client_id"].(string))
	s.refuses("", "client", "block", "acme", "oc_live_NOBODY")
	s.refuses("there is no organization", "client", "unblock", "nobody", id)
}
