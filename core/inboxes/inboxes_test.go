package inboxes_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestMint checks every member of a bare new inbox, and that no secret is stored in clear.
func TestMint(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		if !regexp.MustCompile(`^[a-z0-9]{10}@inbox\.test$`).MatchString(m.Address) {
			t.Errorf("address %s", m.Address)
		}
		secret := strings.TrimSuffix(strings.TrimPrefix(m.PullURL, "https://fetch.test/p/"), "/messages")
		if !access.IsLink(secret) || m.PullToken.Prefix != secret[:8] || m.PullToken.Label != "default" || m.PullToken.RevokedAt != nil {
			t.Errorf("pull link %s, %+v", m.PullURL, m.PullToken)
		}
		want := fmt.Sprintf(`{"id":%q,"address":%q,"expires_at":"2026-03-01T12:10:00Z","poll_url":"https://api.test/v1/inboxes/%s/messages",`+
			`"pull_token":{"id":%q,"prefix":%q,"label":"default","created_at":"2026-03-01T12:00:00Z","revoked_at":null},"restricted":false,"visibility":"private","label":"",`+
			`"status":"active","allowed_senders":[],"message_count":0,"dropped_count":0,"created_at":"2026-03-01T12:00:00Z"}`,
			m.ID, m.Address, m.ID, m.PullToken.ID, m.PullToken.Prefix)
		if got := asJSON(t, w.read(m.ID)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		tokens, err := db.Inboxes().PullTokens(t.Context(), w.ann.Org.ID, m.ID)
		if err != nil || len(tokens) != 1 || string(tokens[0].Hash) != string(access.HashSecret(secret)) {
			t.Errorf("stored: %+v, %v", tokens, err)
		}
	})
}

// TestRepeatedMintHasTheSameLink recalls the stored result of a mint, which must not contain
// the secret.
func TestRepeatedMintHasTheSameLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	for _, op := range w.inboxes.Operations() {
		arguments := map[string]string{"inboxes_create": `{}`, "inbox_pull_tokens_create": ""}[op.Info().Name]
		switch op.Info().Name {
		case "inboxes_create":
		case "inbox_pull_tokens_create":
			arguments = `{"id": "` + w.mint(`{}`).ID + `"}`
		default:
			continue
		}
		in, err := op.Decode(core.REST, []byte(arguments))
		w.must(err)
		c := &core.Call{Principal: w.ann, Now: w.clock()}
		var out any
		w.must(w.db.InTx(t.Context(), func(ctx context.Context) error {
			var err error
			out, err = op.Do(ctx, c, in)
			return err
		}))
		stored, shown := asJSON(t, out), asJSON(t, op.View(core.REST, out))
		_, link, _ := strings.Cut(shown, `"pull_url":"https://fetch.test/p/`)
		secret, _, _ := strings.Cut(link, "/")
		if !access.IsLink(secret) || strings.Contains(stored, secret) {
			t.Fatalf("%s: stored %s, shown %s", op.Info().Name, stored, shown)
		}
		again, err := op.DecodeResult([]byte(stored))
		w.must(err)
		again, err = op.Recall(t.Context(), c, again)
		w.must(err)
		if got := asJSON(t, op.View(core.REST, again)); got != shown {
			t.Errorf("recalled %s, want %s", got, shown)
		}
	}
}

// TestAddressesAreFair checks that each letter and digit is as frequent as the others.
func TestAddressesAreFair(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.ann.Org.PlatformMode = true
	seen := map[rune]int{}
	const mints = 100
	for n := range mints {
		m := w.mint(fmt.Sprintf(`{"account_ref": "a%d", "ttl": 60}`, n))
		for _, r := range strings.TrimSuffix(m.Address, "@inbox.test") {
			seen[r]++
		}
	}
	for r, n := range seen { // 28 are expected, with a deviation of 5
		if n < 3 || n > 60 {
			t.Errorf("%c occurs %d times", r, n)
		}
	}
	if len(seen) != 36 {
		t.Errorf("%d characters", len(seen))
	}
}

