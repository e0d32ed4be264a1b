package inboxes_test

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestFullOfBytes drops mail that would exceed the size of an inbox, in one call and in several.
func TestFullOfBytes(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m, other := w.mint(`{}`), w.mint(`{}`)
		sized := func(to, id string, size int64) inbound.Delivery {
			message := w.message(id, "shop@example.com")
			message.Size = size
			return w.routed(to, message)
		}
		const most = int64(inboxes.MaxBytes)
		for n, c := range []struct {
			all  []inbound.Delivery
			want []bool
		}{
			{[]inbound.Delivery{sized(m.Address, "a", most/2), sized(other.Address, "a", most), sized(m.Address, "b", most/2), sized(m.Address, "c", 1)}, []bool{true, true, true, false}},
			{[]inbound.Delivery{sized(m.Address, "d", 1)}, []bool{false}},
			{[]inbound.Delivery{sized(m.Address, "a", most/2)}, []bool{false}},
			{[]inbound.Delivery{sized(m.Address, "e", 0)}, []bool{true}},
		} {
			if got := w.deliverAll(c.all...); !slices.Equal(got, c.want) {
				t.Errorf("call %d kept %v, want %v", n, got, c.want)
			}
		}
		if got := w.read(m.ID); got.MessageCount != 3 || got.DroppedCount != 3 {
			t.Errorf("%d accepted, %d dropped", got.MessageCount, got.DroppedCount)
		}
		third := w.mint(`{}`)
		if got := w.deliverAll(sized(third.Address, "f", most), sized(third.Address, "g", most)); !slices.Equal(got, []bool{true, false}) {
			t.Errorf("kept %v", got)
		}
	})
}
