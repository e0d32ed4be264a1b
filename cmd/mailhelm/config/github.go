package config

import (
	"errors"
	"fmt"
	"net/url"
)

// GitHub has the settings of the app with which organizations connect repositories on GitHub.
type GitHub struct {
	// URL is the address of GitHub; "" means GitHub's own service.
	URL string
	// App is the id of the app, 0 if the server has none.
	App int64
	// Key is the private key of the app as PEM, or the name of a file that has it.
	Key string
	// ClientSecret is a client secret of the app. WebhookSecret is the secret with which GitHub signs
	// webhooks; "" means that none are taken.
	ClientSecret, WebhookSecret string
}

// minWebhookSecret is the least number of bytes of the secret of webhooks.
const minWebhookSecret = 16

// check returns what is wrong with the settings. It opens no file.
func (g GitHub) check() error {
	switch {
	case g.App < 0:
		return fmt.Errorf("--github-app %d: must be the id of the app, as GitHub shows it", g.App)
	case g.URL != "" && !isWebAddress(g.URL):
		return fmt.Errorf("--github-url %s: must be a web address such as https://github.example.com", g.URL)
	case g.App == 0 && g.secretSet() != "":
		return fmt.Errorf("%s is set without --github-app: set the id of the app too", g.secretSet())
	case g.App > 0 && g.Key == "":
		return errors.New("--github-app needs the private key of the app: set MAILHELM_GITHUB_KEY to the file or to the key itself")
	case g.WebhookSecret != "" && len(g.WebhookSecret) < minWebhookSecret:
		return fmt.Errorf("MAILHELM_GITHUB_WEBHOOK_SECRET has %d bytes: use at least %d random ones", len(g.WebhookSecret), minWebhookSecret)
	}
	return nil
}

// secretSet returns the variable of a secret that is set, "" for none.
func (g GitHub) secretSet() string {
	switch {
	case g.Key != "":
		return "MAILHELM_GITHUB_KEY"
	case g.ClientSecret != "":
		return "MAILHELM_GITHUB_CLIENT_SECRET"
	case g.WebhookSecret != "":
		return "MAILHELM_GITHUB_WEBHOOK_SECRET"
	}
	return ""
}

// isWebAddress reports whether a text is an address with http or https and a host.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
