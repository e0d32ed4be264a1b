package engine

import "github.com/mailhelm/mailhelm/core/workflows/language"

// Admits reports whether a contact for whom the trigger has happened begins a run. last is the
// state of the contact's last run in the workflow, nil if there was none.
//
// The contact must meet the condition of the trigger and must have no active run. A contact with
// an earlier run enters only if the workflow permits re-entry, and, after a run that has exited,
// only if no named exit matches any more.
func (p *Plan) Admits(last *State, facts Facts) bool {
	settings := p.Settings()
	if facts.Subject == nil || settings.Where != nil && !facts.matches(p.checked.Condition(settings.Where)) {
		return false
	}
	if last == nil {
		return true
	}
	if settings.Reentry == language.Once || !last.IsOver() {
		return false
	}
	return last.Status != Exited || p.exitOf(facts) == nil
}

// exitOf returns the first named exit that matches, nil if none does.
func (p *Plan) exitOf(facts Facts) *language.Exit {
	exits := p.Settings().Exits
	for i := range exits {
		if facts.matches(p.checked.Condition(exits[i].When)) {
			return &exits[i]
		}
	}
	return nil
}
