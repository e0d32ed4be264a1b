package host

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
)

// appSites are the authorization server, the app and the documentation. Those
// with one origin are one site, in which the documentation's paths come first.
func appSites(public config.Public, issuer, documentation http.Handler) []site {
	origin, path := splitAddress(public.Docs)
	app := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, public.Docs, &core.Error{Code: core.CodeNotFound, Message: "There is no such page."})
	}))
	if public.App == public.Auth {
		app = issuer
	}
	app = rootRedirect(public.Docs, app)
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