// TestArguments checks refused arguments of a mint.
func TestArguments(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verified = []string{"ann ann@example.com", "shop.example"}
		for arguments, want := range map[string]string{
			`{"ttl": 59}`:                "ttl",
			`{"ttl": 3601}`:              "ttl",
			`{"ttl": 0}`:                 "ttl",
			`{"label": "a\nb"}`:          "label",
			`{"visibility": "everyone"}`: "visibility",
			`{"label": "` + strings.Repeat("x", 81) + `"}`:               "label",
			`{"account_ref": "a b"}`:                                     "account_ref",
			`{"account_ref": "ann@example.com"}`:                         "account_ref",
			`{"account_ref": "` + strings.Repeat("x", 129) + `"}`:        "account_ref",
			`{"allowed_senders": ["bob@example.com"]}`:                   `allowed_senders.0 is "bob@example.com", which you have not verified`,
			`{"allowed_senders": ["ann@example.com", "@other.example"]}`: `allowed_senders.1 is "@other.example", which is no verified domain`,
			`{"allowed_senders": ["Ann <ann@example.com>"]}`:             `allowed_senders.0`,
			`{"allowed_senders": ["@sub.shop.example"]}`:                 `allowed_senders.0`,
			`{"allowed_senders": [""]}`:                                  `allowed_senders.0`,
			`{"allowed_senders": ["@"]}`:                                 `allowed_senders.0`,
			`{"allowed_senders": ["shop.example"]}`:                      `allowed_senders.0`,
		} {
			e := w.refused(core.CodeValidationFailed, w.ann, "inboxes_create", arguments)
			if !strings.Contains(strings.ReplaceAll(e.Message, "`", ""), want) {
				t.Errorf("%s: %s", arguments, e.Message)
			}
		}
		m := w.mint(`{"allowed_senders": ["ANN@example.com", "@Shop.Example", "ann@EXAMPLE.com"], "label": "sign-up", "visibility": "org", "account_ref": "A:1/x"}`)
		if fmt.Sprint(m.AllowedSenders) != "[ann@example.com @shop.example]" || !m.Restricted || m.RestrictionSource != inboxes.Verified || m.Label != "sign-up" || m.Visibility != inboxes.Shared || m.AccountRef != "A:1/x" {
			t.Errorf("%+v", m)
		}
		if m := w.mint(`{"allowed_senders": []}`); m.Restricted {
			t.Error("an empty list restricts the inbox")
		}
	})
}

// TestPlatformMode checks that account_ref is required, and that allowed senders need only a
// valid form.
func TestPlatformMode(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.ann.Org.PlatformMode = true
		_ = w.refused(core.CodeValidationFailed, w.ann, "inboxes_create", `{}`)
		_ = w.refused(core.CodeValidationFailed, w.ann, "inboxes_create", `{"account_ref": "a", "allowed_senders": ["no address"]}`)
		m := w.mint(`{"account_ref": "a", "allowed_senders": ["@anything.example"]}`)
		if m.RestrictionSource != inboxes.Platform || m.AccountRef != "a" {
			t.Errorf("%+v", m)
		}
		w.ann.Org.PlatformMode = false
		if got := w.read(m.ID); got.RestrictionSource != inboxes.Platform {
			t.Errorf("after platform mode: %+v", got)
		}
	})
}

// TestVisibility checks who sees, changes and deletes private and shared inboxes.
func TestVisibility(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		bob, eve := member(w.ann.Org.ID, "bob"), member(core.NewID(), "ann")
		private, shared := w.mint(`{}`), w.mint(`{"visibility": "org"}`)
		for _, name := range []string{"inboxes_get", "inboxes_messages", "inboxes_update", "inboxes_delete", "inbox_pull_tokens_create", "inbox_pull_tokens_list", "inbox_pull_tokens_revoke"} {
			for _, tc := range []struct {
				p    core.Principal
				id   string
				sees bool
			}{{bob, private.ID, false}, {eve, private.ID, false}, {eve, shared.ID, false}, {bob, "x", false}, {bob, shared.ID, true}} {
				arguments := `{"id": "` + tc.id + `"}`
				if name == "inbox_pull_tokens_revoke" {
					arguments = `{"id": "` + tc.id + `", "token_id": "` + core.NewID() + `"}`
				}
				if name == "inboxes_delete" && tc.sees {
					continue
				}
				if _, err := w.call(tc.p, name, arguments); core.IsNotFound(err) == tc.sees {
					t.Errorf("%s of %s by %s: %v", name, tc.id, tc.p.UserID, err)
				}
			}
		}
		list := func(p core.Principal, arguments string) string {
			var ids []string
			for _, r := range as[core.Collection[inboxes.Record]](w, p, "inboxes_list", arguments).Data {
				ids = append(ids, r.ID)
			}
			return strings.Join(ids, " ")
		}
		for arguments, want := range map[string][2]string{
			`{}`:               {shared.ID + " " + private.ID, ""},
			`{"scope": "org"}`: {shared.ID + " " + private.ID, shared.ID},
			`{"limit": 1}`:     {shared.ID, ""},
		} {
			if got := [2]string{list(w.ann, arguments), list(bob, arguments)}; got != want {
				t.Errorf("%s: %v, want %v", arguments, got, want)
			}
		}
		if got := list(eve, `{"scope": "org"}`); got != "" {
			t.Errorf("another organization sees %s", got)
		}
		as[inboxes.Record](w, w.ann, "inboxes_update", `{"id": "`+shared.ID+`", "label": "mine", "visibility": "private"}`)
		if got := w.read(shared.ID); got.Label != "mine" || got.Visibility != inboxes.Private {
			t.Errorf("%+v", got)
		}
		_ = w.refused(core.CodeNotFound, bob, "inboxes_get", `{"id": "`+shared.ID+`"}`)
	})
}

