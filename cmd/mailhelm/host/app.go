package host

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/oauth/consent"
	"github.com/mailhelm/mailhelm/oauth/login"
)

// peoplePages are the pages on which people sign in and consent, by their path
// on the app's address.
func peoplePages(cfg config.Config, public config.Public, s *stores, server *oauth.Server) (map[string]http.Handler, error) {
	entrance, err := login.New(login.Config{
		Sessions: access.NewSessions(access.SessionsConfig{
			Store: s.db.Access(), Sessions: s.db.Sessions(), Members: s.db.Members(), Tx: s.db, Clock: cfg.Clock,
		}),
		AppURL: public.App, DocsURL: public.Docs, Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	permission, err := consent.New(consent.Config{Server: server, Login: entrance})
	if err != nil {
		return nil, err
	}
	pages := entrance.Routes()
	pages[consent.Path] = permission.Handler()
	return pages, nil
}

// appSites are the authorization server, the app with the pages for people, and
// the documentation. Those with one origin are one site, in which the
// documentation's paths come first.
func appSites(public config.Public, issuer, documentation http.Handler, people map[string]http.Handler) []site {
	origin, path := splitAddress(public.Docs)
	app := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, public.Docs, &core.Error{Code: core.CodeNotFound, Message: "There is no such page."})
	}))
	if public.App == public.Auth {
		app = issuer
	}
	app = rootRedirect(public.Docs, at(people, app))
	if origin == public.App {
		app = below(path, documentation, app)
	}
	sites := []site{{config.AppService, public.App, app}}
	if public.App != public.Auth {
		sites = append(sites, site{config.AppService, public.Auth, issuer})
	}
	if origin != public.App {
		sites = append(sites, site{config.AppService, origin, documentation})
	}
	return sites
}

// at hands exact paths to their pages.
func at(pages map[string]http.Handler, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := pages[r.URL.Path]; ok {
			page.ServeHTTP(w, r)
			return
		}
		elsewhere.ServeHTTP(w, r)
	})
}

// below hands path and everything under it to inside.
func below(path string, inside, outside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") {
			inside.ServeHTTP(w, r)
			return
		}
		outside.ServeHTTP(w, r)
	})
}

// rootRedirect leads whoever types the bare address to a page.
func rootRedirect(to string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && r.Method == http.MethodGet {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// splitAddress takes a checked address apart at the end of its origin.
func splitAddress(address string) (origin, path string) {
	u, err := url.Parse(address)
	if err != nil {
		return address, ""
	}
	return u.Scheme + "://" + u.Host, strings.TrimSuffix(u.Path, "/")
}
