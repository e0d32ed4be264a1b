package registry

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The form field fieldStep has the step of a change that a button requests: stepReview shows
// the impact, stepEdit shows the form again, and stepSave stores the change.
const (
	fieldStep  = "step"
	stepReview = "review"
	stepEdit   = "edit"
	stepSave   = "save"
)

// fieldReviewed is the form field with the [reviewOf] of the effects that the page showed.
// A save or deletion with other effects shows them instead.
const fieldReviewed = "reviewed"

// changedSinceReview is shown above the effects of a change that are not those that the
// person reviewed.
const changedSinceReview = "Nothing was changed. Since you opened this page, the definition or the effects of the change have changed. Check the effects, then confirm again."

// reviewOf identifies the effects of a change for a person who reviews them: the definition
// as it is, the class of the change, the affected segments, and whether predicates no longer
// find some contacts. The number of these contacts is left out, because it changes with
// every new contact.
func reviewOf(before any, m mutation) string {
	seen := []any{before, m.Class}
	if m.Impact != nil {
		seen = append(seen, m.Impact.Dropout > 0, m.Impact.Segments)
	}
	text, err := json.Marshal(seen)
	if err != nil {
		panic(err) // the members are texts, numbers and lists of them
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// problemOfReview returns the problem to show above reviewed effects: "" on the first
// review, and changedSinceReview if the person sent the form with other effects.
func problemOfReview(r *http.Request) string {
	if r.PostForm.Get(fieldReviewed) != "" && r.PostForm.Get(fieldStep) != stepReview {
		return changedSinceReview
	}
	return ""
}

// repositoryReason is shown in place of forms while a repository owns the definitions.
const repositoryReason = "The connected repository owns the definitions of this organization, so they are read-only here. Change the definition in the repository and let it sync."

// mayChange reports whether the visitor may change definitions here. It is false for all
// visitors while a repository owns the definitions of the organization.
func mayChange(v people.Visitor) bool {
	return v.Member.Has(members.MayManageAttributes) && !v.Org.GitConnected
}

// refuseRepository writes a refusal if a repository owns the definitions, and reports
// whether it did.
func (g *Registry) refuseRepository(w http.ResponseWriter, r *http.Request, v people.Visitor) bool {
	if v.Org.GitConnected {
		g.Refuse(w, r, v, http.StatusConflict, "Definitions are read-only here", repositoryReason)
	}
	return v.Org.GitConnected
}

// impact is the data of the template "impact": the effects of a change.
type impact struct {
	// Summary says what the change does to predicates and values.
	Summary  string
	Contacts string // the number of contacts that predicates no longer find
	// Disruptive marks a change after which predicates no longer find values.
	Disruptive bool
	Segments   []affectedSegment
}

// affectedSegment is a segment that a change affects.
type affectedSegment struct {
	ID, Name, Path, Warning string
	Invalid                 bool
}

// mutation has the members of the result of a preview that the pages show.
type mutation struct {
	Class  string `json:"mutation_class"`
	Impact *struct {
		Dropout  int64 `json:"projected_dropout"`
		Segments []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			OK      bool   `json:"typecheck_ok"`
			Warning string `json:"warning"`
		} `json:"affected_segments"`
	} `json:"impact"`
}

// newMutation returns the effects that a domain has previewed.
func newMutation(effects any) (mutation, error) {
	var m mutation
	text, err := json.Marshal(effects)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// shown returns the effects of a previewed change as the page shows them.
func (m mutation) shown() impact {
	i := impact{Contacts: "0", Disruptive: m.Class == "disruptive"}
	switch m.Class {
	case "disruptive":
		i.Summary = "Segments that test it may lose members."
	case "safe_but_stale":
		i.Summary = "Contacts keep the values that are removed here, but no contact can get them any more. Segments that test these values stay valid."
	default:
		i.Summary = "Free: no segment and no stored value is affected."
	}
	if m.Impact == nil {
		return i
	}
	i.Contacts = core.WithCommas(m.Impact.Dropout)
	for _, s := range m.Impact.Segments {
		i.Segments = append(i.Segments, affectedSegment{
			ID: s.ID, Name: frame.PlainName(s.Name), Path: segmentsPath + "/" + s.ID, Warning: frame.PlainName(s.Warning), Invalid: !s.OK,
		})
	}
	return i
}

// usesOf returns the segments of the organization with the names that they test.
func (g *Registry) usesOf(ctx context.Context, v people.Visitor) ([]segments.Use, error) {
	uses, err := g.Segments.Uses(ctx, v.Org.ID)
	for i := range uses {
		uses[i].Name = frame.PlainName(uses[i].Name)
	}
	return uses, err
}

// reviewRow is a field of a definition before and after a change.
type reviewRow struct {
	Name, Before, After string
	Changed             bool
}

// newReviewRow returns the row of a field, with texts that have no invisible characters.
func newReviewRow(name, before, after string) reviewRow {
	return reviewRow{name, frame.PlainName(before), frame.PlainName(after), before != after}
}

// anyChanged reports whether a change affects one of the fields.
func anyChanged(rows []reviewRow) bool {
	return slices.ContainsFunc(rows, func(r reviewRow) bool { return r.Changed })
}
