package home

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// maxGrants is the maximum number of grants that the overview counts.
const maxGrants = 200

// overview is the data of the overview page.
type overview struct {
	// Missing has the setup steps that are not done and that the visitor may do.
	Missing []step
	// Attention has what needs the visitor's attention, the most urgent first.
	Attention []notice
	// Mail is nil if the visitor may not view reports. Today is nil if the visitor may not
	// view the audit log.
	Mail  *mail
	Today *today
	// Counts has the numbers of records that the visitor may see. Unread says why some of
	// them cannot be read, or "".
	Counts    []count
	Unread    string
	Addresses []address
}

// step is the data of a setup step that is not done yet, with a link to its page. Verb is
// the text of the link.
type step struct{ Text, Path, Verb string }

// count is the number of records of one kind, such as "12" or "more than 200", with the path
// of the page that lists them.
type count struct{ Number, Name, Path string }

// address is a URL of the product that people copy into a program.
type address struct{ Name, URL, Purpose string }

// showOverview shows the overview page. A part that cannot be read says so in its place.
func (h *Home) showOverview(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := overview{
		Mail: h.readMail(r, v), Today: h.readToday(r, v),
		Addresses: []address{
			{"Public API", h.APIURL + "/v1", "For programs with an API key or an access token."},
			{"Agents", h.MCPURL + "/mcp", "For assistants that use MCP. They need only this address."},
			{"Authorization server", h.AuthURL, "For OAuth clients that request tokens."},
		},
	}
	data.Attention = h.attention(r, v, data.Mail)
	for _, part := range []struct {
		name string
		fill func(*http.Request, people.Visitor, *overview) error
	}{{"second factors", h.checkFactors}, {"credentials", h.countCredentials}, {"grants", h.countGrants}, {"members", h.countMembers}} {
		if err := part.fill(r, v, &data); err != nil {
			data.Unread = h.problemOf(r, v, part.name, err)
		}
	}
	head := frame.Head{}
	if v.Member.Has(members.MayManageCampaigns) {
		head.Actions = []frame.Action{{Path: frame.StopPath, Name: "Stop all mail", Danger: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "overview", Title: "Overview", Head: head, Data: data})
}

// checkFactors adds a setup step to the overview o if the visitor has no second factor.
func (h *Home) checkFactors(r *http.Request, v people.Visitor, o *overview) error {
	factors, err := h.Factors.FactorsOf(r.Context(), v.User.ID)
	if err == nil && !factors.Any() {
		o.Missing = append(o.Missing, step{"Only a password protects your account.", frame.SecurityPath, "Set up a second factor"})
	}
	return err
}

// countGrants adds the number of grants to the overview o: the visitor's own, or those of
// all members for a visitor who may manage credentials.
func (h *Home) countGrants(r *http.Request, v people.Visitor, o *overview) error {
	whose := v.User.ID
	if v.Member.Has(members.MayManageCredentials) {
		whose = ""
	}
	grants, err := h.Grants.Grants(r.Context(), v.Org.ID, access.GrantFilter{UserID: whose, Limit: maxGrants + 1})
	if err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	shown := countOf(min(maxGrants, len(grants)), "application with access", "applications with access", h.Links.Grants)
	if len(grants) > maxGrants {
		shown.Number = "more than " + shown.Number
	}
	o.Counts = append(o.Counts, shown)
	return nil
}

// countMembers adds the number of members to the overview o.
func (h *Home) countMembers(r *http.Request, v people.Visitor, o *overview) error {
	all, err := h.Members.Members(r.Context(), v.Org.ID)
	if err != nil {
		return fmt.Errorf("members: %w", err)
	}
	o.Counts = append(o.Counts, countOf(len(all), "member", "members", h.Links.Members))
	return nil
}

// countCredentials adds two counts to the overview o: of the API keys that work, and of the
// clients that are not revoked. Without a working key it also adds a setup step. It adds
// nothing for a visitor who may not manage credentials.
func (h *Home) countCredentials(r *http.Request, v people.Visitor, o *overview) error {
	if !v.Member.Has(members.MayManageCredentials) {
		return nil
	}
	keys, err := h.Keys.APIKeysOf(r.Context(), v.Org.ID)
	if err != nil {
		return fmt.Errorf("API keys: %w", err)
	}
	clients, err := h.Clients.ClientsOf(r.Context(), v.Org.ID)
	if err != nil {
		return fmt.Errorf("clients: %w", err)
	}
	working, registered := 0, 0
	for _, k := range keys {
		if state := k.StateAt(h.Clock()); state == access.KeyActive || state == access.KeyInGrace {
			working++
		}
	}
	for _, c := range clients {
		if c.RevokedAt == nil {
			registered++
		}
	}
	if working == 0 {
		o.Missing = append(o.Missing, step{"No program can call the API yet.", h.Links.NewKey, "Create an API key"})
	}
	o.Counts = append(o.Counts,
		countOf(working, "API key", "API keys", h.Links.Keys),
		countOf(registered, "registered application", "registered applications", h.Links.Clients))
	return nil
}

// countOf returns a count of records. one and many are the nouns for one record and for
// several records. path is the path of the page that lists the records.
func countOf(number int, one, many, path string) count {
	name := many
	if number == 1 {
		name = one
	}
	return count{core.WithCommas(number), name, path}
}
