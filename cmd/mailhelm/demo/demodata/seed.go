package demodata

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
)

// Slug is the URL-safe name of the demo organization.
const Slug = "fernhill-coffee"

const (
	orgName   = "Fernhill Coffee"
	userName  = "Robin Fern"
	userEmail = "robin@example.com"
)

// Seeder creates the demo's organization, credentials and contacts in the given stores. All
// fields except Activities are required.
type Seeder struct {
	DB      *storage.DB
	Account *simulator.Simulator
	Sync    *topics.Sync
	Clock   core.Clock
	// Scopes are those of the credentials.
	Scopes core.Scopes
	// Activities is true if the contacts get activities too. Most tests need none.
	Activities bool
}

// Ensure creates the demo organization unless it exists, and returns its credentials. It
// may be repeated. dir is the folder of the credentials file. It fails if the organization
// exists but the file is missing or belongs to another organization.
func (s Seeder) Ensure(ctx context.Context, dir string) (Credentials, error) {
	path := filepath.Join(dir, credentialsFile)
	org, err := s.DB.Orgs().OrgBySlug(ctx, Slug)
	if err == nil {
		return readCredentials(path, org.ID)
	}
	if core.AsError(err).Code != core.CodeNotFound {
		return Credentials{}, err
	}
	return s.Seed(ctx, path)
}

// Seed creates the demo organization and writes its credentials to the file at path. It
// then copies the sending account's contact list into Mailhelm's database. It fails if the
// organization exists.
func (s Seeder) Seed(ctx context.Context, path string) (Credentials, error) {
	var c Credentials
	// Write the credentials file before the commit. A crash in between leaves a file for an
	// organization that does not exist; the next start replaces it. In the other order a
	// crash would lose the secrets.
	err := s.DB.InTx(ctx, func(ctx context.Context) error {
		var err error
		if c, err = s.seed(ctx); err != nil {
			return err
		}
		return c.write(path)
	})
	if err != nil {
		return Credentials{}, fmt.Errorf("demo data: %w", err)
	}
	if _, err := s.Sync.Run(ctx, c.OrgID); err != nil {
		return Credentials{}, fmt.Errorf("first contact-list sync: %w", err)
	}
	return c, nil
}

// seed creates the organization, its owner, the credentials, the simulated account and the
// contacts. All but the simulated account are stored in the transaction of ctx.
func (s Seeder) seed(ctx context.Context) (Credentials, error) {
	a := provision.Provisioner{Stores: s.DB.Access(), Orgs: s.DB.Orgs(), Users: s.DB.Users(), Members: s.DB.Members(), Tx: s.DB, Clock: s.Clock}
	org, err := a.CreateOrg(ctx, core.Org{Name: orgName, Slug: Slug, Tier: "demo"})
	if err != nil {
		return Credentials{}, err
	}
	c := Credentials{OrgID: org.ID, UserEmail: userEmail, UserPassword: rand.Text()}
	if _, err := a.CreateOwner(ctx, org.ID, c.UserEmail, userName, c.UserPassword); err != nil {
		return Credentials{}, err
	}
	if err := c.create(ctx, a, s.Scopes); err != nil {
		return Credentials{}, err
	}
	people := allPeople(s.Clock())
	if err := s.account(ctx, org.ID, people); err != nil {
		return Credentials{}, err
	}
	if err := s.mirror(ctx, org.ID, people); err != nil {
		return Credentials{}, err
	}
	if !s.Activities {
		return c, nil
	}
	return c, s.record(ctx, org.ID, people)
}

// mirror stores the demo's attributes, lists, segments and contacts directly in the
// database, without the checks of an API call. A job computes the members of the segments
// later.
func (s Seeder) mirror(ctx context.Context, orgID string, people []person) error {
	store, now := s.DB.Contacts(), s.Clock()
	for _, attribute := range registeredAttributes(now) {
		if err := s.DB.Attributes().InsertAttribute(ctx, orgID, attribute); err != nil {
			return err
		}
	}
	ids := map[string]string{}
	for _, list := range staticLists(now) {
		ids[list.Key] = list.ID
		if err := s.DB.Lists().InsertList(ctx, orgID, list); err != nil {
			return err
		}
	}
	divided := segments.New(segments.Config{Store: s.DB.Segments(), Members: s.DB.SegmentMembers(), Changes: s.DB.SegmentChanges(), Transactor: s.DB, Clock: s.Clock})
	for _, definition := range segmentDefinitions() {
		if _, err := divided.Save(ctx, orgID, definition); err != nil {
			return fmt.Errorf("segment %s: %w", definition.Key, err)
		}
	}
	for _, p := range people {
		if err := store.InsertContact(ctx, orgID, p.Contact); err != nil {
			return fmt.Errorf("contact %s: %w", p.ID, err)
		}
		var on []string
		for _, key := range p.lists {
			on = append(on, ids[key])
		}
		if len(on) == 0 {
			continue
		}
		if _, _, err := s.DB.ListMembers().ReplaceMembership(ctx, orgID, p.ID, on, now); err != nil {
			return err
		}
	}
	return nil
}
