package templates

import "sync"

// deployments has the organizations whose templates are being deployed in this process, so
// that two runs do not put the same templates into one account. It is safe for concurrent
// use. The zero value is empty.
type deployments struct {
	mu sync.Mutex
	// repeat has, by organization, whether another run was requested since this one looked
	// for due templates last.
	repeat map[string]bool
}

// begin reports whether a run may begin. If it may not, the run that is working is repeated.
func (d *deployments) begin(orgID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, working := d.repeat[orgID]; working {
		d.repeat[orgID] = true
		return false
	}
	if d.repeat == nil {
		d.repeat = map[string]bool{}
	}
	d.repeat[orgID] = false
	return true
}

// again reports whether the run must be repeated. If not, the run has ended.
func (d *deployments) again(orgID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.repeat[orgID] {
		d.repeat[orgID] = false
		return true
	}
	delete(d.repeat, orgID)
	return false
}

// end ends a run that has failed. It must not be called after again has returned false.
func (d *deployments) end(orgID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.repeat, orgID)
}
