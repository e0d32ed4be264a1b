package orgmove_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	move "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/orgmove"
)

func (i installation) must(err error) {
	i.t.Helper()
	if err != nil {
		i.t.Fatal(err)
	}
}

// org stores an organization without rows.
func (i installation) org(slug string) core.Org {
	i.t.Helper()
	org := core.Org{ID: core.NewID(), Name: slug, Slug: slug, Tier: "free", RetentionDays: 30}
	i.must(i.db.Orgs().InsertOrg(i.t.Context(), org))
	return org
}

// person stores a person, and makes the person a member of the organization unless it is "".
func (i installation) person(orgID, email, hash string, role members.Role) access.User {
	i.t.Helper()
	user := access.User{ID: core.NewID(), Email: email, Name: email, PasswordHash: hash, CreatedAt: start}
	i.must(i.db.Users().InsertUser(i.t.Context(), user))
	if orgID != "" {
		i.must(i.db.Members().AddMember(i.t.Context(), orgID, user.ID, string(role)))
	}
	return user
}

// TestImportChangesNoKnownPerson checks that an import changes no person whom the installation knows,
// makes them members only if the operator says so, and stores no password of the archive.
func TestImportChangesNoKnownPerson(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		key := newKey(t)
		source := newInstallation(t, !postgres, 1)
		org := source.org("acme")
		ada := source.person(org.ID, "ada@example.com", "the password of Ada", members.Owner)
		bob := source.person(org.ID, "Bob@example.com", "the password of Bob", members.PlainMember)
		eve := source.person(org.ID, "eve@example.com", "the password of Eve", members.PlainMember)
		source.must(source.db.Keys().InsertAPIKey(t.Context(), access.APIKey{
			ID: core.NewID(), OrgID: org.ID, Name: "Bob's", Environment: core.Live, Prefix: "sk_live_12345678", SecretHash: []byte("hash"), Owner: bob.ID, CreatedAt: start,
		}))
		archive, done := source.export(org.ID, key)
		if len(done.Header.People) != 3 {
			t.Fatalf("people %+v", done.Header.People)
		}
		for _, join := range []bool{false, true} {
			target := newInstallation(t, postgres, 2)
			known := target.person("", "bob@example.com", "another password", "")
			// A person of the installation with the id of a person of the archive, and another address.
			taken := access.User{ID: eve.ID, Email: "mallory@example.com", Name: "M", PasswordHash: "a third password", CreatedAt: start}
			target.must(target.db.Users().InsertUser(t.Context(), taken))
			imported, err := target.importer().Read(t.Context(), bytes.NewReader(archive), []age.Identity{key}, move.Options{Join: join})
			target.must(err)

			states := map[string]string{}
			for _, p := range imported.People {
				states[p.Email] = p.State
			}
			want := map[string]string{"ada@example.com": move.StateCreated, "Bob@example.com": move.StateKnown, "eve@example.com": move.StateCreated}
			if join {
				want["Bob@example.com"] = move.StateJoined
			}
			if diff := cmp.Diff(want, states); diff != "" {
				t.Errorf("join %v: %s", join, diff)
			}
			for email, hash := range map[string]string{"ada@example.com": "no password", "bob@example.com": "another password", "eve@example.com": "no password", "mallory@example.com": "a third password"} {
				if user, err := target.db.Users().UserByEmail(t.Context(), email); err != nil || user.PasswordHash != hash {
					t.Errorf("join %v: %s has the password %q, %v", join, email, user.PasswordHash, err)
				}
			}
			if m, err := target.db.Members().Member(t.Context(), org.ID, ada.ID); err != nil || m.Role != members.Owner {
				t.Errorf("join %v: Ada is %+v, %v", join, m, err)
			}
			if _, err := target.db.Members().Member(t.Context(), org.ID, known.ID); core.IsNotFound(err) == join {
				t.Errorf("join %v: Bob: %v", join, err)
			}
			if _, err := target.db.Members().Member(t.Context(), org.ID, taken.ID); !core.IsNotFound(err) {
				t.Errorf("join %v: a stranger with the id of a member: %v", join, err)
			}
			keys, err := target.db.Keys().APIKeysOf(t.Context(), org.ID)
			if err != nil || len(keys) != 1 || keys[0].Owner != known.ID {
				t.Errorf("join %v: the key of Bob: %+v, %v", join, keys, err)
			}
		}
	})
}

