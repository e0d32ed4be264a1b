package workflows

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// tryPage is the data of the page that tries a workflow with one contact.
type tryPage struct {
	about
	Path     string
	Query    string
	MayTry   bool
	Problem  string // why there is no result, "" for none
	Contact  named
	Version  int
	Versions []frame.Option
	Steps    []dryRow
	// Done is true if the workflow was tried.
	Done    bool
	Journey *wording.Journey
}

// showTry shows what the workflow would do for the contact that the address names by its
// address or id.
func (h *Room) showTry(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	top, err := h.aboutOf(r, v, found, tabTry)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	text := r.URL.Query().Get("contact")
	data := tryPage{about: top, Path: pathOf(found, tabTry), Query: strings.TrimSpace(text[:min(len(text), maxAddress)]), MayTry: v.Member.Has(members.MayViewContacts)}
	if err := h.try(r, v, found, &data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "try", Title: "Dry run of " + data.Name, Head: headOf(found, top), Data: data})
}

// maxAddress is the maximum length of an address or id.
const maxAddress = 254

// try adds the result of a dry run, or the reason why there is none.
func (h *Room) try(r *http.Request, v people.Visitor, w workflows.Workflow, data *tryPage) error {
	shown, err := h.shownVersion(r, v, w, w.Latest())
	if err != nil {
		return err
	}
	data.Version = shown.Number
	if data.Versions, err = h.versionOptions(r, v, w, shown.Number); err != nil {
		return err
	}
	review, err := h.Editor.Review(r.Context(), v.Org.ID, shown.Source)
	if err != nil {
		return err
	}
	tree := wording.TreeOf(shown.Source)
	data.Journey = wording.JourneyOf(tree, review.Checked, diagram.Options{})
	if review.HasFaults() {
		data.Problem = wording.Version(shown.Number) + " has faults, so it cannot be tried. Correct its source first."
		return nil
	}
	if data.Query == "" || !data.MayTry {
		return nil
	}
	contact, err := h.findContact(r, v, data.Query)
	if core.IsNotFound(err) || err != nil && core.AsError(err).Code == core.CodeValidationFailed {
		data.Problem = "No contact has the address or id " + frame.Quoted(data.Query) + "."
		return nil
	}
	if err != nil {
		return err
	}
	data.Contact = h.link(v, contactsPath, contact.ID, contact.Email)
	done, err := h.Editor.DryRuns.DryRun(r.Context(), v.Org.ID, review.Checked, w.ID, contact.ID, h.Clock())
	if err != nil {
		return problemOf(err, &data.Problem)
	}
	data.Done = true
	data.Steps, data.Journey = dryRows(done, wording.OfSteps(tree)), wording.JourneyOf(tree, review.Checked, diagram.Options{Lit: litByDryRun(done)})
	return nil
}

// problemOf stores what a page says about an error that passes by itself. It returns other
// errors.
func problemOf(err error, problem *string) error {
	switch core.AsError(err).Code {
	case core.CodeOverloaded, core.CodeUpstreamUnavailable, core.CodeValidationFailed, core.CodeConflict, core.CodeNotFound:
		*problem = frame.TextOf(err)
		return nil
	}
	return err
}

// contactRecord is a contact as operations return it.
type contactRecord struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

// findContact returns the contact with an address or an id.
func (h *Room) findContact(r *http.Request, v people.Visitor, ref string) (contactRecord, error) {
	var found contactRecord
	if core.IsID(ref) {
		names, err := h.Editor.Runs.ContactNames(r.Context(), v.Org.ID, []string{ref})
		if err == nil && names[ref] == "" {
			err = core.NotFound("contact")
		}
		return contactRecord{ref, names[ref]}, err
	}
	err := h.Read(r, v, "contacts_lookup", map[string]string{"email": ref}, &found)
	return found, err
}
