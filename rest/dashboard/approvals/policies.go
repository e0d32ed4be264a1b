package approvals

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

const (
	// maxGrants is the maximum number of grants whose applications the page lists.
	maxGrants = 200
	// maxLists is the maximum number of lists that a form offers.
	maxLists = 100
)

// ruleChoice is a rule that a form offers. Words say which sends wait.
type ruleChoice struct {
	Value, Name, Words string
	Chosen             bool
}

// rules are the rules in the order in which forms offer them.
var rules = []ruleChoice{
	{Value: string(approvals.Never), Name: "Never", Words: "No send waits."},
	{Value: string(approvals.Always), Name: "Always", Words: "Every send waits."},
	{Value: string(approvals.AboveSize), Name: "Large audiences", Words: "A send to more members than the number below waits."},
	{Value: string(approvals.OutsideLists), Name: "Outside the chosen lists", Words: "A send waits unless its audience is one of the lists below. A segment is none of them."},
}

// inherit is the rule that only applications have.
var inherit = ruleChoice{Value: string(approvals.Inherit), Name: "As the organization", Words: "The policy of the organization applies."}

// listChoice is a list that a form offers.
type listChoice struct {
	ID, Name string
	Chosen   bool
}

// policyForm is the data of the fields of a policy. Above is a text, so that the form can
// show invalid input again.
type policyForm struct {
	Form  frame.Form
	Rules []ruleChoice
	Above string
	Lists []listChoice
	// Kept has the ids of chosen lists that the visitor does not see.
	Kept []string
}

// applicationRow is the data of an application in the table.
type applicationRow struct {
	Path, Name, ClientID string
	Rule, Cap            string
}

// policiesPage is the data of the page of policies.
type policiesPage struct {
	policyForm
	AlsoPeople   bool
	Applications []applicationRow
}

// showPolicies shows the policy of the organization, and those of its applications.
func (h policyHandlers) showPolicies(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	all, err := h.Store.Policies(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	p := policyOf(all, "")
	p.Rule = cmp.Or(p.Rule, approvals.Never)
	h.policiesPage(w, r, v, all, p, aboveText(p), "", http.StatusOK)
}

// policiesPage writes the page with the policy p in its form.
func (h policyHandlers) policiesPage(w http.ResponseWriter, r *http.Request, v people.Visitor, all []approvals.Policy, p approvals.Policy, above, problem string, status int) {
	form, err := h.formOf(r, v, PolicyPath, p, above)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := policiesPage{policyForm: form, AlsoPeople: p.AlsoPeople}
	if data.Applications, err = h.applications(r, v, all); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{Title: "Send policy", Lead: "Which sends of applications and API keys wait for the approval of a person, and how many recipients a day an application may mail."}
	h.Show(w, r, v, status, frame.Screen{Page: "policies", Title: "Send policy", Head: head, Notice: notices.NoticeOf(r), Problem: problem, Data: data})
}

// policyOf returns the stored policy of an application, or of the organization for "".
func policyOf(all []approvals.Policy, application string) approvals.Policy {
	for _, p := range all {
		if p.Application == application {
			return p
		}
	}
	return approvals.Policy{Application: application}
}

// aboveText returns the number of a policy as the form shows it.
func aboveText(p approvals.Policy) string {
	if p.Above == 0 {
		return ""
	}
	return strconv.Itoa(p.Above)
}

// formOf returns the fields of a policy.
func (h policyHandlers) formOf(r *http.Request, v people.Visitor, path string, p approvals.Policy, above string) (policyForm, error) {
	f := policyForm{Form: frame.FormTo(v, path), Above: above, Rules: slices.Clone(rules)}
	if p.Application != "" {
		f.Rules = slices.Insert(f.Rules, 0, inherit)
	}
	for i := range f.Rules {
		f.Rules[i].Chosen = f.Rules[i].Value == string(p.Rule)
	}
	var err error
	if v.Member.Has(members.MayViewLists) {
		var page frame.List[struct{ ID, Name string }]
		err = h.Read(r, v, "lists_list", map[string]int{"limit": maxLists}, &page)
		for _, l := range page.Data {
			f.Lists = append(f.Lists, listChoice{l.ID, frame.PlainName(l.Name), slices.Contains(p.Lists, l.ID)})
		}
	}
	for _, id := range p.Lists {
		if !slices.ContainsFunc(f.Lists, func(l listChoice) bool { return l.ID == id }) {
			f.Kept = append(f.Kept, id)
		}
	}
	return f, err
}

// applications returns the applications that have access, and those with a policy or a
// limit, by name. The visitor manages the organization, so the names are shown.
func (h policyHandlers) applications(r *http.Request, v people.Visitor, all []approvals.Policy) ([]applicationRow, error) {
	records := h.Actors.Records(v.Org.ID)
	known, caps, err := h.knownApplications(r.Context(), v, records, all)
	if err != nil {
		return nil, err
	}
	var rows []applicationRow
	for id := range known {
		c, err := records.Credential(r.Context(), id)
		if err != nil {
			return nil, err
		}
		if c.Kind != core.OAuthClient {
			continue
		}
		row := applicationRow{Path: PolicyPath + "/" + id, Name: frame.PlainName(c.Name), ClientID: c.ClientID, Rule: ruleWords(policyOf(all, id)), Cap: "no limit"}
		if n, has := caps[id]; has {
			row.Cap = core.WithCommas(n)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b applicationRow) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ClientID, b.ClientID))
	})
	return rows, nil
}

