package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
)

func TestAdminProductionDeny(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	org, _ := s.does("org", "create", "acme")["id"].(string)
	s.mustRun("org", "create", "other")
	s.refuses("No request for production access was ever made", "production", "deny", "acme")

	s.askForProduction(org)
	s.refuses("No request for production access was ever made", "production", "deny", "other")
	if out := s.mustRun("production", "deny", "acme"); !strings.Contains(out, "denied") {
		t.Error(out)
	}
	s.refuses("No request for production access is open", "production", "deny", "acme")
	if log := s.mustRun("audit", "list", "acme", "--json"); strings.Count(log, "production_access.denied") != 1 {
		t.Errorf("the log has\n%s", log)
	}
}

// askForProduction stores an open request for production access of the organization.
func (s shell) askForProduction(orgID string) {
	s.t.Helper()
	db, err := storage.Open(s.t.Context(), s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	now := time.Now().UTC()
	err = db.ProductionRequests().InsertRequest(s.t.Context(), orgID, sending.AccessRequest{
		ID: core.NewID(), Status: sending.AccessUnderReview, CreatedAt: now, UpdatedAt: now,
		ProductionRequest: sending.ProductionRequest{MailType: sending.Transactional, Website: "https://acme.example", UseCase: "receipts"},
	})
	if err := errors.Join(err, db.Close()); err != nil {
		s.t.Fatal(err)
	}
}
