package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/githubapp"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github"
)

// gitHubApp checks the app with which organizations connect repositories on GitHub: its private key, its
// secrets, and whether GitHub knows the app. Without an app it adds no result. A GitHub that does not
// answer, or refuses the app, is a Warn: a server starts, and repositories on GitHub are not read.
func (e *examination) gitHubApp(ctx context.Context) {
	const name = "GitHub App"
	g := e.cfg.GitHub
	if g.App == 0 || e.cfg.Check() != nil {
		return // there is none, or e.settings has reported the fault
	}
	parts, err := githubapp.Open(e.cfg)
	if err != nil {
		e.add(name, Fail, err.Error(), "Set MAILHELM_GITHUB_KEY to the file that GitHub offers for download when a private key is made, and --github-url to the address of GitHub.")
		return
	}
	defer parts.Close()
	before := len(e.report.Checks)
	// Key is the key itself if there is no such file.
	if info, err := os.Stat(g.Key); err == nil {
		if status, fix := secretFileStatus(info.Mode(), ownFile(info)); status != OK {
			e.add(name, status, fmt.Sprintf("the private key %s has mode %04o: other users of this machine can read it", g.Key, info.Mode().Perm()), fix+" "+g.Key)
		}
	}
	if g.ClientSecret == "" {
		e.add(name, Warn, "no client secret is set, so no person can connect a repository on GitHub", "Create a client secret on the page of the app on GitHub, and set MAILHELM_GITHUB_CLIENT_SECRET.")
	}
	if g.WebhookSecret == "" {
		e.add(name, Warn, "no webhook secret is set, so no webhooks are taken, and repositories are read every ten minutes", "Set MAILHELM_GITHUB_WEBHOOK_SECRET to the secret on the page of the app on GitHub.")
	}
	address := cmp.Or(g.URL, github.PublicURL)
	about, err := parts.App.About(ctx)
	if _, refused := errors.AsType[*git.Refusal](err); refused {
		e.add(name, Warn, fmt.Sprintf("%s accepts no app with the id %d and this private key", address, g.App), "Compare --github-app with the App ID on the page of the app on GitHub, create another private key there if this one was deleted, and check the clock of this machine.")
		return
	}
	if err != nil {
		e.add(name, Warn, fmt.Sprintf("%s could not be asked, so the id and the private key are not checked: %v", address, err), "Check --github-url, and that this machine may connect to GitHub. Until then, repositories on GitHub are not read.")
		return
	}
	if len(e.report.Checks) == before {
		e.add(name, OK, fmt.Sprintf("%s (id %d) at %s; people can connect repositories, and pushes are read at once", about.Slug, about.ID, address), "")
	}
}
