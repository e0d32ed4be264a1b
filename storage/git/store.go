// Package git is the storage of core/git: connections to repositories, proposals and adoptions.
package git

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// connectionRow is a connection.
type connectionRow struct {
	ID           string      `db:"id"`
	Kind         string      `db:"kind"`
	Location     string      `db:"location"`
	PathPrefix   string      `db:"path_prefix"`
	Username     string      `db:"username"`
	Secret       []byte      `db:"secret"`
	Installation int64       `db:"installation"`
	Branch       string      `db:"branch"`
	Commit       string      `db:"commit_id"`
	CommittedAt  engine.Time `db:"committed_at"`
	Manifest     string      `db:"manifest"`
	TestData     string      `db:"test_data"`
	ReadAt       engine.Time `db:"read_at"`
	State        string      `db:"state"`
	Failure      string      `db:"failure"`
	Diagnostics  string      `db:"diagnostics"`
	CreatedAt    engine.Time `db:"created_at"`
	Wanted       int64       `db:"wanted"`
}

// proposalRow is a proposal.
type proposalRow struct {
	Branch    string      `db:"branch"`
	Title     string      `db:"title"`
	URL       string      `db:"url"`
	State     string      `db:"state"`
	Blobs     string      `db:"blobs"`
	Operation string      `db:"operation"`
	CreatedAt engine.Time `db:"created_at"`
}

var (
	connection = engine.RegisterPoint("git connection", `
		SELECT id, kind, location, path_prefix, username, secret, installation, branch, commit_id, committed_at, manifest,
			test_data, read_at, state, failure, diagnostics, created_at, wanted
		FROM git_connections WHERE org_id = $1`)
	insertConnection = engine.Register("insert git connection", `
		INSERT INTO git_connections (org_id, id, kind, location, path_prefix, username, secret, installation, branch, commit_id, committed_at,
			manifest, test_data, read_at, state, failure, diagnostics, created_at, wanted, claim, claimed_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', '', 0, '', '[]', 0, $9, '', '[]', $10, 0, '', 0)
		ON CONFLICT DO NOTHING`)
	setConnected     = engine.Register("set git connected", `UPDATE orgs SET git_connected = $1 WHERE id = $2`)
	deleteConnection = engine.Register("delete git connection", `DELETE FROM git_connections WHERE org_id = $1 AND id = $2`)
	deleteProposals  = engine.Register("delete git proposals", `DELETE FROM git_proposals WHERE org_id = $1`)
	deleteAdoptions  = engine.Register("delete git adoptions", `DELETE FROM git_adoptions WHERE org_id = $1`)
	requestSync      = engine.Register("request git sync", `UPDATE git_connections SET wanted = wanted + 1 WHERE org_id = $1`)
	claimSync        = engine.Register("claim git sync", `
		UPDATE git_connections SET claim = $1, claimed_until = $2 WHERE org_id = $3 AND (claimed_until <= $4 OR claim = $1)`)
	finishSync = engine.Register("finish git sync", `
		UPDATE git_connections SET claimed_until = 0, branch = $1, commit_id = $2, committed_at = $3, manifest = $4, read_at = $5, state = $6,
			failure = $7, diagnostics = $8, test_data = $9
		WHERE org_id = $10 AND id = $11 AND claim = $12`)
	proposals = engine.Register("git proposals", `
		SELECT branch, title, url, state, blobs, operation, created_at FROM git_proposals WHERE org_id = $1
		ORDER BY CASE WHEN state = 'open' THEN 0 ELSE 1 END, created_at DESC, branch LIMIT $2`)
	saveProposal = engine.Register("save git proposal", `
		INSERT INTO git_proposals (org_id, branch, title, url, state, blobs, operation, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`)
	decideProposal = engine.Register("decide git proposal", `
		UPDATE git_proposals SET state = $1 WHERE org_id = $2 AND branch = $3 AND state = 'open'`)
	connectedOrgs = engine.Register("organizations with a git connection", `SELECT org_id FROM git_connections WHERE `+engine.NotDeleted("org_id")+` ORDER BY org_id`)
	orgsOf        = engine.Register("organizations of a git repository", `
		SELECT org_id FROM git_connections WHERE kind = 'github' AND installation = $1 AND (CAST($2 AS text) = '' OR lower(location) = lower($2)) AND `+engine.NotDeleted("org_id")+` ORDER BY org_id`)
)

