package templates

import (
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// refusals has, for each organization and template, the time at which the account last
// refused to return the template. It is kept in memory, because a template that was never
// read has no row in the database. After a restart, each refused template is therefore
// tried once before its turn. It is safe for concurrent use. The zero value is empty.
type refusals struct {
	mu    sync.Mutex
	byOrg map[string]map[string]time.Time // by organization and name of the template
}

// note stores that the account has refused the template at this time.
func (r *refusals) note(orgID, name string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byOrg == nil {
		r.byOrg = map[string]map[string]time.Time{}
	}
	if r.byOrg[orgID] == nil {
		r.byOrg[orgID] = map[string]time.Time{}
	}
	r.byOrg[orgID][name] = at
}

// lastTried returns the time at which each listed template was last read or refused: the
// later of its time in reads and its refusal. It is zero for a template that was never
// tried. lastTried forgets the refusals of templates that are not listed or were read since.
func (r *refusals) lastTried(orgID string, listed map[string]sending.TemplateName, reads map[string]time.Time) map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	refused := r.byOrg[orgID]
	for name, at := range refused {
		if _, ok := listed[name]; !ok || reads[name].After(at) {
			delete(refused, name)
		}
	}
	if len(refused) == 0 {
		delete(r.byOrg, orgID)
	}
	tried := make(map[string]time.Time, len(listed))
	for name := range listed {
		tried[name] = reads[name]
		if at, ok := refused[name]; ok {
			tried[name] = at
		}
	}
	return tried
}
