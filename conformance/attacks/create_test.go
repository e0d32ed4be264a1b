package attacks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestCreateCanBeRepeatedAfterASync interrupts the creation of a contact after the sending
// account has stored the address. A sync then copies the address into the database. The
// repeated call with the same idempotency key must succeed, and not fail because the
// contact exists.
func TestCreateCanBeRepeatedAfterASync(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		const body = `{"email":"half@example.com","attributes":{"city":"Oslo"},"lists":{"add":["newsletter"]}}`
		p.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodPutContact, Delay: simulator.Forever, TookEffect: true})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		c.hangUp(ctx, t, "POST", p.BaseURL+"/v1/contacts", body, "Idempotency-Key", "half")
		cancel()
		p.Simulator.Faults().Clear()
		if _, err := newWriter(p).sync.Run(t.Context(), p.OrgID); err != nil {
			t.Fatal(err)
		}
		c.restWhenFree(t, "POST", "/v1/contacts", body, "Idempotency-Key", "half").want(t, 201)
	})
}

// TestMoveCanBeRepeatedAfterASync interrupts a change of a contact's address after the
// sending account has stored the new address. A sync then creates a second contact for the
// new address. The repeated change must still succeed.
func TestMoveCanBeRepeatedAfterASync(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		agent := caller{p, p.Token(t, p.MCPURL)}
		agent.tool(t, "contacts_upsert", `{"external_id":"m1","email":"before@example.com"}`).want(t, 200)
		p.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodPutContact, Delay: simulator.Forever, TookEffect: true})
		const move = `{"external_id":"m1","email":"after@example.com"}`
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		agent.hangUp(ctx, t, "POST", p.MCPURL+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_upsert","arguments":`+move+`}}`)
		cancel()
		p.Simulator.Faults().Clear()
		if _, err := newWriter(p).sync.Run(t.Context(), p.OrgID); err != nil {
			t.Fatal(err)
		}
		var last problem
		failed := true
		product.Await(t, cleanupWait, func() error {
			if failed, last = agent.tool(t, "contacts_upsert", move).failed(t); failed && last.Code == "conflict" {
				return fmt.Errorf("the repeated move: %+v", last)
			}
			return nil
		})
		if failed {
			t.Errorf("the repeated move: %+v", last)
		}
	})
}
