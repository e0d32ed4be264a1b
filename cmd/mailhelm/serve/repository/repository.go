// Package repository assembles what a server needs to keep definitions of organizations in Git
// repositories, and satisfies the interfaces that core/git declares.
package repository

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github"
	"github.com/mailhelm/mailhelm/core/git/local"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// httpsPort is the port of repositories on the public Internet.
const httpsPort = 443

// maxLeft is the age from which temporary folders of repositories are those of a killed process.
const maxLeft = time.Hour

// Parts are the parts of a server that know repositories. Open returns them.
type Parts struct {
	// Settings connects repositories, and Proposals proposes changes of them.
	Settings  git.Settings
	Proposals git.Proposals
	cfg       config.Config
}

// Store stores what the parts remember.
type Store interface {
	git.Store
	git.Adoptions
}

// Open returns the parts. It makes no connection, and removes what a killed process has left. app is nil if
// the operator has set up no app of GitHub.
func Open(cfg config.Config, store Store, queue jobs.Queue, app *github.App) (*Parts, error) {
	networks, err := cfg.NetworksOfGit()
	if err != nil {
		return nil, err
	}
	plain := local.New(local.Config{
		Folder: cfg.GitFolder, Scratch: cfg.DataDir, Guard: outbound.New(networks, httpsPort), RootCAs: cfg.GitCAs, Clock: cfg.Clock, Log: cfg.Log,
	})
	if err := plain.RemoveLeft(cfg.Clock().Add(-maxLeft)); err != nil {
		cfg.Log.Warn("temporary folders of repositories not removed", slog.Any("cause", err))
	}
	p := &Parts{Settings: git.Settings{Store: store, Adoptions: store, Queue: queue, Clock: cfg.Clock}, cfg: cfg}
	p.Proposals.Hosts = map[git.Kind]git.Host{}
	p.add(git.Remote, plain)
	if cfg.GitFolder != "" {
		p.add(git.Local, plain)
	}
	if app != nil {
		p.add(git.GitHub, app)
	}
	p.Proposals.Settings = p.Settings
	return p, nil
}

// OrgsOf returns the organizations that have connected a repository of GitHub. It is for webhooks.
func (p *Parts) OrgsOf(ctx context.Context, installation int64, location string) ([]string, error) {
	return p.Settings.Store.OrgsOf(ctx, installation, location)
}

// RequestSync lets the repository of an organization be read soon. It is for webhooks.
func (p *Parts) RequestSync(ctx context.Context, orgID string) error {
	return p.Settings.RequestSync(ctx, orgID)
}

// add adds the Host of a kind of repository.
func (p *Parts) add(kind git.Kind, host git.Host) {
	p.Settings.Kinds = append(p.Settings.Kinds, kind)
	p.Proposals.Hosts[kind] = host
}

// Worker returns the worker of the job that reads repositories. orgOf returns an organization.
func (p *Parts) Worker(definitions *bundles.Bundles, orgOf func(ctx context.Context, orgID string) (core.Org, error)) jobs.Worker[git.SyncArgs] {
	return git.NewSyncs(git.SyncConfig{
		Store: p.Settings.Store, Adoptions: p.Settings.Adoptions, Hosts: p.Proposals.Hosts, Applier: applier{definitions}, Org: orgOf, Clock: p.cfg.Clock, Log: p.cfg.Log,
	}).Worker()
}

// applier applies the definitions of a repository; it is a [git.Applier].
type applier struct{ definitions *bundles.Bundles }

// Apply applies the files of a repository.
func (a applier) Apply(ctx context.Context, org core.Org, s git.Snapshot, adopted map[definitions.Ref]bool) (git.Report, error) {
	at := bundles.Revision{Branch: s.Revision.Branch, Commit: s.Revision.Commit, URL: s.FilesURL}
	synced, err := a.definitions.Sync(ctx, org, s.Tree, at, adopted)
	return git.Report{Diagnostics: synced.Diagnostics, Changed: synced.Changed, Absent: synced.Absent}, err
}

// Definitions returns a function that returns the definitions of an organization that are not in its
// repository and can be put there, and those of the repository that a person can adopt. Both are sorted
// within a kind.
func Definitions(store bundles.Store) func(ctx context.Context, orgID string) (managed []core.RepositoryDefinition, adoptable []definitions.Ref, err error) {
	return func(ctx context.Context, orgID string) ([]core.RepositoryDefinition, []definitions.Ref, error) {
		held := bundles.NewHeld()
		for _, kind := range []definitions.Kind{definitions.KindSegment, definitions.KindTemplate, definitions.KindWorkflow} {
			if err := store.AddDefinitions(ctx, orgID, kind, held); err != nil {
				return nil, nil, err
			}
		}
		var managed []core.RepositoryDefinition
		var adoptable []definitions.Ref
		add := func(kind definitions.Kind, d core.RepositoryDefinition) {
			d.Kind = string(kind)
			switch ref := (definitions.Ref{Kind: kind, Key: d.Key}); {
			case !held.FromGit[ref]:
				managed = append(managed, d)
			case git.CanAdopt(kind):
				adoptable = append(adoptable, ref)
			}
		}
		for _, s := range held.Set.Segments {
			add(definitions.KindSegment, core.RepositoryDefinition{Key: s.Key, Source: s.Predicate, Name: s.Name, Description: s.Description})
		}
		for _, t := range held.Set.Templates {
			add(definitions.KindTemplate, core.RepositoryDefinition{Key: t.Key, Source: t.HTML, Subject: t.Subject, Text: t.Text, TestData: t.TestData})
		}
		for _, w := range held.Set.Workflows {
			add(definitions.KindWorkflow, core.RepositoryDefinition{Key: w.Key, Source: w.Source})
		}
		return managed, adoptable, nil
	}
}
