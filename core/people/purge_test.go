package people_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
)

func TestPurgeDeletesWhatHasExpired(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		session := people.Session{
			Hash: access.HashSecret("x"), UserID: h.user.ID, OrgID: h.orgs[0].ID, CreatedAt: start, LastSeenAt: start, ExpiresAt: start.Add(time.Minute),
		}
		ceremony := people.PasskeyCeremony{Hash: access.HashSecret("y"), Purpose: "sign_in", Data: "{}", ExpiresAt: start.Add(time.Minute)}
		h.must(h.db.Sessions().InsertSession(t.Context(), session))
		h.must(h.db.Passkeys().InsertCeremony(t.Context(), ceremony))
		h.advance(2 * time.Minute)
		stores := people.PurgeStores{Store: h.db.People(), Sessions: h.db.Sessions(), Passkeys: h.db.Passkeys()}
		purge := people.PurgeWorker(stores, h.clock, slog.New(slog.DiscardHandler))
		h.must(purge.Work(t.Context(), people.PurgeArgs{}))
		// The queries use the time start. At that time the rows had not expired, so the
		// queries would find rows that still exist.
		_, err := h.db.Sessions().Session(t.Context(), session.Hash, start)
		h.wantCode("the session", err, core.CodeNotFound)
		_, err = h.db.Passkeys().TakeCeremony(t.Context(), ceremony.Hash, start)
		h.wantCode("the ceremony", err, core.CodeNotFound)
	})
}