// erased returns what knows the erased persons of the installation.
func (i installation) erased() privacy.Erased {
	return privacy.Erased{
		Store: i.db.Privacy(),
		Hasher: func() (privacy.Hasher, error) {
			key, err := i.master.Derive(privacy.KeyPurpose, privacy.KeyBytes)
			return privacy.NewHasher(key), err
		},
		Former: func(ctx context.Context, orgID string) ([]privacy.Hasher, error) {
			keys, err := i.db.Privacy().FormerKeys(ctx, orgID)
			former := make([]privacy.Hasher, len(keys))
			for n, key := range keys {
				var openErr error
				former[n], openErr = privacy.OpenFormerKey(i.master, orgID, key)
				err = errors.Join(err, openErr)
			}
			return former, err
		},
	}
}

// TestErasedPersonsStayErased checks that a person who was erased is refused in the next
// installation, whose keys differ, and in the one after it.
func TestErasedPersonsStayErased(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		ctx, key := t.Context(), newKey(t)
		at := newInstallation(t, postgres, 1)
		org := at.org("acme")
		for n := range 3 {
			email := []string{"ada@example.com", "bob@example.com", "eve@example.com"}[n]
			hasher, err := at.erased().Hasher()
			at.must(err)
			at.must(at.db.Privacy().PutTombstone(ctx, org.ID, privacy.Tombstone{Hash: hasher.Hash(org.ID, email), Refuses: privacy.OptedOut, ErasedAt: start}))
			archive, done := at.export(org.ID, key)
			if bytes.Contains(archive, done.Header.ErasedKey) {
				t.Error("the archive has the key in clear")
			}
			at = newInstallation(t, postgres, byte(n+2))
			_, err = at.importer().Read(ctx, bytes.NewReader(archive), []age.Identity{key}, move.Options{})
			at.must(err)
			refused, err := at.erased().Addresses(ctx, org.ID, []string{"Ada@example.com", "bob@example.com", "eve@example.com", "other@example.com"})
			if err != nil || len(refused) != n+1 || refused["other@example.com"] || !refused["Ada@example.com"] {
				t.Errorf("after %d moves: %v, %v", n+1, refused, err)
			}
		}
		service := privacy.New(privacy.Config{
			Tombstones: at.db.Privacy(), Hasher: first(at.erased().Hasher()), Former: at.erased().Former, Transactor: at.db, Clock: at.db.Now, Audit: at.db.Audit(), Journal: noJournal{},
		})
		at.must(service.Allow(ctx, access.ActorOf(access.Operator), org.ID, "ada@example.com"))
		if refused, err := at.erased().Addresses(ctx, org.ID, []string{"ada@example.com", "bob@example.com"}); err != nil || len(refused) != 1 {
			t.Errorf("after allowing one: %v, %v", refused, err)
		}
	})
}

func first(h privacy.Hasher, _ error) privacy.Hasher { return h }

type noJournal struct{}

func (noJournal) Append(privacy.Entry) error { return nil }

// TestInterruptedImportBeginsAnew interrupts an import as a kill does, checks that nothing is
// visible, and repeats it. The interrupted import can store nothing any more.
func TestInterruptedImportBeginsAnew(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		ctx, key := t.Context(), newKey(t)
		source, target := newInstallation(t, postgres, 1), newInstallation(t, postgres, 2)
		org := source.fill("acme")
		archive, done := source.export(org.ID, key)
		killed := orgmove.NewTarget(target.db.DB, target.master, "", func(context.Context, string) error { return nil })
		target.must(killed.Begin(ctx, move.Arrival{Header: done.Header, Slug: "acme"}))
		row := []byte(`["` + core.NewID() + `","#112233",1,"spring"]` + "\n")
		_, err := killed.Load(ctx, "tags", row)
		target.must(errors.Join(err, killed.Stored()))

		if _, err := target.db.Orgs().OrgBySlug(ctx, "acme"); !core.IsNotFound(err) {
			t.Errorf("during the import: %v", err)
		}
		if ids, err := target.db.Orgs().OrgIDs(ctx); err != nil || len(ids) != 0 {
			t.Errorf("jobs work for %v, %v", ids, err)
		}
		if hidden, err := target.db.Orgs().Org(ctx, org.ID); err != nil || !hidden.IsDeleted() {
			t.Errorf("the organization: %+v, %v", hidden, err)
		}
		_, err = target.importer().Read(ctx, bytes.NewReader(archive), []age.Identity{key}, move.Options{})
		target.must(err)
		_, again := target.export(org.ID, key)
		if diff := cmp.Diff(withoutFormerKeys(done.Manifest), withoutFormerKeys(again.Manifest)); diff != "" {
			t.Errorf("repeated: %s", diff)
		}
		if _, err := killed.Load(ctx, "tags", row); err != nil || refusalCode(killed.Stored()) != core.CodeConflict {
			t.Errorf("the interrupted import: %v", err)
		}
		if _, err := target.importer().Read(ctx, bytes.NewReader(archive), []age.Identity{key}, move.Options{}); err == nil || core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a second import: %v", err)
		}
	})
}