// TestListFilters lists inboxes by state and account_ref.
func TestListFilters(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		expired := w.mint(`{"ttl": 60, "account_ref": "A"}`)
		deleted := w.mint(`{"account_ref": "a"}`)
		active := w.mint(`{"account_ref": "A"}`)
		as[core.Deleted](w, w.ann, "inboxes_delete", `{"id": "`+deleted.ID+`"}`)
		w.advance(time.Minute)
		for arguments, want := range map[string]string{
			`{"status": "active"}`:                      active.ID,
			`{"status": "expired"}`:                     expired.ID,
			`{"status": "deleted"}`:                     deleted.ID,
			`{"account_ref": "A"}`:                      active.ID + " " + expired.ID,
			`{"account_ref": "a"}`:                      deleted.ID,
			`{"account_ref": "A", "status": "expired"}`: expired.ID,
			`{"account_ref": "a", "status": "expired"}`: "",
		} {
			var ids []string
			for _, r := range as[core.Collection[inboxes.Record]](w, w.ann, "inboxes_list", arguments).Data {
				ids = append(ids, r.ID)
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("%s: %s, want %s", arguments, got, want)
			}
		}
	})
}

// TestPullTokens mints, lists and revokes pull links.
func TestPullTokens(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		id := `{"id": "` + m.ID + `"`
		var last inboxes.MintedTokenView
		for range inboxes.MaxPullTokens - 1 {
			w.advance(time.Second)
			last = as[inboxes.MintedTokenView](w, w.ann, "inbox_pull_tokens_create", id+`, "label": "extra"}`)
		}
		_ = w.refused(core.CodeConflict, w.ann, "inbox_pull_tokens_create", id+`}`)
		for range 2 { // it may be repeated
			as[core.Deleted](w, w.ann, "inbox_pull_tokens_revoke", id+`, "token_id": "`+last.ID+`"}`)
		}
		fresh := as[inboxes.MintedTokenView](w, w.ann, "inbox_pull_tokens_create", id+`}`)
		all := as[core.Envelope[inboxes.TokenView]](w, w.ann, "inbox_pull_tokens_list", id+`}`)
		if len(all.Data) != 11 || all.Pagination.HasMore || all.Data[0].ID != fresh.ID || all.Data[9].ID != m.PullToken.ID || all.Data[10].ID != last.ID || all.Data[10].RevokedAt == nil {
			t.Errorf("%+v", all)
		}
		if _, err := w.inboxes.PullSummary(t.Context(), secretOf(last.PullURL)); !core.IsNotFound(err) {
			t.Errorf("revoked: %v", err)
		}
		w.advance(time.Hour)
		_ = w.refused(core.CodeInboxExpired, w.ann, "inbox_pull_tokens_create", id+`}`)
	})
}

// secretOf returns the secret in a pull link.
func secretOf(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, "https://fetch.test/p/"), "/messages")
}

// TestRouter checks which addresses are accepted: those of inboxes, also ended ones, until
// their rows are deleted.
func TestRouter(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		check := func(address string, want inbound.Refusal) {
			t.Helper()
			route, got, err := w.router.Route(t.Context(), address)
			if err != nil || got != want {
				t.Errorf("%s: %v, %v", address, got, err)
			}
			if got == inbound.Accepted && (route.TargetID != m.ID || route.OrgID != w.ann.Org.ID || route.Kind != inbound.ToInbox || route.Recipient != address || route.LocalPart+"@inbox.test" != m.Address) {
				t.Errorf("%s: %+v", address, route)
			}
		}
		check(m.Address, inbound.Accepted)
		check(strings.ToUpper(m.Address), inbound.Accepted)
		check("never@inbox.test", inbound.NoSuchInbox)
		check("@inbox.test", inbound.NoSuchInbox)
		check(`"a b"@inbox.test`, inbound.NoSuchInbox)
		check("never@sub.inbox.test", inbound.NotOurs)
		check("never@other.test", inbound.NotOurs)
		check("never", inbound.NotOurs)
		as[core.Deleted](w, w.ann, "inboxes_delete", `{"id": "`+m.ID+`"}`)
		w.advance(time.Hour)
		check(m.Address, inbound.Accepted)
		work := w.inboxes.PurgeWorker().Work
		w.must(work(t.Context(), inboxes.PurgeArgs{}))
		w.advance(30 * 24 * time.Hour)
		w.must(work(t.Context(), inboxes.PurgeArgs{}))
		check(m.Address, inbound.NoSuchInbox)
	})
}
