package closing_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/mailhelm/mailhelm/core/site"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

// noTokens knows no access token.
type noTokens struct{}

func (noTokens) VerifyToken(context.Context, string, access.Resource) (bearer.Token, error) {
	return bearer.Token{}, errors.New("no token")
}

func organizationsOf(h *peopletest.House, forget func(string)) closing.Organizations {
	return closing.Organizations{
		Store: closingstore.NewOrgStore(h.DB.DB), Orgs: h.DB.Orgs(), Members: h.DB.Members(), Audit: h.DB.Audit(), Transactor: h.DB, Clock: h.Clock, Forget: forget,
	}
}

// TestDeletedOrganizationStopsUntilItIsRestored checks what stops with the deletion of an
// organization, and that all of it goes on after the organization was restored.
func TestDeletedOrganizationStopsUntilItIsRestored(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx, org := t.Context(), h.Orgs[0]
		auth := bearer.NewAuthenticator(bearer.AuthenticatorConfig{
			Stores: h.DB.Access(), Orgs: h.DB.Orgs(), Members: members.Ceilings{Members: h.DB.Members()}, Tokens: noTokens{}, Clock: h.Clock,
		})
		orgs := organizationsOf(h, auth.ForgetOrg)
		minted := access.MintAPIKey(core.Live)
		h.Must(h.DB.Keys().InsertAPIKey(ctx, access.APIKey{
			ID: core.NewID(), OrgID: org.ID, Name: "Shop", Environment: core.Live, Prefix: minted.Prefix, SecretHash: minted.Hash, CreatedAt: h.Clock(),
		}))
		h.Must(h.DB.Site().InsertSiteKey(ctx, org.ID, site.Key{Value: "k", CreatedAt: h.Clock()}))
		route(h, org.ID)
		check := func(deleted bool) {
			t.Helper()
			_, err := auth.Authenticate(ctx, minted.Secret, access.API)
			if refused := err != nil && strings.Contains(core.AsError(err).Message, "The organization acme was deleted."); refused != deleted {
				t.Errorf("deleted %v: the key: %v", deleted, err)
			}
			checkStopped(h, org.ID, deleted)
		}
		check(false)
		owner := access.ActorOf(h.User.ID)
		_, err := orgs.Restore(ctx, owner, org.ID)
		h.WantCode("restoring what is not deleted", err, core.CodeConflict)
		_, err = orgs.Delete(ctx, access.ActorOf(core.NewID()), org.ID)
		h.WantCode("a stranger", err, core.CodeInvalidScope)
		h.Must(h.DB.Members().SetMember(ctx, members.Member{OrgID: org.ID, UserID: h.User.ID, Role: members.PlainMember, Permissions: members.AllPermissions()}))
		_, err = orgs.Delete(ctx, owner, org.ID)
		h.WantCode("a member with all permissions", err, core.CodeInvalidScope)
		h.Must(h.DB.Members().SetMember(ctx, members.Member{OrgID: org.ID, UserID: h.User.ID, Role: members.Owner}))

		deleted, err := orgs.Delete(ctx, owner, org.ID)
		h.Must(err)
		if !deleted.EraseAt().Equal(h.Clock().Add(7 * 24 * time.Hour)) {
			t.Errorf("erased from %s", deleted.EraseAt())
		}
		check(true)
		_, err = orgs.Delete(ctx, operator, org.ID)
		h.WantCode("deleting again", err, core.CodeConflict)
		h.Advance(7*24*time.Hour - time.Second)
		_, err = orgs.Restore(ctx, access.ActorOf(core.NewID()), org.ID)
		h.WantCode("a stranger", err, core.CodeInvalidScope)
		_, err = orgs.Restore(ctx, owner, org.ID)
		h.Must(err)
		check(false)
		lines, err := h.DB.Audit().FindAudit(ctx, org.ID, access.AuditFilter{Limit: 2})
		h.Must(err)
		if len(lines) != 2 || lines[0].Action != "org.restored" || lines[1].Action != "org.deleted" || !strings.Contains(lines[1].Detail, "erase_at") {
			t.Errorf("audit log: %+v", lines)
		}

		_, err = orgs.Delete(ctx, operator, org.ID)
		h.Must(err)
		begun, err := orgs.Store.BeginErasing(ctx, org.ID, h.Clock(), h.Clock())
		h.Must(err)
		if !begun {
			t.Error("the erasing does not begin")
		}
		_, err = orgs.Restore(ctx, operator, org.ID)
		h.WantCode("restoring what is being erased", err, core.CodeConflict)
	})
}