// knownApplications returns the ids of all applications to list, and the daily limits.
func (h policyHandlers) knownApplications(ctx context.Context, v people.Visitor, records *actors.Records, all []approvals.Policy) (map[string]bool, map[string]int, error) {
	known := map[string]bool{}
	caps, err := h.Stops.Caps(ctx, v.Org.ID)
	if err != nil {
		return nil, nil, err
	}
	for id := range caps {
		known[id] = true
	}
	for _, p := range all {
		if p.Application != "" {
			known[p.Application] = true
		}
	}
	listed, err := records.Listed(ctx)
	if err != nil {
		return nil, nil, err
	}
	for id := range listed {
		known[id] = true
	}
	return known, caps, h.addGranted(ctx, v, known)
}

// addGranted adds the ids of the applications to which people gave access.
func (h policyHandlers) addGranted(ctx context.Context, v people.Visitor, known map[string]bool) error {
	grants, err := h.Grants.Grants(ctx, v.Org.ID, access.GrantFilter{Limit: maxGrants})
	if err != nil {
		return err
	}
	read := map[string]bool{}
	for _, g := range grants {
		if read[g.ClientID] {
			continue
		}
		read[g.ClientID] = true
		client, err := h.Clients.Client(ctx, g.ClientID)
		if err != nil && !core.IsNotFound(err) {
			return err
		}
		if err == nil {
			known[client.ID] = true
		}
	}
	return nil
}

// ruleWords returns the rule of an application for the table.
func ruleWords(p approvals.Policy) string {
	switch p.Rule {
	case approvals.Inherit:
		return "as the organization"
	case approvals.AboveSize:
		return "above " + core.WithCommas(p.Above) + " members"
	case approvals.OutsideLists:
		return "outside of " + frame.Quantity(int64(len(p.Lists)), "list", "lists")
	}
	return string(p.Rule)
}

// typedPolicy returns the policy in a submitted form, and the text of its number.
func typedPolicy(r *http.Request, application string) (approvals.Policy, string) {
	p := approvals.Policy{Application: application, Rule: approvals.Rule(r.PostForm.Get("rule")), AlsoPeople: r.PostForm.Has("also_people")}
	for _, id := range r.PostForm["list"] {
		if core.IsID(id) && !slices.Contains(p.Lists, id) {
			p.Lists = append(p.Lists, id)
		}
	}
	above := strings.TrimSpace(r.PostForm.Get("above"))
	p.Above, _ = strconv.Atoi(above) // 0 for a text that is no number is refused
	return p, above
}

// savePolicy stores the policy of the organization and redirects to the page.
func (h policyHandlers) savePolicy(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	p, above := typedPolicy(r, "")
	err := h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
		return h.Policies.Set(ctx, access.ActorOf(v.User.ID), v.Org.ID, p)
	})
	if problem, status := labels.Correctable(err); problem != "" {
		all, err := h.Store.Policies(r.Context(), v.Org.ID)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		h.policiesPage(w, r, v, all, p, above, problem, status)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, PolicyPath, "saved")
}