// released has the statements that make all definitions of the repository managed ones. An archived
// definition stays archived.
var released = []*engine.Statement{
	engine.Register("release git attributes", `UPDATE attributes SET origin = 'managed' WHERE org_id = $1 AND origin = 'git'`),
	engine.Register("release git activity properties", `UPDATE activity_properties SET origin = 'managed' WHERE org_id = $1 AND origin = 'git'`),
	engine.Register("release git lists", `UPDATE lists SET origin = 'managed' WHERE org_id = $1 AND origin = 'git'`),
	engine.Register("release git segments", `UPDATE segments SET origin = 'managed', source_path = '' WHERE org_id = $1 AND origin = 'git'`),
	engine.Register("release git topics", `UPDATE topics SET origin = 'managed' WHERE org_id = $1 AND origin = 'git'`),
	engine.Register("release git templates", `
		UPDATE templates SET origin = 'managed', commit_id = '', faults = CASE WHEN version_number = 0 THEN faults ELSE '[]' END WHERE org_id = $1 AND origin = 'git'`),
	engine.Register("release git workflows", `UPDATE workflows SET origin = 'managed', source_path = '', source_url = '' WHERE org_id = $1 AND origin = 'git'`),
}

// secretPurpose is the purpose for which secrets are encrypted.
const secretPurpose = "git repository"

// Store stores connections, proposals and adoptions.
type Store struct {
	db     *engine.DB
	sealer sending.Sealer
}

var _ git.Store = Store{}

// New returns the store on the database. sealer encrypts and decrypts secrets.
func New(db *engine.DB, sealer sending.Sealer) Store { return Store{db, sealer} }

// sealID is the id with which a secret is encrypted. It has the organization, so that a row that is
// copied to another one does not decrypt.
func sealID(orgID, id string) string { return orgID + "/" + id }

func (s Store) Connection(ctx context.Context, orgID string) (git.Connection, error) {
	c, _, err := s.read(ctx, orgID)
	return c, err
}

// read returns the connection, and how many syncs were requested.
func (s Store) read(ctx context.Context, orgID string) (git.Connection, int64, error) {
	r, err := engine.One[connectionRow](ctx, s.db, "repository", connection, orgID)
	if err != nil {
		return git.Connection{}, 0, err
	}
	c := git.Connection{
		OrgID: orgID, ID: r.ID, Kind: git.Kind(r.Kind), Location: r.Location, PathPrefix: r.PathPrefix, Username: r.Username, Installation: r.Installation,
		State: git.State(r.State), Failure: r.Failure, CreatedAt: r.CreatedAt.Time(),
	}
	if r.Commit != "" {
		c.Revision = git.Revision{Branch: r.Branch, Commit: r.Commit, CommittedAt: r.CommittedAt.Time()}
	}
	if r.Manifest != "" {
		c.Manifest = []byte(r.Manifest)
	}
	if err := json.Unmarshal([]byte(r.TestData), &c.TestData); err != nil {
		return git.Connection{}, 0, fmt.Errorf("test data of a repository: %w", err)
	}
	if r.ReadAt != 0 {
		c.ReadAt = r.ReadAt.Time()
	}
	if err := json.Unmarshal([]byte(r.Diagnostics), &c.Diagnostics); err != nil {
		return git.Connection{}, 0, fmt.Errorf("diagnostics of a repository: %w", err)
	}
	if len(r.Secret) > 0 {
		secret, err := s.sealer.Open(secretPurpose, sealID(orgID, r.ID), r.Secret)
		if err != nil {
			return git.Connection{}, 0, fmt.Errorf("secret of a repository: %w", err)
		}
		c.Secret = string(secret)
	}
	return c, r.Wanted, nil
}