// TestWrongRowsAreRefused checks that rows which a table cannot have are refused, by a database that
// would store them as well.
func TestWrongRowsAreRefused(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		ctx := t.Context()
		source, target := newInstallation(t, false, 1), newInstallation(t, postgres, 2)
		header, err := orgmove.NewSource(source.db.DB, source.master).Header(ctx, source.org("acme").ID)
		source.must(err)
		to := orgmove.NewTarget(target.db.DB, target.master, "", func(context.Context, string) error { return nil })
		target.must(to.Begin(ctx, move.Arrival{Header: header, Slug: "acme"}))
		const good = `["a","red",1,"spring"]`
		for _, rows := range []string{
			`["a","red",1]`, `["a","red",1,"spring",2]`, `["a","red","1","spring"]`, `["a","red",1.5,"spring"]`, `["a","red",1e300,"spring"]`, `["a","red",99999999999999999999,"spring"]`,
			`["a",null,1,"spring"]`, `["a",{"b":1},1,"spring"]`, `["a",["b"],1,"spring"]`, `["a",true,1,"spring"]`, `{"id":"a"}`, `null`, `1`, `"a"`, `[`, `["a","red",1,"spr`, `[]`,
			`["a","\u0000",1,"spring"]`, "[\"a\",\"\xff\",1,\"spring\"]", `["a","\ud800",1,"spring"]`, good + good[:9], good + "\n" + good, good + " x",
		} {
			_, err := to.Load(ctx, "tags", []byte(rows+"\n"))
			if err == nil {
				err = to.Stored()
			}
			if refusalCode(err) == "" {
				t.Errorf("%s is stored: %v", rows, err)
			}
		}
		for table, rows := range map[string]string{"users": good, "members": good, "orgs": good, "river_job": good, "": good} {
			if _, err := to.Load(ctx, table, []byte(rows+"\n")); err == nil {
				t.Errorf("rows of %q are stored", table)
			}
		}
		if n, err := to.Load(ctx, "tags", []byte(good+"\n")); n != 1 || err != nil || to.Stored() != nil {
			t.Errorf("a right row: %d, %v", n, err)
		}
		target.must(to.Abandon(ctx))
		if _, err := target.db.Orgs().Org(ctx, header.Org.ID); !core.IsNotFound(err) {
			t.Errorf("abandoned: %v", err)
		}
	})
}

// refusalCode returns the code of a refusal, or "".
func refusalCode(err error) core.Code {
	if refusal, ok := errors.AsType[*core.Error](err); ok {
		return refusal.Code
	}
	return ""
}

// TestCopySendsNothing checks that the mail of a copy is stopped, and that a slug and a value which
// another organization has are refused with advice.
func TestCopySendsNothing(t *testing.T) {
	t.Parallel()
	ctx, key := t.Context(), newKey(t)
	source, target := newInstallation(t, false, 1), newInstallation(t, false, 2)
	org, other := source.org("acme"), target.org("acme")
	client := access.Client{ID: core.NewID(), OrgID: org.ID, ClientID: "oc_live_1", Name: "App", Environment: core.Live, CreatedAt: start}
	source.must(source.db.Clients().InsertClient(ctx, client))
	var archive bytes.Buffer
	_, err := source.exporter().Write(ctx, &archive, []age.Recipient{key.Recipient()}, org.ID, false)
	source.must(err)
	read := func(slug string) error {
		_, err := target.importer().Read(ctx, bytes.NewReader(archive.Bytes()), []age.Identity{key}, move.Options{Slug: slug})
		return err
	}
	if err := read(""); err == nil || !strings.Contains(core.AsError(err).Next, "--slug") {
		t.Errorf("a slug that is taken: %v", err)
	}
	client.ID, client.OrgID = core.NewID(), other.ID
	target.must(target.db.Clients().InsertClient(ctx, client))
	if err := read("copy"); err == nil || !strings.Contains(core.AsError(err).Next, "client id") {
		t.Errorf("a client id that is taken: %v", err)
	}
	if _, err := target.db.Orgs().Org(ctx, org.ID); !core.IsNotFound(err) {
		t.Errorf("after the refusal: %v", err)
	}
	target = newInstallation(t, false, 3)
	target.must(read("copy"))
	if stop, err := target.db.HandoverLimits().Stopped(ctx, org.ID); err != nil || stop == nil {
		t.Errorf("the stop of all mail: %v, %v", stop, err)
	}
}
