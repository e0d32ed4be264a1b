// Package repository assembles what a server needs to keep definitions of organizations in Git
// repositories, and satisfies the interfaces that core/git declares.
package repository

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/githubapp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/local"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// httpsPort is the port of repositories on the public Internet.
const httpsPort = 443

// Parts are the parts of a server that know repositories. Open returns them.
type Parts struct {
	// Settings connects repositories, and Proposals proposes changes of them.
	Settings  git.Settings
	Proposals git.Proposals
	app       *githubapp.Parts
	cfg       config.Config
}

// Open returns the parts. It makes no connection.
func Open(cfg config.Config, store git.Store, queue jobs.Queue) (*Parts, error) {
	networks, err := cfg.NetworksOfGit()
	if err != nil {
		return nil, err
	}
	plain := local.New(local.Config{
		Folder: cfg.GitFolder, Scratch: cfg.DataDir, Guard: outbound.New(networks, httpsPort), RootCAs: cfg.GitCAs, Clock: cfg.Clock, Log: cfg.Log,
	})
	app, err := githubapp.Open(cfg)
	if err != nil {
		return nil, err
	}
	p := &Parts{app: app, Settings: git.Settings{Store: store, Queue: queue, Clock: cfg.Clock}, cfg: cfg}
	p.Proposals.Hosts = map[git.Kind]git.Host{}
	p.add(git.Remote, plain)
	if cfg.GitFolder != "" {
		p.add(git.Local, plain)
	}
	if app.App != nil {
		p.add(git.GitHub, app.App)
	}
	p.Proposals.Settings = p.Settings
	return p, nil
}

// Close closes connections to servers of repositories.
func (p *Parts) Close() { p.app.Close() }

// Route returns a handler that takes the webhooks of GitHub, and passes other requests to next.
func (p *Parts) Route(next http.Handler) http.Handler { return p.app.Route(p, next) }

// OrgsOf returns the organizations with a repository of GitHub; see [githubapp.Syncs].
func (p *Parts) OrgsOf(ctx context.Context, installation int64, location string) ([]string, error) {
	return p.Settings.Store.OrgsOf(ctx, installation, location)
}

// RequestSync lets the repository of an organization be read soon; see [githubapp.Syncs].
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
		Store: p.Settings.Store, Hosts: p.Proposals.Hosts, Applier: applier{definitions}, Org: orgOf, Clock: p.cfg.Clock, Log: p.cfg.Log,
	}).Worker()
}

// applier applies the definitions of a repository; it is a [git.Applier].
type applier struct{ definitions *bundles.Bundles }

// Apply applies the files of a repository.
func (a applier) Apply(ctx context.Context, org core.Org, tree archive.Tree, at git.Revision) (git.Report, error) {
	synced, err := a.definitions.Sync(ctx, org, tree, bundles.Revision{Branch: at.Branch})
	return git.Report{Diagnostics: synced.Diagnostics, Changed: synced.Changed}, err
}