func (s Store) InsertConnection(ctx context.Context, c git.Connection) error {
	var sealed []byte
	if c.Secret != "" {
		var err error
		if sealed, err = s.sealer.Seal(secretPurpose, sealID(c.OrgID, c.ID), []byte(c.Secret)); err != nil {
			return fmt.Errorf("secret of a repository: %w", err)
		}
	}
	taken := core.Conflict("The organization has connected a repository already.", "Disconnect it first.")
	return s.db.InTx(ctx, func(ctx context.Context) error {
		err := s.db.Insert(ctx, taken, insertConnection, c.OrgID, c.ID, string(c.Kind), c.Location, c.PathPrefix, c.Username, sealed, c.Installation, string(c.State), engine.At(c.CreatedAt))
		if err != nil {
			return err
		}
		return s.db.Change(ctx, "organization", setConnected, true, c.OrgID)
	})
}

func (s Store) DeleteConnection(ctx context.Context, orgID, id string) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Change(ctx, "repository", deleteConnection, orgID, id); err != nil {
			return err
		}
		for _, statement := range append([]*engine.Statement{deleteProposals, deleteAdoptions}, released...) {
			if _, err := s.db.Exec(ctx, statement, orgID); err != nil {
				return err
			}
		}
		return s.db.Change(ctx, "organization", setConnected, false, orgID)
	})
}

func (s Store) RequestSync(ctx context.Context, orgID string) error {
	return s.db.Change(ctx, "repository", requestSync, orgID)
}

func (s Store) ClaimSync(ctx context.Context, orgID, claim string, now, until time.Time) (c git.Connection, covered int64, ok bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		claimed, err := s.db.Exec(ctx, claimSync, claim, engine.At(until), orgID, engine.At(now))
		if err != nil {
			return err
		}
		ok = claimed > 0
		c, covered, err = s.read(ctx, orgID)
		return err
	})
	return c, covered, ok, err
}

func (s Store) FinishSync(ctx context.Context, c git.Connection, claim string, covered int64) (again bool, err error) {
	diagnostics, err := engine.JSONParameter(c.Diagnostics)
	if err != nil {
		return false, err
	}
	testData, err := engine.JSONParameter(c.TestData)
	if err != nil {
		return false, err
	}
	var committed, read engine.Time
	if c.Revision.Commit != "" {
		committed = engine.At(c.Revision.CommittedAt)
	}
	if !c.ReadAt.IsZero() {
		read = engine.At(c.ReadAt)
	}
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		err := s.db.Change(ctx, "repository", finishSync, c.Revision.Branch, c.Revision.Commit, committed, string(c.Manifest), read, string(c.State),
			c.Failure, diagnostics, testData, c.OrgID, c.ID, claim)
		if err != nil {
			return err
		}
		_, wanted, err := s.read(ctx, c.OrgID)
		again = wanted > covered
		return err
	})
	return again, err
}

func (s Store) Proposals(ctx context.Context, orgID string, limit int) ([]git.Proposal, error) {
	return engine.ListParsed(ctx, s.db, func(r proposalRow) (git.Proposal, error) {
		p := git.Proposal{Branch: r.Branch, Title: r.Title, URL: r.URL, State: git.ProposalState(r.State), Operation: r.Operation, CreatedAt: r.CreatedAt.Time()}
		return p, json.Unmarshal([]byte(r.Blobs), &p.Blobs)
	}, proposals, orgID, limit)
}

func (s Store) SaveProposal(ctx context.Context, orgID string, p git.Proposal) error {
	blobs, err := json.Marshal(p.Blobs)
	if err != nil {
		return fmt.Errorf("files of a proposal: %w", err)
	}
	_, err = s.db.Exec(ctx, saveProposal, orgID, p.Branch, p.Title, p.URL, string(p.State), string(blobs), p.Operation, engine.At(p.CreatedAt))
	return err
}

func (s Store) DecideProposal(ctx context.Context, orgID, branch string, state git.ProposalState) error {
	_, err := s.db.Exec(ctx, decideProposal, string(state), orgID, branch)
	return err
}

func (s Store) ConnectedOrgs(ctx context.Context) ([]string, error) {
	return engine.Values[string](ctx, s.db, connectedOrgs)
}

func (s Store) OrgsOf(ctx context.Context, installation int64, location string) ([]string, error) {
	return engine.Values[string](ctx, s.db, orgsOf, installation, location)
}