// checkStopped checks that jobs, mail, the website and receiving work for the first
// organization of the house if and only if it is not deleted.
func checkStopped(h *peopletest.House, orgID string, deleted bool) {
	h.T.Helper()
	ctx := h.T.Context()
	ids, err := h.DB.Orgs().OrgIDs(ctx)
	h.Must(err)
	if slices.Contains(ids, orgID) == deleted || !slices.Contains(ids, h.Orgs[1].ID) {
		h.T.Errorf("deleted %v: jobs work for %v", deleted, ids)
	}
	stop, err := h.DB.HandoverLimits().Stopped(ctx, orgID)
	h.Must(err)
	if (stop != nil) != deleted {
		h.T.Errorf("deleted %v: stop of all mail %v", deleted, stop)
	}
	keys, err := h.DB.Site().AllSiteKeys(ctx, h.Clock())
	h.Must(err)
	if (len(keys) == 0) != deleted {
		h.T.Errorf("deleted %v: site keys %v", deleted, keys)
	}
	routes, err := h.DB.ReceivingRoutes().Since(ctx, 0)
	h.Must(err)
	if len(routes) != 1 || (routes[0].RemovedAt != nil) != deleted {
		h.T.Errorf("deleted %v: routes %+v", deleted, routes)
	}
	memberships, err := h.DB.Members().OrganizationsOf(ctx, h.User.ID)
	h.Must(err)
	if len(memberships) != 2 || (memberships[1].ID == orgID) != deleted || memberships[0].IsDeleted() {
		h.T.Errorf("deleted %v: organizations %+v", deleted, memberships)
	}
}

// route publishes a receiving domain of an organization.
func route(h *peopletest.House, orgID string) {
	h.T.Helper()
	_, err := h.DB.Writer().ExecContext(h.T.Context(),
		`INSERT INTO receiving_routes (org_id, domain, domain_id, document, version) VALUES ($1, 'mail.example', $2, '{}', 1)`, orgID, core.NewID())
	h.Must(err)
}

// TestExport checks the files of an export, page by page, and that it has no row of another
// organization.
func TestExport(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		for i, org := range h.Orgs {
			fillExport(h, org.ID, 1005*(1-i)+1)
		}
		var seen []int
		store := closingstore.NewExportStore(h.DB.DB)
		total, err := store.CountExport(ctx, h.Orgs[0].ID)
		h.Must(err)
		var archive bytes.Buffer
		rows, err := closing.Export{
			Rows: store, Clock: h.Clock, Progress: func(_ string, n int) { seen = append(seen, n) },
			Definitions: func(context.Context, string) (map[string][]byte, error) {
				return map[string][]byte{"mailhelm.json": []byte("{}")}, nil
			},
		}.Write(ctx, &archive, h.Orgs[0])
		h.Must(err)
		if rows["contacts.jsonl"] != 1006 || rows["list-members.jsonl"] != 1 || total != seen[len(seen)-1] || !slices.IsSorted(seen) {
			t.Errorf("rows %v, progress %v of %d", rows, seen, total)
		}
		files := unzip(t, archive.Bytes())
		if !strings.Contains(files["organization.json"], `"slug": "acme"`) || files["definitions/mailhelm.json"] != "{}" || !strings.Contains(files["README.txt"], "contacts.jsonl") {
			t.Errorf("files %v", files)
		}
		contacts := strings.Split(strings.TrimSpace(files["contacts.jsonl"]), "\n")
		if len(contacts) != 1006 || !strings.Contains(contacts[0], `"attributes":{"plan":"pro"}`) || !strings.Contains(contacts[0], `"created_at":"1970-01-01T00:00:00.000001Z"`) ||
			!strings.Contains(contacts[0], `"unsubscribe_all":false`) {
			t.Errorf("%d contacts, the first is %s", len(contacts), contacts[0])
		}
		for name, content := range files {
			if strings.Contains(content, h.Orgs[1].ID) {
				t.Errorf("%s has rows of the other organization", name)
			}
		}
		if !strings.Contains(files["message-events.jsonl"], `"occurred_at":"1970-`) || !strings.Contains(files["list-members.jsonl"], `"list":"news"`) {
			t.Errorf("events %s, list members %s", files["message-events.jsonl"], files["list-members.jsonl"])
		}
	})
}
