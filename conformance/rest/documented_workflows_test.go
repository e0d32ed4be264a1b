package rest_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
)

// nameRun lets the examples name the newest run of a workflow of the demo, and its contact. It
// records an activity, which the workflow names: without one, answers have a warning.
func (d *documentedCalls) nameRun(t *testing.T) {
	t.Helper()
	d.do(t, "POST", "/v1/activities", `[{"name":"purchase","email":"`+d.Contact+`"}]`).want(202)
	run := d.first(t, "/v1/workflows/welcome/runs?limit=1")
	d.ids[examples.RunID], _ = run["id"].(string)
	d.ids[examples.ContactID], _ = run["contact_id"].(string)
}
