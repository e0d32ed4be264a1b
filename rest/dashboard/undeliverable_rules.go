package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/suppression"
)

// ruleRow is one rule as the page shows it. Events and Days are as typed.
type ruleRow struct {
	Reason       suppression.Reason
	Name         string
	Locked       bool
	Enabled      bool
	Events, Days string
}

// rulesScreen is what the page of the rules shows.
type rulesScreen struct {
	All      string
	Profiles []option
	Profile  string
	Version  string
	Rules    []ruleRow
	Save     *form // nil when they are not the visitor's to change
}

// profileNames are the profiles to choose from. The page says what each does: a
// sentence in a list of choices is cut off on a phone.
var profileNames = []option{
	{Value: string(suppression.Strict), Name: "Strict"},
	{Value: string(suppression.Standard), Name: "Standard"},
	{Value: string(suppression.Aggressive), Name: "Aggressive"},
	{Value: string(suppression.Custom), Name: "Custom"},
}

func (d *Dashboard) showRules(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	rules, err := d.Suppression.Rules(r.Context(), v.Org.ID)
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	d.rulesForm(w, r, v, rules.Profile, ruleRows(rules), rules.Version(), nil)
}

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

func (d *Dashboard) rulesForm(
	w http.ResponseWriter, r *http.Request, v access.Visitor, profile suppression.Profile, rows []ruleRow, version string, refused *core.Error,
) {
	data := rulesScreen{All: undeliverablePath, Profile: string(profile), Version: version, Rules: rows}
	for _, p := range profileNames {
		p.Chosen = p.Value == data.Profile
		data.Profiles = append(data.Profiles, p)
	}
	if v.Member.Has(access.MayConfigureUndelivered) {
		save := formTo(v, saveRulesPath)
		data.Save = &save
	}
	shown, status := screen{page: "undeliverable_rules", title: "Rules of undeliverable addresses", notice: undeliverableNotices.of(r), data: data}, http.StatusOK
	if refused != nil {
		shown.problem, status = refused.Message+" "+refused.NextStep(), refused.HTTPStatus()
	}
	d.show(w, r, v, status, shown)
}

func (d *Dashboard) saveRules(w http.ResponseWriter, r *http.Request, v access.Visitor) {
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
	err := d.permitted(v, access.MayConfigureUndelivered).InTx(r.Context(), func(ctx context.Context) error {
		before, err := d.Suppression.SetRules(ctx, v.Org.ID, wanted)
		if err != nil {
			return err
		}
		detail := rulesDetail(before, wanted)
		if len(detail) == 0 {
			return nil
		}
		return d.record(ctx, v, "undeliverable.rules_updated", v.Org.ID, detail)
	})
	e := core.AsError(err)
	switch {
	case err == nil:
		noticed(w, rulesPath, "rules")
	case e.Code == core.CodeValidationFailed:
		d.rulesForm(w, r, v, wanted.Profile, typed, "", e)
	default:
		d.fail(w, r, v, err)
	}
}

// chooseRules takes over what was typed. What is no number is 0, which is refused.
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

// rulesDetail is what of the rules changed, by name.
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

func ruleText(rule *suppression.Rule) string {
	switch {
	case !rule.Enabled:
		return "off"
	case rule.WindowDays == nil:
		return "any"
	}
	return fmt.Sprintf("%d in %d days", rule.Events, *rule.WindowDays)
}
