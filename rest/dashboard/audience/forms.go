package audience

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The names of the form fields. Arguments of the operations have the same names.
const (
	fieldName        = "name"
	fieldKey         = "key"
	fieldDescription = "description"
	fieldLabel       = "display_name"
	fieldDefault     = "default_subscription_status"
	fieldEmail       = "email"
	fieldContact     = "contact"
)

// labels has, for each form field, the words that name the field in the error text of a
// refused form.
var labels = frame.Labels{
	fieldName: "The name", fieldKey: "The key", fieldDescription: "The description", fieldLabel: "The label",
	fieldDefault: "The default", fieldEmail: "The address", fieldContact: "The address",
}

// gitOrigin is the origin of a definition in a connected repository.
const gitOrigin = string(core.GitOrigin)

// readOnly returns the sentence that says why a definition cannot be changed here, or "" if
// it can. origin and sourcePath are those of the definition, "" for a new one.
func readOnly(v people.Visitor, origin, sourcePath string) string {
	switch {
	case origin == gitOrigin && sourcePath != "":
		return "The connected repository defines it in " + frame.PlainName(sourcePath) + ", so it is read-only here. Change it there and let the repository sync."
	case origin == gitOrigin || v.Org.GitConnected:
		return "The connected repository owns the definitions of this organization, so they are read-only here. Change them there and let the repository sync."
	}
	return ""
}

// originWords are the texts for the origin of a definition.
var originWords = map[string]string{string(core.ManagedOrigin): "Mailhelm", gitOrigin: "repository"}

// affected is the data of the template "affected": the segments that a deletion makes
// invalid. Names is nil if the visitor may not see segments.
type affected struct {
	Count int
	Names []string
}

// affectedBy returns the segments that would no longer compile after the change.
func (a *Audience) affectedBy(r *http.Request, v people.Visitor, what segments.Redefinition) (affected, error) {
	found, err := frame.ReadExpensive(a.Frame, r, v, func(ctx context.Context) ([]segments.Affected, error) {
		return a.Segments.PreviewRedefinition(ctx, v.Org.ID, what)
	})
	if err != nil {
		return affected{}, err
	}
	shown := affected{Count: len(found)}
	if v.Member.Has(members.MayViewSegments) {
		for _, segment := range found {
			shown.Names = append(shown.Names, frame.PlainName(segment.Name))
		}
	}
	return shown, nil
}
