package insight

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// ruleRow is the data of one rule on the page of rules. Events and Days are texts, so that
// the form can show invalid input again.
type ruleRow struct {
	Reason       suppression.Reason
	Name         string
	Locked       bool
	Enabled      bool
	Events, Days string
}

// rulesPage is the data of the page with the rules of undeliverable addresses.
type rulesPage struct {
	All      string
	Profiles []frame.Option
	Profile  string
	Version  string
	Rules    []ruleRow
	Save     *frame.Form // nil if the visitor may not change the rules
}

// profileNames are the named sets of rules that a visitor can choose, such as "Strict". The
// page explains them below the select field, because phones cut off long options.
var profileNames = []frame.Option{
	{Value: string(suppression.Strict), Name: "Strict"},
	{Value: string(suppression.Standard), Name: "Standard"},
	{Value: string(suppression.Aggressive), Name: "Aggressive"},
	{Value: string(suppression.Custom), Name: "Custom"},
}

// showRules shows the rules by which addresses count as undeliverable.
func (h undeliverableHandlers) showRules(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	rules, err := h.Undeliverable.Rules(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.rulesForm(w, r, v, rules.Profile, ruleRows(rules), rules.Version(), nil)
}

// ruleRows returns the data of the rules, in the order in which the page shows them.
func ruleRows(rules suppression.Rules) []ruleRow {
	var rows []ruleRow
	for _, reason := range suppression.Reasons() {
		rule := rules.Rule(reason)
		row := ruleRow{Reason: reason, Name: reasonWords[reason], Locked: rule.Locked, Enabled: rule.Enabled, Events: strconv.Itoa(rule.Events)}
		if rule.WindowDays != nil {
			row.Days = strconv.Itoa(*rule.WindowDays)
		}
		rows = append(rows, row)
	}
	return rows
}

// rulesForm writes the page with the form for the rules. profile and rows are the values
// that the form shows. refused is the error of the submitted form, or nil.
func (h undeliverableHandlers) rulesForm(
	w http.ResponseWriter, r *http.Request, v people.Visitor, profile suppression.Profile, rows []ruleRow, version string, refused *core.Error,
) {
	data := rulesPage{All: UndeliverablePath, Profile: string(profile), Version: version, Rules: rows}
	for _, p := range profileNames {
		p.Chosen = p.Value == data.Profile
		data.Profiles = append(data.Profiles, p)
	}
	if v.Member.Has(members.MayConfigureUndelivered) {
		save := frame.FormTo(v, saveRulesPath)
		data.Save = &save
	}
	shown, status := frame.Screen{Page: "undeliverable_rules", Title: "Rules of undeliverable addresses", Notice: undeliverableNotices.NoticeOf(r), Data: data}, http.StatusOK
	if refused != nil {
		shown.Problem, status = refused.Message+" "+refused.NextStep(), refused.HTTPStatus()
	}
	h.Show(w, r, v, status, shown)
}

// saveRules replaces the organization's rules for undeliverable addresses and redirects to
// the page of the rules. A refused form is shown again with its values.
func (h undeliverableHandlers) saveRules(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	wanted := suppression.RulesOf(suppression.Profile(r.PostForm.Get("profile")))
	typed := ruleRows(suppression.RulesOf(suppression.Custom))
	for i, row := range typed {
		if !row.Locked {
			typed[i].Enabled = r.PostForm.Has(string(row.Reason))
			typed[i].Events = r.PostForm.Get(string(row.Reason) + "_events")
			typed[i].Days = r.PostForm.Get(string(row.Reason) + "_days")
		}
	}
	if wanted.Profile == suppression.Custom {
		chooseRules(&wanted, typed)
	}
	err := h.TransactorWith(v, members.MayConfigureUndelivered).InTx(r.Context(), func(ctx context.Context) error {
		before, err := h.Undeliverable.SetRules(ctx, v.Org.ID, wanted)
		if err != nil {
			return err
		}
		detail := rulesDetail(before, wanted)
		if len(detail) == 0 {
			return nil
		}
		return h.Record(ctx, v, "undeliverable.rules_updated", v.Org.ID, detail)
	})
	e := core.AsError(err)
	switch {
	case err == nil:
		frame.RedirectWithNotice(w, rulesPath, "rules")
	case e.Code == core.CodeValidationFailed:
		h.rulesForm(w, r, v, wanted.Profile, typed, "", e)
	default:
		h.Fail(w, r, v, err)
	}
}

// chooseRules sets the rules to the values of the form. A text that is not a number becomes
// 0, which core/suppression refuses.
func chooseRules(rules *suppression.Rules, typed []ruleRow) {
	for _, row := range typed {
		if row.Locked {
			continue
		}
		rule := rules.Rule(row.Reason)
		events, _ := strconv.Atoi(row.Events)
		days, _ := strconv.Atoi(row.Days)
		rule.Enabled, rule.Events, rule.WindowDays = row.Enabled, events, &days
	}
}

// rulesDetail returns the values of the changed rules before and after the change, for the
// audit log.
func rulesDetail(before, after suppression.Rules) map[string]any {
	detail := map[string]any{}
	note := func(name, was, is string) {
		if was != is {
			detail[name] = change{was, is}
		}
	}
	note("profile", string(before.Profile), string(after.Profile))
	for _, reason := range suppression.Reasons() {
		note(string(reason), ruleText(before.Rule(reason)), ruleText(after.Rule(reason)))
	}
	return detail
}

// ruleText describes a rule for the audit log: "off", "any" or "3 in 30 days".
func ruleText(rule *suppression.Rule) string {
	switch {
	case !rule.Enabled:
		return "off"
	case rule.WindowDays == nil:
		return "any"
	}
	return fmt.Sprintf("%d in %d days", rule.Events, *rule.WindowDays)
}
