package dashboard

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
)

func (d *Dashboard) overviewPages() []route {
	return []route{{path: "", get: d.showOverview}}
}

// overview is what the page shows.
type overview struct {
	Org       string
	Missing   []step
	Counts    []count
	Addresses []address
}

// step is something that is still to be done.
type step struct{ Text, Path, Verb string }

// count is how many there are of something, with where to see them.
type count struct {
	Number     int
	Name, Path string
}

// address is one to copy into a program.
type address struct{ Name, URL, Purpose string }

func (d *Dashboard) showOverview(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	data := overview{Org: v.Org.Name, Addresses: []address{
		{"Public API", d.APIURL + "/v1", "For programs with an API key or an access token."},
		{"Agents", d.MCPURL + "/mcp", "For assistants that speak MCP. Give them this address; they find the rest."},
		{"Authorization server", d.AuthURL, "Where OAuth clients get tokens."},
	}}
	if err := d.fillOverview(r, v, &data); err != nil {
		d.fail(w, r, v, err)
		return
	}
	d.show(w, r, v, http.StatusOK, screen{page: "overview", title: "Overview", data: data})
}

func (d *Dashboard) fillOverview(r *http.Request, v access.Visitor, o *overview) error {
	ctx := r.Context()
	factors, err := d.Factors.Of(ctx, v.User.ID)
	if err != nil {
		return err
	}
	if !factors.Any() {
		o.Missing = append(o.Missing, step{"Only a password protects your account.", securityPath, "Set up a second factor"})
	}
	whose := v.User.ID
	if v.Member.Has(access.MayManageCredentials) {
		whose = ""
		if err := d.countCredentials(r, v, o); err != nil {
			return err
		}
	}
	grants, err := d.Grants.Grants(ctx, v.Org.ID, whose, maxGrants)
	if err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	members, err := d.Members.Members(ctx, v.Org.ID)
	if err != nil {
		return fmt.Errorf("members: %w", err)
	}
	o.Counts = append(o.Counts,
		counted(len(grants), "application with access", "applications with access", grantsPath),
		counted(len(members), "member", "members", membersPath))
	return nil
}

func (d *Dashboard) countCredentials(r *http.Request, v access.Visitor, o *overview) error {
	keys, err := d.Keys.APIKeysOf(r.Context(), v.Org.ID)
	if err != nil {
		return fmt.Errorf("API keys: %w", err)
	}
	clients, err := d.Clients.ClientsOf(r.Context(), v.Org.ID)
	if err != nil {
		return fmt.Errorf("clients: %w", err)
	}
	working, registered := 0, 0
	for _, k := range keys {
		if newKeyRow(k, d.Clock()).Works {
			working++
		}
	}
	for _, c := range clients {
		if c.RevokedAt == nil {
			registered++
		}
	}
	if working == 0 {
		o.Missing = append(o.Missing, step{"No program can call the API yet.", keysPath + "/new", "Create an API key"})
	}
	o.Counts = append(o.Counts,
		counted(working, "API key", "API keys", keysPath),
		counted(registered, "registered application", "registered applications", clientsPath))
	return nil
}

func counted(number int, one, many, path string) count {
	if number == 1 {
		return count{number, one, path}
	}
	return count{number, many, path}
}
