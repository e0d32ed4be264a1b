package people_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
)

func TestPurgeDeletesWhatHasExpired(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		session := people.Session{
			Hash: access.HashSecret("x"), UserID: h.User.ID, OrgID: h.Orgs[0].ID, CreatedAt: start, LastSeenAt: start, ExpiresAt: start.Add(time.Minute),
		}
		ceremony := people.PasskeyCeremony{Hash: access.HashSecret("y"), Purpose: "sign_in", Data: "{}", ExpiresAt: start.Add(time.Minute)}
		reset := passwordchange.Reset{Hash: access.HashSecret("z"), UserID: h.User.ID, Mark: []byte{1}, CreatedAt: start, ExpiresAt: start.Add(time.Minute)}
		h.Must(h.DB.PasswordResets().InsertReset(t.Context(), reset))
		h.Must(h.DB.Sessions().InsertSession(t.Context(), session))
		h.Must(h.DB.Passkeys().InsertCeremony(t.Context(), ceremony))
		h.Advance(2 * time.Minute)
		stores := people.PurgeStores{Store: h.DB.People(), Sessions: h.DB.Sessions(), Passkeys: h.DB.Passkeys(), Resets: h.DB.PasswordResets()}
		purge := people.PurgeWorker(stores, h.Clock, slog.New(slog.DiscardHandler))
		h.Must(purge.Work(t.Context(), people.PurgeArgs{}))
		// The queries use the time start. At that time the rows had not expired, so the
		// queries would find rows that still exist.
		_, err := h.DB.Sessions().Session(t.Context(), session.Hash, start)
		h.WantCode("the session", err, core.CodeNotFound)
		_, err = h.DB.Passkeys().TakeCeremony(t.Context(), ceremony.Hash, start)
		h.WantCode("the ceremony", err, core.CodeNotFound)
		_, err = h.DB.PasswordResets().Reset(t.Context(), reset.Hash, start)
		h.WantCode("the reset link", err, core.CodeNotFound)
	})
}
