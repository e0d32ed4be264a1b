package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/git"
)

// The limits of the lists of a person.
const (
	perPage          = 100
	maxPages         = 5 // of repositories of an installation
	maxInstallations = 20
)

// personPayer is the payer of requests of people, who have their own limits; see Offers.
const personPayer = -1

// About is what GitHub says about the app. Slug is its name in addresses.
type About struct {
	ID       int64  `json:"id"`
	Slug     string `json:"slug"`
	ClientID string `json:"client_id"`
	HTMLURL  string `json:"html_url"`
}

// About asks GitHub for the app, once. It fails with a *[git.Refusal] if GitHub does not accept the id
// and the private key.
func (a *client) About(ctx context.Context) (About, error) {
	a.mu.Lock()
	known := a.known
	a.mu.Unlock()
	if known.ClientID != "" {
		return known, nil
	}
	token, err := a.appToken()
	if err != nil {
		return About{}, err
	}
	got, err := a.call(ctx, request{method: http.MethodGet, path: "/app", credential: token, payer: appPayer, want: http.StatusOK, into: &known})
	switch {
	case err != nil:
		return About{}, err
	case got.Status == http.StatusUnauthorized, got.Status == http.StatusNotFound:
		return About{}, git.Refuse("GitHub does not accept the app of this server. Ask the operator to check the id and the private key of the app.")
	case got.Status != http.StatusOK:
		return About{}, got.failure()
	case known.ID != a.cfg.ID || known.ClientID == "" || !strings.HasPrefix(known.HTMLURL, a.web+"/"):
		return About{}, errors.New("github: the answer about the app has another id, another address, or no client id")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = known
	return known, nil
}

// AuthorizeURL returns the page of GitHub on which a person confirms who they are. GitHub leads the
// browser back to the address redirect, with a code and the state.
func (a *App) AuthorizeURL(ctx context.Context, redirect, state string) (string, error) {
	app, err := a.About(ctx)
	if err != nil {
		return "", err
	}
	return a.web + "/login/oauth/authorize?" + url.Values{"client_id": {app.ClientID}, "redirect_uri": {redirect}, "state": {state}}.Encode(), nil
}

// InstallURL returns the page of GitHub on which a person installs the app, and chooses its
// repositories.
func (a *App) InstallURL(ctx context.Context) (string, error) {
	app, err := a.About(ctx)
	if err != nil {
		return "", err
	}
	return app.HTMLURL + "/installations/new", nil
}

// Offers returns the repositories that the person behind a code may connect: those on which the app is
// installed and to which this person may write, sorted. The code is one that GitHub gave a browser with
// AuthorizeURL. The token of the person is used for this only, and not kept. It fails with a
// *[git.Refusal] for a code that is invalid or was used.
func (a *App) Offers(ctx context.Context, redirect, code string) ([]git.Offer, error) {
	token, err := a.personToken(ctx, redirect, code)
	if err != nil {
		return nil, err
	}
	var list struct {
		Installations []struct {
			ID    int64 `json:"id"`
			AppID int64 `json:"app_id"`
		} `json:"installations"`
	}
	if err := a.asPerson(ctx, token, "/user/installations", 1, &list); err != nil {
		return nil, err
	}
	var offers []git.Offer
	for i, installation := range list.Installations {
		if i == maxInstallations {
			break
		}
		if installation.AppID != a.cfg.ID || installation.ID <= 0 {
			continue
		}
		own, err := a.offersOf(ctx, token, installation.ID)
		if err != nil {
			return nil, err
		}
		offers = append(offers, own...)
	}
	slices.SortFunc(offers, func(x, y git.Offer) int { return cmp.Compare(x.Location, y.Location) })
	return offers, nil
}

// offersOf returns the repositories of an installation to which a person may write.
func (a *App) offersOf(ctx context.Context, token string, installation int64) ([]git.Offer, error) {
	var offers []git.Offer
	for page := 1; page <= maxPages; page++ {
		var list struct {
			Repositories []struct {
				FullName    string `json:"full_name"`
				Permissions struct {
					Push bool `json:"push"`
				} `json:"permissions"`
			} `json:"repositories"`
		}
		if err := a.asPerson(ctx, token, fmt.Sprintf("/user/installations/%d/repositories", installation), page, &list); err != nil {
			return nil, err
		}
		for _, r := range list.Repositories {
			if _, err := repositoryPath(r.FullName); err == nil && r.Permissions.Push {
				offers = append(offers, git.Offer{Installation: installation, Location: r.FullName})
			}
		}
		if len(list.Repositories) < perPage {
			break
		}
	}
	return offers, nil
}

// asPerson reads a page of a list with the token of a person.
func (a *client) asPerson(ctx context.Context, token, path string, page int, into any) error {
	got, err := a.call(ctx, request{
		method: http.MethodGet, path: path, credential: token, payer: personPayer, want: http.StatusOK, into: into,
		query: url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}},
	})
	if err != nil {
		return err
	}
	if got.Status != http.StatusOK {
		return git.Refuse("GitHub does not show the repositories of this person: %s. Try it again.", got.message())
	}
	return nil
}

// personToken exchanges a code for the token of a person.
func (a *client) personToken(ctx context.Context, redirect, code string) (string, error) {
	const longest = 200
	if a.cfg.ClientSecret == "" {
		return "", git.Refuse("This server has no client secret of the app, so no person can connect a repository of GitHub. Ask the operator to set it.")
	}
	if code == "" || len(code) > longest {
		return "", git.Refuse("The answer of GitHub has no code. Connect the repository again.")
	}
	app, err := a.About(ctx)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"client_id": app.ClientID, "client_secret": a.cfg.ClientSecret, "code": code, "redirect_uri": redirect})
	if err != nil {
		return "", err
	}
	// This address belongs to the pages of GitHub, not to its API.
	sent, err := http.NewRequestWithContext(ctx, http.MethodPost, a.web+"/login/oauth/access_token", bytes.NewReader(body))
	if err != nil {
		return "", errors.New("github: the address is malformed")
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("Content-Type", "application/json")
	got, err := a.fetcher.Send(sent)
	if err != nil {
		return "", fmt.Errorf("github: exchange the code of a person: %w", err)
	}
	var answered struct {
		AccessToken string `json:"access_token"`
	}
	if got.Status >= http.StatusInternalServerError || json.Unmarshal(got.Body, &answered) != nil {
		return "", fmt.Errorf("github: exchange the code of a person: status %d", got.Status)
	}
	if got.Status != http.StatusOK || answered.AccessToken == "" {
		return "", git.Refuse("GitHub does not accept the code of this sign-in, which works once and for ten minutes. Connect the repository again.")
	}
	return answered.AccessToken, nil
}
