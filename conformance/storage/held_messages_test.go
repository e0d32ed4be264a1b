package storage_test

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestHeldMessages asks the queue, the inboxes and the receiving domains for messages, of which
// each has one, and another organization one with another id.
func TestHeldMessages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		mine, other := own(t, db), own(t, db)
		ids := map[string][2]string{}
		for i, o := range []ownedObjects{mine, other} {
			waiting, arrived := core.NewID(), core.NewID()
			must(t, db.ReceivedMail().Add(t.Context(), []inbound.Task{{OrgID: o.org, Envelope: inbound.Envelope{ID: waiting, ReceivedAt: start}, RawKey: "key"}}))
			message := inbound.Message{ID: arrived, RawKey: arrived + " raw", Attachments: []inbound.File{{Key: arrived + " file"}}}
			added, err := db.Inboxes().AddReceived(t.Context(), []inboxes.Arrival{{Target: o.inboxTarget(o.org), Stored: inboxes.Stored{Seq: 2, Message: message}}})
			if must(t, err); !added[0] {
				t.Fatal("the message was not added")
			}
			for name, id := range map[string]string{"queue": waiting, "inboxes": arrived, "domains": o.received.entry.Message.MessageID} {
				both := ids[name]
				both[i] = id
				ids[name] = both
			}
		}
		for name, holder := range map[string]spool.Holder{"queue": db.ReceivedMail(), "inboxes": db.Inboxes(), "domains": db.ReceivedDeliveries()} {
			asked := []string{ids[name][0], ids[name][1], core.NewID()}
			for i, org := range []string{mine.org, other.org} {
				held, err := holder.Held(t.Context(), org, asked)
				if must(t, err); len(held) != 1 || held[0].MessageID != ids[name][i] || held[0].Any != (name == "queue") {
					t.Errorf("%s: held of %v are %+v, want the %d.", name, asked, held, i)
				} else if id := ids[name][i]; name == "inboxes" && !slices.Equal(held[0].Keys, []string{id + " raw", id + " file"}) {
					t.Errorf("%s: the keys are %q", name, held[0].Keys)
				}
			}
		}
	})
}
