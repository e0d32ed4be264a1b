package attacks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
)

// TestLeavingAtAnyMomentWritesOnce interrupts 40 writes, each after another delay. It
// repeats each write with the same idempotency key. After the repetition the contact must
// exist once, with one audit event. It must be opted out in the database and in the sending
// account.
func TestLeavingAtAnyMomentWritesOnce(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		for i := range 40 {
			email := fmt.Sprintf("moment%d@example.com", i)
			const body = `{"unsubscribe_all":true,"lists":["newsletter"]}`
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*150*time.Microsecond)
			c.hangUp(ctx, t, "PUT", p.BaseURL+"/v1/contacts/"+email, body, "Idempotency-Key", email)
			cancel()
			got := c.restWhenFree(t, "PUT", "/v1/contacts/"+email, body, "Idempotency-Key", email)
			var contact struct {
				ID string `json:"id"`
			}
			// The status is 200 instead of 201 if a sync has already copied the address from
			// the account.
			if err := json.Unmarshal([]byte(got.body), &contact); err != nil || got.status != 200 && got.status != 201 {
				t.Fatalf("%d %.200s", got.status, got.body)
			}
			c.checkWrittenOnce(t, email, contact.ID)
		}
	})
}

func (c caller) checkWrittenOnce(t *testing.T, email, id string) {
	t.Helper()
	mirrored, err := c.DB.Contacts().ContactByEmail(t.Context(), c.OrgID, email)
	if err != nil || mirrored.ID != id || !mirrored.UnsubscribeAll || len(mirrored.Lists) != 1 {
		t.Errorf("%s: the mirror has %+v, %v; the answer named %s", email, mirrored, err, id)
	}
	held, err := c.Simulator.Contact(t.Context(), c.OrgID, email)
	if err != nil || !held.UnsubscribeAll {
		t.Errorf("%s: the account has %+v, %v", email, held, err)
	}
	events, err := c.DB.Audit().FindAudit(t.Context(), c.OrgID, access.AuditFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, e := range events {
		if e.SubjectID == id {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%s: %d audit lines, want 1", email, count)
	}
}
